//! What moving a state does to the stack's files, and what is told beforehand.

use super::stack;
use super::support::terminal::AtTerminal;
use super::support::{self, Project};

/// Asserts that the files of a stack are as `tofu fmt` wants them.
fn is_formatted(project: &Project, why: &str) {
    let folder = project.path("infrastructure/01-a/x");
    let checked = std::process::Command::new(support::tofu())
        .args(["fmt", "-check", "-diff", "-no-color"])
        .current_dir(folder)
        .env_remove("TF_CLI_CONFIG_FILE")
        .output()
        .unwrap();
    assert!(checked.status.success(), "{why}: {}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn a_migrated_backend_is_formatted_wherever_it_stood() {
    let forms = [
        "terraform {\n  backend \"local\" {}\n}\n",
        "terraform {\n  backend \"local\" {\n    path = \"own.tfstate\"\n  } # why\n}\n",
        "# first\nterraform {\n  required_version = \">= 1.8\" # keep\n\n  # before\n  backend \"local\" { path = \"own.tfstate\" }\n}\n",
        "terraform {\r\n  # dos\r\n  backend \"local\" {\r\n    path          = \"own.tfstate\"\r\n    workspace_dir = \"w\"\r\n  }\r\n}\r\n",
        "locals {\n  none = true\n}\n",
    ];
    let targets = ["embedded", "local:moved.tfstate", "local:deeper/again.tfstate"];
    for form in forms {
        let project = Project::new().stack("01-a/x", form);
        project.write("infrastructure/01-a/x/thing.tf", "resource \"terraform_data\" \"thing\" {\n}\n");
        is_formatted(&project, form);
        project.run("apply x --yes").succeeds();
        for to in targets {
            project.run(&format!("state migrate x --to {to} --yes")).succeeds();
            is_formatted(&project, &format!("{form} to {to}"));
            project.run("fmt --check").succeeds();
            project.run("plan x --detailed-exitcode").exits(0);
        }
        let main = project.read("infrastructure/01-a/x/main.tf");
        assert_eq!(main.contains("\r\n"), !main.replace("\r\n", "").contains('\n'), "{main:?}");
        assert!(
            ["why", "# keep", "# before", "# dos"]
                .iter()
                .all(|word| form.contains(word) == main.contains(word))
        );
    }
}

#[test]
fn an_s3_backend_is_written_aligned() {
    let block = infra::stacks::NewBackend {
        kind: "s3".to_owned(),
        settings: [
            ("bucket", serde_json::json!("states")),
            ("endpoints", serde_json::json!({"s3": "http://127.0.0.1:1"})),
            ("skip_requesting_account_id", serde_json::json!(true)),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect(),
    };
    let project = Project::new().stack("01-a/x", &block.file());

    is_formatted(&project, "s3");
}

#[test]
fn a_backend_in_json_is_refused_before_anything_is_copied() {
    let project = Project::new().file(
        "infrastructure/01-a/x/main.tf.json",
        "{\"terraform\": {\"backend\": {\"local\": {}}}, \"resource\": {\"terraform_data\": {\"thing\": {}}}}\n",
    );
    project.run("apply x --yes").succeeds();

    project
        .run("state migrate x --to embedded --yes")
        .exits(65)
        .stderr_has("main.tf.json` holds the backend as JSON")
        .stderr_has("nothing was copied");

    assert!(!project.has("infrastructure/01-a/x/backend.tf"));
    assert_eq!(project.resources("x"), ["terraform_data.thing"]);
}

#[test]
fn a_backend_that_stacks_share_by_a_link_is_not_changed_for_one_of_them() {
    let project = Project::new()
        .file("infrastructure/shared/backend.tf", "terraform {\n  backend \"local\" {}\n}\n")
        .file("infrastructure/01-a/x/main.tf", "output \"x\" {\n  value = 1\n}\n")
        .file("infrastructure/01-a/y/main.tf", "output \"y\" {\n  value = 1\n}\n");
    for stack in ["x", "y"] {
        let link = project.path(&format!("infrastructure/01-a/{stack}/backend.tf"));
        std::os::unix::fs::symlink("../../shared/backend.tf", link).unwrap();
    }
    project.run("apply --all --yes").succeeds();

    project
        .run("state migrate x --to embedded --yes")
        .exits(65)
        .stderr_has("holds the backend of `01-a/y` too");

    assert!(project.read("infrastructure/shared/backend.tf").contains("local"));
}

#[test]
fn who_reads_a_state_is_named_before_it_moves() {
    let reader = "data \"terraform_remote_state\" \"x\" {\n  backend = \"local\"\n  config = {\n    path = \"${path.module}/../../01-a/x/terraform.tfstate\"\n  }\n}\n";
    let project = Project::new().stack("01-a/x", &stack("", "one")).stack("02-b/reader", reader);
    project.run("apply --all --yes").succeeds();

    let mut asked = AtTerminal::start(project.command("state migrate x --to embedded"));
    asked.sees("Move the state of `01-a/x` from local to embedded?");
    asked.types("no");
    let (code, screen) = asked.wait();

    assert_eq!(code, Some(1), "{screen}");
    for words in ["`02-b/reader` reads the state of `01-a/x`", "infrastructure/02-b/reader/main.tf:1"] {
        assert!(screen.contains(words), "{screen}");
    }
    project
        .run("state migrate x --to embedded --yes")
        .succeeds()
        .stderr_has("`02-b/reader` reads the state of `01-a/x`")
        .stderr_has("infrastructure/02-b/reader/main.tf:1");
}

#[test]
fn a_stack_without_a_state_is_told_as_such_before_its_block_is_changed() {
    let project = Project::new().stack("01-a/x", &stack("backend \"local\" {}", "one"));

    project
        .run("state migrate x --to embedded --yes")
        .succeeds()
        .stderr_has("`01-a/x` has no state yet: only its backend block is changed")
        .stderr_lacks("the old state");

    assert!(project.read("infrastructure/01-a/x/main.tf").contains("backend \"http\" {}"));
}

#[test]
fn a_state_stays_where_it_is_if_it_is_to_go_there() {
    let project = Project::new().stack("01-a/x", &stack("", "one"));
    project.run("apply x --yes").succeeds();

    for to in ["local", "local:terraform.tfstate", "local:./terraform.tfstate"] {
        project.run(&format!("state migrate x --to {to} --yes")).exits(64).stderr_has("there already");
    }

    assert_eq!(project.resources("x").len(), 2);
}

#[test]
fn a_migrated_backend_that_a_template_makes_is_told_with_the_template() {
    let template = "templates/config/infrastructure/01-a/x/main.tf.j2";
    let project =
        Project::new().file("cluster.yaml", "a: 1\n").file(template, &stack("backend \"local\" {}", "one"));
    project.run("configure").succeeds();
    project.run("apply x --yes").succeeds();

    project.run("state migrate x --to embedded --yes").succeeds().stderr_has(&format!(
        "`infrastructure/01-a/x/main.tf` is generated from `{template}`: change that too"
    ));
    // What it says is true.
    project.run("configure").exits(1).stderr_has("was edited by hand");
    project.write(template, &project.read("infrastructure/01-a/x/main.tf"));
    project.run("configure").succeeds();
    project.run("plan x --detailed-exitcode").exits(0);
}

#[test]
fn a_state_that_an_edited_block_left_behind_is_brought_along() {
    for before in ["", "backend \"local\" {}", "backend \"local\" {\n    path = \"own.tfstate\"\n  }"] {
        let project = Project::new().stack("01-a/x", &stack(before, "one"));
        project.run("apply x --yes").succeeds();
        let old = project.run("state pull x").succeeds().stdout;
        project.write("infrastructure/01-a/x/main.tf", &stack("backend \"http\" {}", "one"));

        let advice = project.run("plan x").exits(65).advice("migrate");
        assert_eq!(advice, "state migrate 01-a/x --to embedded");
        project.run(&advice).exits(64).stderr_has("--yes");
        project.run(&format!("{advice} --yes")).succeeds().stderr_has("every byte is the same");

        let lineage =
            |state: &str| serde_json::from_str::<serde_json::Value>(state).unwrap()["lineage"].clone();
        assert_eq!(lineage(&old), lineage(&project.run("state pull x").succeeds().stdout), "{before}");
        project.run("plan x --detailed-exitcode").exits(0);
        project.run("state migrate x --to embedded --yes").exits(64).stderr_has("there already");
    }
}

#[test]
fn a_state_that_infra_keeps_is_brought_along_to_a_file_that_an_edited_block_names() {
    for after in ["", "backend \"local\" {}", "backend \"local\" {\n    path = \"own.tfstate\"\n  }"] {
        let project = Project::new().stack("01-a/x", &stack("backend \"http\" {}", "one"));
        project.run("apply x --yes").succeeds();
        project.write("infrastructure/01-a/x/main.tf", &stack(after, "one"));

        let advice = project.run("plan x").exits(65).advice("migrate");
        project.run(&format!("{advice} --yes")).succeeds().stderr_has("every byte is the same");

        project.run("plan x --detailed-exitcode").exits(0);
    }
}
