//! Stacks that are gone from the tree although they were not destroyed: told, listed, destroyed
//! from the copy of what was last applied.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/served.rs"]
mod served;
mod support;

use served::Served;
use support::{Project, SIMPLE};

/// A stack that leaves a trace when it is destroyed, with a module, a variable file and a value of another.
const OLD: &str = r#"
terraform {
  backend "http" {}
}

variable "greeting" {
  type = string
}

variable "thing" {
  type = string
}

module "inner" {
  source   = "../../modules/inner"
  greeting = "${var.greeting} ${var.thing}"
}
"#;

const INNER: &str = r#"
variable "greeting" {
  type = string
}

resource "terraform_data" "old" {
  input = var.greeting
}
"#;

fn project() -> Project {
    Project::new()
        .stack("01-a/kept", SIMPLE)
        .stack("02-b/old", OLD)
        .file("infrastructure/modules/inner/main.tf", INNER)
        .file("infrastructure/02-b/old/lab.tfvars", "greeting = \"hello\"\n")
        .config("name: lab\nstacks:\n  \"02-b/old\":\n    inputs: { thing: \"01-a/kept.thing\" }\n    var_files: [lab.tfvars]\n")
}

fn remove(project: &Project) {
    std::fs::remove_dir_all(project.path("infrastructure/02-b")).expect("a folder");
    std::fs::remove_dir_all(project.path("infrastructure/modules")).expect("a folder");
    project.write("infra.yaml", "name: lab\n");
}

fn listed(project: &Project) -> Vec<serde_json::Value> {
    let listing = project.run("stacks --removed --json").succeeds().json();
    listing.as_array().unwrap().iter().map(|stack| stack["id"].clone()).collect()
}

#[test]
fn a_removed_stack_is_told_by_every_run_and_listed() {
    let project = project();
    project.run("apply --all --yes").succeeds();
    assert!(listed(&project).is_empty());

    remove(&project);

    assert_eq!(listed(&project), ["02-b/old"]);
    let run = project.run("plan kept").succeeds();
    run.stderr_has("`02-b/old`: removed from the tree, but not destroyed")
        .stderr_has("infra destroy --removed");
}

#[test]
fn a_removed_stack_is_destroyed_from_what_was_last_applied() {
    let project = project();
    project.run("apply --all --yes").succeeds();
    remove(&project);

    let run = project.run("destroy --removed --yes --json").succeeds();

    assert_eq!(
        (run.result_of("02-b/old"), run.json()["stacks"][0]["destroy"].clone()),
        ("succeeded".into(), 1.into())
    );
    assert!(listed(&project).is_empty());
    assert_eq!(project.resources("kept"), ["terraform_data.thing"]);
    project.run("destroy --removed --yes").succeeds().stderr_has("no stack was removed");
}

#[test]
fn a_stack_that_was_destroyed_before_its_folder_went_is_not_removed() {
    let project = project();
    project.run("apply --all --yes").succeeds();
    project.run("destroy old --yes").succeeds();

    remove(&project);

    assert!(listed(&project).is_empty());
}

#[test]
fn a_folder_that_still_has_tofu_files_is_not_removed() {
    let project = Project::new().stack("a/x", SIMPLE).stack("a/y", SIMPLE);
    project.run("apply --all --yes").succeeds();

    // `x` becomes a module of `y`: destroying it would destroy what lives.
    let using = format!("{SIMPLE}\nmodule \"x\" {{\n  source = \"../x\"\n}}\n");
    project.write("infrastructure/a/y/main.tf", &using);

    assert!(listed(&project).is_empty());
}

/// Two people with the same tree and the same states; the first has applied it, then `old` goes.
fn two_people(state: &str, env: &[(&str, &str)]) -> (Project, Project) {
    let person = || {
        let config = format!("name: lab\nstate:\n  {state}\n");
        let project = Project::new().stack("01-a/kept", SIMPLE).config(&config);
        env.iter().fold(project, |project, (name, value)| project.env(name, value))
    };
    let (first, second) = (person().stack("02-b/old", SIMPLE), person());
    first.run("apply --all --yes").succeeds();
    std::fs::remove_dir_all(first.path("infrastructure/02-b")).expect("a folder");
    (first, second)
}

