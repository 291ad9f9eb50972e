//! `infra state …`, `locks` and `force-unlock` over every kind of backend, with the real tofu.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

#[path = "state_commands/advice.rs"]
mod advice;
#[path = "state_commands/migrating.rs"]
mod migrating;
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
use support::run::wait_until;
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
    assert_eq!(locks[0]["alive"], true, "{locks:?}");
    let id = locks[0]["id"].as_str().unwrap().to_owned();

    project.run("force-unlock x --yes").exits(75).stderr_has("is alive");
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
fn a_killed_run_is_recognised_by_a_lock_that_only_the_backend_knows() {
    let bucket = minio().bucket();
    let project =
        Project::new().env("AWS_ACCESS_KEY_ID", minio::USER).env("AWS_SECRET_ACCESS_KEY", minio::PASSWORD);
    let run = holding(&project, &s3_block(minio().address, &bucket, "use_lockfile = true"));
    let tofu = project.tofu_at_work("01-a/x");

    // Neither can release the lock.
    run.signal(Signal::SIGSTOP);
    tofu.signal(Signal::SIGKILL);
    run.signal(Signal::SIGKILL);
    run.wait();
    wait_until("tofu is gone", || !tofu.lives());

    assert_eq!(project.locks()[0]["alive"], false);
    project.run("force-unlock x --yes").succeeds().stderr_has("released the lock");
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

/// Moves the state and returns what was said about the copy.
fn migrated(project: &Project, to: &str) -> support::Finished {
    let before = project.run("state pull x").succeeds().stdout;
    let said = project.run(&format!("state migrate x --to {to} --yes")).succeeds();
    let after = project.run("state pull x").succeeds().stdout;
    let content = |state: &str| {
        let state: serde_json::Value = serde_json::from_str(state).unwrap();
        ["serial", "lineage", "resources", "outputs"].map(|part| state[part].clone())
    };
    assert_eq!(content(&before), content(&after), "{to}");
    project.run("plan x --detailed-exitcode").exits(0);
    said
}

const BYTES: &str = "every byte is the same";
const CONTENT: &str = "its content is the same, written in the way of the new place";

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

    let s3 = format!("s3://{bucket}/a/x.tfstate?region=us-east-1&endpoint=http://{address}");
    migrated(&project, "embedded").stderr_has(BYTES);
    migrated(&project, &s3).stderr_has(CONTENT);
    migrated(&project, &format!("http://{}/states/moved/x", server.address)).stderr_has(BYTES);
    migrated(&project, "local:other.tfstate").stderr_has(BYTES);

    assert!(project.has("infrastructure/01-a/x/terraform.tfstate.moved"), "the old state is kept");
    assert!(server.send("GET", "/states/moved/x", "").body.contains("terraform_data"));
    project.run("state migrate x --to local:other.tfstate --yes").exits(64).stderr_has("there already");
}

#[test]
fn a_state_is_moved_byte_for_byte_and_stays_private() {
    let server = Served::start();
    let project = Project::new()
        .stack("01-a/x", &stack("backend \"local\" {}", "one"))
        .env("TF_HTTP_USERNAME", USER)
        .env("TF_HTTP_PASSWORD", PASSWORD);
    project.run("apply x --yes").succeeds();
    let original = project.read("infrastructure/01-a/x/terraform.tfstate") + "\n \n";
    project.write("infrastructure/01-a/x/terraform.tfstate", &original);

    migrated(&project, &format!("http://{}/states/moved/x", server.address)).stderr_has(BYTES);
    let served = server.send("GET", "/states/moved/x", "").body;
    migrated(&project, "local:other.tfstate").stderr_has(BYTES);

    assert!(served == original && project.read("infrastructure/01-a/x/other.tfstate") == original);
    let mode = std::fs::metadata(project.path("infrastructure/01-a/x/other.tfstate")).unwrap().permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
    assert!(server.send("GET", "/states/moved/x/lock", "").body.contains("not locked"));
}

