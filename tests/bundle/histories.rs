//! What lies between a plan and its apply in git: content counts, commits do not.

use crate::jobs::{Repository, STACK};

const X: &str = "infrastructure/01-a/x/main.tf";
const Y: &str = "infrastructure/01-a/y/main.tf";

/// Plans a change of one stack on a branch; then the base moves on elsewhere.
fn branched(name: &str) -> Repository {
    let repository = Repository::new().stack("01-a/x", STACK).stack("01-a/y", STACK).file("README.md", "a\n");
    let repository = repository.committed();
    repository.project.git(&["checkout", "-q", "-b", name]);
    repository.edit(X, &STACK.replace("\"one\"", "\"two\""));
    repository.edit(X, &STACK.replace("\"one\"", "\"three\""));
    repository.plan("x --bundle ../plan.bundle").succeeds();
    repository.project.git(&["checkout", "-q", "main"]);
    repository.edit("README.md", "b\n");
    repository.edit(Y, &STACK.replace("\"one\"", "\"elsewhere\""));
    repository
}

#[test]
fn a_merge_with_a_base_that_moved_elsewhere_is_applied() {
    let repository = branched("change");
    repository.project.git(&["merge", "-q", "--no-ff", "change", "-m", "merge"]);

    repository.apply("--bundle ../plan.bundle").succeeds();

    assert_eq!((repository.output("x"), repository.output("y")), ("three".to_owned(), String::new()));
}

#[test]
fn a_squash_is_applied() {
    let repository = branched("change");
    repository.project.git(&["merge", "-q", "--squash", "change"]);
    repository.commit("squashed");

    repository.apply("--bundle ../plan.bundle").succeeds();

    assert_eq!(repository.output("x"), "three");
}

#[test]
fn a_rebase_is_applied() {
    let repository = branched("change");
    repository.project.git(&["rebase", "-q", "main", "change"]);
    repository.project.git(&["checkout", "-q", "main"]);
    repository.project.git(&["merge", "-q", "--ff-only", "change"]);

    repository.apply("--bundle ../plan.bundle").succeeds();

    assert_eq!(repository.output("x"), "three");
}

#[test]
fn a_merge_that_touches_the_stack_voids_its_plan_and_names_the_file() {
    let repository = branched("change");
    let more = "resource \"terraform_data\" \"more\" {}\n";
    repository.edit("infrastructure/01-a/x/more.tf", more);
    repository.project.git(&["merge", "-q", "--no-ff", "change", "-m", "merge"]);

    let refused = repository.apply("--bundle ../plan.bundle").exits(1);

    refused.stderr_has("`01-a/x`").stderr_has("`infrastructure/01-a/x/more.tf`").stderr_has("differ");
    assert_eq!(repository.output("x"), "");
}

#[test]
fn an_unchanged_stack_of_the_run_voids_nothing() {
    let repository = Repository::new().stack("01-a/x", STACK).stack("01-a/y", STACK).committed();
    repository.plan("--all --bundle ../first.bundle").succeeds();
    repository.apply("--bundle ../first.bundle").succeeds();
    repository.edit(X, &STACK.replace("\"one\"", "\"two\""));
    repository.plan("--all --bundle ../plan.bundle").succeeds();

    repository.edit(Y, &STACK.replace("\"one\"", "\"elsewhere\""));
    repository.apply("--bundle ../plan.bundle").succeeds();

    assert_eq!((repository.output("x"), repository.output("y")), ("two".to_owned(), "one".to_owned()));
}
