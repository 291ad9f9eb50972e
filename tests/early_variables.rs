//! Variables that tofu evaluates before anything else: how states are encrypted, where modules and
//! states lie. They reach every command that asks for them, and nothing is asked of a person.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

mod support;
#[path = "support/tools.rs"]
mod tools;

use support::Project;
use tools::AgeKey;

/// Text that must be found nowhere but where it belongs.
const PASSPHRASE: &str = "c4n4ry correct horse battery staple";

const ENCRYPTED: &str = r#"
variable "encryption_passphrase" {
  type      = string
  sensitive = true
}

locals {
  passphrase = var.encryption_passphrase
}

terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = local.passphrase
      iterations = 200000
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    state {
      method   = method.aes_gcm.m
      enforced = true
    }
    plan {
      method   = method.aes_gcm.m
      enforced = true
    }
  }
}

resource "terraform_data" "thing" {
  input = "one"
}

resource "terraform_data" "other" {}

output "thing" {
  value = terraform_data.thing.output
}
"#;

const MODULE: &str = r#"
variable "cloud" {
  type    = string
  default = "aws"
}

module "server" {
  source = "./servers/${var.cloud}"
}

output "made" {
  value = module.server.made
}
"#;

fn made(cloud: &str) -> String {
    format!("output \"made\" {{\n  value = \"{cloud}\"\n}}\n")
}

/// Writes a file of the project, encrypted by the real sops.
fn encrypt(project: &Project, key: &AgeKey, path: &str, text: &str) {
    project.write(path, text);
    let done = key.run_sops(project.root(), &["-e", "-i", "--age", &key.recipient, path]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn encrypted(configuration: &str) -> (Project, AgeKey) {
    let key = AgeKey::new();
    let project = Project::new().stack("x", configuration).env("SOPS_AGE_KEY", &key.secret);
    let secret = format!("encryption_passphrase: {PASSPHRASE}\n");
    encrypt(&project, &key, "infrastructure/x/secrets.sops.yaml", &secret);
    (project, key)
}

#[test]
fn a_state_encrypted_by_a_variable_opens_for_every_command() {
    let (project, _key) = encrypted(ENCRYPTED);

    project.run("validate").succeeds();
    project.run("plan").succeeds();
    project.run("show x --plan").succeeds().stdout_has("terraform_data.thing");
    project.run("apply --yes").succeeds();
    assert_eq!(project.run("output x thing --raw").succeeds().stdout, "one");
    project.run("show").succeeds().stdout_has("terraform_data.thing");
    project.run("state show x terraform_data.thing").succeeds().stdout_has("\"one\"");
    project.run("state mv x terraform_data.other terraform_data.moved").succeeds();
    for passed_through in ["state list", "graph", "workspace list", "providers"] {
        project.run(&format!("tofu --stack x -- {passed_through}")).succeeds();
    }
    project.run("drift").succeeds();
    project.run("destroy --yes").succeeds();
    assert!(project.files_containing(PASSPHRASE).is_empty(), "{:?}", project.files_containing(PASSPHRASE));
}

#[test]
fn a_served_state_encrypted_by_a_variable_can_be_edited_and_pushed() {
    let (project, _key) = encrypted(&format!("{ENCRYPTED}terraform {{\n  backend \"http\" {{}}\n}}\n"));

    project.run("apply --yes").succeeds();
    project.run("state rm x terraform_data.other").succeeds();
    assert_eq!(project.resources("x"), ["terraform_data.thing"]);
    let pulled = project.run("state pull x").succeeds();
    assert_eq!(pulled.json()["outputs"]["thing"]["value"], "one");
    project.write("pulled.json", &pulled.stdout);
    project.run("state push x pulled.json --force").succeeds();
    assert!(!project.files_containing("encrypted_data").is_empty());
}

#[test]
fn a_module_whose_source_is_a_variable_is_installed_anew_when_that_changes() {
    let project = Project::new().stack("x", MODULE);
    for cloud in ["aws", "gcp"] {
        project.write(&format!("infrastructure/x/servers/{cloud}/main.tf"), &made(cloud));
    }
    let made = || project.run("output x made --raw").succeeds().stdout;

    project.run("apply --yes").succeeds();
    assert_eq!(made(), "aws");
    project.write("infrastructure/x/prod.tfvars", "cloud = \"gcp\"\n");
    project.run("apply --yes").succeeds();
    assert_eq!(made(), "gcp");
    project.run("apply --yes").succeeds().stderr_lacks("initialising");
    project.write("infrastructure/x/main.tf", &MODULE.replace("aws", "gcp"));
    project.write("infrastructure/x/prod.tfvars", "");
    project.run("validate").succeeds();
    project.run("plan").succeeds();
}
