//! `infra state encrypt`: plain states become encrypted, encrypted ones get a new passphrase,
//! with the real tofu and secrets that the real sops encrypted.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

#[path = "state_encryption/own_keys.rs"]
mod own_keys;
mod support;
#[path = "support/tools.rs"]
mod tools;

use std::path::PathBuf;

use support::Project;
use tools::AgeKey;

const FIRST: &str = "the-first-${odd}-passphrase";
const SECOND: &str = "the-second-passphrase";

/// Text that is in the state, and in a plain state can be read.
const CANARY: &str = "c4n4ry-in-the-state";

const STACK: &str = r#"
terraform {
  backend "http" {}
}

resource "terraform_data" "thing" {
  input = "c4n4ry-in-the-state"
}

output "thing" {
  value = terraform_data.thing.output
}
"#;

/// A project with one applied stack and its key.
struct Applied {
    project: Project,
    key: AgeKey,
}

impl Applied {
    /// Applies the stack with these secrets.
    fn with(secrets: &str) -> Self {
        let key = AgeKey::new();
        let project = Project::new().stack("01-a/x", STACK).env("SOPS_AGE_KEY", &key.secret);
        let applied = Self { project, key };
        applied.secrets(secrets);
        applied.project.run("apply --yes").succeeds();
        applied
    }

    /// Replaces the secrets.
    fn secrets(&self, yaml: &str) {
        self.project.write("infrastructure/secrets.sops.yaml", yaml);
        let folder = self.project.path("infrastructure");
        let args = ["-e", "-i", "--age", &self.key.recipient, "secrets.sops.yaml"];
        let done = self.key.run_sops(&folder, &args);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// Returns the newest entry of the store that holds a state.
    fn newest_state(&self) -> String {
        let mut files = Vec::new();
        collect_files(self.project.path(".infra/state"), &mut files);
        let texts = files.iter().map(|file| std::fs::read(file).unwrap());
        let texts = texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let states = texts.filter_map(|text| {
            let (_, body) = text.split_once('\n')?;
            let state: serde_json::Value = serde_json::from_str(body).ok()?;
            let header = text.lines().next()?.strip_prefix("infra-state-1 ")?.to_owned();
            let header: serde_json::Value = serde_json::from_str(&header).ok()?;
            Some((header["state"].as_u64()?, state.to_string()))
        });
        states.max_by_key(|(number, _)| *number).expect("a state").1
    }

    /// Asserts that a plan finds the machines as the state says, and the output is there.
    fn has_no_changes(&self) {
        self.project.run("plan --detailed-exitcode").succeeds();
        self.project.run("output x thing --raw").succeeds().stdout_has(CANARY);
    }
}

fn collect_files(dir: PathBuf, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        if entry.path().is_dir() { collect_files(entry.path(), into) } else { into.push(entry.path()) }
    }
}

fn in_use(passphrase: &str) -> String {
    format!("state_encryption_passphrase: {passphrase}\n")
}

fn with_next(passphrase: &str, next: &str) -> String {
    format!("{}state_encryption_passphrase_next: {next}\n", in_use(passphrase))
}

#[test]
fn a_plain_state_becomes_encrypted_and_nothing_changes() {
    let applied = Applied::with("other: value\n");
    assert!(applied.newest_state().contains(CANARY));
    applied.secrets(&in_use(FIRST));

    let run = applied.project.run("state encrypt x --yes --json").succeeds();

    assert_eq!(run.json()["01-a/x"], "encrypted");
    assert!(!applied.newest_state().contains(CANARY), "{}", applied.newest_state());
    assert!(applied.newest_state().contains("encrypted_data"));
    applied.has_no_changes();
    applied.project.run("state encrypt x --yes").succeeds().stderr_has("01-a/x  already encrypted");
}

#[test]
fn a_plain_state_under_a_passphrase_names_the_command_that_encrypts_it() {
    let applied = Applied::with("other: value\n");
    applied.secrets(&in_use(FIRST));

    let run = applied.project.run("plan").exits(1);

    run.stderr_has("infra state encrypt 01-a/x").stderr_lacks(FIRST);
}

#[test]
fn after_a_rotation_only_the_new_passphrase_opens_the_state() {
    let applied = Applied::with(&in_use(FIRST));
    applied.secrets(&with_next(FIRST, SECOND));

    let run = applied.project.run("state encrypt x --yes --rotate-to state_encryption_passphrase_next");

    run.succeeds()
        .stderr_has("01-a/x  encrypted")
        .stderr_has("infra secrets set infrastructure/secrets.sops.yaml '[\"state_encryption_passphrase\"]'")
        .stderr_has("infra secrets unset infrastructure/secrets.sops.yaml")
        .stderr_lacks(SECOND);
    applied.project.run("plan").exits(1).stderr_has("state_encryption_passphrase").stderr_lacks(FIRST);
    applied.project.run("output x").exits(1).stderr_has("another passphrase");
    applied.secrets(&in_use(SECOND));
    applied.has_no_changes();
}

