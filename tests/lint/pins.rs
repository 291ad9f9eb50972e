//! Where modules come from, and which versions are taken.

use crate::support::Project;
use crate::{CLEAN, found, message, provider, with_module};

const A: &str = "infrastructure/a/main.tf";

fn calling(block: &str) -> Project {
    Project::new().stack("a", &format!("{CLEAN}module \"m\" {{\n{block}\n}}\n"))
}

fn providing(entry: &str) -> Project {
    let terraform = format!("terraform {{\n  required_providers {{\n    {entry}\n  }}\n}}\n");
    Project::new().stack("a", &terraform).file("infrastructure/a/.terraform.lock.hcl", "")
}

#[test]
fn a_module_comes_from_a_path_or_a_registry() {
    for source in
        ["git::https://example.com/vpc.git", "github.com/acme/vpc", "https://example.com/v.zip", "/opt/vpc"]
    {
        assert_eq!(
            found(&calling(&format!("  source = \"{source}\""))),
            [format!("module-source {A}:4")],
            "{source}"
        );
    }
    let project =
        with_module(calling("  source = \"../modules/vm\"\n  size = 1"), "infrastructure/modules/vm");
    assert_eq!(found(&project), [""; 0]);
    assert_eq!(found(&calling("  source = \"acme/vpc/aws\"\n  version = \"~> 5.1\"")), [""; 0]);
    assert_eq!(found(&calling("  source = var.source")), [""; 0]);
}

