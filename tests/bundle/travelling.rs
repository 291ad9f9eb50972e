//! The way of a bundle where all is well.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::jobs::{CONFIG, Repository, STACK};
use crate::support::older_tofu;

#[test]
fn a_bundle_is_applied_by_another_user_in_another_checkout_and_only_once() {
    let repository = Repository::new().stack("01-a/x", STACK).committed();

    let planned = repository.plan("--all --bundle ../plan.bundle --json").succeeds();
    assert_eq!(planned.result_of("01-a/x"), "succeeded");
    let path = repository.beside("plan.bundle");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1"));
    for word in ["terraform_data", "main.tf", "01-a/x", "thing", "infra"] {
        assert!(!bytes.windows(word.len()).any(|part| part == word.as_bytes()), "{word}");
    }
    assert!(!repository.project.has(".infra/plans"), "only the bundle holds the plan");

    let applied = repository.apply("--bundle ../plan.bundle --json").succeeds();
    assert_eq!(applied.result_of("01-a/x"), "succeeded");
    assert_eq!(repository.output("x"), "one");

    let again = repository.apply("--bundle ../plan.bundle --yes").exits(1);
    again.stderr_has("error[stale-plan]").stderr_has("`01-a/x`").stderr_has("serial 1");
    assert_eq!(repository.output("x"), "one");
}

#[test]
fn a_bundle_without_changes_is_applied_without_doing_anything() {
    let repository = Repository::new().stack("01-a/x", STACK).committed();
    repository.plan("--all --bundle ../a.bundle").succeeds();
    repository.apply("--bundle ../a.bundle").succeeds();

    repository.plan("--all --bundle ../b.bundle --detailed-exitcode").succeeds();
    let applied = repository.apply("--bundle ../b.bundle --json").succeeds();

    assert_eq!(applied.json()["stacks"], serde_json::json!([]));
    applied.stderr_has("nothing to apply");
}

#[test]
fn the_bundles_of_a_matrix_go_in_together_in_the_order_of_the_project() {
    let below = STACK
        .replace("var.word\n", "var.word\n  provisioner \"local-exec\" {\n    command = \"sleep 1\"\n  }\n");
    let repository = Repository::new().stack("01-a/x", &below).stack("02-b/y", STACK).committed();
    repository.plan("y --bundle ../y.bundle").succeeds();
    repository.plan("x --bundle ../x.bundle").succeeds();

    repository
        .apply("--bundle ../y.bundle --bundle ../x.bundle --bundle ../y.bundle")
        .exits(1)
        .stderr_has("twice");
    std::fs::copy(repository.beside("y.bundle"), repository.beside("z.bundle")).unwrap();
    let two = repository.apply("--bundle ../y.bundle --bundle ../z.bundle --json").exits(1);
    assert!(two.json()["error"]["message"].as_str().unwrap().contains("`02-b/y` is in two bundles"));
    assert_eq!(repository.output("y"), "");

    let applied = repository.apply("--bundle ../y.bundle --bundle ../x.bundle").succeeds();
    let at = |text: &str| applied.stderr.find(text).unwrap_or_else(|| panic!("{text}\n{applied}"));
    assert!(at("01-a/x  applied") < at("02-b/y  applying"), "{applied}");
    assert_eq!((repository.output("x"), repository.output("y")), ("one".to_owned(), "one".to_owned()));
}

#[test]
fn a_bundle_of_another_tofu_is_refused_and_both_versions_are_named() {
    let version = |version: &str| {
        format!("name: lab\nstate: {{ store: ../states }}\ntofu: {{ version: \"{version}\" }}\n")
    };
    older_tofu();
    let repository =
        Repository::new().stack("01-a/x", STACK).file("infra.yaml", &version("1.11.14")).committed();
    repository.plan("--all --bundle ../old.bundle").succeeds();

    let newer = repository.clone_as("newer");
    std::fs::write(newer.join("infra.yaml"), version("1.12.6")).unwrap();
    let refused = repository.apply_in(&newer, "--bundle ../old.bundle").exits(1);
    refused.stderr_has("1.11.14").stderr_has("1.12.6").stderr_has("`01-a/x`");
    assert_eq!(repository.output("x"), "");

    repository.apply("--bundle ../old.bundle").succeeds();
    assert_eq!(repository.output("x"), "one");
}

