//! `cargo bench --bench state_server`: the state server beside the bare disk, written to
//! docs/benchmarks-state.md.
//!
//! Ratios in one run: a cycle of lock, get, post and unlock beside the fsyncs it must make;
//! cycles of many clients in a folder in memory; the memory that a large state takes.
//! `STATE_BENCH_TOFU=200` adds so many real tofu clients at once over as many states.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program, not the product"
)]

#[path = "../tests/support/served.rs"]
mod served;
#[path = "../tests/support/mod.rs"]
mod support;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use infra::model::Clock;
use infra::state::{HeldLock, StateName, StateStore};
use jiff::Timestamp;
use served::{Served, info};
use support::Project;

/// The size of a state in a cycle.
const STATE: usize = 50 * 1024;
/// How many cycles are timed on the disk.
const CYCLES: usize = 200;
/// How many clients work at once, and for how long.
const CLIENTS: usize = 32;
const PERIOD: Duration = Duration::from_secs(5);
/// The size of a large state.
const LARGE: usize = 100 * 1024 * 1024;

fn main() {
    let (bare, cycle) = (median(bare_fsyncs()), median(store_cycles()));
    let rate = cycles_per_second();
    let memory = memory_of_large_states();
    let tofu = std::env::var("STATE_BENCH_TOFU").ok().and_then(|count| count.parse().ok()).map(tofu_clients);
    let page = page(bare, cycle, rate, memory, tofu);
    println!("{page}");
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks-state.md"), page).unwrap();
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// What a durable write costs at least: a flushed file, a link, a flushed folder.
fn bare_fsyncs() -> Vec<Duration> {
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let state = vec![b'x'; STATE];
    let mut times = Vec::new();
    for number in 0..CYCLES {
        let begun = Instant::now();
        let (temporary, linked) = (dir.path().join("temporary"), dir.path().join(number.to_string()));
        let mut file = File::create(&temporary).unwrap();
        file.write_all(&state).unwrap();
        file.sync_all().unwrap();
        std::fs::hard_link(&temporary, linked).unwrap();
        std::fs::remove_file(&temporary).unwrap();
        File::open(dir.path()).unwrap().sync_all().unwrap();
        times.push(begun.elapsed());
    }
    times
}

/// Lock, get, post and unlock on the same disk.
fn store_cycles() -> Vec<Duration> {
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = StateStore::open_local(dir.path(), Clock::new(Timestamp::now)).unwrap();
        let name = StateName::parse("bench").unwrap();
        let lock = HeldLock::from_client(info("L").as_bytes(), None).unwrap();
        let mut times = Vec::new();
        for _ in 0..CYCLES {
            let begun = Instant::now();
            store.lock(&name, &lock).await.unwrap();
            store.read(&name).await.unwrap();
            store.write(&name, Some("L"), vec![b'x'; STATE].into()).await.unwrap();
            store.unlock(&name, "L").await.unwrap();
            times.push(begun.elapsed());
        }
        times
    })
}

/// Many clients over http, each with a state of its own, in a folder that is in memory.
fn cycles_per_second() -> f64 {
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let server = Served::with(|command, _| {
        command.args(["--keep-versions", "1", "--keep-days", "0"]);
        command.current_dir(memory.path());
    });
    let address = server.address;
    let begun = Instant::now();
    let clients = (0..CLIENTS).map(|client| std::thread::spawn(move || cycles_of(client, address)));
    let clients: Vec<_> = clients.collect();
    let cycles: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
    cycles as f64 / begun.elapsed().as_secs_f64()
}

fn cycles_of(client: usize, address: SocketAddr) -> usize {
    let mut connection = BufReader::new(TcpStream::connect(address).unwrap());
    connection.get_ref().set_nodelay(true).unwrap();
    let state = "x".repeat(STATE);
    let (path, lock) = (format!("/states/bench/{client}"), format!("/states/bench/{client}/lock"));
    let (begun, mut cycles) = (Instant::now(), 0);
    while begun.elapsed() < PERIOD {
        assert_eq!(ask(&mut connection, "LOCK", &lock, &info("L")), 200);
        assert!([200, 404].contains(&ask(&mut connection, "GET", &path, "")));
        assert_eq!(ask(&mut connection, "POST", &format!("{path}?ID=L"), &state), 200);
        assert_eq!(ask(&mut connection, "UNLOCK", &lock, &info("L")), 200);
        cycles += 1;
    }
    cycles
}

/// Sends a request on an open connection and reads its answer.
fn ask(connection: &mut BufReader<TcpStream>, method: &str, path: &str, body: &str) -> u16 {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ZGFuYTpwYXNzOndvcmQ=\r\nContent-Length: {length}\r\n\r\n"
    );
    connection.get_mut().write_all((head + body).as_bytes()).unwrap();
    let (mut status, mut length, mut line) = (0, 0, String::new());
    while connection.read_line(&mut line).unwrap() > 2 {
        if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
            status = rest[..3].parse().unwrap();
        }
        if let Some(rest) = line.to_lowercase().strip_prefix("content-length: ") {
            length = rest.trim().parse().unwrap();
        }
        line.clear();
    }
    connection.read_exact(&mut vec![0; length]).unwrap();
    status
}

/// The most memory that a server took while large states were stored and read, in MiB.
fn memory_of_large_states() -> u64 {
    let server = Served::start();
    let state = "x".repeat(LARGE);
    for _ in 0..3 {
        assert_eq!(server.send("POST", "/states/large", &state).status, 200);
        assert_eq!(server.send("GET", "/states/large", "").status, 200);
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() / 1024
}

/// So many projects apply at once through one server; returns how long all took.
fn tofu_clients(count: usize) -> (usize, Duration) {
    let server = Served::start();
    let projects: Vec<Project> = (0..count)
        .map(|number| {
            Project::new()
                .config(&format!("name: lab\nstate:\n  url: http://{}/states/{number}\n", server.address))
                .stack("x", support::SIMPLE)
                .env("TF_HTTP_USERNAME", served::USER)
                .env("TF_HTTP_PASSWORD", served::PASSWORD)
        })
        .collect();
    let begun = Instant::now();
    let running: Vec<_> = projects.iter().map(|project| project.start("apply x --yes -q")).collect();
    running.into_iter().for_each(|run| drop(run.wait().succeeds()));
    (count, begun.elapsed())
}

fn page(bare: Duration, cycle: Duration, rate: f64, memory: u64, tofu: Option<(usize, Duration)>) -> String {
    let mut page = String::from(
        "# What the state server costs\n\nMade by `cargo bench --bench state_server`, all in one run.\n\n\
         | what | measured | aim |\n|---|---|---|\n",
    );
    let ratio = cycle.as_secs_f64() / bare.as_secs_f64();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let _ = writeln!(page, "| the fsyncs of one durable write of 50 KiB | {:.2} ms | |", ms(bare));
    let _ = writeln!(
        page,
        "| lock, get, post 50 KiB, unlock | {:.2} ms, {ratio:.1} times that | at most 3 times |",
        ms(cycle)
    );
    let _ = writeln!(
        page,
        "| {CLIENTS} clients over http, folder in memory | {rate:.0} cycles/s | at least 1000 |"
    );
    let _ = writeln!(page, "| peak memory with states of 100 MiB | {memory} MiB | bounded |");
    if let Some((count, time)) = tofu {
        let _ = writeln!(
            page,
            "| {count} tofu clients at once, {count} states | {:.1} s, no error | no error |",
            time.as_secs_f64()
        );
    }
    page
}
