//! What a saved plan was made from, and what makes it stale: commits, edits, the environment.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use support::{Project, SIMPLE};

/// A stack that reads a file beside the stacks.
fn reading_around() -> Project {
    let stack = SIMPLE.replace("\"one\"", "file(\"${path.module}/../../../data/x.txt\")");
    let project = Project::new().stack("01-a/x", &stack).stack("01-a/y", SIMPLE).file("data/x.txt", "one");
    project.git(&["init", "-q"]);
    commit(&project);
    project
}

fn commit(project: &Project) {
    project.git(&["add", "."]);
    project.git(&["commit", "-q", "-m", "all"]);
}

#[test]
fn a_plan_is_refused_after_a_commit_that_changed_what_it_may_have_read() {
    let project = reading_around();
    project.run("plan x").succeeds();
    project.write("data/x.txt", "two");
    commit(&project);

    let run = project.run("apply x --yes").exits(1);

    run.stderr_has("error[stale-plan]").stderr_has("`data/x.txt` changed since");
    assert!(project.has(".infra/plans/01-a/x.tfplan"), "the plan is not consumed");
}

#[test]
fn a_plan_is_refused_after_an_edit_of_what_it_may_have_read() {
    let project = reading_around();
    project.write("data/x.txt", "two");
    project.run("plan x").succeeds();

    commit(&project);
    project.write("data/x.txt", "three");

    project.run("apply x --yes").exits(1).stderr_has("`data/x.txt` changed since");
}

#[test]
fn a_plan_survives_a_commit_of_other_stacks_documents_and_what_it_was_made_from() {
    let project = reading_around();
    project.write("data/x.txt", "two");
    project.run("plan x").succeeds();
    project.write("README.md", "words");
    project.write("infrastructure/01-a/y/main.tf", &SIMPLE.replace("one", "other"));
    commit(&project);

    project.run("apply x").succeeds().stderr_has("applied +1 ~0 -0");
}

#[test]
fn a_plan_made_with_another_environment_is_refused() {
    let stack = "terraform {\n  backend \"http\" {}\n}\n\nvariable \"v\" {}\n\nresource \"terraform_data\" \"a\" {\n  input = var.v\n}\n";
    let env = |value: &str| format!("name: lab\nstacks:\n  \"01-a/x\":\n    env: {{ TF_VAR_v: {value} }}\n");
    let project = Project::new().stack("01-a/x", stack).config(&env("one"));
    project.run("plan").succeeds();
    project.write("infra.yaml", &env("two"));

    project.run("apply --yes").exits(1).stderr_has("error[stale-plan]").stderr_has("`env` in infra.yaml");
}

#[test]
fn a_plan_of_a_part_that_found_nothing_does_not_stand_for_the_whole() {
    let stack = "terraform {\n  backend \"http\" {}\n}\n\nresource \"terraform_data\" \"a\" {}\n";
    for narrow in ["plan -- -target=terraform_data.other", "plan --refresh-only"] {
        let project = Project::new().stack("01-a/x", stack);

        project.run(narrow).succeeds();

        project.run("apply --yes").succeeds().stderr_has("applied +1 ~0 -0");
    }
}
