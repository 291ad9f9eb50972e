//! Secrets of the stacks: in no file in the clear, and compared by what they say.

use std::path::Path;
use std::process::Command;

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
    with_key(repository, repository.project.root(), args)
}

fn with_key(repository: &Repository, checkout: &Path, args: &str) -> Finished {
    let mut command = repository.command(args, checkout, "planner");
    command.env("SOPS_AGE_KEY", &repository.key.secret);
    Running::start(command, args).wait()
}

fn holding(dir: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(holding(&path, text)),
            path => {
                let bytes = std::fs::read(&path).unwrap_or_default();
                if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
                    found.push(path.display().to_string());
                }
            }
        }
    }
    found
}

#[test]
fn no_secret_is_in_any_file_or_any_write_of_either_job() {
    let repository = repository();
    let beside = repository.beside("");
    let mut screens = String::new();
    for (args, trace) in
        [("plan --all --bundle ../plan.bundle -v", "a.strace"), ("apply --bundle ../plan.bundle -vv", "b.strace")]
    {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-s", "4096", "-e", "trace=write,pwrite64,writev", "-o"]);
        let inner = repository.command(args, repository.project.root(), "planner");
        let variables: Vec<_> = inner.get_envs().filter_map(|(name, value)| Some((name, value?))).collect();
        command.arg(repository.beside(trace)).arg(inner.get_program()).args(inner.get_args());
        command.envs(variables).current_dir(repository.project.root());
        command.env("SOPS_AGE_KEY", &repository.key.secret).env("TMPDIR", &beside).env("INFRA_LOG", "trace");
        command.env_remove("SOPS_AGE_RECIPIENTS").stdin(std::process::Stdio::null());
        let run = Running::start(command, args).wait().succeeds();
        screens.push_str(&run.to_string());
    }

    for secret in [CANARY, PASSPHRASE] {
        assert!(!screens.contains(secret), "{screens}");
        let files: Vec<String> =
            holding(&beside, secret).into_iter().filter(|file| !file.ends_with(".strace")).collect();
        assert_eq!(files, Vec::<String>::new());
        assert_eq!(written_to_files(&beside, secret), Vec::<String>::new());
    }
    let shown = infra(&repository, "output x thing --raw").succeeds();
    assert_eq!(shown.stdout.trim(), CANARY);
}

/// Returns the writes of a text that did not go into a pipe or a socket; only `infra` and tofu write.
fn written_to_files(dir: &Path, secret: &str) -> Vec<String> {
    let traces = ["a.strace", "b.strace"].map(|name| std::fs::read_to_string(dir.join(name)).unwrap());
    assert!(traces.iter().all(|trace| trace.contains("age-encryption") || trace.contains("write")));
    let lines = traces.iter().flat_map(|trace| trace.lines());
    let told = lines.filter(|line| line.contains(secret) && (line.contains("write(1,") || line.contains("write(2,")));
    told.map(str::to_owned).collect()
}

#[test]
fn a_secret_that_changed_voids_the_plan_and_one_that_is_only_encrypted_anew_does_not() {
    let repository = repository();
    infra(&repository, "plan --all --bundle ../plan.bundle").succeeds();
    let file = "infrastructure/secrets.sops.yaml";
    let before = repository.project.read(file);

    infra(&repository, &format!("secrets set {file} [\"token\"] \"other\"").replace("\"other\"", "\"other-token\""))
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
