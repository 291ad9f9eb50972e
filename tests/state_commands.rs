//! `infra state …`, `locks` and `force-unlock` over every kind of backend, with the real tofu.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/minio.rs"]
mod minio;
#[path = "support/moto.rs"]
mod moto;
#[path = "support/served.rs"]
mod served;
mod support;
#[path = "support/tools.rs"]
mod tools;

use minio::minio;
use moto::moto;
use nix::sys::signal::Signal;
use served::{PASSWORD, Served, USER, info};
use support::{Project, Running, SIMPLE};

/// A stack with one resource whose input is this, in this backend.
fn stack(backend: &str, input: &str) -> String {
    format!(
        r#"
terraform {{
  {backend}
}}

variable "secret" {{
  type      = string
  default   = "hunter2"
  sensitive = true
}}

resource "terraform_data" "thing" {{
  input = "{input}"
}}

resource "terraform_data" "hidden" {{
  input = "${{var.secret}}-{input}"
}}

output "thing" {{
  value = terraform_data.thing.output
}}
"#
    )
}

const EMBEDDED: &str = "backend \"http\" {}";

/// A stack that was applied three times.
fn applied() -> Project {
    let project = Project::new().stack("01-a/x", &stack(EMBEDDED, "one"));
    for input in ["one", "two", "three"] {
        project.write("infrastructure/01-a/x/main.tf", &stack(EMBEDDED, input));
        project.run("apply x --yes").succeeds();
    }
    project
}

/// The numbers of the versions, newest first.
fn versions(project: &Project) -> Vec<u64> {
    let listed = project.run("state history x --json").succeeds().json();
    listed.as_array().unwrap().iter().map(|version| version["version"].as_u64().unwrap()).collect()
}

fn serial(state: &str) -> u64 {
    serde_json::from_str::<serde_json::Value>(state).unwrap()["serial"].as_u64().unwrap()
}

/// Returns a state that follows another: a changed value and a higher serial.
fn successor(state: &str) -> String {
    let mut next: serde_json::Value = serde_json::from_str(state).unwrap();
    next["serial"] = (serial(state) + 1).into();
    next["outputs"]["thing"]["value"] = "changed".into();
    next.to_string()
}

#[test]
fn history_lists_every_write_and_an_old_one_can_be_pulled() {
    let project = applied();

    let numbers = versions(&project);
    let oldest = project.run(&format!("state pull x --version {}", numbers.last().unwrap())).succeeds();
    let current = project.run("state pull x").succeeds();

    assert!(numbers.len() >= 3, "{numbers:?}");
    assert!(serial(&oldest.stdout) < serial(&current.stdout));
    assert!(current.stdout.contains("\"three\""));
    project.run("state history x").succeeds().stdout_has("current");
    project.run("state pull x --version 9999").exits(64).stderr_has("no version 9999");
}

#[test]
fn a_diff_goes_by_resource_and_masks_what_is_sensitive() {
    let project = applied();
    let oldest = *versions(&project).last().unwrap();

    let last = project.run("state diff x").succeeds();
    let all = project.run(&format!("state diff x {oldest} --json")).succeeds();

    last.stdout_has("~ terraform_data.thing")
        .stdout_has("input: \"two\" -> \"three\"")
        .stdout_lacks("hunter2");
    let diff = all.json();
    assert!(
        diff["resources"]
            .as_array()
            .unwrap()
            .iter()
            .any(|change| change["address"] == "terraform_data.thing")
    );
    assert!(all.stdout.contains("(sensitive)") && !all.stdout.contains("hunter2"), "{all}");
}

#[test]
fn a_rollback_is_a_new_version_and_can_be_rolled_back() {
    let project = applied();
    let before = versions(&project);
    let second = project.run("state pull x").succeeds();

    project.run(&format!("state rollback x {}", before.last().unwrap())).exits(64).stderr_has("--yes");
    project.run(&format!("state rollback x {} --yes", before.last().unwrap())).succeeds();

    let after = versions(&project);
    let state = project.run("state pull x").succeeds();
    assert_eq!(after.len(), before.len() + 1);
    assert!(serial(&state.stdout) > serial(&second.stdout));
    assert!(!state.stdout.contains("\"three\""));
    project.run(&format!("state rollback x {} --yes", before[0])).succeeds();
    assert!(project.run("state pull x").succeeds().stdout.contains("\"three\""));
}

