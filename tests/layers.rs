//! Several stacks: layers in order, values from one to the next, failures and their dependents.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use support::{Project, SIMPLE};

/// A stack that appends its name to a file when it is made and when it is destroyed.
fn logging(name: &str) -> String {
    format!(
        r#"
terraform {{
  backend "http" {{}}
}}

resource "terraform_data" "thing" {{
  provisioner "local-exec" {{
    command = "echo +{name} >> ../../../order"
  }}
  provisioner "local-exec" {{
    when    = destroy
    command = "echo -{name} >> ../../../order"
  }}
}}
"#
    )
}

const PRODUCER: &str = r#"
terraform {
  backend "http" {}
}

resource "terraform_data" "host" {
  input = { name = "pve1", note = "tricky: $${x} %%{y} \"q\" \\ \n ü" }
}

output "host" {
  value = terraform_data.host.output
}

output "token" {
  value     = "s3cr3t-t0ken"
  sensitive = true
}
"#;

const CONSUMER: &str = r#"
terraform {
  backend "http" {}
}

variable "host" {
  type = object({ name = string, note = string })
}

variable "token" {
  type      = string
  sensitive = true
}

resource "terraform_data" "vm" {
  input = var.host
}

output "note" {
  value = terraform_data.vm.output.note
}

output "token_length" {
  value = nonsensitive(length(var.token))
}
"#;

fn producer_and_consumer() -> Project {
    Project::new().stack("01-a/producer", PRODUCER).stack("02-b/consumer", CONSUMER).config(
        "name: lab\nstacks:\n  \"02-b/consumer\":\n    inputs:\n      host: \"01-a/producer.host\"\n      token: \"01-a/producer.token\"\n",
    )
}

#[test]
fn apply_goes_up_the_layers_and_destroy_goes_down() {
    let mut project = Project::new();
    for id in ["02-b/x", "01-a/02-late", "01-a/01-early", "03-c/y"] {
        project = project.stack(id, &logging(id));
    }

    project.run("apply --all --yes").succeeds();
    let up = project.read("order");
    project.run("destroy --all --yes").succeeds();

    assert_eq!(up.lines().collect::<Vec<_>>(), ["+01-a/01-early", "+01-a/02-late", "+02-b/x", "+03-c/y"]);
    let down = project.read("order");
    assert_eq!(
        down.lines().skip(4).collect::<Vec<_>>(),
        ["-03-c/y", "-02-b/x", "-01-a/02-late", "-01-a/01-early"]
    );
}

#[test]
fn an_output_feeds_a_variable_of_another_stack_exactly() {
    let project = producer_and_consumer();

    project.run("apply --all --yes").succeeds();

    let note = project.run("output consumer note --json").succeeds().json();
    assert_eq!(note["02-b/consumer"]["note"]["value"], "tricky: ${x} %{y} \"q\" \\ \n ü");
    project.run("output consumer token_length --raw").succeeds().stdout_has("12");
}

#[test]
fn a_stack_whose_inputs_do_not_exist_yet_is_deferred_and_not_made_up() {
    let project = producer_and_consumer();

    let run = project.run("plan --all --json").succeeds();

    assert_eq!(run.result_of("01-a/producer"), "succeeded");
    assert_eq!(run.result_of("02-b/consumer"), "deferred");
    run.stderr_has("deferred until 01-a/producer is applied");
}

#[test]
fn destroying_what_was_never_applied_is_nothing_to_do() {
    let project = producer_and_consumer();

    let run = project.run("destroy --all --yes --json").succeeds();

    assert_eq!(run.result_of("01-a/producer"), "no_changes");
    assert_eq!(run.result_of("02-b/consumer"), "no_changes");
}

#[test]
fn a_stack_that_lost_its_inputs_is_not_destroyed_by_a_guess() {
    let project = producer_and_consumer();
    project.run("apply --all --yes").succeeds();
    project.run("destroy producer --yes --force").succeeds();

    let run = project.run("destroy consumer --yes").exits(1);

    run.stderr_has("cannot be destroyed without its inputs")
        .stderr_has("`token`")
        .stderr_lacks("`host`  01-a")
        .stderr_has("infra destroy 02-b/consumer -- -var 'token=…'");

    assert_eq!(project.resources("consumer"), ["terraform_data.vm"]);
}

#[test]
fn a_sensitive_value_of_another_stack_is_nowhere_but_in_the_state_and_the_plan() {
    let project = producer_and_consumer();

    let run = project.run("apply --all --yes -v").succeeds();

    run.stderr_lacks("s3cr3t-t0ken").stdout_lacks("s3cr3t-t0ken");
    // The producer's own file spells it, and so does the copy of what was applied.
    let mut found = project.files_containing("s3cr3t-t0ken");
    found.retain(|file| !file.ends_with("01-a/producer/main.tf"));
    assert_eq!(found, [".infra/state"]);
}

