//! `cargo bench --bench state_server`: the state server beside the bare disk, written to
//! docs/benchmarks-state.md.
//!
//! In turns in one run: a cycle of lock, get, post and unlock beside the flushes of the disk
//! that it cannot do without; then the requests of 1, 8 and 32 clients in a folder in memory, in
//! turns with a server on the same http library that keeps states in a map; the memory that large
//! states take at once, and 200 real tofu clients at once over as many states (`STATE_BENCH_TOFU`
//! is another number of them).

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

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri};
use axum::serve::ListenerExt as _;
use infra::model::Clock;
use infra::state::{HeldLock, StateName, StateStore};
use jiff::Timestamp;
use served::{Served, info};

/// The size of a state in a cycle, and of an entry that says who holds the lock.
const STATE: usize = 50 * 1024;
const MARKER: usize = 400;
/// How many cycles are timed on the disk.
const CYCLES: usize = 200;
/// How many clients work at once, for how long, and how often each server has its turn.
const CLIENTS: [usize; 3] = [1, 8, 32];
const PERIOD: Duration = Duration::from_millis(500);
const ROUNDS: usize = 15;
/// How many steps of the processor time that the system tells make a second.
const STEPS: f64 = 100.0;
/// Makes this program the server with a map.
const IN_MEMORY: &str = "STATE_BENCH_IN_MEMORY";
/// The size of a large state in parts, and how many come at once.
const PART: usize = 1024 * 1024;
const PARTS: usize = 100;
const LARGE_CLIENTS: usize = 8;
/// How many tofu clients there are.
const TOFU_CLIENTS: usize = 200;

fn main() {
    if std::env::var_os(IN_MEMORY).is_some() {
        return serve_from_memory();
    }
    let disk = measure_disk();
    let rates = CLIENTS.map(requests_per_second);
    let memory = memory_of_large_states();
    let wanted = std::env::var("STATE_BENCH_TOFU").ok().and_then(|count| count.parse().ok());
    let tofu = tofu_clients(wanted.unwrap_or(TOFU_CLIENTS));
    let page = page(&disk, &rates, memory, &tofu);
    println!("{page}");
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks-state.md"), page).unwrap();
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Medians of what was done in turns on one disk.
struct Disk {
    /// The state alone reaches the disk: what the store flushes.
    state: Duration,
    /// The lock, the state and the release of the lock reach the disk, one after the other.
    all: Duration,
    /// A cycle of the store.
    cycle: Duration,
}

/// Times the flushes and the cycle in turns, so that whatever else the disk does falls on all alike.
fn measure_disk() -> Disk {
    let (bare, folder) = (Bare::new(), tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = StateStore::open_local(folder.path(), Clock::new(Timestamp::now)).unwrap();
    let (mut state, mut all, mut cycle) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..CYCLES {
        state.push(timed(|| bare.add(&format!("{round}-alone"), STATE)));
        all.push(timed(|| {
            bare.add(&format!("{round}-lock"), MARKER);
            bare.add(&format!("{round}-state"), STATE);
            bare.remove(&format!("{round}-lock"));
        }));
        cycle.push(timed(|| runtime.block_on(one_cycle(&store))));
    }
    Disk { state: median(state), all: median(all), cycle: median(cycle) }
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

/// A folder in which single steps reach the disk, with nothing around them.
struct Bare(tempfile::TempDir);

impl Bare {
    fn new() -> Self {
        Self(tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap())
    }

    /// A flushed file, its link under a name that nobody has, a flushed folder.
    fn add(&self, name: &str, size: usize) {
        let temporary = self.0.path().join("temporary");
        let mut file = File::create(&temporary).unwrap();
        file.write_all(&vec![b'x'; size]).unwrap();
        file.sync_all().unwrap();
        std::fs::hard_link(&temporary, self.0.path().join(name)).unwrap();
        std::fs::remove_file(&temporary).unwrap();
        File::open(self.0.path()).unwrap().sync_all().unwrap();
    }

    /// A removed name, a flushed folder.
    fn remove(&self, name: &str) {
        std::fs::remove_file(self.0.path().join(name)).unwrap();
        File::open(self.0.path()).unwrap().sync_all().unwrap();
    }
}

/// Lock, get, post and unlock.
async fn one_cycle(store: &StateStore) {
    let name = StateName::parse("bench").unwrap();
    let lock = HeldLock::from_client(info("L").as_bytes(), None).unwrap();
    store.lock(&name, &lock).await.unwrap();
    store.read(&name).await.unwrap();
    store.write(&name, Some("L"), vec![b'x'; STATE].into()).await.unwrap();
    store.unlock(&name, "L").await.unwrap();
}

/// What two servers answered to so many clients in turns: medians.
struct Rates {
    clients: usize,
    infra: Rate,
    in_memory: Rate,
    /// Of the rates of each round, one right after the other.
    ratio: f64,
}

/// What a server answered.
struct Rate {
    /// Requests a second.
    requests: f64,
    /// What one of them took of the processor, in microseconds.
    processor: f64,
}

/// Clients over http, each with a state of its own: the server over a folder in memory, in turns with
/// one that keeps states in a map.
fn requests_per_second(clients: usize) -> Rates {
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let server = Served::with(|command, _| {
        command.args(["--keep-versions", "1", "--keep-days", "0"]);
        command.current_dir(memory.path());
    });
    let map = Served::of(Command::new(std::env::current_exe().unwrap()).env(IN_MEMORY, "1"));
    let (mut infra, mut in_memory) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        infra.push(rate(clients, &server));
        in_memory.push(rate(clients, &map));
    }
    let ratios = infra.iter().zip(&in_memory).map(|(infra, map)| infra.requests / map.requests);
    Rates {
        clients,
        ratio: middle(ratios.collect()),
        infra: Rate::of(&infra),
        in_memory: Rate::of(&in_memory),
    }
}

impl Rate {
    /// Returns the medians.
    fn of(rounds: &[Self]) -> Self {
        let of = |what: fn(&Self) -> f64| middle(rounds.iter().map(what).collect());
        Self { requests: of(|rate| rate.requests), processor: of(|rate| rate.processor) }
    }
}

fn middle(mut rates: Vec<f64>) -> f64 {
    rates.sort_unstable_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn rate(clients: usize, server: &Served) -> Rate {
    let (begun, before, address) = (Instant::now(), processor_time(server), server.address);
    let clients = (0..clients).map(|client| std::thread::spawn(move || cycles_of(client, address)));
    let clients: Vec<_> = clients.collect();
    let cycles: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
    let requests = 4.0 * cycles as f64;
    let processor = (processor_time(server) - before) / requests * 1e6;
    Rate { requests: requests / begun.elapsed().as_secs_f64(), processor }
}

/// Returns what a server took of the processor so far, in seconds.
fn processor_time(server: &Served) -> f64 {
    let facts = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
    let fields: Vec<&str> = facts.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11..13].iter().map(|steps| steps.parse::<f64>().unwrap() / STEPS).sum()
}

/// A server of the protocol with nothing but a map behind it, on one thread like the real one.
fn serve_from_memory() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("http://{}", listener.local_addr().unwrap());
        let states = Router::new().fallback(in_map).with_state(Arc::default());
        axum::serve(listener.tap_io(|stream| stream.set_nodelay(true).unwrap()), states).await.unwrap();
    });
}

