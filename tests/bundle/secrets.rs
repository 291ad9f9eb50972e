//! Secrets of the stacks, compared by what they say. That none is written in the clear is shown in
//! `secrets_canary`.

use crate::jobs::{CONFIG, Repository};
use crate::support::{Finished, Running};

const CANARY: &str = "c4n4ry-of-the-bundle";
const PASSPHRASE: &str = "c4n4ry-of-the-passphrase";

const STACK: &str = r#"
terraform {
  backend "http" {}
}

variable "token" {
  type      = string
  sensitive = true
}

resource "terraform_data" "thing" {
  input = var.token
}

output "thing" {
  value     = terraform_data.thing.output
  sensitive = true
}
"#;

/// A project whose secrets both jobs can open.
fn repository() -> Repository {
    let repository = Repository::new().stack("01-a/x", STACK);
    let rules = format!("creation_rules:\n  - age: {}\n", repository.key.recipient);
    let secrets = format!("token: {CANARY}\nstate_encryption_passphrase: {PASSPHRASE}\n");
    let repository = repository.file(".sops.yaml", &rules).file("infrastructure/secrets.sops.yaml", &secrets);
    infra(&repository, "secrets encrypt infrastructure/secrets.sops.yaml").succeeds();
    repository.committed()
}

fn infra(repository: &Repository, args: &str) -> Finished {
    let mut command = repository.command(args, repository.project.root(), "planner");
    command.env("SOPS_AGE_KEY", &repository.key.secret);
    Running::start(command, args).wait()
}

#[test]
fn a_secret_that_changed_voids_the_plan_and_one_that_is_only_encrypted_anew_does_not() {
    let repository = repository();
    infra(&repository, "plan --all --bundle ../plan.bundle").succeeds();
    let file = "infrastructure/secrets.sops.yaml";
    let before = repository.project.read(file);

    infra(
        &repository,
        &format!("secrets set {file} [\"token\"] \"other\"").replace("\"other\"", "\"other-token\""),
    )
    .succeeds();
    let refused = infra(&repository, "apply --bundle ../plan.bundle").exits(1);
    refused.stderr_has("`01-a/x`").stderr_has(&format!("`{file}` differs")).stderr_lacks("other-token");

    repository.project.write(file, &before);
    infra(&repository, &format!("secrets rotate {file}")).succeeds();
    assert_ne!(repository.project.read(file), before);
    infra(&repository, "apply --bundle ../plan.bundle").succeeds();
}

#[test]
fn a_file_of_settings_in_the_project_may_name_the_recipients_of_its_bundles() {
    let repository = repository();
    let config = format!("{CONFIG}bundle: {{ recipients: [{}] }}\n", repository.key.recipient);
    repository.project.write("infra.yaml", &config);

    infra(&repository, "plan --all --bundle ../plan.bundle").succeeds();
    infra(&repository, "apply --bundle ../plan.bundle").succeeds();

    repository.project.write("infra.yaml", &format!("{CONFIG}bundle: {{ recipient: [x] }}\n"));
    infra(&repository, "plan --all").exits(65).stderr_has("recipients");
}
