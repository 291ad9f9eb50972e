//! The state follows the project: shared, moved, renamed, cloned, lost, and never made twice.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "states_follow/doctor.rs"]
mod doctor;
#[path = "states_follow/killed.rs"]
mod killed;
#[path = "states_follow/lock_file.rs"]
mod lock_file;
#[path = "support/minio.rs"]
mod minio;
#[path = "states_follow/moving.rs"]
mod moving;
#[path = "states_follow/never_twice.rs"]
mod never_twice;
#[path = "states_follow/renaming.rs"]
mod renaming;
#[path = "support/served.rs"]
mod served;
mod support;

use std::path::Path;
use std::process::Command;

use support::{Finished, Project, SIMPLE};

/// A project with two stacks of one layer and one above, applied once.
fn applied() -> Project {
    let project = Project::new().stack("01-a/net", SIMPLE).stack("02-b/web", SIMPLE);
    project.run("apply --all --yes").succeeds();
    project
}

/// Writes an `infra.yaml` with other settings for the states.
fn configure(project: &Project, state: &str) {
    project.write("infra.yaml", &format!("name: lab\nstate: {state}\n"));
}

/// Returns what tells the state of a stack from every other, and how often it changed.
fn identity(project: &Project, stack: &str) -> (String, u64) {
    let state = project.run(&format!("state pull {stack}")).succeeds().json();
    (state["lineage"].as_str().unwrap().to_owned(), state["serial"].as_u64().unwrap())
}

/// Asserts that a plan of everything changes nothing.
fn unchanged(project: &Project) {
    let planned = project.run("plan --all --detailed-exitcode --json").succeeds();
    assert!(planned.json()["stacks"].as_array().unwrap().iter().all(|stack| stack["result"] == "no_changes"));
}

/// Returns the code of a stack's error in the report of a run.
fn code_of(finished: &Finished, stack: &str) -> String {
    let report = finished.json();
    let found = report["stacks"].as_array().unwrap().iter().find(|entry| entry["id"] == stack).unwrap();
    found["error"]["code"].as_str().unwrap_or_default().to_owned()
}

/// Puts a project under git, with everything in it.
fn committed(project: &Project) {
    project.git(&["init", "-q", "."]);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "all"]);
}

/// Clones a project into another folder of the same machine.
fn cloned(of: &Project) -> Project {
    let clone = Project::named("clone");
    std::fs::remove_dir_all(clone.root()).unwrap();
    let done = Command::new("git").args(["clone", "-q"]).arg(of.root()).arg(clone.root()).status();
    assert!(done.unwrap().success());
    clone.env("XDG_STATE_HOME", of.user_state().to_str().unwrap())
}

/// Returns the entry of a stack in `infra.lock`.
fn entry(project: &Project, stack: &str) -> Option<String> {
    let text = std::fs::read_to_string(project.path("infra.lock")).unwrap_or_default();
    text.lines().find(|line| line.starts_with(&format!("  \"{stack}\":"))).map(str::to_owned)
}

fn remove_dir(path: &Path) {
    std::fs::remove_dir_all(path).unwrap();
}
