//! Bundles that lie: what is in them was not made from this checkout by `plan --bundle`.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::forging::{forge, plan_in, smuggle};
use crate::jobs::{CONFIG, Repository, STACK};
use crate::support::{Finished, Running, tofu};

const X: &str = "infrastructure/01-a/x/main.tf";

const TWO: &str = r#"
terraform {
  backend "http" {}
}

variable "word" {
  default = "one"
}

resource "terraform_data" "thing" {
  input = var.word
}

resource "terraform_data" "other" {
  input = "kept"
}

output "thing" {
  value = terraform_data.thing.output
}

output "id" {
  value = terraform_data.other.id
}
"#;

/// A stack that is applied, then changed, with a bundle of the change.
fn changed() -> (Repository, PathBuf) {
    let repository = Repository::new().stack("01-a/x", TWO).committed();
    repository.plan("x --bundle ../first.bundle").succeeds();
    repository.apply("--bundle ../first.bundle").succeeds();
    repository.edit(X, &TWO.replace("\"one\"", "\"two\""));
    repository.plan("x --bundle ../plan.bundle").succeeds();
    let bundle = repository.beside("plan.bundle");
    (repository, bundle)
}

/// Makes a plan file of the stack as it is, in the clear, with these arguments.
fn made_by_hand(repository: &Repository, args: &str) -> PathBuf {
    let out = repository.beside("evil.tfplan");
    let args = format!("tofu --stack x -- plan -out={} {args}", out.display());
    Running::start(repository.command(&args, repository.project.root(), "planner"), &args).wait().succeeds();
    out
}

fn refused(repository: &Repository) -> Finished {
    let refused = repository.apply("--bundle ../plan.bundle --yes").exits(1);
    assert_eq!(repository.output("x"), "one", "{refused}");
    refused.stderr_has("`01-a/x`")
}

#[test]
fn a_plan_that_does_something_else_with_the_reviewed_files_is_refused() {
    let (repository, bundle) = changed();
    let good = std::fs::read(&bundle).unwrap();
    for (args, told) in [
        ("-destroy", "do the same"),
        ("-replace=terraform_data.other", "terraform_data.other"),
        ("-target=terraform_data.other", "terraform_data.thing"),
        ("-refresh-only", "do the same"),
        ("-var=word=evil", "`word`"),
    ] {
        std::fs::write(&bundle, &good).unwrap();
        smuggle(&repository, &bundle, &made_by_hand(&repository, args));
        refused(&repository).stderr_has(told);
    }

    std::fs::write(&bundle, &good).unwrap();
    repository.apply("--bundle ../plan.bundle").succeeds();
    assert_eq!(repository.output("x"), "two");
}

#[test]
fn what_was_passed_on_to_the_plan_counts_only_if_apply_says_it_too() {
    let (repository, _) = changed();
    let plan = "x --bundle ../plan.bundle -- -replace=terraform_data.other";
    let planned = repository.plan(plan).succeeds();

    refused(&repository).stderr_has("terraform_data.other");

    let advice = planned.advice("apply --bundle");
    assert!(advice.ends_with("-- -replace=terraform_data.other"), "{advice}");
    repository.apply(advice.strip_prefix("apply ").unwrap()).succeeds();
    assert_eq!(repository.output("x"), "two");
}

#[test]
fn a_plan_of_other_files_is_refused_though_its_record_names_those_of_the_checkout() {
    let (repository, bundle) = changed();
    let mark = repository.beside("mark");
    let evil = format!(
        "two\"\n}}\n\nresource \"terraform_data\" \"evil\" {{\n  provisioner \"local-exec\" {{\n    command = \"touch {}\"\n  }}\n  input = \"x",
        mark.display()
    );
    let checkout = repository.project.read(X);
    repository.project.write(X, &checkout.replacen("two", &evil, 1));
    let plan = made_by_hand(&repository, "");
    repository.project.write(X, &checkout);
    smuggle(&repository, &bundle, &plan);

    refused(&repository).stderr_has("configuration inside it differs").stderr_has("`main.tf`");
    assert!(!mark.exists());
}

#[test]
fn a_comment_in_the_configuration_inside_is_a_difference() {
    let (repository, bundle) = changed();
    let checkout = repository.project.read(X);
    repository.project.write(X, &format!("{checkout}# more\n"));
    let plan = made_by_hand(&repository, "");
    repository.project.write(X, &checkout);
    smuggle(&repository, &bundle, &plan);

    refused(&repository).stderr_has("configuration inside it differs");
}

#[test]
fn a_manifest_of_modules_that_leads_elsewhere_is_refused() {
    let module = "resource \"terraform_data\" \"m\" {}\n";
    let uses = format!("{STACK}\nmodule \"m\" {{\n  source = \"../../modules/m\"\n}}\n");
    let repository =
        Repository::new().stack("01-a/x", &uses).file("infrastructure/modules/m/main.tf", module);
    let repository = repository.committed();
    repository.plan("x --bundle ../plan.bundle").succeeds();
    let bundle = repository.beside("plan.bundle");
    let plan = repository.beside("evil.tfplan");
    std::fs::write(&plan, plan_in(&repository, &bundle)).unwrap();
    rewrite(
        &plan,
        "tfconfig/modules.json",
        "../../modules/m\",\n    \"Dir\": \"../../modules/m",
        "../../modules/m\",\n    \"Dir\": \"/tmp/evil",
    );
    smuggle(&repository, &bundle, &plan);

    let refused = repository.apply("--bundle ../plan.bundle").exits(1);

    refused.stderr_has("manifest of modules").stderr_has("module `m`").stderr_has("`01-a/x`");
    assert_eq!(repository.output("x"), "");
}

