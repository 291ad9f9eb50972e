//! What `infra.yaml` says of rules, how the command ends, and what it tells.

use crate::support::Project;
use crate::{CLEAN, found};

const FAR: &str = "module \"m\" {\n  source = \"git::https://example.com/x.git\"\n}\n";

fn with_level(level: &str) -> Project {
    Project::new()
        .stack("a", &format!("{CLEAN}{FAR}"))
        .config(&format!("name: lab\nlint:\n  rules:\n    module-source: {level}\n"))
}

#[test]
fn only_an_error_makes_the_command_fail() {
    for (level, code) in [("error", 1), ("warning", 0), ("note", 0)] {
        let run = with_level(level).run("lint --json").exits(code);
        assert_eq!(run.json()[0]["severity"], level);
        with_level(level).run("lint").exits(code).stdout_has(&format!("{level}[module-source]"));
    }
    for off in ["off", "\"off\""] {
        let run = with_level(off).run("lint --json").succeeds();
        assert_eq!(run.json(), serde_json::json!([]));
    }
}

#[test]
fn an_unknown_rule_or_level_is_an_error_with_the_nearest_name() {
    let project = Project::new().config("lint: { rules: { module-sorce: off } }\n");
    project
        .run("lint")
        .exits(65)
        .stderr_has("unknown key `module-sorce` in `infra.yaml`")
        .stderr_has("did you mean `module-source`?");
    with_level("eror").run("lint").exits(65).stderr_has("did you mean `error`?").stderr_has("infra.yaml:4");
    with_level("3").run("lint").exits(65).stderr_has("infra.yaml:4");
    with_level("on").run("lint").exits(65).stderr_has("expected one of");
}

#[test]
fn the_text_names_place_rule_and_sum_with_hints_on_stderr() {
    let project = with_level("error").file("infrastructure/modules/vm/main.tf", "locals {}\n");

    let run = project.run("lint").exits(1);

    let run = run.stdout_has(
        "infrastructure/a/main.tf:4\n  ✗ error[module-source] module `m` comes from a git repository",
    );
    run.stderr_has("✗ 4 errors in 1 stack and 1 module").stderr_has("hint: `infra lint --fix`");
}

#[test]
fn the_advice_to_fix_works() {
    let project = Project::new().stack("a", CLEAN).file("infrastructure/modules/vm/main.tf", "locals {}\n");
    let advice = project.run("lint").exits(1).advice("lint");

    project.run(&advice).succeeds();
    project.run("lint").succeeds();
}

#[test]
fn the_form_is_json_by_either_name_and_no_other() {
    let project = with_level("error");

    assert_eq!(project.run("lint --json").json(), project.run("lint --format json").json());
    project.run("lint --format xml").exits(64);
    project.run("lint --json --format sarif").exits(64);
}

#[test]
fn every_rule_has_a_section_in_the_documentation_and_a_place_in_the_schema() {
    let document = Project::new().stack("a", CLEAN).run("lint --format sarif").json();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/lint.md")).unwrap();
    let schema = Project::new().run("schema infra").json();

    let sections: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().clone();
    let names: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(sections, names);
    for name in names {
        assert!(schema["$defs"]["RulesConfig"]["properties"][name].is_object(), "{name}");
    }
}

#[test]
fn a_rule_that_is_off_asks_for_nothing() {
    let project = Project::new()
        .stack("a", "resource \"random_id\" \"x\" {}\n")
        .file("infrastructure/a/x.tfvars", "password = \"hunter2-hunter2\"\n")
        .config("lint: { rules: { lock-file-committed: off, plaintext-secret: off } }\n");

    assert_eq!(found(&project), [""; 0]);
}
