//! The state store under `kill -9`: what was acknowledged is there, nothing is torn.
//!
//! Without the usual harness, because the test starts itself again as the writer it kills.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/minio.rs"]
mod minio;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use infra::model::{Clock, Environment};
use infra::state::{HeldLock, StateName, StateStore, StorePlace, Writing};
use jiff::Timestamp;

/// How often a writer to a folder is killed, and one to a bucket; `STATE_CRASH_ROUNDS` is for a soak.
const ROUNDS: (u64, u64) = (160, 40);
/// Tells a started copy where to write.
const PLACE: &str = "STATE_CRASH_PLACE";
const LOCK: &str = "crash-lock";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    if let Ok(place) = std::env::var(PLACE) {
        return write_for_ever(&place).await;
    }
    let soak = std::env::var("STATE_CRASH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let folder = tempfile::tempdir().unwrap();
    let (local, bucket) = (soak.unwrap_or(ROUNDS.0), soak.unwrap_or(ROUNDS.1));
    killing_a_writer_at_any_moment_loses_nothing_it_acknowledged(folder.path().to_str().unwrap(), local)
        .await;
    killing_a_writer_at_any_moment_loses_nothing_it_acknowledged(&minio::minio().fresh_url(), bucket).await;
    println!("\ntest result: ok. 2 passed; 0 failed; writers killed: {}\n", local + bucket);
}

async fn killing_a_writer_at_any_moment_loses_nothing_it_acknowledged(place: &str, rounds: u64) {
    let store = open(place);
    store.lock(&name(), &lock()).await.unwrap();

    for round in 0..rounds {
        let acknowledged = write_until_killed(place, round);

        let found = number_in(&store.read(&name()).await.unwrap().unwrap());
        assert!(found == acknowledged || found == acknowledged + 1, "{found} after {acknowledged}");
        assert_eq!(store.lock_of(&name()).await.unwrap(), Some(lock()));
    }
    for version in store.versions(&name()).await.unwrap() {
        number_in(&store.read_version(&name(), version.number).await.unwrap().unwrap());
    }
}

/// The writer: a higher number each time, acknowledged on stdout.
async fn write_for_ever(place: &str) {
    let store = open(place);
    let start = store.read(&name()).await.unwrap().map_or(0, |bytes| number_in(&bytes));
    for number in start + 1.. {
        let answer = store.write(&name(), Some(LOCK), sealed(number).into()).await.unwrap();
        assert_eq!(answer, Writing::Accepted);
        let mut out = std::io::stdout();
        writeln!(out, "{number}").and_then(|()| out.flush()).unwrap();
    }
}

/// Lets a child write, kills it some time after a few acknowledgements, returns the last one.
fn write_until_killed(place: &str, round: u64) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .env(PLACE, place)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut acknowledged = lines.filter_map(|line| line.parse().ok());
    let last = acknowledged.by_ref().take(1 + round as usize % 3).last().unwrap();
    // Spreads the kill over the steps of a write; nothing waits for it to be long enough.
    std::thread::sleep(Duration::from_micros(round * 397 % 9000));
    child.kill().unwrap();
    let last = acknowledged.last().unwrap_or(last);
    child.wait().unwrap();
    last
}

fn open(place: &str) -> StateStore {
    let place = StorePlace::parse(place, Path::new("/")).unwrap();
    let env = Environment::default()
        .with("AWS_ACCESS_KEY_ID", minio::USER)
        .with("AWS_SECRET_ACCESS_KEY", minio::PASSWORD);
    StateStore::open(&place, &env, Clock::new(Timestamp::now)).unwrap()
}

fn name() -> StateName {
    StateName::parse("crash").unwrap()
}

fn lock() -> HeldLock {
    HeldLock::from_client(format!("{{\"ID\":\"{LOCK}\"}}").as_bytes(), None).unwrap()
}

/// Returns a text that shows whether it is whole: its number at both ends.
fn sealed(number: u64) -> String {
    format!("{number} {} {number}", "x".repeat(200_000))
}

fn number_in(bytes: &[u8]) -> u64 {
    let text = std::str::from_utf8(bytes).unwrap();
    let (first, rest) = text.split_once(' ').unwrap();
    let (middle, last) = rest.rsplit_once(' ').unwrap();
    assert_eq!((first, middle.len()), (last, 200_000));
    first.parse().unwrap()
}