/// Changes a text in one entry of a plan file, with Python's own archives.
fn rewrite(plan: &std::path::Path, entry: &str, old: &str, new: &str) {
    const SCRIPT: &str = "
import sys, zipfile
path, entry, old, new = sys.argv[1:]
with zipfile.ZipFile(path) as plan:
    parts = [(one.filename, plan.read(one)) for one in plan.infolist()]
with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as plan:
    for name, data in parts:
        if name == entry:
            assert old.encode() in data, data
            data = data.replace(old.encode(), new.encode())
        plan.writestr(name, data)
";
    let done =
        Command::new("python3").args(["-c", SCRIPT]).arg(plan).args([entry, old, new]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_forged_state_inside_a_plan_never_reaches_the_state() {
    let (repository, bundle) = changed();
    let plan = repository.beside("evil.tfplan");
    std::fs::write(&plan, plan_in(&repository, &bundle)).unwrap();
    for entry in ["tfstate", "tfstate-prev"] {
        rewrite(&plan, entry, "kept", "evil");
    }
    smuggle(&repository, &bundle, &plan);

    let ended = repository.apply("--bundle ../plan.bundle");

    assert!([Some(0), Some(1)].contains(&ended.code), "{ended}");
    let args = "state pull x";
    let state = Running::start(repository.command(args, repository.project.root(), "planner"), args).wait();
    let state = state.succeeds();
    assert!(state.stdout.contains("kept") && !state.stdout.contains("evil"), "{state}");
}

#[test]
fn what_a_bundle_says_of_its_state_and_its_tofu_does_not_help_it() {
    let (repository, bundle) = changed();
    let good = std::fs::read(&bundle).unwrap();
    let other = repository.clone_as("other");
    std::fs::write(other.join(X), TWO.replace("\"one\"", "\"three\"")).unwrap();
    repository.apply_in(&other, "--all --yes").succeeds();
    assert_eq!(repository.output("x"), "three");

    // The record is brought up to date, the plan inside is not.
    forge(&repository, &bundle, |content| {
        content["plans"][0]["state"] = json!(null);
    });
    let refused = repository.apply("--bundle ../plan.bundle").exits(1);
    refused.stderr_has("`01-a/x`").stderr_has("state");
    assert_eq!(repository.output("x"), "three");
    assert_ne!(std::fs::read(&bundle).unwrap(), good);
}

#[test]
fn a_bundle_of_another_stack_or_another_project_is_refused() {
    let config = format!("{CONFIG}stacks:\n  \"01-a/y\": {{ env: {{ TF_VAR_word: \"one\" }} }}\n");
    let repository = Repository::new()
        .stack("01-a/x", STACK)
        .stack("01-a/y", STACK)
        .file("infra.yaml", &config)
        .committed();
    repository.plan("y --bundle ../plan.bundle").succeeds();
    let bundle = repository.beside("plan.bundle");
    forge(&repository, &bundle, |content| content["plans"][0]["stack"] = json!("01-a/x"));
    repository.apply("--bundle ../plan.bundle").exits(1).stderr_has("`01-a/x`").stderr_has("differ");

    for odd in ["../../evil", "/etc/passwd", "", "no/such"] {
        forge(&repository, &bundle, |content| content["plans"][0]["stack"] = json!(odd));
        repository.apply("--bundle ../plan.bundle").exits(1).stderr_has("in this checkout");
    }
    repository.plan("y --bundle ../plan.bundle").succeeds();
    forge(&repository, &bundle, |content| content["project"] = json!("other"));
    repository.apply("--bundle ../plan.bundle").exits(1).stderr_has("`other`");
    assert_eq!((repository.output("x"), repository.output("y")), (String::new(), String::new()));
}

#[test]
fn the_plan_of_a_stack_whose_own_files_encrypt_plans_travels_too() {
    let own = r#"
terraform {
  backend "http" {}
  encryption {
    key_provider "pbkdf2" "own" {
      passphrase = "a-passphrase-of-the-files"
    }
    method "aes_gcm" "own" {
      keys = key_provider.pbkdf2.own
    }
    plan {
      method   = method.aes_gcm.own
      enforced = true
    }
  }
}
"#;
    let stack = STACK.replace("\nterraform {\n  backend \"http\" {}\n}\n", own);
    let repository = Repository::new().stack("01-a/x", &stack).committed();
    repository.plan("x --bundle ../plan.bundle").succeeds();

    repository.apply("--bundle ../plan.bundle").succeeds();

    assert_eq!(repository.output("x"), "one");
}

#[test]
fn nothing_of_the_plans_is_left_behind_by_either_job() {
    let (repository, bundle) = changed();
    repository.apply("--bundle ../plan.bundle").succeeds();
    let left = |folder: PathBuf| {
        let mut found = Vec::new();
        let mut open = vec![folder];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).unwrap().flatten() {
                match entry.path() {
                    path if path.is_dir() => open.push(path),
                    path if path.extension().is_some_and(|ending| ending == "tfplan") => found.push(path),
                    _ => {}
                }
            }
        }
        found
    };

    assert_eq!(left(repository.project.root().to_owned()), Vec::<PathBuf>::new());
    assert_eq!(left(repository.beside("apply")), Vec::<PathBuf>::new());
    let mut head = [0; 3];
    std::fs::File::open(bundle).unwrap().read_exact(&mut head).unwrap();
    assert_eq!(&head, b"age");
    assert!(tofu().exists());
}
