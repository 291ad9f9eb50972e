//! States in a bucket: the real MinIO, the real tofu, and a network that lies.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "state_buckets/credentials.rs"]
mod credentials;
#[path = "support/faults.rs"]
mod faults;
#[path = "support/history.rs"]
mod history;
#[path = "support/minio.rs"]
mod minio;
#[path = "support/served.rs"]
mod served;
mod support;
#[path = "support/tools.rs"]
#[expect(dead_code, reason = "each test file uses its own part")]
mod tools;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use faults::{Fault, Seen, faulty};
use history::Faults;
use infra::model::{Clock, Environment};
use infra::state::{HeldLock, Locking, StateName, StateStore, StorePlace, Unlocking, Writing};
use jiff::Timestamp;
use minio::{Minio, PASSWORD, USER, minio};
use nix::sys::signal::Signal;
use served::Served;
use support::run::wait_until;
use support::{Project, SIMPLE};

fn open(url: &str) -> StateStore {
    let place = StorePlace::parse(url, Path::new("/")).unwrap();
    let env = Environment::default().with("AWS_ACCESS_KEY_ID", USER).with("AWS_SECRET_ACCESS_KEY", PASSWORD);
    StateStore::open(&place, &env, Clock::new(Timestamp::now)).unwrap()
}

/// A store behind a proxy, and the same store without it.
fn behind(policy: impl Fn(&Seen) -> Fault + Send + Sync + 'static) -> (StateStore, StateStore) {
    let server: &Minio = minio();
    let bucket = server.bucket();
    let proxy: SocketAddr = faulty(server.address, policy);
    (open(&server.url(&bucket, proxy)), open(&server.url(&bucket, server.address)))
}

/// Does something to the first few entries that are written.
fn first_entries(count: usize, fault: Fault) -> impl Fn(&Seen) -> Fault + Send + Sync {
    let seen = AtomicUsize::new(0);
    move |request| match request.is_conditional && seen.fetch_add(1, Ordering::Relaxed) < count {
        true => fault,
        false => Fault::None,
    }
}

fn name() -> StateName {
    StateName::parse("02-größe/k8s prod").unwrap()
}

fn lock(id: &str) -> HeldLock {
    HeldLock::from_client(format!("{{\"ID\":\"{id}\"}}").as_bytes(), None).unwrap()
}

async fn text(store: &StateStore) -> Option<String> {
    store.read(&name()).await.unwrap().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
}

fn project_on(url: &str) -> Project {
    Project::new()
        .config(&format!("name: lab\nstate:\n  store: {url}\n"))
        .env("AWS_ACCESS_KEY_ID", USER)
        .env("AWS_SECRET_ACCESS_KEY", PASSWORD)
}

const HOLDING: &str = r#"
terraform {
  backend "http" {}
}

resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "touch ../../../started; exec sleep 300"
  }
}
"#;

#[test]
fn two_folders_on_one_bucket_exclude_each_other() {
    let url = minio().fresh_url();
    let (one, other) = (project_on(&url).stack("01-a/x", HOLDING), project_on(&url).stack("01-a/x", HOLDING));
    let holder = one.start("apply x --yes");
    holder.until_exists(&one.path("started"));

    let refused = other.run("plan x").exits(75);
    let locks = other.locks();

    holder.signal(Signal::SIGINT);
    holder.wait();
    refused.stderr_has("error[state-locked]: state of `01-a/x` is locked").stderr_has(" · apply · tofu 1.");
    assert_eq!((locks.len(), locks[0]["alive"].as_bool()), (1, Some(true)), "{locks:?}");
    other.run("plan x").succeeds();
}

/// Holds the lock of a stack in one folder, waits for it in another, and checks what is told meanwhile.
fn waiting_names_the_holder(one: &Project, other: &Project) {
    let holder = one.start("apply x --yes");
    holder.until_exists(&one.path("started"));
    let waiting = other.start("plan x --lock-timeout 60s");
    wait_until("it is told", || other.newest_events().contains("lock_awaited"));

    holder.signal(Signal::SIGINT);
    holder.wait();
    let run = waiting.wait().succeeds();

    let told: Vec<&str> = run.stderr.lines().filter(|line| line.contains("waiting for the lock")).collect();
    assert_eq!(told.len(), 1, "{run}");
    assert!(told[0].starts_with("  · 01-a/x  waiting for the lock of "), "{run}");
    assert!(told[0].contains(" (apply since ") && told[0].ends_with(" UTC)"), "{run}");
}

#[test]
fn waiting_for_a_lock_in_a_bucket_names_its_holder() {
    let url = minio().fresh_url();
    let folder = || project_on(&url).stack("01-a/x", HOLDING);

    waiting_names_the_holder(&folder(), &folder());
}