#[test]
fn a_stack_that_somebody_else_applied_is_destroyed_from_the_copy_beside_its_state() {
    let shared = tempfile::tempdir().unwrap();
    let (first, second) = two_people(&format!("store: {}", shared.path().display()), &[]);

    second.run("plan kept").succeeds().stderr_has("`02-b/old`: removed from the tree, but not destroyed");
    let run = second.run("destroy --removed --yes --json").succeeds();

    assert_eq!(run.result_of("02-b/old"), "succeeded");
    assert!(listed(&second).is_empty());
    assert!(listed(&first).is_empty(), "the other one learns that it is destroyed");
}

#[test]
fn a_server_keeps_the_copies_for_everybody_who_may_read_the_state() {
    let server = Served::start();
    let credentials = [("TF_HTTP_USERNAME", served::USER), ("TF_HTTP_PASSWORD", served::PASSWORD)];
    let (_, second) = two_people(&format!("url: http://{}/states/lab", server.address), &credentials);

    assert_eq!(listed(&second), ["02-b/old"]);
    assert_eq!(server.send_as(None, "GET", "/applied/lab/02-b/old", "").status, 401);
    assert_eq!(server.send("PUT", "/applied/lab/02-b/old", "x").status, 405);
    let run = second.run("destroy --removed --yes --json").succeeds();

    assert_eq!(run.result_of("02-b/old"), "succeeded");
    assert_eq!(server.send("GET", "/applied/lab/02-b/old", "").status, 404);
    assert_eq!(server.send("GET", "/applied", "").body.trim(), "[\n  \"lab/01-a/kept\"\n]");
}

#[test]
fn a_damaged_copy_beside_the_state_writes_nothing_outside_of_its_folder() {
    let shared = tempfile::tempdir().unwrap();
    let (_, second) = two_people(&format!("store: {}", shared.path().display()), &[]);
    let copy = shared.path().join("@applied/02-b/old/@copy");
    std::fs::write(copy, r#"{"files":[{"path":"../../../escaped.tf","content":""}]}"#).unwrap();

    let run = second.run("stacks --removed");

    run.exits(65).stderr_has("`02-b/old`, beside its state, is damaged");
    assert!(!second.path("escaped.tf").exists() && !second.path(".infra/escaped.tf").exists());
    second.run("plan kept").succeeds();
}

#[test]
fn a_failed_destruction_of_what_was_removed_can_be_resumed() {
    let project = project();
    let mended = project.path("mended");
    let inner = INNER.replace(
        "input = var.greeting",
        &format!("input = var.greeting\n  provisioner \"local-exec\" {{\n    when    = destroy\n    command = \"test -e {}\"\n  }}", mended.display()),
    );
    project.write("infrastructure/modules/inner/main.tf", &inner);
    project.run("apply --all --yes").succeeds();
    remove(&project);
    project.run("destroy --removed --yes").exits(1);
    project.write("mended", "");

    let run = project.run("destroy --resume --yes --json").succeeds();

    assert_eq!(run.result_of("02-b/old"), "succeeded");
    assert_eq!(run.json()["stacks"].as_array().unwrap().len(), 1);
    assert!(listed(&project).is_empty());
}

#[test]
fn nothing_removed_is_said_in_words_and_is_no_run() {
    let project = Project::new().stack("a", SIMPLE);

    let run = project.run("destroy --removed --yes").succeeds();

    run.stderr_has("no stack was removed").stderr_lacks("0 stacks");
    assert!(!project.has(".infra/runs"));
}

#[test]
fn a_quiet_run_hides_the_hints_of_a_warning_with_it() {
    let project = project();
    project.run("apply --all --yes").succeeds();
    remove(&project);

    let run = project.run("plan kept -q").succeeds();

    assert_eq!(run.stderr, "");
}

#[test]
fn a_stack_of_which_only_the_state_is_left_is_named_with_the_ways_out() {
    let project = project();
    project.run("apply --all --yes").succeeds();
    remove(&project);
    std::fs::remove_dir_all(project.path(".infra/applied")).unwrap();
    let id = listed(&project);
    assert!(id.is_empty(), "{id:?}");

    let words = "there is no copy of its files";
    project.run("stacks --removed").succeeds().stderr_has(words).stderr_lacks("no stack was removed");
    project.run("destroy --removed --yes").exits(1).stderr_has(words).stderr_lacks("no stack was removed");
    project.run("doctor").succeeds().stdout_has(words).stdout_has("infra state forget");
    let told = project.run("plan --all").succeeds().stderr_has(words);
    project.run(&format!("{} --yes", told.advice("state forget"))).succeeds();
    project.run("plan --all").succeeds().stderr_lacks(words);
    project.run("doctor").succeeds().stdout_lacks(words);
}
