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

/// A stack that takes nothing from others.
const UPDATED_ALONE: &str = "terraform {\n  backend \"http\" {}\n}\n\nresource \"terraform_data\" \"a\" {}\n";

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
fn why_a_plan_is_provisional_says_no_more_than_is_known() {
    let project = changed(UPDATED).stack("03-c/after", UPDATED_ALONE).stack("03-c/next", UPDATED_ALONE);
    let edges = "  \"03-c/after\": { depends_on: [02-b/consumer] }\n  \"03-c/next\": { depends_on: [01-a/producer] }\n";
    let fixed = UPDATED.replace("input = var.host", "input = \"fixed\"");
    project.write("infrastructure/02-b/consumer/main.tf", &fixed);
    project.run("apply consumer --yes").succeeds();
    let config = project.read("infra.yaml") + edges;
    project.write("infra.yaml", &config);

    let report = project.run("plan --all --json").succeeds().json();

    assert_eq!(entry(&report, "02-b/consumer")["result"], "no_changes");
    assert_eq!(entry(&report, "03-c/after")["reason"], "uses 02-b/consumer, which may change");
    assert_eq!(entry(&report, "03-c/next")["reason"], "uses 01-a/producer, which will change");
}

#[test]
fn what_a_question_lists_is_broken_at_spaces_where_the_screen_is_narrow() {
    let project = changed_on_both_sides();
    let mut person = AtTerminal::sized(project.command("apply --all"), 40, 60);

    person.sees("[y/N]");
    person.types("n");

    let (_, screen) = person.wait();
    let at = screen.rfind("02-b/consumer  +0").expect("a listing");
    let lines: Vec<&str> = screen[at..].lines().take(2).collect();
    assert_eq!(
        lines,
        ["02-b/consumer  +0 ~1 -0 ·", "    planned again when 01-a/producer is applied"],
        "{screen}"
    );
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

/// A project whose consumer is to be changed, with a value that changes with the producer.
fn changed_on_both_sides() -> Project {
    let project = changed(UPDATED);
    let touched = UPDATED.replace("input = var.host", "input = \"x-${var.host}\"");
    project.write("infrastructure/02-b/consumer/main.tf", &touched);
    project
}

#[test]
fn a_new_plan_that_does_what_was_shown_goes_on_without_a_second_question() {
    let project = changed(UPDATED);
    let touched = UPDATED.replace("input = var.host", "input = \"fixed\"");
    project.write("infrastructure/02-b/consumer/main.tf", &touched);
    let mut person = AtTerminal::start(project.command("apply --all"));

    person.sees("planned again when 01-a/producer is applied").sees("Apply these changes to 2 stacks? [y/N]");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, screen.matches("[y/N]").count()), (Some(0), 1), "{screen}");
    assert_eq!(vm(&project), "fixed");
    assert!(!project.newest_events().contains("plan_differs"));
}

#[test]
fn a_new_plan_with_another_value_is_asked_about_and_only_the_difference_is_shown() {
    let more = "resource \"terraform_data\" \"more\" {\n  input = \"same\"\n}\n";
    let project = changed_on_both_sides();
    let touched = project.read("infrastructure/02-b/consumer/main.tf") + more;
    project.write("infrastructure/02-b/consumer/main.tf", &touched);
    let mut person = AtTerminal::sized(project.command("apply --all"), 40, 80);

    person.sees("Apply these changes to 2 stacks? [y/N]");
    person.types("y");
    person.sees("02-b/consumer  +1 ~1 -0 · not what was shown");
    person.sees("input: shown \"x-pve1\", now \"x-pve2\"").sees("Apply it with these differences? [y/N]");
    // Later the live view may name what is being made.
    let asked = person.screen();
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, asked.matches("terraform_data.more").count()), (Some(0), 1), "{screen}");
    assert_eq!(vm(&project), "x-pve2");
}

#[test]
fn a_no_to_the_difference_leaves_the_stack_as_it_was() {
    let project = changed_on_both_sides();
    let mut person = AtTerminal::start(project.command("apply --all"));

    person.sees("Apply these changes to 2 stacks? [y/N]");
    person.types("y");
    person.sees("Apply it with these differences? [y/N]");
    person.types("n");

    let (code, screen) = person.wait();
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("its plan is not what was shown"), "{screen}");
    assert_eq!(vm(&project), "pve1");
}

/// A stack that takes a value from a file, and one below it that writes this file once it is changed.
fn reading_a_file() -> Project {
    let maker = |value: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  triggers_replace = \"{value}\"\n  provisioner \"local-exec\" {{\n    command = \"printf {value} > ../../../value\"\n  }}\n}}\n"
        )
    };
    let reader = r#"
resource "terraform_data" "x" {
  input = file("${path.module}/../../../value")
}

