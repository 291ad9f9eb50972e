//! Any bytes as the requests of one connection to the state server.
//!
//! The server must neither panic nor hang, must answer every request that it understands
//! with one of the protocol's codes, and must never let anybody in without the password.
//! A first byte that is odd puts the right credentials in front of the path.

#![no_main]

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use infra::model::Clock;
use infra::state::{Credentials, Limits, Service, StateName, StateStore, TimeLimits};
use libfuzzer_sys::fuzz_target;
use object_store::memory::InMemory;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// `fuzz:password`
const AUTHORIZATION: &str = "Authorization: Basic ZnV6ejpwYXNzd29yZA==\r\n";

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, request)) = bytes.split_first() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (answer, was_written) = runtime.block_on(exchange(request, choice % 2 == 1));

    let text = String::from_utf8_lossy(&answer);
    if let Some(code) = text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)) {
        let known = ["200", "400", "401", "403", "404", "405", "408", "409", "413", "414", "423", "431", "100"];
        assert!(known.contains(&code), "{code}");
    }
    assert!(choice % 2 == 1 || !was_written, "a write without the password");
});

async fn exchange(request: &[u8], with_password: bool) -> (Vec<u8>, bool) {
    let store = StateStore::new(Arc::new(InMemory::new()), Clock::new(|| jiff::Timestamp::UNIX_EPOCH));
    let patience = Duration::from_millis(50);
    let service = Service::new(store.clone(), Credentials::new("fuzz", "password"))
        .with_limits(Limits { state: 4096, lock: 1024, together: 4096 })
        .with_time_limits(TimeLimits { head: Some(patience), stall: patience, handshake: patience, memory: patience });
    let (mut client, server) = tokio::io::duplex(1 << 20);
    let serving = tokio::spawn(Arc::new(service).serve_stream(server, IpAddr::V4(Ipv4Addr::LOCALHOST)));
    let _ = client.write_all(&prepared(request, with_password)).await;
    let _ = client.shutdown().await;
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer).await;
    serving.await.expect("the server does not panic");
    let states = store.list().await.expect("a listing");
    let locked = store.lock_of(&StateName::parse("a").expect("a name")).await.expect("a look");
    (answer, !states.is_empty() || locked.is_some())
}

/// Puts the credentials behind the first line, where a request has one.
fn prepared(request: &[u8], with_password: bool) -> Vec<u8> {
    match request.windows(2).position(|pair| pair == b"\r\n") {
        Some(end) if with_password => {
            [&request[..end + 2], AUTHORIZATION.as_bytes(), &request[end + 2..]].concat()
        }
        _ => request.to_vec(),
    }
}
