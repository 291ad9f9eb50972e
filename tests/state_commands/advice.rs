//! The commands that `infra state …` and `doctor` print as advice, run where they are printed.

use super::minio::{self, minio};
use super::support::Project;
use super::{applied, s3_block, stack, versions};

#[test]
fn a_state_without_versions_gets_some_by_the_advice() {
    let project = Project::new().stack("01-a/x", &stack("backend \"local\" {}", "one"));
    project.run("apply x --yes").succeeds();

    let advice = project.run("state history x").exits(64).advice("migrate");
    project.run(&format!("{advice} --yes")).succeeds();

    assert_eq!(versions(&project).len(), 1);
}

#[test]
fn an_unknown_version_is_answered_with_the_way_to_the_known_ones() {
    let project = applied();

    let run = project.run("state pull x --version 99").exits(64);

    project.run(&run.advice("state history")).succeeds();
}

#[test]
fn what_a_push_and_a_rollback_advise_works() {
    let project = applied();
    let oldest = *versions(&project).last().unwrap();
    let old = project.run(&format!("state pull x --version {oldest}")).succeeds().stdout;
    project.write("old.tfstate", &old);

    let refused = project.run("state push x old.tfstate").exits(1);
    project.run(&refused.advice("state pull")).succeeds().stdout_has("three");
    let pushed = project.run("state push x old.tfstate --force").succeeds();
    project.run(&pushed.advice("state history")).succeeds();
    let back = project.run(&format!("state rollback x {oldest} --yes")).succeeds();
    project.run(&back.advice("plan")).succeeds();
}

#[test]
fn doctor_says_how_to_save_a_state_that_could_not_be_saved() {
    let project = applied();
    let newer = super::successor(&project.run("state pull x").succeeds().stdout);
    project.write("infrastructure/01-a/x/errored.tfstate", &newer);

    let found = project.run("doctor").exits(1).stdout_has("a run could not save its state");
    project.run(&found.advice("--errored")).succeeds();

    project.run("doctor").stdout_lacks("a run could not save its state");
}

#[test]
fn an_s3_state_without_a_lock_gets_one_by_the_advice() {
    let (address, bucket) = (minio().address, minio().bucket());
    let block = |more: &str| stack(&s3_block(address, &bucket, more), "one");
    let project = Project::new()
        .stack("01-a/x", &block(""))
        .stack("01-a/y", super::SIMPLE)
        .env("AWS_ACCESS_KEY_ID", minio::USER)
        .env("AWS_SECRET_ACCESS_KEY", minio::PASSWORD);
    project.run("apply x --yes").succeeds();

    let found = project.run("stacks").succeeds().stderr_has("`01-a/x`: s3 state without a lock");
    project.write("infrastructure/01-a/x/main.tf", &block("use_lockfile = true"));
    project.run(&found.advice("-reconfigure")).succeeds();

    project.run("plan x --detailed-exitcode").exits(0).stderr_lacks("without a lock");
}