async fn in_map(
    State(states): State<Arc<Mutex<HashMap<String, Bytes>>>>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Result<Bytes, StatusCode> {
    let mut states = states.lock().unwrap();
    match method.as_str() {
        "GET" => states.get(uri.path()).cloned().ok_or(StatusCode::NOT_FOUND),
        "UNLOCK" => states.remove(uri.path()).map(|_| Bytes::new()).ok_or(StatusCode::CONFLICT),
        _ => {
            states.insert(uri.path().to_owned(), body);
            Ok(Bytes::new())
        }
    }
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

/// The most memory that a server took while large states came and went at once, in MiB.
fn memory_of_large_states() -> u64 {
    let server = Served::start();
    let address = server.address;
    for work in [post_large, get_large] {
        let clients = (0..LARGE_CLIENTS).map(|client| std::thread::spawn(move || work(client, address)));
        clients.collect::<Vec<_>>().into_iter().for_each(|client| client.join().unwrap());
    }
    server.peak_memory_mib()
}

fn post_large(client: usize, address: SocketAddr) {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = PARTS * PART;
    write!(stream, "POST /states/large/{client} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Basic ZGFuYTpwYXNzOndvcmQ=\r\nContent-Length: {length}\r\n\r\n").unwrap();
    let part = vec![b'x'; PART];
    (0..PARTS).for_each(|_| stream.write_all(&part).unwrap());
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

fn get_large(client: usize, address: SocketAddr) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /states/large/{client} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Basic ZGFuYTpwYXNzOndvcmQ=\r\n\r\n").unwrap();
    let (mut part, mut read) = (vec![0; PART], 0);
    loop {
        match stream.read(&mut part).unwrap() {
            0 => break,
            count => read += count,
        }
    }
    assert!(read > PARTS * PART, "the answer is cut off after {read} bytes");
}

/// What became of many tofu clients.
struct TofuClients {
    count: usize,
    time: Duration,
    /// The most memory that the server took.
    memory: u64,
}

/// So many tofu apply at once through one server, each with a state of its own.
fn tofu_clients(count: usize) -> TofuClients {
    let server = Served::start();
    let prepared = tempfile::tempdir().unwrap();
    std::fs::write(prepared.path().join("main.tf"), support::SIMPLE).unwrap();
    finish(tofu(prepared.path(), &server, 0, "init -input=false").spawn().unwrap());
    let folders: Vec<_> = (0..count).map(|_| tempfile::tempdir().unwrap()).collect();
    folders.iter().for_each(|folder| copy(prepared.path(), folder.path()));
    let apply = "apply -input=false -auto-approve";
    let begun = Instant::now();
    let clients = folders.iter().enumerate();
    let clients: Vec<_> = clients
        .map(|(client, folder)| tofu(folder.path(), &server, client, apply).spawn().unwrap())
        .collect();
    clients.into_iter().for_each(finish);
    let time = begun.elapsed();
    let listed: serde_json::Value = serde_json::from_str(&server.send("GET", "/states", "").body).unwrap();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), count);
    assert!(listed.iter().all(|state| state["lock"].is_null()), "a lock is left");
    TofuClients { count, time, memory: server.peak_memory_mib() }
}