#[test]
fn a_passphrase_in_an_ansible_vault_is_rotated_with_an_editor_as_the_last_step() {
    const FILE: &str = "infrastructure/01-a/x/secrets.tfvars";
    let project = Project::new().stack("01-a/x", STACK).env("ANSIBLE_VAULT_PASSWORD", "vault-pass");
    let secrets = |plain: &str| {
        project.write(FILE, plain);
        project.run(&format!("secrets encrypt --vault {FILE}")).succeeds();
    };
    secrets("state_encryption_passphrase = \"the-first-passphrase\"\n");
    project.run("apply --yes").succeeds();
    secrets(concat!(
        "state_encryption_passphrase = \"the-first-passphrase\"\n",
        "state_encryption_passphrase_next = \"the-second-passphrase\"\n"
    ));

    let run = project.run("state encrypt x --yes --rotate-to state_encryption_passphrase_next");

    run.succeeds().stderr_has("01-a/x  encrypted").stderr_has(&format!("infra secrets edit {FILE}"));
    project.run("output x").exits(1).stderr_has("another passphrase");
    secrets("state_encryption_passphrase = \"the-second-passphrase\"\n");
    project.run("output x thing --raw").succeeds().stdout_has(CANARY);
}

#[test]
fn moving_the_new_passphrase_into_its_place_ends_a_rotation() {
    let applied = Applied::with(&in_use(FIRST));
    applied.secrets(&with_next(FIRST, SECOND));
    let run = applied.project.run("state encrypt x --yes --rotate-to state_encryption_passphrase_next");
    let stderr = run.succeeds().stderr;
    let commands: Vec<&str> = stderr.lines().filter_map(|line| line.strip_prefix("  infra ")).collect();
    assert_eq!(commands.len(), 2, "{stderr}");

    let file = "infrastructure/secrets.sops.yaml";
    let viewed = applied.project.run(&format!("secrets view --json {file}")).succeeds().json();
    let value = viewed["state_encryption_passphrase_next"].to_string();
    applied.project.run(&format!("secrets set {file} [\"state_encryption_passphrase\"] {value}")).succeeds();
    applied.project.run(&commands[1].replace('\'', "")).succeeds();

    applied.has_no_changes();
    let viewed = applied.project.run(&format!("secrets view --json {file}")).succeeds().json();
    assert_eq!(viewed, serde_json::json!({"state_encryption_passphrase": SECOND}));
}

#[test]
fn a_rotation_that_was_done_is_not_done_again() {
    let applied = Applied::with(&in_use(FIRST));
    applied.project.write("new", &format!("{SECOND}\n"));
    applied.project.run("state encrypt x --yes --rotate-to new").succeeds().stderr_has("01-a/x  encrypted");
    let rotated = applied.newest_state();

    let again = applied.project.run("state encrypt x --yes --rotate-to new").succeeds();

    again.stderr_has("01-a/x  already encrypted").stderr_has("jq -R . new | infra secrets set");
    assert_eq!(applied.newest_state(), rotated);
}

#[test]
fn a_rotation_from_a_wrong_passphrase_leaves_the_state_and_says_so() {
    let applied = Applied::with(&in_use(FIRST));
    let before = applied.newest_state();
    applied.secrets(&with_next("a-passphrase-that-never-was", SECOND));

    let run = applied.project.run("state encrypt x --yes --rotate-to state_encryption_passphrase_next");

    run.exits(1).stderr_has("another passphrase").stderr_lacks(SECOND).stderr_lacks("never-was");
    assert_eq!(applied.newest_state(), before);
}

#[test]
fn a_rotation_never_takes_up_a_plain_state() {
    let applied = Applied::with("other: value\n");
    applied.secrets(&with_next(FIRST, SECOND));

    let run = applied.project.run("state encrypt x --yes --rotate-to state_encryption_passphrase_next");

    run.exits(1).stderr_has("infra state encrypt 01-a/x");
    assert!(applied.newest_state().contains(CANARY));
}

#[test]
fn the_next_passphrase_is_never_a_variable() {
    let stack = format!(
        "{STACK}\nvariable \"state_encryption_passphrase_next\" {{\n  type    = string\n  default = \"not given\"\n}}\n\noutput \"given\" {{\n  value = var.state_encryption_passphrase_next\n}}\n"
    );
    let applied = Applied::with(&with_next(FIRST, SECOND));
    applied.project.write("infrastructure/01-a/x/main.tf", &stack);

    applied.project.run("apply --yes").succeeds();

    applied.project.run("output x given --raw").succeeds().stdout_has("not given");
}

#[test]
fn a_stack_that_was_never_applied_has_no_state_to_encrypt() {
    let applied = Applied::with(&in_use(FIRST));
    applied.project.write("infrastructure/01-a/y/main.tf", STACK);

    let run = applied.project.run("state encrypt --all --yes --json").succeeds();

    assert_eq!(run.json(), serde_json::json!({"01-a/x": "already_encrypted", "01-a/y": "no_state"}));
}

#[test]
fn what_cannot_be_done_is_refused_before_tofu_starts() {
    let applied = Applied::with("other: value\n");
    let project = &applied.project;

    project.run("state encrypt x --yes").exits(77).stderr_has("state_encryption_passphrase");
    project.run("state encrypt x --yes --rotate-to nowhere").exits(64).stderr_has("names no file");
    applied.secrets(&in_use(FIRST));
    project.run("state encrypt x").exits(64).stderr_has("--yes");
    let next = "state encrypt x --yes --rotate-to state_encryption_passphrase_next";
    project.run(next).exits(77).stderr_has("infra secrets edit");
    applied.secrets(&with_next(FIRST, FIRST));
    project.run(next).exits(77).stderr_has("the one in use").stderr_lacks(FIRST);
    applied.secrets(&with_next(FIRST, "short"));
    project.run(next).exits(77).stderr_has("16 characters");
    assert!(applied.newest_state().contains(CANARY));
}
