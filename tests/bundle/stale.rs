//! What a plan was made from is another now: refused before anything is applied, and named.

use std::path::Path;

use crate::jobs::{CONFIG, Repository, STACK};
use crate::provider;
use crate::support::{Running, tofu};

const MODULE: &str = "resource \"terraform_data\" \"m\" {\n  input = \"m\"\n}\n";

/// A stack with everything that a plan can be made from.
fn repository() -> Repository {
    let uses = format!("{STACK}\nmodule \"m\" {{\n  source = \"../../modules/outer\"\n}}\n");
    let outer = "module \"i\" {\n  source = \"../inner\"\n}\n";
    Repository::new()
        .stack("01-a/w", STACK)
        .stack("01-a/x", &uses)
        .file("infrastructure/modules/outer/main.tf", outer)
        .file("infrastructure/modules/inner/main.tf", MODULE)
        .file("infrastructure/01-a/x/prod.tfvars", "word = \"prod\"\n")
        .file("infrastructure/01-a/x/script.sh", "true\n")
        .committed()
}

fn write(checkout: &Path, path: &str, text: &str) {
    std::fs::write(checkout.join(path), text).unwrap();
}

#[test]
fn every_kind_of_source_is_compared_and_the_refusal_names_the_file() {
    let repository = repository();
    repository.plan("--all --bundle ../plan.bundle").succeeds();
    let checkout = repository.clone_as("apply");
    let settings = format!("{CONFIG}stacks:\n  \"01-a/x\": {{ env: {{ HTTPS_PROXY: \"http://p\" }} }}\n");
    let edits = [
        ("infrastructure/01-a/x/main.tf", "# edited\n"),
        ("infrastructure/modules/outer/main.tf", "# edited\n"),
        ("infrastructure/modules/inner/main.tf", "# edited\n"),
        ("infrastructure/01-a/x/prod.tfvars", "word = \"prod\"\n# edited\n"),
        ("infrastructure/01-a/x/script.sh", "false\n"),
        ("infrastructure/01-a/x/untracked.tf", ""),
        ("infra.yaml", settings.as_str()),
    ];

    for (path, text) in edits {
        let before = std::fs::read_to_string(checkout.join(path)).ok();
        let edited = if path.ends_with("main.tf") { before.clone().unwrap() + text } else { text.to_owned() };
        write(&checkout, path, &edited);
        let refused = repository.apply_in(&checkout, "--bundle ../plan.bundle --yes").exits(1);
        refused
            .stderr_has("the plan of `01-a/x` in the bundle is stale")
            .stderr_has(path)
            .stderr_has("differ");
        match before {
            Some(text) => write(&checkout, path, &text),
            None => std::fs::remove_file(checkout.join(path)).unwrap(),
        }
    }
    std::fs::remove_file(checkout.join("infrastructure/01-a/x/script.sh")).unwrap();
    repository.apply_in(&checkout, "--bundle ../plan.bundle").exits(1).stderr_has("script.sh` is gone");

    // The other stack of the bundle fits, and was not applied all the while.
    assert_eq!((repository.output("w"), repository.output("x")), (String::new(), String::new()));
    write(&checkout, "infrastructure/01-a/x/script.sh", "true\n");
    write(&checkout, "README.md", "new\n");
    repository.apply_in(&checkout, "--bundle ../plan.bundle").succeeds();
    assert_eq!((repository.output("w"), repository.output("x")), ("one".to_owned(), "prod".to_owned()));
}

