//! Plans that depend on other stacks of the same run: deferred, provisional, shown once, planned
//! again, and asked about only where that is needed.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use support::terminal::AtTerminal;
use support::{Finished, Project, SIMPLE};

const PRODUCER: &str = r#"
terraform {
  backend "http" {}
}

resource "terraform_data" "host" {
  input = "pve1"
}

output "host" {
  value = terraform_data.host.output
}
"#;

/// A stack that changes in place with the value it is given.
const UPDATED: &str = r#"
terraform {
  backend "http" {}
}

variable "host" {
  type = string
}

resource "terraform_data" "vm" {
  input = var.host
}

output "vm" {
  value = terraform_data.vm.output
}
"#;

/// A stack that is replaced with the value it is given.
fn replaced() -> String {
    UPDATED.replace("input = var.host", "triggers_replace = var.host")
}

fn project(consumer: &str) -> Project {
    Project::new()
        .stack("01-a/producer", PRODUCER)
        .stack("02-b/consumer", consumer)
        .config("name: lab\nstacks:\n  \"02-b/consumer\":\n    inputs:\n      host: \"01-a/producer.host\"\n")
}

/// A project that is applied, and whose producer has changed since.
fn changed(consumer: &str) -> Project {
    let project = project(consumer);
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/01-a/producer/main.tf", &PRODUCER.replace("pve1", "pve2"));
    project
}

fn entry<'a>(report: &'a serde_json::Value, id: &str) -> &'a serde_json::Value {
    report["stacks"].as_array().unwrap().iter().find(|stack| stack["id"] == id).unwrap()
}

fn vm(project: &Project) -> String {
    let run: Finished = project.run("output consumer vm --raw").succeeds();
    run.stdout.trim().to_owned()
}

#[test]
fn a_plan_that_uses_values_which_will_change_is_provisional() {
    let project = changed(UPDATED);

    let run = project.run("plan --all --json").succeeds();

    let (report, reason) = (run.json(), "uses outputs of 01-a/producer, which will change");
    assert_eq!(entry(&report, "02-b/consumer")["provisional"], true);
    assert_eq!(entry(&report, "02-b/consumer")["reason"], reason);
    assert_eq!(entry(&report, "01-a/producer")["provisional"], false);
    run.stderr_has("provisional");
}

#[test]
fn a_plan_whose_upstream_stays_as_it_is_is_not_provisional() {
    let project = project(UPDATED);
    project.run("apply --all --yes").succeeds();

    let report = project.run("plan --all --json").succeeds().json();

    assert_eq!(entry(&report, "02-b/consumer")["provisional"], false);
    assert_eq!(entry(&report, "02-b/consumer")["result"], "no_changes");
}

#[test]
fn an_output_that_is_new_in_the_files_defers_and_is_no_error() {
    let project = project(UPDATED);
    project.run("apply --all --yes").succeeds();
    let more = format!("{PRODUCER}\noutput \"fresh\" {{\n  value = \"new\"\n}}\n");
    project.write("infrastructure/01-a/producer/main.tf", &more);
    let config = project.read("infra.yaml").replace("producer.host", "producer.fresh");
    project.write("infra.yaml", &config);

    let run = project.run("plan --all --json").succeeds();
    assert_eq!(run.result_of("02-b/consumer"), "deferred");

    project.run("apply --all --yes").succeeds();
    assert_eq!(vm(&project), "new");
}

#[test]
fn a_deferred_stack_is_planned_and_asked_about_once_its_upstream_is_applied() {
    let project = project(UPDATED);
    let mut person = AtTerminal::start(project.command("apply --all"));

    person.sees("deferred until 01-a/producer is applied").sees("Apply these changes? [y/N]");
    person.types("y");
    person.sees("02-b/consumer  +1 ~0 -0");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, screen.matches("[y/N]").count()), (Some(0), 2), "{screen}");
    assert_eq!(vm(&project), "pve1");
}

#[test]
fn a_new_plan_of_the_same_kind_goes_on_without_a_second_question() {
    let project = changed(UPDATED);
    let touched = UPDATED.replace("input = var.host", "input = \"x-${var.host}\"");
    project.write("infrastructure/02-b/consumer/main.tf", &touched);
    let mut person = AtTerminal::start(project.command("apply --all"));

    person.sees("planned again when 01-a/producer is applied").sees("Apply these changes to 2 stacks? [y/N]");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, screen.matches("[y/N]").count()), (Some(0), 1), "{screen}");
    assert_eq!(vm(&project), "x-pve2");
}

#[test]
fn a_new_plan_that_replaces_what_was_not_shown_is_asked_about_again() {
    let project = changed(&replaced());
    let mut person = AtTerminal::start(project.command("apply --all"));

    person.sees("02-b/consumer  no changes today; planned again when 01-a/producer is applied");
    person.sees("Apply these changes? [y/N]");
    person.types("y");
    person.sees("-/+ terraform_data.vm").sees("no longer of the kind that was shown");
    person.types("n");

    let (code, screen) = person.wait();
    assert_eq!((code, screen.matches("[y/N]").count()), (Some(1), 2), "{screen}");
    assert!(screen.contains("no longer of the kind that was approved"), "{screen}");
}