#[test]
fn a_push_refuses_an_older_state_and_another_lineage_unless_forced() {
    let project = applied();
    let old =
        project.run(&format!("state pull x --version {}", versions(&project).last().unwrap())).succeeds();
    project.write("old.tfstate", &old.stdout);
    project.write("other.tfstate", &successor(&old.stdout).replace("\"lineage\":\"", "\"lineage\":\"0"));

    for file in ["old", "other"] {
        project
            .run(&format!("state push x {file}.tfstate"))
            .exits(1)
            .stderr_has("lineage")
            .stderr_has("--force");
    }
    project.run("state push x nonsense.tfstate").exits(69);
    let count = versions(&project).len();
    project.run("state push x old.tfstate --force").succeeds().stderr_has("is kept");

    assert_eq!(versions(&project).len(), count + 1);
}

#[test]
fn resources_are_shown_moved_and_forgotten() {
    let project = applied();

    project.run("state show x terraform_data.thing").succeeds().stdout_has("three");
    project.run("state mv x terraform_data.thing terraform_data.moved").succeeds();
    assert!(project.resources("x").contains(&"terraform_data.moved".to_owned()));
    project.run("state rm x terraform_data.moved").succeeds();

    assert_eq!(project.resources("x"), ["terraform_data.hidden"]);
    project.run("state rm x terraform_data.nothing").exits(1);
    assert!(project.locks().is_empty());
}

#[test]
fn an_encrypted_state_has_a_history_a_diff_and_a_way_back() {
    let key = tools::AgeKey::new();
    let project = Project::new().stack("01-a/x", &stack(EMBEDDED, "one")).env("SOPS_AGE_KEY", &key.secret);
    project
        .write("infrastructure/secrets.sops.yaml", "state_encryption_passphrase: a-long-enough-passphrase\n");
    let path = project.path("infrastructure");
    key.run_sops(&path, &["encrypt", "--age", &key.recipient, "--in-place", "secrets.sops.yaml"]);
    for input in ["one", "two"] {
        project.write("infrastructure/01-a/x/main.tf", &stack(EMBEDDED, input));
        project.run("apply x --yes").succeeds();
    }

    project.run("state diff x").succeeds().stdout_has("input: \"one\" -> \"two\"");
    project.run(&format!("state rollback x {} --yes", versions(&project).last().unwrap())).succeeds();

    assert!(!project.run("state pull x").succeeds().stdout.contains("\"two\""));
    let plain = project.files_containing("hunter2-one");
    assert!(!plain.iter().any(|file| file.contains("state") || file.contains("backups")), "{plain:?}");
}

#[test]
fn history_and_rollback_work_through_a_server() {
    let server = Served::start();
    let project = Project::new()
        .config(&format!("name: lab\nstate:\n  url: http://{}/states\n", server.address))
        .env("TF_HTTP_USERNAME", USER)
        .env("TF_HTTP_PASSWORD", PASSWORD);
    for input in ["one", "two"] {
        project.write("infrastructure/01-a/x/main.tf", &stack(EMBEDDED, input));
        project.run("apply x --yes").succeeds();
    }

    project.run("state diff x").succeeds().stdout_has("input: \"one\" -> \"two\"");
    project.run(&format!("state rollback x {} --yes", versions(&project).last().unwrap())).succeeds();

    assert!(!project.run("state pull x").succeeds().stdout.contains("\"two\""));
}

#[test]
fn a_lock_on_a_server_is_listed_and_released() {
    let server = Served::start();
    let project = Project::new()
        .config(&format!("name: lab\nstate:\n  url: http://{}/states\n", server.address))
        .stack("01-a/x", &stack(EMBEDDED, "one"))
        .env("TF_HTTP_USERNAME", USER)
        .env("TF_HTTP_PASSWORD", PASSWORD);
    server.send("LOCK", "/states/01-a/x/lock", &info("L7"));

    let locks = project.locks();
    project.run("force-unlock x --yes").succeeds().stderr_has("released the lock");

    assert_eq!((locks[0]["stack"].as_str(), locks[0]["id"].as_str()), (Some("01-a/x"), Some("L7")));
    assert!(project.locks().is_empty());
    assert_eq!(server.send("POST", "/states/01-a/x?ID=L7", "late").status, 409);
    project.run("force-unlock x --yes").succeeds().stderr_has("is not locked");
}