#[test]
fn a_state_that_moved_on_is_told_with_both_serials_and_the_advice_works() {
    let repository = Repository::new().stack("01-a/x", STACK).committed();
    repository.plan("x --bundle ../first.bundle").succeeds();
    repository.apply("--bundle ../first.bundle").succeeds();
    repository.edit("infrastructure/01-a/x/main.tf", &STACK.replace("\"one\"", "\"two\""));
    repository.plan("x --bundle ../plan.bundle").succeeds();
    let other = repository.clone_as("other");
    write(&other, "infrastructure/01-a/x/main.tf", &STACK.replace("\"one\"", "\"hotfix\""));
    repository.apply_in(&other, "--all --yes").succeeds();

    let refused = repository.apply("--bundle ../plan.bundle").exits(1);

    let refused = refused.stderr_has("`01-a/x`").stderr_has("planned at serial 1, now at 2");
    assert_eq!(repository.output("x"), "hotfix");
    let advice = refused.advice("plan 01-a/x --bundle");
    repository.plan(advice.strip_prefix("plan ").unwrap()).succeeds();
    repository.apply("--bundle ../plan.bundle").succeeds();
    assert_eq!(repository.output("x"), "two");
}

#[test]
fn another_state_of_the_same_serial_is_told() {
    let repository = Repository::new().stack("01-a/x", STACK).committed();
    repository.plan("x --bundle ../first.bundle").succeeds();
    repository.apply("--bundle ../first.bundle").succeeds();
    repository.edit("infrastructure/01-a/x/main.tf", &STACK.replace("\"one\"", "\"two\""));
    repository.plan("x --bundle ../plan.bundle").succeeds();
    let other = repository.clone_as("other");
    write(&other, "infra.yaml", "name: lab\nstate: { store: ../others, lock_file: off }\n");
    std::fs::remove_file(other.join("infra.lock")).unwrap_or_default();
    write(&other, "infrastructure/01-a/x/main.tf", STACK);
    repository.apply_in(&other, "--all --yes").succeeds();
    write(&other, "infrastructure/01-a/x/main.tf", &STACK.replace("\"one\"", "\"two\""));

    let refused = repository.apply_in(&other, "--bundle ../plan.bundle").exits(1);

    refused.stderr_has("`01-a/x`").stderr_has("lineage");
}

#[test]
fn another_value_of_a_variable_is_told_by_its_name_alone() {
    let repository = Repository::new().stack("01-a/x", STACK).committed();
    repository.plan("x --bundle ../plan.bundle --var word=n0t-to-be-told").succeeds();

    let refused = repository.apply("--bundle ../plan.bundle").exits(1);
    let refused = refused.stderr_has("`word`").stderr_has("differ").stderr_has("`--var`");
    assert!(!format!("{refused}").contains("n0t-to-be-told") || refused.stdout.contains("thing"));
    assert_eq!(repository.output("x"), "");

    repository.apply("--bundle ../plan.bundle --var word=n0t-to-be-told").succeeds();
    assert_eq!(repository.output("x"), "n0t-to-be-told");
}

#[test]
fn a_stack_that_is_gone_is_refused() {
    let repository = Repository::new().stack("01-a/x", STACK).stack("01-a/y", STACK).committed();
    repository.plan("--all --bundle ../plan.bundle").succeeds();
    repository.project.git(&["rm", "-q", "-r", "infrastructure/01-a/x"]);
    repository.commit("gone");

    let refused = repository.apply("--bundle ../plan.bundle --json").exits(1);

    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("no stack `01-a/x`"));
    assert_eq!(repository.output("y"), "");
}

#[test]
fn a_protected_stack_loses_nothing_without_a_word() {
    let config = format!("{CONFIG}stacks:\n  \"01-a/x\": {{ protect: true }}\n");
    let repository = Repository::new().stack("01-a/x", STACK).file("infra.yaml", &config).committed();
    repository.plan("x --bundle ../first.bundle").succeeds();
    repository.apply("--bundle ../first.bundle").succeeds();
    repository.edit(
        "infrastructure/01-a/x/main.tf",
        "terraform {\n  backend \"http\" {}\n}\n\noutput \"thing\" {\n  value = \"gone\"\n}\n",
    );
    let planned = repository.plan("x --bundle ../plan.bundle").succeeds();

    repository.apply("--bundle ../plan.bundle --yes").exits(1).stderr_has("--allow-destroy");
    assert_eq!(repository.output("x"), "one");

    let advice = planned.advice("--allow-destroy");
    repository.apply(advice.strip_prefix("apply ").unwrap()).succeeds();
    assert_eq!(repository.output("x"), "gone");
}

