//! Secrets on their way to tofu: by pipe and environment, to those who declare them, and
//! nowhere else. The encrypted files are made by the real sops and the real ansible-vault.

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

use support::terminal::AtTerminal;
use support::{Finished, Project};
use tools::AgeKey;

/// Text that must be found nowhere but where it belongs.
const CANARY: &str = "c4n4ry-v4lu3-0815";

const STACK: &str = r#"
terraform {
  backend "http" {}
}

variable "api_token" {
  type = string
}

resource "terraform_data" "vm" {
  input = sha256(var.api_token)
  provisioner "local-exec" {
    command = "echo token is $TOKEN; echo ${base64encode("x")} > /dev/null"
    environment = { TOKEN = var.api_token }
  }
}

output "digest" {
  value = terraform_data.vm.output
}
"#;

/// A project whose `secrets.sops.yaml` was encrypted by the real sops.
fn with_sops(yaml: &str) -> (Project, AgeKey) {
    let key = AgeKey::new();
    let project = Project::new().stack("01-a/x", STACK).env("SOPS_AGE_KEY", &key.secret);
    encrypt(&project, &key, yaml);
    (project, key)
}

fn encrypt(project: &Project, key: &AgeKey, yaml: &str) {
    project.write("infrastructure/secrets.sops.yaml", yaml);
    let folder = project.path("infrastructure");
    let done = key.run_sops(&folder, &["-e", "-i", "--age", &key.recipient, "secrets.sops.yaml"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn digest_is_of(project: &Project, value: &str) -> bool {
    use sha2::Digest;
    let digest: String = sha2::Sha256::digest(value).iter().map(|byte| format!("{byte:02x}")).collect();
    project.run("output x digest --raw").succeeds().stdout == digest
}

#[test]
fn what_stands_in_a_secret_that_is_a_document_of_json_is_masked_alone_too() {
    let json = format!(r#"{{"type": "terraform_data", "keys": [{{"token": "{CANARY}"}}], "port": 8443}}"#);
    let (project, _key) = with_sops(&format!("api_token: '{json}'\n"));
    let show = "variable \"api_token\" {}\noutput \"o\" {\n  value = jsondecode(var.api_token).keys[0].token\n}\n\
                resource \"terraform_data\" \"a\" {}\n";
    project.write("infrastructure/01-a/x/main.tf", show);

    let run = project.run("plan -v").succeeds();

    run.stdout_lacks(CANARY).stderr_lacks(CANARY).stdout_has("(redacted)").stdout_has("terraform_data.a");
}

#[test]
fn a_declared_variable_gets_its_value_and_nothing_shows_it() {
    let (project, _key) = with_sops(&format!("api_token: {CANARY}\nother: undeclared-canary\n"));

    let run = project.run("apply --yes -v").succeeds();

    assert!(digest_is_of(&project, CANARY));
    run.stderr_lacks(CANARY).stdout_lacks(CANARY).stderr_has("(redacted)").stderr_lacks("undeclared-canary");
    assert!(project.files_containing(CANARY).is_empty(), "{:?}", project.files_containing(CANARY));
    assert!(project.files_containing("undeclared-canary").is_empty());
}

#[test]
fn a_secret_in_a_value_that_is_not_what_was_shown_is_not_told() {
    let maker = |value: &str| {
        let writes =
            format!("provisioner \"local-exec\" {{\n    command = \"printf {value} > ../../../value\"\n  }}");
        format!("resource \"terraform_data\" \"a\" {{\n  triggers_replace = \"{value}\"\n  {writes}\n}}\n")
    };
    let taker = |text: &str| {
        let value = "file(\"${path.module}/../../../value\")";
        format!(
            "variable \"api_token\" {{\n  type = string\n}}\n\nresource \"terraform_data\" \"b\" {{\n  input = \"{text}-${{var.api_token}}-${{{value}}}\"\n}}\n"
        )
    };
    let key = AgeKey::new();
    let project = Project::new().stack("01-a/maker", &maker("one")).stack("02-b/taker", &taker("old"));
    let project = project.file("value", "one").env("SOPS_AGE_KEY", &key.secret);
    encrypt(&project, &key, &format!("api_token: {CANARY}\n"));
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/01-a/maker/main.tf", &maker("two"));
    project.write("infrastructure/02-b/taker/main.tf", &taker("new"));

    let mut person = AtTerminal::start(project.command("apply --all"));
    person.sees("Apply these changes to 2 stacks? [y/N]");
    person.types("y");
    person.sees("input: another (sensitive)").sees("Apply it with these differences? [y/N]");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, screen.contains(CANARY)), (Some(0), false), "{screen}");
    assert!(!project.newest_events().contains(CANARY));
}

#[test]
fn fifty_stacks_that_share_a_secrets_file_open_it_once() {
    let key = AgeKey::new();
    let stacks = (0..50).map(|number| format!("01-a/s{number:02}"));
    let project = stacks.fold(Project::new(), |project, id| project.stack(&id, STACK));
    let project = project.env("SOPS_AGE_KEY", &key.secret).env("INFRA_LOG", "debug");
    encrypt(&project, &key, "api_token: shared\n");

    let run = project.run("init --all").succeeds();

    let opened = run.stderr.lines().filter(|line| line.contains("opens file=")).count();
    assert_eq!(opened, 1, "{}", run.stderr);
    assert!(project.path("infrastructure/01-a/s49/.terraform").is_dir());
}

#[test]
fn a_saved_plan_holds_the_value_only_in_the_plan_itself() {
    let (project, _key) = with_sops(&format!("api_token: {CANARY}\n"));

    project.run("plan -v").succeeds().stderr_lacks(CANARY).stdout_lacks(CANARY);
    project.run("apply --saved").succeeds();

    assert!(digest_is_of(&project, CANARY));
    assert!(project.files_containing(CANARY).is_empty());
}

#[test]
fn without_the_right_key_nothing_starts() {
    let (project, _key) = with_sops(&format!("api_token: {CANARY}\n"));
    let other = AgeKey::new();
    let project = project.env("SOPS_AGE_KEY", &other.secret);

    let run = project.run("plan").exits(77);

    run.stderr_has("secrets.sops.yaml").stderr_has("SOPS_AGE_KEY").stderr_lacks(CANARY);
    assert!(!project.has("infrastructure/01-a/x/.terraform"));
}

#[test]
fn validating_and_formatting_need_no_key() {
    let (project, _key) = with_sops(&format!("api_token: {CANARY}\n"));
    let project = project.env("SOPS_AGE_KEY", "");

    project.run("validate").succeeds();
    project.run("fmt").succeeds();
}

#[test]
fn reserved_keys_feed_the_environment_and_no_variable() {
    let stack = r#"
variable "aws_access_key_id" {
  type    = string
  default = "not given"
}

resource "terraform_data" "env" {
  input = var.aws_access_key_id
  provisioner "local-exec" {
    command = "test \"$AWS_ACCESS_KEY_ID/$AWS_SECRET_ACCESS_KEY/$AWS_REGION\" = \"AKIDEXAMPLE/s3cretkey/eu-1\""
  }
}

output "given" {
  value = terraform_data.env.output
}
"#;
    let key = AgeKey::new();
    let project = Project::new().stack("01-a/x", stack).env("SOPS_AGE_KEY", &key.secret);
    encrypt(
        &project,
        &key,
        "aws_access_key_id: AKIDEXAMPLE\naws_secret_access_key: s3cretkey\naws_region: eu-1\n",
    );

    project.run("apply --yes").succeeds();

    project.run("output x given --raw").succeeds().stdout_has("not given");
}

#[test]
fn the_nearest_file_wins_and_values_of_any_shape_arrive() {
    let stack = "terraform {\n  backend \"http\" {}\n}\n\nvariable \"shape\" {\n  type = any\n}\n\nvariable \"near\" {\n  type = string\n}\n\noutput \"shape\" {\n  value = jsonencode(var.shape)\n}\n\noutput \"near\" {\n  value = var.near\n}\n";
    let key = AgeKey::new();
    let project = Project::new().stack("01-a/x", stack).env("SOPS_AGE_KEY", &key.secret);
    encrypt(&project, &key, "near: far\nshape:\n  a: [1, true, null]\n  \"b ${c}\": \"%{d} \\\"q\\\"\"\n");
    project.write("infrastructure/01-a/x/secrets.sops.yaml", "near: here\n");
    let folder = project.path("infrastructure/01-a/x");
    assert!(
        key.run_sops(&folder, &["-e", "-i", "--age", &key.recipient, "secrets.sops.yaml"]).status.success()
    );

    project.run("apply --yes").succeeds();

    project.run("output x near --raw").succeeds().stdout_has("here");
    let shape = project.run("output x shape --raw").succeeds().stdout;
    let shape: serde_json::Value = serde_json::from_str(&shape).unwrap();
    assert_eq!(shape, serde_json::json!({"a": [1, true, null], "b ${c}": "%{d} \"q\""}));
}

#[test]
fn a_state_passphrase_encrypts_state_and_plan() {
    let (project, _key) =
        with_sops(&format!("api_token: {CANARY}\nstate_encryption_passphrase: a-long-${{odd}}-passphrase\n"));

    project.run("plan").succeeds();
    project.run("apply --saved").succeeds();

    assert!(digest_is_of(&project, CANARY));
    assert!(!project.files_containing("encrypted_data").is_empty());
    assert!(
        project.files_containing("terraform_data.vm\"").iter().all(|file| !file.starts_with(".infra/state"))
    );
    project.run("plan --detailed-exitcode").succeeds();
}

#[test]
fn required_encryption_without_a_passphrase_is_refused() {
    let (project, _key) = with_sops(&format!("api_token: {CANARY}\n"));
    project.write("infra.yaml", "name: lab\nstate:\n  encryption: required\n");

    project.run("plan").exits(77).stderr_has("state_encryption_passphrase");
}

#[test]
fn a_file_that_should_be_encrypted_and_is_not_is_refused() {
    let project = Project::new()
        .stack("01-a/x", STACK)
        .file("infrastructure/01-a/x/secrets.tfvars", &format!("api_token = \"{CANARY}\"\n"));

    let run: Finished = project.run("plan").exits(77);

    run.stderr_has("secrets.tfvars").stderr_has("not encrypted").stderr_lacks(CANARY);
}

#[test]
fn the_tofu_itself_gets_the_same_variables() {
    let (project, _key) = with_sops(&format!("api_token: {CANARY}\n"));
    project.run("init").succeeds();

    project.run("tofu --stack x -- plan -input=false -no-color").succeeds().stdout_has("1 to add");
}

#[test]
fn doctor_tells_whether_the_secrets_open_and_whose_key_is_exposed() {
    use std::os::unix::fs::PermissionsExt;
    let (project, key) = with_sops(&format!("api_token: {CANARY}\n"));
    let project = project.env("SOPS_AGE_KEY", "").file("age.key", &format!("{}\n", key.secret));
    let mode = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(project.path("age.key"), mode).unwrap();

    project
        .run("doctor")
        .succeeds()
        .stdout_has("all encrypted files open")
        .stdout_has("can be read by others");

    std::fs::remove_file(project.path("age.key")).unwrap();
    project.run("doctor").exits(1).stdout_has("FAIL  secrets").stdout_lacks(CANARY);
}

#[test]
fn an_ansible_vault_of_variables_reaches_the_stack_that_declares_them() {
    let project = Project::new().stack("01-a/x", STACK).env("ANSIBLE_VAULT_PASSWORD", "vault-pass");
    let plain = format!("api_token = \"{CANARY}\"\nundeclared = \"x\"\n");
    project.write("infrastructure/01-a/x/secrets.tfvars", &plain);
    project.run("secrets encrypt --vault infrastructure/01-a/x/secrets.tfvars").succeeds();
    assert!(project.read("infrastructure/01-a/x/secrets.tfvars").starts_with("$ANSIBLE_VAULT;1.1;AES256"));

    let run = project.run("apply --yes -v").succeeds();

    assert!(digest_is_of(&project, CANARY));
    run.stderr_lacks(CANARY).stdout_lacks(CANARY);
    assert!(project.files_containing(CANARY).is_empty());
}

#[test]
fn a_vault_of_variables_may_say_what_tofu_accepts_and_no_more() {
    let file = "infrastructure/01-a/x/secrets.tfvars";
    let project = Project::new().stack("01-a/x", STACK).env("ANSIBLE_VAULT_PASSWORD", "vault-pass");
    let sealed = |plain: &str| {
        project.write(file, plain);
        project.run(&format!("secrets encrypt --vault {file}")).succeeds();
    };
    let lines = format!("first-{CANARY}\nsecond-{CANARY}\n");

    sealed(&format!(
        "\u{feff}other = {{ k = 1, k = 2 }}\napi_token = <<-EOT\n    first-{CANARY}\n    second-{CANARY}\n  EOT\n"
    ));
    let run = project.run("apply --yes -v").succeeds();
    assert!(digest_is_of(&project, &lines));
    run.stderr_lacks(CANARY).stdout_lacks(CANARY);

    for (plain, place, what) in [
        (format!("api_token = \"{CANARY}\n"), "secrets.tfvars:1:13", "a text in quotes is never closed"),
        (format!("a = 1\napi_token \"{CANARY}\" {{\n}}\n"), "secrets.tfvars:2:1", "a block"),
        (format!("a = 1\na = \"{CANARY}\"\n"), "secrets.tfvars:2:1", "a variable that is set before"),
    ] {
        sealed(&plain);
        let refused = project.run("plan x").exits(77).stderr_has(place).stderr_has(what).stderr_lacks(CANARY);
        let advice = format!("secrets view {}", project.path(file).display());
        refused.stderr_has(&format!("`infra {advice}`"));
        project.run(&advice).succeeds().stdout_has(CANARY);
    }
}