#[test]
fn a_state_moves_to_a_bucket_with_a_table_of_locks_under_its_own_serial() {
    moto().bucket_with_table("moved-states");
    let endpoint = format!("http://{}", moto().address);
    let project = Project::new()
        .stack("01-a/x", &stack("backend \"local\" {}", "one"))
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("AWS_ENDPOINT_URL_DYNAMODB", &endpoint);
    project.run("apply x --yes").succeeds();

    let to = format!(
        "s3://moved-states/x.tfstate?region=us-east-1&endpoint={endpoint}&use_lockfile=false&dynamodb_table=moved-states"
    );

    migrated(&project, &to).stderr_has(CONTENT);
}

#[test]
fn a_state_is_stored_under_exactly_the_serial_it_has() {
    for backend in [EMBEDDED, "backend \"local\" {}"] {
        let project = Project::new().stack("01-a/x", &stack(backend, "one"));
        project.run("apply x --yes").succeeds();
        let next = successor(&project.run("state pull x").succeeds().stdout);
        project.write("next.tfstate", &next);

        let said = project.run("state push x next.tfstate").succeeds();

        said.stderr_has(&format!("serial {}, ", serial(&next)));
        assert_eq!(serial(&project.run("state pull x").succeeds().stdout), serial(&next), "{backend}");
        assert!(project.locks().is_empty());
    }
}

/// A project whose states are encrypted with a passphrase from its secrets, and the key to them.
fn encrypted(backend: &str) -> (Project, tools::AgeKey) {
    let key = tools::AgeKey::new();
    let project = Project::new().stack("01-a/x", &stack(backend, "one")).env("SOPS_AGE_KEY", &key.secret);
    project
        .write("infrastructure/secrets.sops.yaml", "state_encryption_passphrase: a-long-enough-passphrase\n");
    let path = project.path("infrastructure");
    key.run_sops(&path, &["encrypt", "--age", &key.recipient, "--in-place", "secrets.sops.yaml"]);
    (project, key)
}

/// The copies that were put aside, oldest first.
fn copies(project: &Project) -> Vec<String> {
    let folder = std::fs::read_dir(project.path(".infra/backups/01-a/x")).into_iter().flatten().flatten();
    let mut files: Vec<_> = folder.map(|entry| entry.path()).collect();
    files.sort();
    files.into_iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

#[test]
fn an_encrypted_state_is_moved_and_stored_without_ever_lying_in_the_clear() {
    let server = Served::start();
    let (address, bucket) = (minio().address, minio().bucket());
    let (project, _key) = encrypted("backend \"local\" {}");
    let project = project
        .env("AWS_ACCESS_KEY_ID", minio::USER)
        .env("AWS_SECRET_ACCESS_KEY", minio::PASSWORD)
        .env("TF_HTTP_USERNAME", USER)
        .env("TF_HTTP_PASSWORD", PASSWORD);
    project.run("apply x --yes").succeeds();
    let original = project.read("infrastructure/01-a/x/terraform.tfstate");

    let http = format!("http://{}/states/moved/x", server.address);
    migrated(&project, &http).stderr_has("every byte of it, encrypted as it is, is the same");
    let served = server.send("GET", "/states/moved/x", "").body;
    let next = successor(&project.run("state pull x").succeeds().stdout);
    project.write("next.tfstate", &next);
    project.run("state push x next.tfstate").succeeds();
    let pushed = project.run("state pull x").succeeds().stdout;
    let s3 = format!("s3://{bucket}/x.tfstate?region=us-east-1&endpoint=http://{address}");
    project.run(&format!("state migrate x --to {s3} --yes")).succeeds().stderr_has("encrypted anew by tofu");

    assert!(served == original && served.contains("encrypted_data"));
    assert_eq!((serial(&pushed), pushed.contains("\"changed\"")), (serial(&next), true));
    assert!(!server.send("GET", "/states/moved/x", "").body.contains("terraform_data"));
    assert_eq!(serial(&project.run("state pull x").succeeds().stdout), serial(&next));
}

#[test]
fn an_encrypted_state_is_put_aside_as_it_lies() {
    let bucket = minio().bucket();
    let s3 = s3_block(minio().address, &bucket, "use_lockfile = true");
    for backend in ["backend \"local\" {}", &s3] {
        let (project, _key) = encrypted(backend);
        let project =
            project.env("AWS_ACCESS_KEY_ID", minio::USER).env("AWS_SECRET_ACCESS_KEY", minio::PASSWORD);
        project.run("apply x --yes").succeeds();

        project.run("state mv x terraform_data.thing terraform_data.moved").succeeds();

        let copies = copies(&project);
        assert!(copies.len() == 1 && copies[0].contains("encrypted_data"), "{backend}: {copies:?}");
        assert!(!copies[0].contains("terraform_data"), "{copies:?}");
        project.write("back.tfstate", &copies[0]);
        project.run("state push x back.tfstate --force").succeeds();
        assert!(project.resources("x").contains(&"terraform_data.thing".to_owned()));
    }
}

/// Prints credentials to tofu, and to nobody else.
const FOR_TOFU_ALONE: &str = r#"
pid=$PPID
while [ "$pid" -gt 1 ]; do
  case $(cat "/proc/$pid/comm") in
    tofu) cat "$1"; exit 0 ;;
    infra) exit 1 ;;
  esac
  pid=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$pid/status")