#[test]
fn without_a_terminal_a_reviewed_plan_that_became_another_is_refused() {
    let project = changed(&replaced());
    project.run("plan --all").succeeds();

    let run = project.run("apply --all --json").exits(1);

    assert_eq!(run.result_of("01-a/producer"), "succeeded");
    assert_eq!(run.result_of("02-b/consumer"), "skipped");
    run.stderr_has("no longer of the kind that was approved");
}

#[test]
fn a_yes_beforehand_accepts_another_kind_unless_the_stack_is_protected() {
    let project = changed(&replaced());
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/01-a/producer/main.tf", &PRODUCER.replace("pve1", "pve3"));
    let config = project.read("infra.yaml") + "    protect: true\n";
    project.write("infra.yaml", &config);

    let run = project.run("apply --all --yes --json").exits(1);

    assert_eq!(run.result_of("01-a/producer"), "succeeded");
    assert_eq!(run.result_of("02-b/consumer"), "skipped");
    project.run("apply --all --yes --allow-destroy").succeeds();
}

#[test]
fn one_question_lists_every_stack_and_the_destructive_ones_first() {
    let kept = SIMPLE.replace("\"one\"", "\"two\"");
    let project = Project::new().stack("a", SIMPLE).stack("b", SIMPLE);
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/a/main.tf", &kept);
    project.write("infrastructure/b/main.tf", "terraform {\n  backend \"http\" {}\n}\n");
    let mut person = AtTerminal::start(project.command("apply --all"));

    person.sees("Apply these changes to 2 stacks? [y/N]");
    let screen = person.screen();
    person.types("n");

    let place = |text: &str| screen.rfind(text).unwrap_or_else(|| panic!("no `{text}` on {screen}"));
    assert!(place("b  +0 ~0 -1") < place("a  +0 ~1 -0"), "{screen}");
    assert_eq!(person.wait().0, Some(1));
}

#[test]
fn a_stack_that_cannot_be_planned_before_its_layer_below_is_planned_then() {
    let reader = r#"
terraform {
  backend "http" {}
}

locals {
  made = file("${path.module}/../../../made")
}

resource "terraform_data" "thing" {
  input = local.made
}
"#;
    let maker = "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"echo x > ../../../made\"\n  }\n}\n";
    let project = Project::new().stack("01-a/maker", maker).stack("02-b/reader", reader);
    let mut person = AtTerminal::start(project.command("apply --all"));

    person.sees("cannot be planned before 01-a/maker is applied").sees("[y/N]");
    person.types("y");
    person.sees("02-b/reader  +1 ~0 -0").sees("[y/N]");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!(code, Some(0), "{screen}");
}

#[test]
fn a_stack_that_reads_a_state_which_does_not_exist_yet_is_deferred() {
    let keeps = |id: &str| {
        format!("terraform {{\n  backend \"local\" {{\n    path = \"../../../{id}.tfstate\"\n  }}\n}}\n")
    };
    let writer = format!("{}output \"a\" {{\n  value = \"x\"\n}}\n", keeps("writer"));
    let reads = "data \"terraform_remote_state\" \"w\" {\n  backend = \"local\"\n  config  = { path = \"../../../writer.tfstate\" }\n}\n";
    let reader = format!(
        "{}{reads}output \"b\" {{\n  value = data.terraform_remote_state.w.outputs.a\n}}\n",
        keeps("reader")
    );
    let project = Project::new().stack("a/writer", &writer).stack("a/reader", &reader);

    let run = project.run("plan --all --json").succeeds();
    assert_eq!(run.result_of("a/reader"), "deferred");
    run.stderr_has("deferred until a/writer is applied");

    project.run("apply --all --yes").succeeds();
    project.run("output reader b --raw").succeeds().stdout_has("x");
}

#[test]
fn nobody_is_asked_about_stacks_above_one_that_cannot_be_planned() {
    let project =
        Project::new().stack("01-a/bad", "resource {").stack("02-b/above", SIMPLE).stack("03-c/top", SIMPLE);

    let (code, screen) = AtTerminal::start(project.command("apply --all")).wait();

    assert_eq!((code, screen.contains("[y/N]")), (Some(1), false), "{screen}");
    assert!(screen.contains("skipped: 01-a/bad did not succeed"), "{screen}");
    assert!(screen.contains("skipped: 02-b/above did not succeed"), "{screen}");
}

#[test]
fn ctrl_c_at_the_question_about_many_changes_nothing() {
    let project = Project::new().stack("01-a/x", SIMPLE).stack("02-b/y", SIMPLE);
    let person = AtTerminal::start(project.command("apply --all"));
    person.sees("Apply these changes to 2 stacks? [y/N]");

    nix::sys::signal::kill(person.pid(), nix::sys::signal::Signal::SIGINT).expect("a running process");

    let (code, screen) = person.wait();
    assert_eq!(code, Some(130), "{screen}");
    assert!(project.resources("x").is_empty() && project.resources("y").is_empty());
}
