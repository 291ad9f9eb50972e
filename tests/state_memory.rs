//! The memory of `infra state serve` while large states come and go, and who waits for whom.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/served.rs"]
mod served;
mod support;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use infra::model::Clock;
use infra::state::{Limits, Server, Service, StateStore, TimeLimits};
use jiff::Timestamp;
use served::{Reply, Served, read_reply};

const MIB: usize = 1024 * 1024;
const AUTHORIZATION: &str = "Authorization: Basic ZGFuYTpwYXNzOndvcmQ=\r\n";

/// Returns a part of a state that no other client and no other place has.
fn part(client: usize, number: usize) -> Vec<u8> {
    let text = format!("client {client} part {number} ");
    let mut bytes = text.repeat(MIB / text.len() + 1).into_bytes();
    bytes.truncate(MIB);
    bytes
}

/// Opens a connection and sends the head of a request.
fn begin(address: SocketAddr, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    let head = format!("{head} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{AUTHORIZATION}");
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// Posts a state of so many parts without ever holding it whole.
fn post(address: SocketAddr, client: usize, parts: usize) -> Reply {
    let mut stream = begin(address, &format!("POST /states/large/{client}"));
    stream.write_all(format!("Content-Length: {}\r\n\r\n", parts * MIB).as_bytes()).unwrap();
    for number in 0..parts {
        stream.write_all(&part(client, number)).unwrap();
    }
    read_reply(&mut stream)
}

/// Reads a state and compares it, part by part.
fn compare(address: SocketAddr, client: usize, parts: usize) {
    let mut stream = begin(address, &format!("GET /states/large/{client}"));
    stream.write_all(b"\r\n").unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    assert!(head.starts_with("http/1.1 200") && head.contains(&format!("content-length: {}", parts * MIB)));
    for number in 0..parts {
        let mut bytes = vec![0; MIB];
        stream.read_exact(&mut bytes).unwrap();
        assert!(bytes == part(client, number), "part {number} of client {client} is another");
    }
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "nothing comes after it");
}

/// Does something for every client at once.
fn all_at_once<T: Send>(clients: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = (0..clients).map(|client| scope.spawn(move || work(client))).collect();
        running.into_iter().map(|client| client.join().unwrap()).collect()
    })
}

#[test]
fn twelve_large_states_at_once_are_stored_and_read_in_the_memory_of_two() {
    let server = Served::with(|command, _| {
        command.args(["--max-state", "64", "--max-memory", "128"]);
    });
    let address = server.address;

    let stored = all_at_once(12, |client| post(address, client, 60).status);
    all_at_once(12, |client| compare(address, client, 60));

    assert_eq!(stored, [200; 12]);
    let peak = server.peak_memory_mib();
    assert!(peak < 190, "{peak} MiB for 720 MiB of states, of which 128 may be held");
}

/// A server with room for one state of 2 MiB that waits so long for senders and for room.
async fn cramped(folder: &std::path::Path, stall: Duration, memory: Duration) -> Server {
    let store = StateStore::open_local(folder, Clock::new(Timestamp::now)).unwrap();
    let limits = Limits { state: 2 * MIB, together: 2 * MIB, ..Limits::default() };
    let patience = TimeLimits { stall, memory, ..TimeLimits::default() };
    let service = Service::open(store).with_limits(limits).with_time_limits(patience);
    Server::start(tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap(), service).unwrap()
}

/// Sends all of a large state but its last byte, and no more.
fn hold_room(address: SocketAddr) -> TcpStream {
    let mut stream = begin(address, "POST /states/held");
    stream.write_all(format!("Content-Length: {}\r\n\r\n", 2 * MIB).as_bytes()).unwrap();
    stream.write_all(&vec![b'x'; 2 * MIB - 1]).unwrap();
    stream
}

/// Posts until somebody else has the room, and then once more.
fn post_until_held(address: SocketAddr) {
    while post(address, 9, 2).status == 200 {}
}

#[tokio::test]
async fn who_finds_no_room_is_told_to_come_again_and_a_small_state_needs_none() {
    let folder = tempfile::tempdir().unwrap();
    let server = cramped(folder.path(), Duration::from_secs(600), Duration::from_millis(300)).await;
    let address = server.address();

    let (large, small) = tokio::task::spawn_blocking(move || {
        let held = hold_room(address);
        post_until_held(address);
        let answers = (post(address, 1, 2), post(address, 2, 1));
        drop(held);
        answers
    })
    .await
    .unwrap();

    assert_eq!((large.status, small.status), (503, 200), "{large:?}");
    assert!(large.head.contains("retry-after: 10"), "{large:?}");
    assert!(large.body.contains("too many large states"), "{large:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_client_that_holds_room_and_sends_nothing_loses_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = cramped(folder.path(), Duration::from_secs(3), Duration::from_secs(600)).await;
    let address = server.address();

    let (held, large) = tokio::task::spawn_blocking(move || {
        let mut held = hold_room(address);
        let large = post(address, 1, 2);
        (read_reply(&mut held), large)
    })
    .await
    .unwrap();

    assert_eq!(large.status, 200);
    assert!([408, 503].contains(&held.status), "{held:?}");
    server.shutdown().await;
}