done
exit 1
"#;

/// A bucket whose credentials only tofu gets; they lie in a folder of the person's.
fn with_hidden_credentials(project: Project, own: &std::path::Path) -> Project {
    let keys =
        format!(r#"{{"Version":1,"AccessKeyId":"{}","SecretAccessKey":"{}"}}"#, minio::USER, minio::PASSWORD);
    let (program, answer, config) = (own.join("for-tofu"), own.join("keys.json"), own.join("config"));
    let profile = format!("[default]\ncredential_process = sh {} {}\n", program.display(), answer.display());
    std::fs::write(&program, FOR_TOFU_ALONE).unwrap();
    std::fs::write(&answer, keys).unwrap();
    std::fs::write(&config, profile).unwrap();
    project.env("AWS_CONFIG_FILE", &config.display().to_string())
}

#[test]
fn an_encrypted_state_that_only_tofu_can_read_is_put_aside_sealed() {
    let block = s3_block(minio().address, &minio().bucket(), "use_lockfile = true");
    let (project, _key) = encrypted(&block);
    let own = tempfile::tempdir().unwrap();
    let project = with_hidden_credentials(project, own.path());
    project.run("apply x --yes").succeeds();

    project.run("state rm x terraform_data.thing").succeeds();

    let copies = copies(&project);
    assert!(copies.len() == 1 && copies[0].contains("encrypted_data"), "{copies:?}");
    project.write("back.tfstate", &copies[0]);
    project.run("state push x back.tfstate --force").succeeds();
    assert!(project.resources("x").contains(&"terraform_data.thing".to_owned()));
}

#[test]
fn an_encrypted_state_that_cannot_be_put_aside_is_changed_only_by_force() {
    let encryption = r#"{"key_provider":{"pbkdf2":{"mine":{"passphrase":"a-passphrase-of-my-own"}}},"method":{"aes_gcm":{"mine":{"keys":"${key_provider.pbkdf2.mine}"}}},"state":{"method":"method.aes_gcm.mine","enforced":true}}"#;
    let block = s3_block(minio().address, &minio().bucket(), "use_lockfile = true");
    let project = Project::new().stack("01-a/x", &stack(&block, "one")).env("TF_ENCRYPTION", encryption);
    let own = tempfile::tempdir().unwrap();
    let project = with_hidden_credentials(project, own.path());
    project.run("apply x --yes").succeeds();

    let refused = project.run("state rm x terraform_data.thing").exits(77);
    assert_eq!(project.resources("x").len(), 2);
    project.run("state rm x terraform_data.thing --force").succeeds();

    let refused =
        refused.stderr_has("no copy of the encrypted state of `01-a/x` can be kept").stderr_has("--force");
    assert_eq!(project.resources("x"), ["terraform_data.hidden"]);
    assert!(copies(&project).is_empty());
    // The other way out: what tofu finds by itself, infra is told.
    let refused =
        refused.stderr_has("`credential_process` of the AWS profile `default` gives no credentials");
    let _ = refused.stderr_lacks("state migrate");
    let project = project.env("AWS_ACCESS_KEY_ID", minio::USER).env("AWS_SECRET_ACCESS_KEY", minio::PASSWORD);
    project.run("state rm x terraform_data.hidden").succeeds();
    assert_eq!(copies(&project).len(), 1);
}

#[test]
fn a_lock_is_found_where_init_and_the_workspace_put_the_state() {
    let bucket = minio().bucket();
    let whole = s3_block(minio().address, &bucket, "use_lockfile = true");
    let partial: Vec<&str> =
        whole.lines().filter(|line| !line.contains("bucket") && !line.contains("key ")).collect();
    let project =
        Project::new().env("AWS_ACCESS_KEY_ID", minio::USER).env("AWS_SECRET_ACCESS_KEY", minio::PASSWORD);
    project.write("infrastructure/01-a/x/main.tf", &stack(&partial.join("\n"), "one"));
    project
        .run(&format!("init x -- -backend-config=bucket={bucket} -backend-config=key=deep/x.tfstate"))
        .succeeds();
    project.run("tofu --stack x -- workspace new prod").succeeds();

    let run = holding(&project, &partial.join("\n"));

    released_after_kill(&project, run);
}

/// A server of the http backend that knows one state and nothing of versions.
fn simple_server() -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = std::io::Read::read(&mut stream, &mut [0; 8192]);
            let state = r#"{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[]}"#;
            let length = state.len();
            let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
            let _ = std::io::Write::write_all(&mut stream, (head + state).as_bytes());
        }
    });
    address
}