resource "terraform_data" "y" {
  input = [terraform_data.x.output, "old"]
}
"#;
    let project =
        Project::new().stack("01-a/maker", &maker("one")).stack("02-b/reader", reader).file("value", "one");
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/01-a/maker/main.tf", &maker("one").replacen("\"one\"", "\"two\"", 1));
    project.write("infrastructure/02-b/reader/main.tf", &reader.replace("\"old\"", "\"new\""));
    project
}

#[test]
fn what_was_unknown_may_become_known_and_less_may_be_done() {
    let project = reading_a_file();
    project.write("value", "two");
    let mut person = AtTerminal::start(project.command("apply --all"));

    // The value of `x` changes, so what `y` takes from it is unknown; then the file is as it was.
    person.sees("02-b/reader  +0 ~2 -0").sees("Apply these changes to 2 stacks? [y/N]");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, screen.matches("[y/N]").count()), (Some(0), 1), "{screen}");
    assert!(screen.contains("applied +0 ~1 -0"), "{screen}");
}

#[test]
fn without_a_terminal_a_reviewed_plan_with_another_value_is_refused_and_tells_the_difference() {
    let project = changed_on_both_sides();
    project.run("plan --all").succeeds();

    let run = project.run("apply --all --saved --json").exits(1);

    assert_eq!(run.result_of("02-b/consumer"), "skipped");
    run.stderr_has("its plan is not what was shown, and nobody approved the difference")
        .stderr_has("review it: `infra plan 02-b/consumer`")
        .stderr_has("input: shown \"x-pve1\", now \"x-pve2\"");
    assert_eq!(vm(&project), "pve1");
}

#[test]
fn without_a_terminal_a_reviewed_plan_that_is_made_again_as_shown_is_applied() {
    let project = changed(UPDATED);
    let touched = UPDATED.replace("input = var.host", "input = \"fixed\"");
    project.write("infrastructure/02-b/consumer/main.tf", &touched);
    project.run("plan --all").succeeds();

    project.run("apply --all --saved").succeeds().stderr_lacks("not what was shown");

    assert_eq!(vm(&project), "fixed");
}

#[test]
fn a_run_of_saved_plans_that_is_begun_again_goes_on_with_what_the_first_one_changed() {
    for (value, code) in [("\"fixed\"", 0), ("\"x-${var.host}\"", 1)] {
        let project = changed(UPDATED);
        let touched = UPDATED.replace("input = var.host", &format!("input = {value}"));
        project.write("infrastructure/02-b/consumer/main.tf", &touched);
        project.run("plan --all").succeeds();
        project.run("apply producer --saved").succeeds();

        let run = project.run("apply --all --saved --json").exits(code);

        assert_eq!(run.result_of("01-a/producer"), "no_changes");
        assert_eq!(vm(&project), if code == 0 { "fixed" } else { "pve1" });
    }
}

#[test]
fn a_value_that_somebody_else_changed_makes_saved_plans_stale() {
    let project = project(UPDATED);
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/02-b/consumer/main.tf", &UPDATED.replace("var.host", "[var.host]"));
    project.run("plan consumer").succeeds();
    project.write("infrastructure/01-a/producer/main.tf", &PRODUCER.replace("pve1", "pve2"));
    project.run("apply producer --yes").succeeds();

    let run = project.run("apply consumer --saved").exits(1);

    run.stderr_has("error[stale-plan]").stderr_has("the values it takes from other stacks changed since");
}

#[test]
fn a_yes_beforehand_goes_on_with_another_value_and_tells_it() {
    let project = changed_on_both_sides();
    project.run("plan --all").succeeds();

    let run = project.run("apply --all --yes").succeeds();

    run.stderr_has("02-b/consumer: not what was shown; `--yes` was given, so it is applied")
        .stderr_has("input: shown \"x-pve1\", now \"x-pve2\"");
    let events = project.newest_events();
    let told = events.lines().find(|line| line.contains("\"plan_differs\"")).expect("an event");
    let told: serde_json::Value = serde_json::from_str(told).unwrap();
    assert_eq!(
        (&told["applied"], &told["differences"][0]["values"][0]["now"]),
        (&true.into(), &"\"x-pve2\"".into())
    );
    assert_eq!(vm(&project), "x-pve2");
    // The plan that was reviewed is gone, so that nothing stale is in the way.
    project.run("apply --all --yes").succeeds();
}

#[test]
fn a_sensitive_value_that_differs_is_told_but_not_shown() {
    let secret = |text: &str| {
        let text = text.replace("type = string", "type = string\n  sensitive = true");
        text.replace("  value = terraform_data", "  sensitive = true\n  value = terraform_data")
    };
    let producer = |host: &str| secret(&PRODUCER.replace("pve1", host));
    let project = project(&secret(UPDATED));
    project.write("infrastructure/01-a/producer/main.tf", &producer("hush-one"));
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/01-a/producer/main.tf", &producer("hush-two"));
    let touched = secret(UPDATED).replace("input = var.host", "input = [var.host]");
    project.write("infrastructure/02-b/consumer/main.tf", &touched);
    project.run("plan --all").succeeds();

    let run = project.run("apply --all --yes --jsonl").succeeds();

    let run = run.stderr_has("input[0]: another (sensitive)").stderr_lacks("hush-");
    run.stdout_has("\"now\":\"(sensitive)\"").stdout_lacks("hush-");
    assert!(!project.newest_events().contains("hush-"));
}