#[test]
fn a_stack_that_failed_leaves_no_bundle_and_an_older_one_is_gone() {
    let broken = "resource \"terraform_data\" \"a\" {\n  input = file(\"not-there\")\n}\n";
    let repository = Repository::new().stack("01-a/x", STACK).stack("02-b/y", broken).committed();
    repository.plan("x --bundle ../plan.bundle").succeeds();

    let failed = repository.plan("--all --bundle ../plan.bundle").exits(1);

    failed.stderr_has("no bundle");
    assert!(!repository.beside("plan.bundle").exists());
    repository
        .apply("--bundle ../plan.bundle")
        .exits(1)
        .stderr_has("there is no bundle `../plan.bundle`")
        .stderr_has("plan again");
}

#[test]
fn a_file_that_is_no_bundle_is_never_overwritten() {
    let repository = Repository::new().stack("01-a/x", STACK).committed();
    let before = repository.project.read("infra.yaml");

    repository.plan("--all --bundle infra.yaml").exits(1).stderr_has("is no bundle");
    repository.plan("--all --bundle infrastructure").exits(1).stderr_has("is no bundle");
    assert_eq!(repository.project.read("infra.yaml"), before);

    std::fs::write(repository.beside("empty"), "").unwrap();
    repository.plan("--all --bundle ../empty").succeeds();
    repository.apply("--bundle ../empty").succeeds();
}

#[test]
fn a_bundle_in_the_folder_of_its_stack_is_no_source_of_it() {
    let repository = Repository::new().stack("01-a/x", STACK).committed();
    let folder = repository.project.path("infrastructure/01-a/x");

    repository.plan_in(&folder, "--bundle plan.bundle").succeeds();
    repository.apply_in(&folder, "--bundle plan.bundle").succeeds();

    assert_eq!(repository.output("x"), "one");
}

#[test]
fn a_bundle_says_itself_which_stacks_are_applied() {
    let repository = Repository::new().stack("01-a/x", STACK).committed();
    repository.plan("--all --bundle ../plan.bundle").succeeds();

    for choice in ["x", "--all", "--exclude x", "--layer 1"] {
        repository.apply(&format!("{choice} --bundle ../plan.bundle")).exits(64).stderr_has("says itself");
    }
    repository.apply("--bundle ../plan.bundle --dry-run").succeeds().stdout_has("01-a/x");
    assert_eq!(repository.output("x"), "");
}

#[test]
fn workspaces_and_fetched_modules_may_lie_elsewhere_in_another_checkout() {
    let repository = Repository::new().stack("01-a/x", STACK);
    let module = repository.beside("module");
    std::fs::create_dir(&module).unwrap();
    std::fs::write(
        module.join("main.tf"),
        "resource \"terraform_data\" \"m\" {\n  input = \"${path.module}\" != \"\"\n}\n",
    )
    .unwrap();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@localhost"]).args(args).current_dir(&module);
        assert!(git.status().unwrap().success());
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "module"]);
    let source = format!("{STACK}\nmodule \"m\" {{\n  source = \"git::file://{}\"\n}}\n", module.display());
    let workspaces = "stacks:\n  \"01-a/x\":\n    workspaces: { dev: {}, prod: {} }\n";
    let config = format!("{CONFIG}{workspaces}");
    let repository = repository.stack("01-a/x", &source).file("infra.yaml", &config).committed();

    repository.plan("x@dev --bundle ../plan.bundle").succeeds();
    repository.apply("--bundle ../plan.bundle").succeeds();

    assert_eq!(repository.output("x@dev"), "one");
    assert_eq!(repository.output("x@prod"), "");
}