#[test]
fn a_module_of_a_registry_is_pinned() {
    for version in ["", "version = \">= 5.0\"", "version = \"5.1.0\"", "version = null"] {
        let project = calling(&format!("  source = \"acme/vpc/aws\"\n  {version}"));
        assert_eq!(found(&project), [format!("module-version-pin {A}:4")], "{version}");
    }
    let exact = calling("  source = \"acme/vpc/aws\"\n  version = \"5.1.0\"");
    assert!(message(&exact, "module-version-pin").contains("exactly `5.1.0`"));
    let project = calling("  source = \"acme/vpc/aws\"")
        .file("infrastructure/a/pin_override.tf", "module \"m\" {\n  version = \"~> 5.1\"\n}\n");
    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn modules_call_modules_by_the_same_rules_in_both_forms() {
    let json = "{\"module\": {\n  \"far\": {\"source\": \"git@github.com:acme/x.git\"},\n  \"any\": [{\"source\": \"acme/x/aws\"}]\n}}\n";
    let project = with_module(Project::new().stack("a", CLEAN), "infrastructure/modules/vm")
        .file("infrastructure/modules/vm/calls.tf.json", json);

    assert_eq!(
        found(&project),
        [
            "module-source infrastructure/modules/vm/calls.tf.json:2",
            "module-version-pin infrastructure/modules/vm/calls.tf.json:3",
        ]
    );
}

#[test]
fn a_provider_of_a_stack_is_pinned() {
    for entry in [
        "aws = { source = \"hashicorp/aws\" }",
        "aws = { source = \"hashicorp/aws\", version = \">= 5.0\" }",
        "aws = \"5.1.0\"",
    ] {
        assert_eq!(found(&providing(entry)), [format!("provider-version-pin {A}:3")], "{entry}");
    }
    for entry in [
        "aws = { source = \"hashicorp/aws\", version = \"~> 5.0\" }",
        "aws = \"~> 5.0\"",
        "terraform = { source = \"terraform.io/builtin/terraform\" }",
    ] {
        assert_eq!(found(&providing(entry)), [""; 0], "{entry}");
    }
}

#[test]
fn an_exact_pin_and_no_pin_are_told_in_other_words() {
    let exact = message(&providing("aws = { version = \"= 5.1.0\" }"), "provider-version-pin");
    let none = message(&providing("aws = {}"), "provider-version-pin");

    assert!(exact.contains("exactly `5.1.0`") && none.contains("any version"), "{exact}; {none}");
}

#[test]
fn each_entry_is_a_finding_of_its_own_in_both_forms() {
    let json =
        "{\"terraform\": {\"required_providers\": {\n  \"a\": {\"version\": \"1.0.0\"},\n  \"b\": {}\n}}}\n";
    let project = providing("c = {}\n    d = \"~> 1.0\"").file("infrastructure/a/more.tf.json", json);

    assert_eq!(
        found(&project),
        [
            "provider-version-pin infrastructure/a/main.tf:3",
            "provider-version-pin infrastructure/a/more.tf.json:2",
            "provider-version-pin infrastructure/a/more.tf.json:3",
        ]
    );
}

#[test]
fn providers_of_modules_are_not_pinned_by_them() {
    let project = with_module(Project::new().stack("a", CLEAN), "infrastructure/modules/vm").file(
        "infrastructure/modules/vm/versions.tf",
        "terraform {\n  required_providers {\n    aws = { version = \">= 5\" }\n  }\n}\n",
    );

    assert_eq!(found(&project), [""; 0]);
}

const LOCK: &str = "infrastructure/a/.terraform.lock.hcl";

fn with_provider() -> Project {
    Project::new().stack("a", "resource \"random_id\" \"x\" {\n  byte_length = 4\n}\n")
}

#[test]
fn a_stack_with_providers_has_a_lock_file_that_git_takes() {
    let project = with_provider();
    assert_eq!(found(&project), [format!("lock-file-committed {LOCK}:1")]);

    project.write(LOCK, "");
    assert_eq!(found(&project), [""; 0]);

    project.git(&["init", "-q"]);
    assert_eq!(found(&project), [""; 0]);

    project.write(".gitignore", ".terraform.lock.hcl\n");
    assert_eq!(found(&project), [format!("lock-file-committed {LOCK}:1")]);
    assert!(message(&project, "lock-file-committed").contains("git ignores"));

    // What git knows already is taken, whatever `.gitignore` says.
    project.git(&["add", "-f", LOCK]);
    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn the_advice_about_a_missing_lock_file_works() {
    let folder = tempfile::tempdir().unwrap();
    let mirror = provider::mirror(folder.path(), crate::support::tofu(), provider::Layout::Unpacked);
    let project = Project::new()
        .env("TF_CLI_CONFIG_FILE", mirror.to_str().unwrap())
        .stack("my net", "terraform {\n  required_providers {\n    time = {\n      source  = \"hashicorp/time\"\n      version = \"~> 0.14.0\"\n    }\n  }\n}\n");
    let words = message(&project, "lock-file-committed");

    let advice = words.split('`').find(|part| part.starts_with("infra init ")).unwrap();
    assert_eq!(advice, "infra init 'my net'");
    let mut command = project.command("init");
    command.arg("my net");
    crate::support::Running::start(command, advice).wait().succeeds();

    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn a_provider_that_only_a_module_names_needs_a_lock_file_too() {
    let project =
        with_module(calling("  source = \"../modules/vm\"\n  size = 1"), "infrastructure/modules/vm")
            .file("infrastructure/modules/vm/id.tf", "resource \"random_id\" \"x\" {}\n");

    assert_eq!(found(&project), [format!("lock-file-committed {LOCK}:1")]);
}

#[test]
fn a_stack_that_git_leaves_out_as_a_whole_has_nothing_to_commit() {
    let project = with_provider().file(".gitignore", "/infrastructure/\n");
    project.git(&["init", "-q"]);

    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn a_project_in_a_folder_that_git_leaves_out_is_judged_like_any_other() {
    let project = with_provider().file(LOCK, "");
    let outer = project.root().parent().unwrap();
    std::fs::write(outer.join(".gitignore"), "*\n").unwrap();
    assert!(
        std::process::Command::new("git").args(["init", "-q"]).current_dir(outer).status().unwrap().success()
    );

    assert_eq!(found(&project), [""; 0]);
    project.write("infrastructure/a/x.tfvars", "password = \"hunter2hunter2\"\n");
    assert_eq!(found(&project), ["plaintext-secret infrastructure/a/x.tfvars:1"]);
}
