//! States that are shared, and states that `infra.lock` does not know.

use crate::support::{Project, SIMPLE};
use crate::{found, message};

fn local(path: &str) -> String {
    format!("# where it is\nterraform {{\n  backend \"local\" {{\n    path = \"{path}\"\n  }}\n}}\n")
}

#[test]
fn every_stack_that_shares_a_state_is_told_where_its_backend_is() {
    let project = Project::new()
        .stack("a", &local("../shared.tfstate"))
        .stack("b", &local("../shared.tfstate"))
        .stack("c", &local("../own.tfstate"));

    assert_eq!(
        found(&project),
        [
            "state-identity-unique infrastructure/a/main.tf:3",
            "state-identity-unique infrastructure/b/main.tf:3"
        ]
    );
}

#[test]
fn a_stack_without_a_block_whose_state_another_writes_is_told_too() {
    let project = Project::new().stack("a", "locals {}\n").stack("b", &local("../a/terraform.tfstate"));

    assert_eq!(
        found(&project),
        [
            "state-identity-unique infrastructure/a/main.tf:1",
            "state-identity-unique infrastructure/b/main.tf:3"
        ]
    );
}

#[test]
fn a_state_that_infra_lock_does_not_know_is_a_finding() {
    let project = Project::new().stack("a", SIMPLE).stack("b", SIMPLE).stack("never", SIMPLE);
    project.run("apply a b --yes").succeeds();
    assert_eq!(found(&project), [""; 0]);

    let text = project.read("infra.lock");
    let without: String =
        text.lines().filter(|line| !line.contains("\"b\"")).map(|line| format!("{line}\n")).collect();
    assert_ne!(text, without);
    project.write("infra.lock", &without);
    assert_eq!(found(&project), ["state-lock-missing infra.lock:1"]);

    std::fs::remove_file(project.path("infra.lock")).unwrap();
    assert_eq!(found(&project), ["state-lock-missing infra.lock:1", "state-lock-missing infra.lock:1"]);

    project.run("init a b").succeeds();
    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn the_advice_for_a_missing_entry_works() {
    let project = Project::new().stack("a", SIMPLE);
    project.run("apply a --yes").succeeds();
    std::fs::remove_file(project.path("infra.lock")).unwrap();

    let words = message(&project, "state-lock-missing");
    let advice = words.split('`').find_map(|part| part.strip_prefix("infra init ")).unwrap();
    project.run(&format!("init {advice}")).succeeds();

    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn what_was_destroyed_or_is_kept_elsewhere_needs_no_entry() {
    let project = Project::new().stack("a", SIMPLE);
    project.run("apply a --yes").succeeds();
    project.run("destroy a --yes").succeeds();
    std::fs::remove_file(project.path("infra.lock")).unwrap_or_default();
    assert_eq!(found(&project), [""; 0]);

    project.write("infra.yaml", "name: lab\nstate: { url: \"http://127.0.0.1:1/states\" }\n");
    assert_eq!(found(&project), [""; 0]);
    project
        .write("infra.yaml", "name: lab\nstate: { store: \"s3://bucket/x?endpoint=http://127.0.0.1:1\" }\n");
    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn looking_makes_no_file() {
    let project = Project::new().stack("a", SIMPLE);

    assert_eq!(found(&project), [""; 0]);

    assert!(!project.has(".infra") && !project.has("infra.lock"));
}

#[test]
fn an_infra_lock_that_cannot_be_read_is_named_and_the_rest_is_judged() {
    let project = Project::new()
        .stack("a", &local("../shared.tfstate"))
        .stack("b", &local("../shared.tfstate"))
        .stack("c", SIMPLE)
        .file("infra.lock", "format: 1\nstates: [\n");
    project.write(".infra/state/.keep", "");

    let rows = found(&project);
    assert!(rows.iter().any(|row| row.starts_with("file-syntax infra.lock:")), "{rows:#?}");
    assert_eq!(rows.len(), 3, "{rows:#?}");
}