fn tofu(folder: &Path, server: &Served, client: usize, args: &str) -> Command {
    let address = format!("http://{}/states/tofu/{client}", server.address);
    let mut command = Command::new(support::tofu());
    command.args(args.split(' ')).current_dir(folder).env_remove("TF_CLI_CONFIG_FILE");
    command.env("TF_HTTP_ADDRESS", &address).env("TF_IN_AUTOMATION", "1");
    for name in ["TF_HTTP_LOCK_ADDRESS", "TF_HTTP_UNLOCK_ADDRESS"] {
        command.env(name, format!("{address}/lock"));
    }
    command.env("TF_HTTP_USERNAME", served::USER).env("TF_HTTP_PASSWORD", served::PASSWORD);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn finish(mut child: Child) {
    assert!(child.wait().unwrap().success(), "a tofu failed");
}

/// Copies a folder that tofu has prepared.
fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

fn page(disk: &Disk, rates: &[Rates], memory: u64, tofu: &TofuClients) -> String {
    let mut page = String::from(
        "# What the state server costs\n\nMade by `cargo bench --bench state_server`, all in one run; the \
         first three rows in turns on one disk.\n\n| what | measured | aim |\n|---|---|---|\n",
    );
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let beside = |time: Duration| disk.cycle.as_secs_f64() / time.as_secs_f64();
    let _ = writeln!(
        page,
        "| bare disk: a flushed file of 50 KiB, its link, the flushed folder | {:.2} ms | |",
        ms(disk.state)
    );
    let _ = writeln!(
        page,
        "| bare disk: the same for the entry of a lock, then for the state, then the lock's entry removed and the folder flushed | {:.2} ms | |",
        ms(disk.all)
    );
    let _ = writeln!(
        page,
        "| the store: lock, get, post 50 KiB, unlock | {:.2} ms: {:.2} times the second row, {:.2} times the first | at most 3 times |",
        ms(disk.cycle),
        beside(disk.all),
        beside(disk.state)
    );
    for Rates { clients, infra, in_memory, ratio } in rates {
        let _ = writeln!(
            page,
            "| {clients} clients over http, folder in memory, in turns with a server with a map on the same http library | {ratio:.2} of its {:.0} requests/s; {:.0} µs of the processor a request, it {:.0} µs | at least 0.7 |",
            in_memory.requests, infra.processor, in_memory.processor
        );
    }
    let _ = writeln!(
        page,
        "| peak memory of the server: {LARGE_CLIENTS} states of {PARTS} MiB posted at once, then read at once | {memory} MiB | bounded: 256 MiB of bodies |"
    );
    let TofuClients { count, time, memory } = tofu;
    let _ = writeln!(
        page,
        "| {count} tofu clients apply at once, {count} states | {:.1} s, no error, no lock left, the server's peak memory {memory} MiB | no error |",
        time.as_secs_f64()
    );
    page.push_str(
        "\nA state and a deletion are flushed before they are acknowledged (the first row). The entries of a lock \
         and of its release are written, but not flushed: they survive the end of the process, and after a power \
         cut the fence of writes holds. The second row is what a cycle would cost at least if they were.\n\n\
         The server with a map lets everybody in, and writes nothing. Beside it, a request of the state server is \
         checked for a foreign page and a password, is counted, and adds a line to the audit log; a change makes, \
         fills and names a file. That is done on the thread that answers while the folder is quick, and on another \
         one while it is not, or for large states.\n",
    );
    page
}
