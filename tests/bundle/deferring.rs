//! Stacks that take values from others of the same bundle.

use crate::jobs::{CONFIG, Repository};

const PRODUCER: &str = r#"
terraform {
  backend "http" {}
}

resource "terraform_data" "host" {
  input = "pve1"
}

output "thing" {
  value = terraform_data.host.output
}
"#;

/// A stack that changes in place with the value it is given.
const CONSUMER: &str = r#"
terraform {
  backend "http" {}
}

variable "host" {
  type = string
}

resource "terraform_data" "vm" {
  input = var.host
}

output "thing" {
  value = terraform_data.vm.output
}
"#;

fn repository() -> Repository {
    let inputs = "stacks:\n  \"02-b/consumer\":\n    inputs: { host: \"01-a/producer.thing\" }\n";
    Repository::new()
        .stack("01-a/producer", PRODUCER)
        .stack("02-b/consumer", CONSUMER)
        .file("infra.yaml", &format!("{CONFIG}{inputs}"))
        .committed()
}

#[test]
fn a_deferred_stack_is_left_and_named_with_the_next_step() {
    let repository = repository();
    let planned = repository.plan("--all --bundle ../plan.bundle --json").succeeds();
    assert_eq!(planned.result_of("02-b/consumer"), "deferred");

    let applied = repository.apply("--bundle ../plan.bundle --json").exits(1);

    assert_eq!(applied.result_of("01-a/producer"), "succeeded");
    assert_eq!(applied.result_of("02-b/consumer"), "deferred");
    let advice = applied.advice("plan 02-b/consumer --bundle");
    assert_eq!(repository.output("consumer"), "");
    repository.plan(advice.strip_prefix("plan ").unwrap()).succeeds();
    repository.apply("--bundle ../plan.bundle").succeeds();
    assert_eq!(repository.output("consumer"), "pve1");
}

#[test]
fn what_depends_on_a_deferred_stack_is_left_too_and_a_higher_layer_alone_is_not() {
    let repository = repository().stack("03-c/after", PRODUCER).stack("03-c/other", PRODUCER);
    let config =
        repository.project.read("infra.yaml") + "  \"03-c/after\": { depends_on: [02-b/consumer] }\n";
    repository.edit("infra.yaml", &config);
    repository.plan("--all --bundle ../plan.bundle").succeeds();

    let applied = repository.apply("--bundle ../plan.bundle --json").exits(1);

    assert_eq!(applied.result_of("03-c/after"), "skipped");
    assert_eq!(applied.result_of("03-c/other"), "succeeded");
    assert_eq!(repository.output("after"), "");
}

/// Applies everything, then changes both stacks.
fn changed(consumer: &str) -> Repository {
    let repository = repository();
    repository.plan("producer --bundle ../a.bundle").succeeds();
    repository.apply("--bundle ../a.bundle").succeeds();
    repository.plan("consumer --bundle ../b.bundle").succeeds();
    repository.apply("--bundle ../b.bundle").succeeds();
    repository.edit("infrastructure/01-a/producer/main.tf", &PRODUCER.replace("pve1", "pve2"));
    repository.edit("infrastructure/02-b/consumer/main.tf", consumer);
    repository.plan("--all --bundle ../plan.bundle").succeeds();
    repository
}

#[test]
fn a_provisional_plan_that_comes_out_otherwise_is_left_and_never_applied() {
    let repository = changed(&CONSUMER.replace("input = var.host", "input = \"x-${var.host}\""));

    let applied = repository.apply("--bundle ../plan.bundle --json").exits(1);

    assert_eq!(applied.result_of("01-a/producer"), "succeeded");
    assert_eq!(applied.result_of("02-b/consumer"), "skipped");
    let applied = applied.stderr_has("not what was shown");
    assert_eq!(
        (repository.output("producer"), repository.output("consumer")),
        ("pve2".into(), "pve1".into())
    );
    let advice = applied.advice("plan 02-b/consumer --bundle");
    repository.plan(advice.strip_prefix("plan ").unwrap()).succeeds();
    repository.apply("--bundle ../plan.bundle").succeeds();
    assert_eq!(repository.output("consumer"), "x-pve2");
}

#[test]
fn a_provisional_plan_without_changes_that_gets_some_is_left_too() {
    let repository = changed(CONSUMER);

    let applied = repository.apply("--bundle ../plan.bundle --json").exits(1);

    assert_eq!(applied.result_of("02-b/consumer"), "skipped");
    assert_eq!(
        (repository.output("producer"), repository.output("consumer")),
        ("pve2".into(), "pve1".into())
    );
}

#[test]
fn a_provisional_plan_that_still_does_what_was_planned_goes_on() {
    let repository = changed(&CONSUMER.replace("input = var.host", "input = \"fixed\""));

    repository.apply("--bundle ../plan.bundle").succeeds();

    assert_eq!(
        (repository.output("producer"), repository.output("consumer")),
        ("pve2".into(), "fixed".into())
    );
}

#[test]
fn values_of_a_stack_outside_of_the_bundle_that_changed_since_void_the_plan() {
    let repository = repository();
    repository.plan("producer --bundle ../a.bundle").succeeds();
    repository.apply("--bundle ../a.bundle").succeeds();
    repository.plan("consumer --bundle ../b.bundle").succeeds();
    repository.edit("infrastructure/01-a/producer/main.tf", &PRODUCER.replace("pve1", "pve2"));
    repository.plan("producer --bundle ../c.bundle").succeeds();
    repository.apply("--bundle ../c.bundle").succeeds();

    let refused = repository.apply("--bundle ../b.bundle").exits(1);

    refused.stderr_has("`02-b/consumer`").stderr_has("`host`").stderr_has("differ");
    assert_eq!(repository.output("consumer"), "");
}