#[test]
fn a_plan_that_cannot_be_compared_with_what_was_shown_is_asked_about() {
    let project = changed_on_both_sides();
    let command = "rm ../../../.infra/runs/*/plans/02-b/consumer.tfplan";
    let script = format!("provisioner \"local-exec\" {{\n    command = \"{command}\"\n  }}");
    let changed = format!("input = \"pve2\"\n  triggers_replace = 2\n  {script}");
    let producer = PRODUCER.replace("input = \"pve1\"", &changed);
    project.write("infrastructure/01-a/producer/main.tf", &producer);
    let mut person = AtTerminal::start(project.command("apply --all"));

    person.sees("Apply these changes to 2 stacks? [y/N]");
    person.types("y");
    person.sees("cannot be compared with what was shown: a plan file is missing or was changed");
    person.sees("~ terraform_data.vm").sees("Apply these changes? [y/N]");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(vm(&project), "x-pve2");
}

/// A stack that loses something by a script which fails the first time, and changes something after it.
fn failing_once(script: &str) -> Project {
    let stack = |number: u32| {
        format!(
            r#"
resource "terraform_data" "lost" {{
  triggers_replace = {number}
  provisioner "local-exec" {{
    when        = destroy
    working_dir = "../../.."
    command     = "test -e tried || {{ touch tried; {script} echo TLS handshake timeout; exit 1; }}"
  }}
}}

resource "terraform_data" "kept" {{
  input      = file("${{path.module}}/../../../value")
  depends_on = [terraform_data.lost]
}}
"#
        )
    };
    let project = Project::new()
        .stack("s/a", &stack(1))
        .file("value", "one")
        .config("name: lab\nrun: { retries: 1, transient_errors: [\"TLS handshake timeout\"] }\n");
    project.run("apply --yes").succeeds();
    project.write("infrastructure/s/a/main.tf", &stack(2));
    project.write("value", "two");
    project
}

#[test]
fn what_is_left_after_a_transient_error_goes_on_if_it_is_what_was_shown() {
    let project = failing_once("");
    let mut person = AtTerminal::start(project.command("apply"));

    person.sees("Apply these changes? [y/N]");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, screen.matches("[y/N]").count()), (Some(0), 1), "{screen}");
    assert!(screen.contains("trying again (1 of 1)"), "{screen}");
}

#[test]
fn what_is_left_after_a_transient_error_is_asked_about_if_it_is_something_else() {
    let project = failing_once("printf three > value;");
    let mut person = AtTerminal::start(project.command("apply"));

    person.sees("Apply these changes? [y/N]");
    person.types("y");
    person.sees("input: shown \"two\", now \"three\"").sees("Apply it with these differences? [y/N]");
    person.types("n");

    let (code, screen) = person.wait();
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("not applied again: what is left to do is not what was approved"), "{screen}");
}

#[test]
fn with_a_yes_beforehand_what_is_left_after_a_transient_error_is_applied_and_told() {
    let project = failing_once("printf three > value;");

    let run = project.run("apply --yes").succeeds();

    run.stderr_has("input: shown \"two\", now \"three\"").stderr_has("`--yes` was given");
}

#[test]
fn a_new_plan_that_replaces_what_was_not_shown_is_asked_about_again() {
    let project = changed(&replaced());
    let mut person = AtTerminal::start(project.command("apply --all"));

    person.sees("02-b/consumer  no changes today; planned again when 01-a/producer is applied");
    person.sees("Apply these changes? [y/N]");
    person.types("y");
    person.sees("not what was shown").sees("-/+ terraform_data.vm  (not shown before)");
    person.types("n");

    let (code, screen) = person.wait();
    assert_eq!((code, screen.matches("[y/N]").count()), (Some(1), 2), "{screen}");
    assert!(screen.contains("its plan is not what was shown"), "{screen}");
}

#[test]
fn without_a_terminal_a_reviewed_plan_that_became_another_is_refused() {
    let project = changed(&replaced());
    project.run("plan --all").succeeds();

    let run = project.run("apply --all --saved --json").exits(1);

    assert_eq!(run.result_of("01-a/producer"), "succeeded");
    assert_eq!(run.result_of("02-b/consumer"), "skipped");
    run.stderr_has("its plan is not what was shown");
}

#[test]
fn a_yes_beforehand_accepts_another_plan_unless_the_stack_is_protected() {
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