fn s3_block(address: std::net::SocketAddr, bucket: &str, more: &str) -> String {
    format!(
        r#"backend "s3" {{
    bucket                      = "{bucket}"
    key                         = "a/x.tfstate"
    region                      = "us-east-1"
    endpoints                   = {{ s3 = "http://{address}", dynamodb = "http://{address}" }}
    use_path_style              = true
    skip_credentials_validation = true
    skip_region_validation      = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    skip_s3_checksum            = true
    {more}
  }}"#
    )
}

/// Holds the lock of a stack with the real tofu until the test ends it.
fn holding(project: &Project, backend: &str) -> Running {
    let slow = "resource \"terraform_data\" \"slow\" {\n  provisioner \"local-exec\" {\n    command = \"touch ../../../started; exec sleep 300\"\n  }\n}\n";
    project.write("infrastructure/01-a/x/main.tf", &(stack(backend, "one") + slow));
    let run = project.start("apply x --yes");
    run.until_exists(&project.path("started"));
    run
}

fn released_after_kill(project: &Project, run: Running) {
    let locks = project.locks();
    assert_eq!((locks.len(), locks[0]["operation"].as_str()), (1, Some("apply")), "{locks:?}");
    let id = locks[0]["id"].as_str().unwrap().to_owned();

    project.run("force-unlock x --yes --force").succeeds().stderr_has("released the lock").stderr_has(&id);

    assert!(project.locks().is_empty());
    run.signal(Signal::SIGINT);
    run.wait();
    project.run("force-unlock x --yes").succeeds().stderr_has("is not locked");
}

#[test]
fn the_lock_file_of_an_s3_backend_is_listed_and_released() {
    let bucket = minio().bucket();
    let project =
        Project::new().env("AWS_ACCESS_KEY_ID", minio::USER).env("AWS_SECRET_ACCESS_KEY", minio::PASSWORD);

    let run = holding(&project, &s3_block(minio().address, &bucket, "use_lockfile = true"));

    released_after_kill(&project, run);
}

#[test]
fn the_lock_item_of_a_dynamodb_table_is_listed_and_released() {
    moto().bucket_with_table("locked-states");
    let project = Project::new().env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test");

    let block = s3_block(moto().address, "locked-states", "dynamodb_table = \"locked-states\"");
    let run = holding(&project, &block);

    released_after_kill(&project, run);
}

#[test]
fn the_lock_of_a_local_state_is_listed_with_its_process() {
    let project = Project::new();
    let run = holding(&project, "backend \"local\" {}");

    let locks = project.locks();

    run.signal(Signal::SIGINT);
    run.wait();
    assert_eq!((locks.len(), locks[0]["alive"].as_bool()), (1, Some(true)), "{locks:?}");
    assert!(project.locks().is_empty());
}

#[test]
fn a_push_into_a_backend_without_versions_puts_the_old_state_aside() {
    let project = Project::new().stack("01-a/x", &stack("backend \"local\" {}", "one"));
    project.run("apply x --yes").succeeds();
    let state = project.run("state pull x").succeeds().stdout;
    project.write("next.tfstate", &successor(&state));

    project.run("state push x next.tfstate").succeeds().stderr_has(".infra/backups/01-a/x/");

    assert!(project.run("state pull x").succeeds().stdout.contains("\"changed\""));
    project.run("state history x").exits(64).stderr_has("has no versions");
}

#[test]
fn a_state_that_could_not_be_saved_is_stored_by_one_command() {
    let project = applied();
    let state = project.run("state pull x").succeeds().stdout;
    project.write("infrastructure/01-a/x/errored.tfstate", &successor(&state));

    project.run("doctor").exits(1).stdout_has("infra state push 01-a/x --errored");
    project.run("state push x --errored").succeeds().stderr_has("stored the state");

    assert!(!project.has("infrastructure/01-a/x/errored.tfstate"));
    assert!(project.run("state pull x").succeeds().stdout.contains("\"changed\""));
    project.run("state push x --errored").exits(1).stderr_has("has no state that could not be saved");
}