#[test]
fn a_saved_plan_made_from_other_values_is_refused() {
    let project = producer_and_consumer();
    project.run("apply producer --yes").succeeds();
    project.run("plan consumer").succeeds();
    project.write("infrastructure/01-a/producer/main.tf", &PRODUCER.replace("pve1", "pve2"));
    project.run("apply producer --yes").succeeds();

    project
        .run("apply consumer --saved")
        .exits(1)
        .stderr_has("the values it takes from other stacks changed since");
}

#[test]
fn a_reviewed_plan_whose_upstream_changes_in_the_same_run_is_planned_again() {
    let project = producer_and_consumer();
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/01-a/producer/main.tf", &PRODUCER.replace("pve1", "pve2"));
    project.run("plan --all").succeeds();

    let run = project.run("apply --all --yes --json").succeeds();

    assert_eq!(run.result_of("02-b/consumer"), "succeeded");
    project.run("plan --all --detailed-exitcode").succeeds();
}

#[test]
fn an_apply_that_had_to_defer_a_stack_has_not_succeeded() {
    let project = producer_and_consumer();

    project.run("apply consumer --yes").exits(1).stderr_has("deferred until 01-a/producer is applied");
}

#[test]
fn a_protected_stack_does_not_hold_back_its_neighbours() {
    let project = Project::new()
        .stack("01-a/kept", SIMPLE)
        .stack("01-a/free", SIMPLE)
        .config("name: lab\nstacks:\n  \"01-a/kept\":\n    protect: true\n");
    project.run("apply --all --yes").succeeds();

    let run = project.run("destroy --all --yes --json").exits(1);

    assert_eq!(run.result_of("01-a/kept"), "skipped");
    assert_eq!(run.result_of("01-a/free"), "succeeded");
}

#[test]
fn an_input_that_names_no_output_says_which_there_are() {
    let project = producer_and_consumer();
    project.run("apply producer --yes").succeeds();
    let config = project.read("infra.yaml").replace("producer.host", "producer.hots");
    project.write("infra.yaml", &config);

    project.run("plan consumer").exits(1).stderr_has("has no output `hots`").stderr_has("`host`, `token`");
}

#[test]
fn an_input_for_a_variable_that_is_not_declared_is_an_error() {
    let project = producer_and_consumer();
    project.run("apply producer --yes").succeeds();
    let config = project.read("infra.yaml").replace("      host:", "      hsot:");
    project.write("infra.yaml", &config);

    project.run("plan consumer").exits(1).stderr_has("declares no variable `hsot`").stderr_has("`host`");
}

#[test]
fn a_failed_layer_skips_those_above_it_and_names_the_cause() {
    let failing = "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"exit 1\"\n  }\n}\n";
    let project =
        Project::new().stack("01-a/bad", failing).stack("01-a/good", SIMPLE).stack("02-b/above", SIMPLE);

    let run = project.run("apply --all --yes --json").exits(1);

    assert_eq!(run.result_of("01-a/bad"), "failed");
    assert_eq!(run.result_of("01-a/good"), "succeeded");
    assert_eq!(run.result_of("02-b/above"), "skipped");
    run.stderr_has("skipped: 01-a/bad did not succeed");
}

#[test]
fn a_file_that_does_not_parse_fails_its_own_stack_only() {
    let project = Project::new().stack("01-a/bad", "resource {").stack("01-a/good", SIMPLE);

    let run = project.run("plan --all --json").exits(1);

    assert_eq!(run.result_of("01-a/bad"), "failed");
    assert_eq!(run.result_of("01-a/good"), "succeeded");
}

#[test]
fn two_stacks_on_one_state_are_refused_before_anything_runs() {
    let same = "terraform {\n  backend \"local\" {\n    path = \"/tmp/never-written.tfstate\"\n  }\n}\n";
    let project = Project::new().stack("01-a/x", same).stack("01-a/y", same);

    project.run("plan --all").exits(65).stderr_has("01-a/x").stderr_has("01-a/y");
}

#[test]
fn an_unknown_name_is_an_error_with_the_nearest() {
    let project = Project::new().stack("01-a/pihole", SIMPLE).stack("01-a/other", SIMPLE);

    project.run("plan pihoel").exits(64).stderr_has("pihole");
}

#[test]
fn nothing_chosen_among_several_is_all_to_who_looks_and_a_list_to_who_changes() {
    let project = Project::new().stack("01-a/x", SIMPLE).stack("01-a/y", SIMPLE);

    project.run("apply --yes").exits(64).stderr_has("01-a/x").stderr_has("01-a/y");
    project.run("plan").succeeds().stderr_has("01-a/x").stderr_has("01-a/y");
    project.run("-C infrastructure/01-a/y plan").succeeds().stderr_has("01-a/y");
}

#[test]
fn a_protected_stack_does_not_lose_anything_by_a_yes_alone() {
    let project = Project::new()
        .stack("01-a/x", SIMPLE)
        .config("name: lab\nstacks:\n  \"01-a/x\":\n    protect: true\n");
    project.run("apply --yes").succeeds();

    project.run("destroy --yes").exits(1).stderr_has("--allow-destroy");

    assert_eq!(project.resources("x"), ["terraform_data.thing"]);
    project.run("destroy --yes --allow-destroy").succeeds();
}