#[test]
fn waiting_for_the_lock_file_of_an_s3_backend_names_its_holder() {
    let bucket = minio().bucket();
    let block = credentials::block_in(&bucket, credentials::REGION);
    let folder = || {
        let project = Project::new().stack("01-a/x", &HOLDING.replace("backend \"http\" {}", &block));
        project.env("AWS_ACCESS_KEY_ID", USER).env("AWS_SECRET_ACCESS_KEY", PASSWORD)
    };

    waiting_names_the_holder(&folder(), &folder());
}

#[test]
fn what_one_folder_applied_the_other_finds() {
    let url = minio().fresh_url();
    let (one, other) = (project_on(&url).stack("01-a/x", SIMPLE), project_on(&url).stack("01-a/x", SIMPLE));

    one.run("apply x --yes").succeeds();

    assert_eq!(other.resources("x"), ["terraform_data.thing"]);
    assert_eq!(other.run("plan x --detailed-exitcode").exits(0).code, Some(0));
    assert!(!one.has(".infra/state"), "a bucket leaves no state in the folder");
}

#[test]
fn a_bucket_that_ignores_the_condition_is_refused_before_anything_runs() {
    let server = minio();
    let proxy = faulty(server.address, |_| Fault::ClaimsCreated);
    let project = project_on(&server.url(&server.bucket(), proxy)).stack("01-a/x", SIMPLE);

    let run = project.run("apply x --yes").exits(69);
    let probe = project.run("state probe --json").exits(69);

    run.stderr_has("error[unsafe-store]")
        .stderr_has("ignores `If-None-Match`")
        .stderr_has("infra state probe");
    assert_eq!(probe.json()["safe"], false);
}

#[test]
fn a_good_probe_is_remembered_and_not_paid_for_again() {
    let server = minio();
    let probed = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&probed);
    let proxy = faulty(server.address, move |request| {
        seen.fetch_add(usize::from(request.path.contains("probe")), Ordering::Relaxed);
        Fault::None
    });
    let project = project_on(&server.url(&server.bucket(), proxy)).stack("01-a/x", SIMPLE);

    project.run("state list x").succeeds();
    let first = probed.swap(0, Ordering::Relaxed);
    project.run("state list x").succeeds();

    assert!(first > 0);
    assert_eq!(probed.load(Ordering::Relaxed), 0);
}

#[test]
fn a_bucket_without_credentials_is_refused_with_what_to_do() {
    let project =
        Project::new().config(&format!("state:\n  store: {}\n", minio().fresh_url())).stack("01-a/x", SIMPLE);

    project
        .run("plan x")
        .exits(77)
        .stderr_has("no credentials for the bucket")
        .stderr_has("aws_access_key_id");
}

#[test]
fn wrong_credentials_and_a_missing_bucket_are_told_apart() {
    let server = minio();
    let wrong = project_on(&server.fresh_url()).env("AWS_SECRET_ACCESS_KEY", "wrong").stack("a", SIMPLE);
    let missing = project_on(&server.url("no-such-bucket", server.address)).stack("a", SIMPLE);

    wrong.run("plan a").exits(69).stderr_has("SignatureDoesNotMatch").stderr_lacks("panicked");
    missing.run("plan a").exits(69).stderr_has("NoSuchBucket").stderr_lacks("panicked");
}

#[test]
fn a_server_takes_the_credentials_of_a_bucket_from_the_secrets_around_it() {
    let key = tools::AgeKey::new();
    let project = Project::new().stack("01-a/x", SIMPLE);
    let secrets = format!("aws_access_key_id: {USER}\naws_secret_access_key: {PASSWORD}\n");
    project.write("infrastructure/secrets.sops.yaml", &secrets);
    let args = ["encrypt", "--age", &key.recipient, "--in-place", "secrets.sops.yaml"];
    key.run_sops(&project.path("infrastructure"), &args);
    let url = minio().fresh_url();

    let serve = |folder: &Path, wrong: Option<&str>| {
        let (folder, wrong, url) = (folder.to_owned(), wrong.map(str::to_owned), url.clone());
        let secret = key.secret.clone();
        move |command: &mut std::process::Command, _: &Path| {
            command.args(["--store", &url]).current_dir(folder).env("SOPS_AGE_KEY", secret);
            for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
                wrong.iter().for_each(|value| _ = command.env(name, value));
            }
        }
    };
    let server = Served::with(serve(project.root(), None));
    let overruled = Served::refused(serve(project.root(), Some("not-the-right-one")));
    let outside = Served::refused(serve(tempfile::tempdir().unwrap().path(), None));

    assert_eq!(server.send("POST", "/states/a", "one").status, 200);
    assert_eq!(server.send("GET", "/states/a", "").body, "one");
    assert!(overruled.contains("InvalidAccessKeyId"), "the environment wins: {overruled}");
    assert!(outside.contains("no credentials for the bucket"), "{outside}");
}