fn migrated(project: &Project, to: &str) {
    let before = project.run("state pull x").succeeds().stdout;
    project.run(&format!("state migrate x --to {to} --yes")).succeeds().stderr_has("copied and compared");
    let after = project.run("state pull x").succeeds().stdout;
    let content = |state: &str| {
        let state: serde_json::Value = serde_json::from_str(state).unwrap();
        ["lineage", "resources", "outputs"].map(|part| state[part].clone())
    };
    assert_eq!(content(&before), content(&after), "{to}");
    project.run("plan x --detailed-exitcode").exits(0);
}

#[test]
fn a_state_moves_between_all_backends_and_stays_the_same() {
    let server = Served::start();
    let (address, bucket) = (minio().address, minio().bucket());
    let project = Project::new()
        .stack("01-a/x", &stack("backend \"local\" {}", "one"))
        .env("AWS_ACCESS_KEY_ID", minio::USER)
        .env("AWS_SECRET_ACCESS_KEY", minio::PASSWORD)
        .env("TF_HTTP_USERNAME", USER)
        .env("TF_HTTP_PASSWORD", PASSWORD);
    project.run("apply x --yes").succeeds();

    migrated(&project, "embedded");
    migrated(&project, &format!("s3://{bucket}/a/x.tfstate?region=us-east-1&endpoint=http://{address}"));
    migrated(&project, &format!("http://{}/states/moved/x", server.address));
    migrated(&project, "local:other.tfstate");

    assert!(project.has("infrastructure/01-a/x/terraform.tfstate.moved"), "the old state is kept");
    assert!(server.send("GET", "/states/moved/x", "").body.contains("terraform_data"));
    project.run("state migrate x --to local:other.tfstate --yes").exits(64).stderr_has("there already");
}

#[test]
fn a_migration_never_overwrites_a_state_that_is_there() {
    let project = Project::new().stack("01-a/x", &stack("backend \"local\" {}", "one"));
    project.run("apply x --yes").succeeds();
    let foreign = successor(&project.run("state pull x").succeeds().stdout);
    project.write("infrastructure/01-a/x/taken.tfstate", &foreign);

    project
        .run("state migrate x --to local:taken.tfstate --yes")
        .exits(1)
        .stderr_has("there is a state already");

    assert!(project.read("infrastructure/01-a/x/main.tf").contains("backend \"local\" {}"));
    assert_eq!(project.read("infrastructure/01-a/x/taken.tfstate"), foreign);
}

#[test]
fn every_command_has_examples_first_and_stands_in_the_reference() {
    let reference = format!("{}/docs/reference.md", env!("CARGO_MANIFEST_DIR"));
    let reference = std::fs::read_to_string(reference).unwrap();
    let help = |args: &str| {
        let mut command = support::infra();
        command.args(args.split_whitespace());
        Running::start(command, args).wait().succeeds().stdout
    };
    let all = help("state --help");
    let listed = all.split("Commands:\n").nth(1).unwrap().lines().take_while(|line| !line.is_empty());

    let names: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();

    assert_eq!(names.len(), 13, "{names:?}");
    for name in names {
        let text = help(&format!("state {name} --help"));
        assert!(text.split("Usage:").next().unwrap().contains("Examples:\n  "), "{name}");
        assert!(reference.contains(&format!("`infra state {name}")), "{name}");
    }
}

#[test]
fn a_failing_state_command_writes_no_colours_into_a_pipe() {
    let project = Project::new().stack("x", SIMPLE);
    project.run("apply x --yes").succeeds();

    for command in ["state rm x nope.a", "state mv x nope.a nope.b", "state show x nope.a"] {
        let done = project.run(command);

        assert!(done.code != Some(0) && !done.stderr.is_empty(), "{command}");
        assert!(!done.stderr.contains('\u{1b}'), "{command}: {:?}", done.stderr);
        assert!(!done.stderr.contains("\\u001b"), "{command}: {}", done.stderr);
    }
}

#[test]
fn a_sensitive_value_is_shown_nowhere_although_tofu_copies_it() {
    let stack = r#"
terraform {
  backend "http" {}
}

variable "number" { default = 731 }

resource "terraform_data" "copy" {
  input = sensitive({ long = "other-secret-99", short = "abc", pin = var.number })
}
"#;
    let project = Project::new().stack("x", stack);
    project.run("apply x --yes").succeeds();

    let shown = project.run("state show x terraform_data.copy").succeeds().stdout;

    assert!(shown.contains("output"), "{shown}");
    for secret in ["other-secret-99", "\"abc\"", "731"] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
}
