//! SARIF for code scanning.

use serde_json::Value;

use crate::CLEAN;
use crate::support::Project;

const FAR: &str = "module \"m\" {\n  source = \"git::https://example.com/x.git\"\n}\n";

fn sarif(project: &Project, folder: &str) -> Value {
    project.run(&format!("-C {folder} lint --format sarif")).json()
}

fn results(document: &Value) -> &Vec<Value> {
    document["runs"][0]["results"].as_array().expect("a list of results")
}

#[test]
fn a_document_has_all_that_code_scanning_asks_for() {
    let project = Project::new()
        .stack("a", &format!("{CLEAN}{FAR}"))
        .file("infrastructure/a/x.tfvars", "password = \"hunter2-hunter2\"\n");

    let document = sarif(&project, ".");

    assert_eq!(document["version"], "2.1.0");
    assert!(document["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let run = &document["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "infra");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.len() >= 12);
    for rule in rules {
        for key in ["shortDescription", "fullDescription", "help"] {
            assert!(!rule[key]["text"].as_str().unwrap().is_empty(), "{rule:#}");
        }
        let is_security = rule["properties"]["security-severity"].is_string();
        assert_eq!(is_security, rule["id"] == "plaintext-secret", "{rule:#}");
        assert!(rule["properties"]["tags"].as_array().unwrap().len() <= 20);
    }
    for result in results(&document) {
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        for key in ["startLine", "startColumn", "endLine", "endColumn"] {
            assert!(region[key].as_u64().unwrap() >= 1, "{region:#}");
        }
        assert!(result["partialFingerprints"]["primaryLocationLineHash"].is_string());
    }
    assert_eq!(results(&document).len(), 2);
}

#[test]
fn nothing_found_is_an_empty_list() {
    let project = Project::new().stack("a", CLEAN);

    let run = project.run("lint --format sarif").succeeds();

    assert_eq!(run.json()["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn paths_are_those_of_the_repository_and_encoded() {
    let project = Project::new()
        .config("")
        .file("lab one/infra.yaml", "name: lab\n")
        .file("lab one/infrastructure/ü#1/main.tf", FAR)
        .file(
            "lab one/infrastructure/modules/vm/main.tf",
            "module \"x\" {\n  source = \"../../../../shared\"\n}\n",
        )
        .file(
            "lab one/infrastructure/b/main.tf",
            &format!("{CLEAN}module \"x\" {{\n  source = \"../../../shared\"\n}}\n"),
        )
        .file("shared/main.tf", "variable \"x\" {}\n");
    project.git(&["init", "-q"]);

    let mut command = project.command("lint --format sarif");
    command.current_dir(project.path("lab one"));
    let document = crate::support::Running::start(command, "lint").wait().json();

    let uris: Vec<&str> = results(&document)
        .iter()
        .map(|result| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap())
        .collect();
    for uri in [
        "lab%20one/infrastructure/%C3%BC%231/main.tf",
        "lab%20one/infrastructure/modules/vm/README.md",
        "shared/main.tf",
    ] {
        assert!(uris.contains(&uri), "{uri}: {uris:#?}");
    }
    assert!(uris.iter().all(|uri| !uri.starts_with(['/', '.']) && !uri.contains(' ')), "{uris:#?}");
}

#[test]
fn fingerprints_stay_when_lines_move_and_tell_findings_apart() {
    let project = Project::new()
        .stack("a", &format!("{CLEAN}{FAR}{FAR}"))
        .file("infrastructure/modules/vm/main.tf", "variable \"x\" {}\nvariable \"y\" {}\n");
    let prints = || -> Vec<String> {
        let document = sarif(&project, ".");
        let mut all: Vec<String> =
            results(&document).iter().map(|result| result["partialFingerprints"].to_string()).collect();
        all.sort();
        all
    };

    let before = prints();
    let mut unique = before.clone();
    unique.dedup();
    assert_eq!((before.len(), unique.len()), (9, 9));

    project.write("infrastructure/a/main.tf", &format!("# one\n\n# two\n{CLEAN}\n{FAR}\n\n{FAR}"));
    project.write("infrastructure/modules/vm/main.tf", "# moved\n\nvariable \"x\" {}\n\nvariable \"y\" {}\n");
    assert_eq!(prints(), before);
}