#[test]
fn a_backend_without_versions_is_named_with_the_reason_and_the_way_out() {
    let bucket = s3_block(minio().address, &minio().bucket(), "use_lockfile = true");
    let http = format!("backend \"http\" {{\n    address = \"http://{}/x\"\n  }}", simple_server());
    let project = Project::new()
        .stack("01-a/file", &stack("backend \"local\" {}", "one"))
        .stack("01-a/bucket", &stack(&bucket, "one"))
        .stack("01-a/server", &stack(&http, "one"));

    for command in ["history", "diff", "rollback"] {
        let ask = |stack: &str| match command {
            "rollback" => project.run(&format!("state rollback {stack} 1 --yes")),
            _ => project.run(&format!("state {command} {stack}")),
        };
        let way_out = "--to embedded";
        ask("file").exits(64).stderr_has("in a local backend").stderr_has("it is a file").stderr_has(way_out);
        ask("bucket").exits(64).stderr_has("in a s3 backend").stderr_has("versioning").stderr_has(way_out);
        ask("server").exits(69).stderr_has("keeps no versions").stderr_has(way_out);
    }
}

#[test]
fn a_lock_is_not_looked_for_in_another_workspace() {
    let project = Project::new().stack("01-a/x", &stack("backend \"local\" {}", "one"));
    project.run("init x").succeeds();
    project.run("tofu --stack x -- workspace new prod").succeeds();

    let run = holding(&project, "backend \"local\" {}");
    let locks = project.locks();
    run.signal(Signal::SIGINT);
    run.wait();

    assert_eq!((locks.len(), locks[0]["alive"].as_bool()), (1, Some(true)), "{locks:?}");
    project.run("state migrate x --to embedded --yes").exits(64).stderr_has("workspace `prod`");
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

    assert_eq!(names.len(), 17, "{names:?}");
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

#[test]
fn a_web_identity_and_a_profile_look_at_a_bucket_and_its_table_of_locks() {
    moto().bucket_with_table("identity-states");
    let home = tempfile::tempdir().unwrap();
    let (token, config) = (home.path().join("token"), home.path().join("config"));
    std::fs::write(&token, "a-token\n").unwrap();
    std::fs::write(&config, "[profile lab]\naws_access_key_id = a\naws_secret_access_key = b\n").unwrap();
    let block = s3_block(moto().address, "identity-states", "dynamodb_table = \"identity-states\"");
    let project = || {
        let sts = format!("http://{}", moto().address);
        Project::new().stack("01-a/x", &stack(&block, "one")).env("AWS_ENDPOINT_URL_STS", &sts)
    };

    let by_token = project()
        .env("AWS_WEB_IDENTITY_TOKEN_FILE", &token.display().to_string())
        .env("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/lab");
    let by_profile =
        project().env("AWS_CONFIG_FILE", &config.display().to_string()).env("AWS_PROFILE", "lab");

    by_token.run("apply x --yes").succeeds();
    for project in [by_token, by_profile] {
        assert!(project.locks().is_empty());
        project.run("plan x --detailed-exitcode").exits(0);
        assert!(!project.resources("x").is_empty());
        project.run("doctor").stdout_lacks("FAIL  state").stdout_lacks("FAIL  locks");
    }
}