#[test]
fn the_listing_has_the_documented_shape() {
    let project = producer_and_consumer();

    let stacks = project.run("stacks --json").succeeds().json();

    assert_eq!(stacks[1]["id"], "02-b/consumer");
    assert_eq!(stacks[1]["path"], "infrastructure/02-b/consumer");
    assert_eq!(stacks[1]["layer"], 2);
    assert_eq!(stacks[1]["depends_on"], serde_json::json!(["01-a/producer"]));
    assert_eq!(stacks[1]["backend"]["type"], "http");
}

/// A project in which two stacks of the lowest layer write one file, beside a stack that depends on one
/// of them and one that does not.
fn with_one_conflict() -> Project {
    let shared = |name: &str| {
        logging(name).replace("backend \"http\" {}", "backend \"local\" { path = \"../same.tfstate\" }")
    };
    Project::new()
        .config("name: lab\nstacks:\n  \"02-b/needs\": { depends_on: [\"01-a/x\"] }\n")
        .stack("01-a/x", &shared("x"))
        .stack("01-a/y", &shared("y"))
        .stack("02-b/free", &logging("free"))
        .stack("02-b/needs", &logging("needs"))
}

/// Returns each stack's result, with the code of its error.
fn results(report: &serde_json::Value) -> Vec<String> {
    let word = |stack: &serde_json::Value, pointer: &str| {
        stack.pointer(pointer).and_then(|word| word.as_str()).unwrap_or_default().to_owned()
    };
    let row = |stack| {
        let (id, result, code) = (word(stack, "/id"), word(stack, "/result"), word(stack, "/error/code"));
        format!("{id} {result} {code}").trim_end().to_owned()
    };
    report["stacks"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn two_stacks_on_one_state_fail_and_all_others_run() {
    let project = with_one_conflict();

    let plan = project.run("plan --all --json").exits(65);
    let apply = project.run("apply --all --yes --json").exits(65);

    let failed = ["01-a/x failed state-shared", "01-a/y failed state-shared"];
    assert_eq!(results(&plan.json())[..2], failed);
    assert_eq!(results(&plan.json())[2..], ["02-b/free succeeded", "02-b/needs succeeded"]);
    assert_eq!(results(&apply.json())[..2], failed);
    assert_eq!(results(&apply.json())[2..], ["02-b/free succeeded", "02-b/needs skipped"]);
    assert_eq!(project.read("order"), "+free\n");
    assert!(!project.has("infrastructure/01-a/same.tfstate"));
    let detail = apply.json()["stacks"][0]["error"]["detail"].to_string();
    assert!(detail.contains("01-a/x/main.tf:3") && detail.contains("01-a/y/main.tf:3"), "{detail}");
}

#[test]
fn a_conflict_of_others_is_no_reason_for_any_exit_code() {
    let project = with_one_conflict();
    project.write("infrastructure/02-b/free/a.tftest.hcl", "run \"a\" {\n  command = plan\n}\n");

    for args in ["validate --all", "fmt --all --check", "test free", "stacks", "stacks --json", "locks"] {
        project.run(args).exits(0);
    }
    for args in ["init free", "plan free", "apply free --yes", "drift free", "show free", "output free"] {
        project.run(args).exits(0);
    }
    project.run("state list free").exits(0).stdout_has("terraform_data.thing");
    project.run("destroy free --yes").exits(0);
    project.run("new-stack 02-b/new").exits(0);
}

#[test]
fn a_conflict_is_told_by_listing_and_doctor_and_by_what_is_chosen_of_it() {
    let project = with_one_conflict();

    let words = "stacks `01-a/x` and `01-a/y` write the same state";
    project.run("stacks").exits(0).stderr_has(words);
    assert!(project.run("stacks --json").json()[0]["warnings"].to_string().contains(words));
    let doctor = project.run("doctor").exits(1);
    doctor.stdout_has("FAIL  isolation").stdout_has("x/main.tf:3").stdout_has("y/main.tf:3");
    for args in ["plan x", "init y", "drift x", "apply x --yes", "destroy y --yes"] {
        project.run(args).exits(65).stderr_has("error[state-shared]").stderr_has(words);
    }
    project.run("plan --all --dry-run").exits(65).stdout_has("02-b/free").stderr_has(words);
    project.run("validate x").exits(0);
}

#[test]
fn a_conflict_keeps_neither_saved_plans_nor_a_destroy_of_others() {
    let project = with_one_conflict();

    project.run("plan --all").exits(65);
    let saved = project.run("apply --all --saved --json").exits(65);
    let destroyed = project.run("destroy --all --yes --json").exits(65);

    assert_eq!(results(&saved.json())[2..], ["02-b/free succeeded", "02-b/needs skipped"]);
    assert!(results(&destroyed.json()).contains(&"02-b/free succeeded".to_owned()));
    assert_eq!(project.read("order"), "+free\n-free\n");
}
