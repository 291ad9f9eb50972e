//! `infra state serve` among clients that mean harm: they keep nobody waiting and get nowhere.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/served.rs"]
mod served;
mod support;

use std::io::{ErrorKind, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use infra::model::Clock;
use infra::state::{Server, Service, StateStore, Users};
use jiff::Timestamp;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use served::{PASSWORD, Reply, Served, USER, exchange, info, read_reply};
use support::{Project, SIMPLE};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const MIB: usize = 1024 * 1024;
const LOGIN: &str = "Authorization: Basic ZGFuYTpwYXNzOndvcmQ=\r\n";

/// Opens a connection and sends the head of a request, and what comes behind it.
fn begin(address: SocketAddr, request: &str, headers: &str, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let head = format!("{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    // Whoever has heard enough may not want the rest.
    let _ = stream.write_all(body);
    stream
}

/// Announces a state of so many bytes and sends the beginning.
fn announce(address: SocketAddr, number: usize, size: usize, body: &[u8]) -> TcpStream {
    let headers = format!("{LOGIN}Content-Length: {size}\r\n");
    begin(address, &format!("POST /states/slow/{number}"), &headers, body)
}

/// Returns whether nothing was said on a connection, which is still open.
fn is_unanswered(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = stream.peek(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    matches!(read, Err(error) if error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn fifty_clients_that_send_a_byte_at_a_time_keep_nobody_waiting() {
    let server = Served::start();
    let slow: Vec<TcpStream> =
        (0..50).map(|number| announce(server.address, number, 1_000_000, b"x")).collect();
    let is_over = AtomicBool::new(false);

    let answers = std::thread::scope(|scope| {
        let mut writers: Vec<TcpStream> = slow.iter().map(|stream| stream.try_clone().unwrap()).collect();
        let is_over = &is_over;
        scope.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                writers.iter_mut().for_each(|stream| drop(stream.write(b"x")));
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let answers = [
            server.send("LOCK", "/states/a/lock", &info("L")),
            server.send("POST", "/states/a?ID=L", "one"),
            server.send("GET", "/states/a", ""),
            server.send("UNLOCK", "/states/a/lock", &info("L")),
            server.send("POST", "/states/b", &"y".repeat(900_000)),
        ];
        is_over.store(true, Ordering::Relaxed);
        answers
    });

    assert_eq!(answers.map(|answer| answer.status), [200; 5]);
    assert!(slow.iter().all(is_unanswered), "somebody had to wait until slow ones were ended");
}

#[test]
fn clients_that_send_almost_everything_and_stop_leave_the_room_to_others() {
    let server = Served::start();
    let almost = vec![b'x'; MIB - 1];
    let slow: Vec<TcpStream> = std::thread::scope(|scope| {
        let begun = (0..50).map(|number| {
            scope.spawn({
                let (almost, address) = (&almost, server.address);
                move || announce(address, number, MIB, almost)
            })
        });
        begun.collect::<Vec<_>>().into_iter().map(|begun| begun.join().unwrap()).collect()
    });

    let lock = server.send("LOCK", "/states/a/lock", &info("L"));
    let small = server.send("POST", "/states/b", &"y".repeat(60_000));
    let other = server.send("POST", "/states/c", &"z".repeat(MIB));

    assert_eq!((lock.status, small.status, other.status), (200, 200, 200), "{other:?}");
    let away =
        slow.into_iter().filter_map(|mut stream| (!is_unanswered(&stream)).then(|| read_reply(&mut stream)));
    let away: Vec<Reply> = away.collect();
    assert!(!away.is_empty(), "somebody had to leave");
    for reply in away {
        assert!(reply.status == 503 && reply.head.contains("retry-after: 10"), "{reply:?}");
    }
}

#[test]
fn a_body_that_announces_too_much_is_answered_before_it_is_sent() {
    let server = Served::with(|command, _| {
        command.args(["--max-state", "1"]);
    });
    for headers in ["", "Expect: 100-continue\r\n"] {
        let headers = format!("{LOGIN}{headers}Content-Length: 99999999999\r\n");
        let reply = read_reply(&mut begin(server.address, "POST /states/a", &headers, b""));

        assert_eq!(reply.status, 413, "{reply:?}");
        assert!(reply.head.contains("connection: close"), "{reply:?}");
        assert!(reply.body.contains("limit of 1048576 bytes"), "{reply:?}");
    }
    let within = format!("{LOGIN}Expect: 100-continue\r\nContent-Length: 3\r\n");
    let reply = read_reply(&mut begin(server.address, "POST /states/a", &within, b"one"));
    assert!(reply.head.starts_with("http/1.1 100") && reply.body.contains(" 200 OK"), "{reply:?}");
}

#[tokio::test]
async fn clients_that_go_on_sending_hear_why_their_body_is_refused() {
    let server = Served::with(|command, _| {
        command.args(["--max-state", "1"]);
    });
    let large = server.folder.join("large");
    std::fs::write(&large, vec![b'x'; 64 * MIB]).unwrap();
    let url = format!("http://{}/states/a", server.address);
    let curl = |more: &[&str]| {
        let mut curl = Command::new("curl");
        curl.args(["-sS", "-u", &format!("{USER}:{PASSWORD}"), "-X", "POST", "-w", " %{http_code}"]);
        curl.args(more).arg(&url);
        let output = curl.output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };

    let file = format!("@{}", large.display());
    let announced = curl(&["--data-binary", &file]);
    let unexpecting = curl(&["--data-binary", &file, "-H", "Expect:"]);
    let chunked = curl(&["-T", large.to_str().unwrap(), "-H", "Transfer-Encoding: chunked", "-H", "Expect:"]);
    let request = reqwest::Client::new().post(&url).basic_auth(USER, Some(PASSWORD));
    let library = request.body(vec![b'x'; 64 * MIB]).send().await.unwrap().status().as_u16();
    let nobody = reqwest::Client::new().post(&url).body(vec![b'x'; 64 * MIB]).send().await.unwrap().status();

    for told in [&announced, &unexpecting, &chunked] {
        assert!(told.contains("limit of 1048576 bytes") && told.ends_with(" 413"), "{told}");
    }
    assert_eq!((library, nobody.as_u16()), (413, 401));
}

#[test]
fn the_real_tofu_hears_that_its_state_is_too_large() {
    let server = Served::with(|command, _| {
        command.args(["--max-state", "1"]);
    });
    let large = r#"join("", [for n in range(700) : format("%03000d", n)])"#;
    let project = Project::new()
        .config(&format!("name: lab\nstate:\n  url: http://{}/states\n", server.address))
        .env("TF_HTTP_USERNAME", USER)
        .env("TF_HTTP_PASSWORD", PASSWORD)
        .stack("01-a/x", &SIMPLE.replace("\"one\"", large));

    let run = project.run("apply x --yes");

    assert!(run.stderr.contains("413") || run.stdout.contains("413"), "{}\n{}", run.stdout, run.stderr);
}

#[test]
fn of_eighty_guesses_at_once_ten_are_evaluated_and_the_user_comes_in_later() {
    let hash = infra::state::hash_password("correct horse").unwrap();
    let server = Served::with(|command, folder| {
        let users = format!("users:\n  kim: {{ hash: \"{hash}\", rights: {{ \"**\": [write] }} }}\n");
        std::fs::write(folder.join("users.yaml"), users).unwrap();
        command.args(["--users", "users.yaml"]);
    });
    let (together, server) = (Barrier::new(80), &server);

    let told: Vec<u16> = std::thread::scope(|scope| {
        let guess = |number: usize| {
            let together = &together;
            scope.spawn(move || {
                together.wait();
                let guess = format!("guess {number}");
                server.send_as(Some(("kim", &guess)), "GET", "/states/a", "").status
            })
        };
        (0..80).map(guess).collect::<Vec<_>>().into_iter().map(|guess| guess.join().unwrap()).collect()
    });

    let count = |status| told.iter().filter(|told| **told == status).count();
    assert_eq!((count(401), count(429)), (10, 70), "{told:?}");
    let begun = std::time::Instant::now();
    while server.send_as(Some(("kim", "correct horse")), "GET", "/states/a", "").status != 404 {
        assert!(begun.elapsed() < Duration::from_secs(30), "still locked out");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_password_that_was_typed_as_a_name_is_written_nowhere() {
    let errors = tempfile::NamedTempFile::new().unwrap();
    let server = Served::with(|command, _| {
        command.env("INFRA_LOG", "trace").stderr(errors.reopen().unwrap());
    });

    for number in 0..20 {
        let guess = format!("{number}");
        let reply = server.send_as(Some(("hunter2", &guess)), "GET", "/states/a", "");
        assert_eq!(reply.status, if number < 10 { 401 } else { 429 });
        assert!(!reply.body.contains("hunter2"), "{reply:?}");
    }
    server.send_as(Some((USER, "hunter3")), "GET", "/states/a", "");

    let page = server.send("GET", "/", "").body + &server.send_as(None, "GET", "/metrics", "").body;
    let written = std::fs::read_to_string(errors.path()).unwrap() + &page + &format!("{:?}", server.audit());
    assert!(!written.contains("hunter"), "{written}");
    assert!(written.contains("a login failed"), "{written}");
    let audit = server.audit();
    assert_eq!((&audit[0]["user"], &audit[0]["status"]), (&"an unknown user".into(), &401.into()));
    assert_eq!((&audit[19]["user"], &audit[19]["status"]), (&"an unknown user".into(), &429.into()));
    assert_eq!(audit[20]["user"], USER);
}

#[test]
fn no_page_of_another_site_is_served_whoever_is_logged_in() {
    let server = Served::start();
    let send = |method: &str, path: &str, headers: &str| {
        let head =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: 3\r\n{headers}\r\none");
        exchange(server.address, head.as_bytes())
    };
    let own = format!("Host: {}\r\n", server.address);

    for foreign in [
        "Origin: https://evil.example\r\n",
        "Origin: null\r\n",
        "Origin: http://127.0.0.1:1\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n",
    ] {
        for (method, path) in
            [("POST", "/states/a"), ("GET", "/states/a"), ("DELETE", "/states/a/lock"), ("GET", "/")]
        {
            let reply = send(method, path, &format!("{own}{LOGIN}{foreign}"));
            assert_eq!(reply.status, 403, "{foreign}: {reply:?}");
        }
        // It is not looked at who it says it is, so that nobody is locked out by a page.
        let guess =
            send("GET", "/states/a", &format!("{own}Authorization: Basic ZGFuYTpndWVzcw==\r\n{foreign}"));
        assert_eq!(guess.status, 403);
    }
    for (path, served) in [
        ("/", format!("{own}{LOGIN}")),
        ("/", format!("{own}{LOGIN}Sec-Fetch-Site: none\r\n")),
        ("/", format!("{own}{LOGIN}Sec-Fetch-Site: same-origin\r\nOrigin: http://{}\r\n", server.address)),
        ("/", format!("Host: states.example\r\n{LOGIN}Origin: https://states.example\r\n")),
        ("/", format!("Host: states.example:8443\r\n{LOGIN}Origin: https://states.example:8443\r\n")),
        ("/health", format!("{own}Sec-Fetch-Site: cross-site\r\n")),
    ] {
        assert_eq!(send("GET", path, &served).status, 200, "{served}");
    }
}

/// A server in this process for one user, and how many files may be open.
async fn serve(folder: &std::path::Path) -> Server {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    assert!(hard > 5000, "this test needs 5000 open files, and {hard} are allowed");
    let store = StateStore::open_local(folder, Clock::new(Timestamp::now)).unwrap();
    let service = Service::for_users(store, Users::one(USER, PASSWORD).unwrap()).unwrap();
    Server::start(tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap(), service).unwrap()
}

/// Connects from an address of this machine.
async fn connect(from: IpAddr, to: SocketAddr) -> tokio::net::TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}

async fn ask(stream: &mut tokio::net::TcpStream, connection: &str) -> String {
    let head = format!("GET /states HTTP/1.1\r\nHost: x\r\nConnection: {connection}\r\n{LOGIN}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let read = tokio::time::timeout(Duration::from_secs(60), stream.read(&mut answer)).await;
    let read = read.expect("an answer in time").unwrap_or(0);
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

#[tokio::test]
async fn an_address_that_takes_all_connections_before_login_keeps_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path()).await;
    let here = ["127.0.0.1", "127.0.0.2"].map(|text| text.parse::<IpAddr>().unwrap());
    let mut known = connect(here[0], server.address()).await;
    assert!(ask(&mut known, "keep-alive").await.contains(" 200 "));
    let mut idle = Vec::new();
    for _ in 0..2100 {
        idle.push(connect(here[0], server.address()).await);
    }

    let elsewhere = ask(&mut connect(here[1], server.address()).await, "close").await;
    let same = ask(&mut connect(here[0], server.address()).await, "close").await;

    assert!(elsewhere.contains(" 200 "), "{elsewhere}");
    assert!(same.contains(" 200 "), "behind a proxy all have one address: {same}");
    assert!(ask(&mut known, "keep-alive").await.contains(" 200 "), "whoever has logged in stays");
    assert!(idle[0].read(&mut [0]).await.map_or(true, |read| read == 0), "the oldest is gone");
    assert!(ask(&mut idle[2099], "close").await.contains(" 200 "), "the newest is not");
    server.shutdown().await;
}

#[test]
fn asking_for_the_health_of_a_broken_store_does_not_work_the_store() {
    let errors = tempfile::NamedTempFile::new().unwrap();
    let server = Served::with(|command, _| {
        command.env("INFRA_LOG", "error").stderr(errors.reopen().unwrap());
    });
    let blocked = ["states/@probe", "states/a"].map(|path| server.folder.join(path));
    blocked.iter().for_each(|path| std::fs::write(path, "in the way").unwrap());
    assert_eq!(server.send("POST", "/states/a", "one").status, 500);
    let health = || server.send_as(None, "GET", "/health", "").status;

    let told: Vec<u16> = (0..200).map(|_| health()).collect();

    assert!(told.iter().all(|status| *status == 503), "{told:?}");
    let log = std::fs::read_to_string(errors.path()).unwrap();
    let tried = log.matches("the store cannot be written").count();
    assert!((1..=20).contains(&tried), "the store was tried {tried} times for 200 requests");
    blocked.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    let begun = std::time::Instant::now();
    while health() != 200 {
        assert!(begun.elapsed() < Duration::from_secs(30), "still unwell");
        std::thread::sleep(Duration::from_millis(200));
    }
}