#[tokio::test]
async fn an_entry_whose_answer_was_lost_is_recognised_and_never_doubled() {
    for fault in [Fault::LostAnswer, Fault::DeniedAfter, Fault::CutAnswer] {
        let (store, direct) = behind(first_entries(3, fault));

        assert_eq!(store.lock(&name(), &lock("L")).await.unwrap(), Locking::Granted, "{fault:?}");
        assert_eq!(store.write(&name(), Some("L"), "one".into()).await.unwrap(), Writing::Accepted);
        let released = store.unlock(&name(), "L").await.unwrap();

        assert!(matches!(released, Unlocking::Released(_)), "{fault:?}: {released:?}");
        assert_eq!(text(&direct).await.as_deref(), Some("one"));
        assert_eq!(direct.versions(&name()).await.unwrap().len(), 1, "{fault:?}");
    }
}

#[tokio::test]
async fn a_store_that_is_busy_or_breaks_off_is_asked_again() {
    let slow_down = Fault::Status(503, "SlowDown");
    for fault in [
        slow_down,
        Fault::Status(500, "InternalError"),
        Fault::ResetBefore,
        Fault::Slow(Duration::from_millis(300)),
    ] {
        let (store, direct) = behind(move |seen| if seen.number % 3 == 0 { fault } else { Fault::None });

        assert_eq!(store.lock(&name(), &lock("L")).await.unwrap(), Locking::Granted, "{fault:?}");
        assert_eq!(store.write(&name(), Some("L"), "one".into()).await.unwrap(), Writing::Accepted);

        assert_eq!(text(&direct).await.as_deref(), Some("one"));
        assert_eq!(direct.lock_of(&name()).await.unwrap(), Some(lock("L")));
    }
}

#[tokio::test]
async fn a_conflict_that_stored_nothing_is_not_taken_for_somebody_elses_entry() {
    let conflict = Fault::Status(409, "ConditionalRequestConflict");
    let (store, direct) = behind(first_entries(2, conflict));

    assert_eq!(store.write(&name(), None, "one".into()).await.unwrap(), Writing::Accepted);

    assert_eq!(text(&direct).await.as_deref(), Some("one"));
}

#[tokio::test]
async fn a_store_that_never_answers_fails_in_words_and_changes_nothing() {
    let (store, direct) = behind(|_| Fault::Status(503, "SlowDown"));

    let error = store.write(&name(), None, "one".into()).await.unwrap_err();

    assert!(error.message().contains("02-größe/k8s prod"), "{error}");
    assert_eq!(text(&direct).await, None);
}

#[tokio::test]
async fn of_sixty_four_lockers_on_a_bucket_exactly_one_wins() {
    let url = minio().fresh_url();
    let stores = [open(&url), open(&url)];

    let attempts = (0..64).map(|number: usize| {
        let store = stores[number % 2].clone();
        tokio::spawn(async move { store.lock(&name(), &lock(&number.to_string())).await.unwrap() })
    });
    let answers = futures::future::join_all(attempts.collect::<Vec<_>>()).await;

    let winner = stores[0].lock_of(&name()).await.unwrap().unwrap();
    let is_winner = |answer: &Locking| *answer == Locking::Granted;
    assert_eq!(answers.iter().filter(|answer| is_winner(answer.as_ref().unwrap())).count(), 1);
    assert!(
        answers.iter().flatten().all(|answer| is_winner(answer) || *answer == Locking::Held(winner.clone()))
    );
}

#[tokio::test]
async fn concurrent_histories_on_a_bucket_are_explained_by_one_order() {
    for seed in 0..20 {
        let url = minio().fresh_url();
        history::check(seed, 3, || open(&url), Faults::Excluded).await;
    }
}

#[tokio::test]
async fn concurrent_histories_over_a_faulty_network_are_explained_by_one_order() {
    for seed in 100..130 {
        let (server, bucket) = (minio(), minio().bucket());
        let proxy = faulty(server.address, move |seen| chance(seed, seen));
        let url = server.url(&bucket, proxy);
        history::check(seed, 3, || open(&url), Faults::Possible).await;
    }
}

/// Breaks about every fifth request, differently with each seed.
fn chance(seed: u64, seen: &Seen) -> Fault {
    let faults = [
        Fault::LostAnswer,
        Fault::Status(503, "SlowDown"),
        Fault::ResetBefore,
        Fault::DeniedAfter,
        Fault::CutAnswer,
        Fault::Status(500, "InternalError"),
    ];
    let mixed = (seed * 31 + seen.number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    if mixed.is_multiple_of(5) { faults[(mixed / 5) as usize % faults.len()] } else { Fault::None }
}