#[test]
fn a_stack_that_fails_midway_is_told_with_what_was_applied_and_what_is_left() {
    let failing = STACK
        .replace("var.word\n", "var.word\n  provisioner \"local-exec\" {\n    command = \"exit 3\"\n  }\n");
    let repository =
        Repository::new().stack("01-a/x", STACK).stack("02-b/y", &failing).stack("03-c/z", STACK).committed();
    repository.plan("--all --bundle ../plan.bundle").succeeds();

    let failed = repository.apply("--bundle ../plan.bundle --json").exits(1);

    let results = ["01-a/x", "02-b/y", "03-c/z"].map(|id| failed.result_of(id));
    assert_eq!(results, ["succeeded", "failed", "skipped"]);
    let advice = failed.advice("plan 02-b/y 03-c/z --bundle");
    repository.plan(advice.strip_prefix("plan ").unwrap()).succeeds();
}

#[test]
fn an_interrupted_apply_leaves_no_lock_and_says_what_is_left() {
    let slow = STACK.replace(
        "var.word\n",
        "var.word\n  provisioner \"local-exec\" {\n    command = \"touch started; sleep 2\"\n  }\n",
    );
    let repository = Repository::new().stack("01-a/x", &slow).stack("02-b/y", STACK).committed();
    repository.plan("--all --bundle ../plan.bundle").succeeds();
    let checkout = repository.clone_as("apply");
    let mut command = repository.command("apply --bundle ../plan.bundle", &checkout, "applier");
    command.env("SOPS_AGE_KEY", &repository.key.secret);

    let running = Running::start(command, "apply");
    running.until_exists(&checkout.join("infrastructure/01-a/x/started"));
    running.signal(nix::sys::signal::Signal::SIGINT);
    let ended = running.wait().exits(130);

    ended.stderr_has("02-b/y").stderr_has("--bundle ../plan.bundle");
    assert_eq!(repository.output("y"), "");
    assert_eq!(repository.project.locks(), Vec::<serde_json::Value>::new());
}

/// A stack with a real provider from a mirror.
const PROVIDED: &str = r#"
terraform {
  backend "http" {}
  required_providers {
    time = { source = "hashicorp/time" }
  }
}

resource "time_sleep" "moment" {
  create_duration = "1s"
}

output "thing" {
  value = time_sleep.moment.create_duration
}
"#;

#[test]
fn a_lock_file_counts_whether_it_is_committed_or_made_by_each_job() {
    let repository = Repository::new().stack("01-a/x", PROVIDED).committed();
    let settings = provider::mirror(&repository.beside(""), tofu(), provider::Layout::Unpacked);
    let project = repository.project.env("TF_CLI_CONFIG_FILE", settings.to_str().unwrap());
    let repository = Repository { project, ..repository };
    let lock = "infrastructure/01-a/x/.terraform.lock.hcl";

    repository.plan("x --bundle ../plan.bundle").succeeds();
    assert!(repository.project.has(lock));
    repository.commit("nothing that git knows but the lock file");
    let checkout = repository.clone_as("apply");
    write(&checkout, lock, &repository.project.read(lock).replace("hashes", "# edited\n  hashes"));
    let refused = repository.apply_in(&checkout, "--bundle ../plan.bundle").exits(1);
    refused.stderr_has(&format!("`{lock}` differs"));

    std::fs::remove_file(checkout.join(lock)).unwrap();
    repository.apply_in(&checkout, "--bundle ../plan.bundle").succeeds();
    assert_eq!(repository.output("x"), "1s");
}
