//! The state server on the wire: each promise of the http backend protocol, in raw HTTP.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

use std::net::SocketAddr;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use infra::model::{Clock, Environment, LockInfo};
use infra::state::{
    Credentials, Embedded, Limits, Mark, MarkOutcome, RemoteState, Server, Service, StateName, StateStore,
};
use jiff::Timestamp;
use md5::{Digest, Md5};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn store(folder: &Path) -> StateStore {
    StateStore::open_local(folder, Clock::new(Timestamp::now)).unwrap()
}

/// A server on a folder, and a client that knows its password.
struct Tested {
    folder: tempfile::TempDir,
    client: Client,
    server: Server,
}

impl Tested {
    async fn start() -> Self {
        Self::start_with(Limits::default()).await
    }

    async fn start_with(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (server, client) = serve(folder.path(), limits).await;
        Self { folder, client, server }
    }
}

async fn serve(folder: &Path, limits: Limits) -> (Server, Client) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let service = Service::new(store(folder), Credentials::new("dana", "pass:word")).with_limits(limits);
    let server = Server::start(listener, service).unwrap();
    let client = Client { address: server.address(), credentials: Some("dana:pass:word".to_owned()) };
    (server, client)
}

#[derive(Clone)]
struct Client {
    address: SocketAddr,
    credentials: Option<String>,
}

struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Client {
    fn with(&self, credentials: Option<&str>) -> Self {
        Self { address: self.address, credentials: credentials.map(str::to_owned) }
    }

    async fn send(&self, method: &str, path: &str, body: impl AsRef<[u8]>) -> Reply {
        self.send_with("", method, path, body.as_ref()).await
    }

    async fn send_with(&self, header: &str, method: &str, path: &str, body: &[u8]) -> Reply {
        let authorization = match &self.credentials {
            Some(pair) => format!("Authorization: Basic {}\r\n", STANDARD.encode(pair)),
            None => String::new(),
        };
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{authorization}{header}Content-Length: {length}\r\n\r\n"
        );
        self.exchange(&[head.as_bytes(), body].concat()).await
    }

    async fn exchange(&self, request: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request).await.unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply { status, head, body: bytes[end + 4..].to_vec() }
    }
}

fn info(id: &str) -> String {
    format!("{{\"ID\":\"{id}\", \"Operation\":\"OperationTypeApply\",\"Extra\":[1.50]}}")
}

#[tokio::test]
async fn of_sixty_four_locks_at_once_exactly_one_wins_and_the_others_see_it() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;

    let locks = (0..64).map(|number| {
        let client = client.clone();
        tokio::spawn(async move { client.send("LOCK", "/states/a/lock", info(&number.to_string())).await })
    });
    let replies = futures::future::join_all(locks.collect::<Vec<_>>()).await;

    let holder = client.send("GET", "/states/a/lock", "").await;
    let told = |status| {
        let replies = replies.iter().map(|reply| reply.as_ref().unwrap());
        replies.filter(|reply| reply.status == status).collect::<Vec<_>>()
    };
    assert_eq!((told(200).len(), told(423).len()), (1, 63));
    assert!(told(423).iter().all(|reply| reply.body == holder.body));
}

#[tokio::test]
async fn the_same_lock_id_again_is_granted_again() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;

    assert_eq!(client.send("LOCK", "/states/a/lock", info("1")).await.status, 200);
    assert_eq!(client.send("PUT", "/states/a/lock", info("1")).await.status, 200);
    let other = client.send("LOCK", "/states/a/lock", info("2")).await;

    assert_eq!((other.status, other.text()), (423, info("1").as_str()));
}

#[tokio::test]
async fn a_lock_survives_a_restart_of_the_server() {
    let Tested { client, folder, server } = Tested::start().await;
    client.send("LOCK", "/states/a/lock", info("1")).await;
    server.shutdown().await;

    let (_server, client) = serve(folder.path(), Limits::default()).await;

    assert_eq!(client.send("LOCK", "/states/a/lock", info("2")).await.text(), info("1"));
    assert_eq!(client.send("POST", "/states/a?ID=1", "state").await.status, 200);
}

#[tokio::test]
async fn a_write_without_the_lock_is_refused_while_it_is_held() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;
    client.send("LOCK", "/states/a/lock", info("1")).await;

    for (method, path) in [("POST", "/states/a"), ("POST", "/states/a?ID=2"), ("DELETE", "/states/a")] {
        let reply = client.send(method, path, "state").await;
        assert_eq!((reply.status, reply.text()), (423, info("1").as_str()), "{method} {path}");
    }
    assert_eq!(client.send("GET", "/states/a", "").await.status, 404);
    assert_eq!(client.send("POST", "/states/a?ID=1", "state").await.status, 200);
}

#[tokio::test]
async fn a_writer_whose_lock_was_forced_open_is_told_409_and_not_accepted() {
    let Tested { client, folder, server: _server } = Tested::start().await;
    client.send("LOCK", "/states/a/lock", info("1")).await;
    client.send("POST", "/states/a?ID=1", "before").await;

    store(folder.path()).force_unlock(&StateName::parse("a").unwrap(), "1").await.unwrap();

    assert_eq!(client.send("POST", "/states/a?ID=1", "after").await.status, 409);
    assert_eq!(client.send("UNLOCK", "/states/a/lock", info("1")).await.status, 409);
    assert_eq!(client.send("GET", "/states/a", "").await.text(), "before");
}

#[tokio::test]
async fn the_fence_is_checked_when_the_body_has_arrived() {
    let Tested { client, folder, server: _server } = Tested::start().await;
    client.send("LOCK", "/states/a/lock", info("1")).await;
    let mut slow = TcpStream::connect(client.address).await.unwrap();
    let pair = STANDARD.encode("dana:pass:word");
    let head = format!(
        "POST /states/a?ID=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Basic {pair}\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    // The interim answer shows that the server has begun to wait for the body.
    let mut interim = [0; 25];
    slow.read_exact(&mut interim).await.unwrap();
    assert!(interim.starts_with(b"HTTP/1.1 100"));

    store(folder.path()).force_unlock(&StateName::parse("a").unwrap(), "1").await.unwrap();
    slow.write_all(b"state").await.unwrap();
    let mut reply = String::new();
    slow.read_to_string(&mut reply).await.unwrap();

    assert!(reply.starts_with("HTTP/1.1 409"), "{reply}");
    assert_eq!(client.send("GET", "/states/a", "").await.status, 404);
}

#[tokio::test]
async fn the_bytes_that_come_out_are_the_bytes_that_went_in() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;
    let body: Vec<u8> = (0..=255).cycle().take(300_000).collect();

    assert_eq!(client.send("GET", "/states/a", "").await.status, 404);
    assert_eq!(client.send("POST", "/states/a", &body).await.status, 200);

    let reply = client.send("GET", "/states/a", "").await;
    assert_eq!(reply.status, 200);
    assert!(reply.body == body);
    assert_eq!(client.send("DELETE", "/states/a", "").await.status, 200);
    assert_eq!(client.send("GET", "/states/a", "").await.status, 404);
}

#[tokio::test]
async fn a_body_that_was_altered_on_the_way_is_refused() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;
    let sum = format!("Content-MD5: {}\r\n", STANDARD.encode(Md5::digest(info("1"))));

    for (method, path) in [("POST", "/states/a"), ("LOCK", "/states/a/lock"), ("UNLOCK", "/states/a/lock")] {
        let altered = client.send_with(&sum, method, path, info("2").as_bytes()).await;
        assert_eq!(altered.status, 400, "{method}: {}", altered.text());
    }
    assert_eq!(client.send_with(&sum, "LOCK", "/states/a/lock", info("1").as_bytes()).await.status, 200);
    assert_eq!(client.send_with(&sum, "UNLOCK", "/states/a/lock", info("1").as_bytes()).await.status, 200);
}

#[tokio::test]
async fn a_body_above_the_limit_is_told_the_limit() {
    let limits = Limits { state: 100, lock: 60, together: 100 };
    let Tested { client, folder: _folder, server: _server } = Tested::start_with(limits).await;

    let state = client.send("POST", "/states/a", [b'x'; 101]).await;
    let lock = client.send("LOCK", "/states/a/lock", [b'x'; 61]).await;

    assert_eq!((state.status, state.text()), (413, "the body is larger than the limit of 100 bytes\n"));
    assert_eq!(lock.status, 413);
    assert_eq!(client.send("POST", "/states/a", [b'x'; 100]).await.status, 200);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_not_stored() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;
    let mut broken = TcpStream::connect(client.address).await.unwrap();
    let pair = STANDARD.encode("dana:pass:word");
    let request = format!(
        "POST /states/a HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {pair}\r\nContent-Length: 9\r\n\r\nhalf"
    );
    broken.write_all(request.as_bytes()).await.unwrap();
    broken.shutdown().await.unwrap();

    let mut reply = Vec::new();
    broken.read_to_end(&mut reply).await.unwrap();

    assert!(!String::from_utf8_lossy(&reply).starts_with("HTTP/1.1 200"));
    assert_eq!(client.send("GET", "/states/a", "").await.status, 404);
}

#[tokio::test]
async fn a_path_that_leaves_the_store_is_refused() {
    let Tested { client, folder, server: _server } = Tested::start().await;
    let paths = [
        "..",
        "a/../../b",
        "%2e%2e/b",
        "a/%2E%2E/b",
        "a%2fb",
        "a%2F..%2Fb",
        "%00",
        "a%00b",
        "a//b",
        "/a",
        "a/",
        "",
        ".",
        "a%5c..%5cb",
        "a%0a",
        "%",
        "..%c0%af",
        "../lock",
        "/lock",
    ];

    for path in paths {
        for method in ["GET", "POST", "DELETE"] {
            let reply = client.send(method, &format!("/states/{path}"), "x").await;
            assert_eq!(reply.status, 400, "{method} {path}");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn missing_or_wrong_credentials_are_told_401() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;

    for pair in [None, Some("dana:wrong"), Some("eve:pass:word"), Some("dana"), Some("")] {
        let reply = client.with(pair).send("LOCK", "/states/a/lock", info("1")).await;
        assert_eq!(reply.status, 401, "{pair:?}");
        assert!(reply.head.contains("www-authenticate: basic realm="), "{}", reply.head);
    }
    assert_eq!(client.send("GET", "/states/a/lock", "").await.status, 404);
    assert_eq!(client.with(None).send("GET", "/health", "").await.status, 200);
}

#[tokio::test]
async fn a_method_that_makes_no_sense_is_told_what_does() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;

    for (method, path, allow) in [
        ("PATCH", "/states/a", "get, head, post, delete"),
        ("LOCK", "/states/a", "get, head, post, delete"),
        ("POST", "/states/a/lock", "get, head, lock, put, unlock, delete"),
        ("POST", "/health", "get, head"),
    ] {
        let reply = client.send(method, path, info("1")).await;
        assert_eq!(reply.status, 405, "{method} {path}");
        assert!(reply.head.contains(&format!("allow: {allow}")), "{}", reply.head);
    }
    assert_eq!(client.send("GET", "/elsewhere", "").await.status, 404);
}

#[tokio::test]
async fn an_unlock_needs_the_right_id() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;
    client.send("LOCK", "/states/a/lock", info("1")).await;

    let wrong = client.send("UNLOCK", "/states/a/lock", info("2")).await;
    let empty = client.send("UNLOCK", "/states/a/lock", "").await;
    let right = client.send("DELETE", "/states/a/lock", "{\"ID\":\"1\"}").await;

    assert_eq!((wrong.status, wrong.text()), (409, info("1").as_str()));
    assert_eq!(empty.status, 400);
    assert!(empty.text().contains("empty"), "{}", empty.text());
    assert_eq!(right.status, 200);
    assert_eq!(client.send("UNLOCK", "/states/a/lock", info("1")).await.status, 200);
    assert_eq!(client.send("UNLOCK", "/states/a/lock", info("2")).await.status, 409);
}

#[tokio::test]
async fn a_lock_without_a_usable_id_and_an_empty_state_are_refused() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;

    for body in ["", "{}", "{\"ID\":\"\"}", "not json"] {
        assert_eq!(client.send("LOCK", "/states/a/lock", body).await.status, 400, "{body}");
    }
    assert_eq!(client.send("POST", "/states/a", "").await.status, 400);
    assert_eq!(client.send("GET", "/states/a/lock", "").await.status, 404);
}

#[tokio::test]
async fn a_store_that_fails_is_told_as_500_with_words() {
    let Tested { client, folder, server: _server } = Tested::start().await;
    client.send("POST", "/states/a", "state").await;
    std::fs::write(folder.path().join("a/@log/00000000000000000009"), "garbage\n").unwrap();

    let reply = client.send("GET", "/states/a", "").await;

    assert_eq!(reply.status, 500);
    assert!(reply.text().starts_with("entry 9 of the state `a` cannot be read"), "{}", reply.text());
}

#[tokio::test]
async fn two_servers_on_one_folder_exclude_each_other() {
    let Tested { client, folder, server: _server } = Tested::start().await;
    let (_other_server, other) = serve(folder.path(), Limits::default()).await;

    let (one, two) = tokio::join!(
        client.send("LOCK", "/states/a/lock", info("1")),
        other.send("LOCK", "/states/a/lock", info("2")),
    );

    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 423]);
}

fn client_of(environment: &[(&'static str, String)]) -> (Client, String) {
    let value = |name| environment.iter().find(|(key, _)| *key == name).unwrap().1.clone();
    let address = value("TF_HTTP_ADDRESS");
    let (host, path) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let credentials = format!("{}:{}", value("TF_HTTP_USERNAME"), value("TF_HTTP_PASSWORD"));
    (Client { address: host.parse().unwrap(), credentials: Some(credentials) }, format!("/{path}"))
}

#[tokio::test]
async fn the_environment_leads_to_the_embedded_server() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = Embedded::start(store(folder.path()), Some("run-1".to_owned()), None).await.unwrap();
    let name = StateName::parse("02 apps/lock").unwrap();
    let environment = embedded.environment_for(&name);
    let (client, path) = client_of(&environment);

    assert_eq!(client.send("POST", &path, "state").await.status, 200);
    assert_eq!(client.with(None).send("GET", &path, "").await.status, 401);

    let password = client.credentials.as_ref().unwrap().split_once(':').unwrap().1;
    assert!(!format!("{embedded:?}").contains(password));
    assert_eq!(store(folder.path()).read(&name).await.unwrap().unwrap(), "state");
    embedded.shutdown().await.unwrap();
    assert!(TcpStream::connect(client.address).await.is_err());
}

#[tokio::test]
async fn a_lock_left_by_a_dead_client_of_this_process_is_released() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = Embedded::start(store(folder.path()), Some("run-1".to_owned()), None).await.unwrap();
    let name = StateName::parse("a").unwrap();
    let (client, path) = client_of(&embedded.environment_for(&name));
    client.send("LOCK", &format!("{path}/lock"), info("1")).await;
    let lock = store(folder.path()).lock_of(&name).await.unwrap().unwrap();
    assert_eq!(lock.holder().unwrap().pid, std::process::id());
    assert_eq!(infra::state::holder_is_alive(&lock.to_state_lock()), Some(true));

    assert!(embedded.release_locks_of_this_process(&name).await.unwrap());

    assert!(!embedded.release_locks_of_this_process(&name).await.unwrap());
    assert_eq!(client.send("POST", &format!("{path}?ID=1"), "late").await.status, 409);
}

#[tokio::test]
async fn the_lock_of_another_process_is_left_alone() {
    let Tested { client, folder, server: _server } = Tested::start().await;
    client.send("LOCK", "/states/a/lock", info("1")).await;
    let embedded = Embedded::start(store(folder.path()), Some("run-1".to_owned()), None).await.unwrap();

    let released = embedded.release_locks_of_this_process(&StateName::parse("a").unwrap()).await.unwrap();

    assert!(!released);
    assert_eq!(client.send("GET", "/states/a/lock", "").await.text(), info("1"));
}

#[tokio::test]
async fn a_lock_that_arrives_after_its_client_was_given_up_is_released_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = Embedded::start(store(folder.path()), Some("run-1".to_owned()), None).await.unwrap();
    let name = StateName::parse("a").unwrap();
    let (client, path) = client_of(&embedded.environment_for(&name));
    assert!(!embedded.release_locks_of_this_process(&name).await.unwrap());
    client.send("LOCK", &format!("{path}/lock"), info("1")).await;

    embedded.shutdown().await.unwrap();

    assert_eq!(store(folder.path()).lock_of(&name).await.unwrap(), None);
}

const MOVED: &str = r#"{"moved":{"to":"s3://new"}}"#;

#[tokio::test]
async fn a_moved_state_answers_409_with_the_new_place_to_everything_but_its_versions() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;
    client.send("POST", "/states/a", "one").await;
    client.send("LOCK", "/states/a/lock", info("1")).await;
    assert_eq!(client.send("POST", "/status/a", MOVED).await.status, 423);
    assert_eq!(client.send("POST", "/status/a?ID=2", MOVED).await.status, 423);

    assert_eq!(client.send("POST", "/status/a?ID=1", MOVED).await.status, 200);

    for (method, path, body) in [
        ("GET", "/states/a", ""),
        ("HEAD", "/states/a", ""),
        ("POST", "/states/a?ID=1", "two"),
        ("POST", "/states/a?ID=1&at=2020-01-01T00:00:00Z", "two"),
        ("DELETE", "/states/a?ID=1", ""),
        ("POST", "/status/a?ID=1", r#"{"of_project":"p"}"#),
    ] {
        let reply = client.send(method, path, body).await;
        assert_eq!(reply.status, 409, "{method} {path}");
        assert!(method == "HEAD" || reply.text().contains("was moved to s3://new"), "{}", reply.text());
    }
    for (method, path) in [
        ("LOCK", "/states/a/lock"),
        ("PUT", "/states/a/lock"),
        ("UNLOCK", "/states/a/lock"),
        ("UNLOCK", "/states/a/lock?force=true"),
    ] {
        let reply = client.send(method, path, info("1")).await;
        let lock: serde_json::Value = serde_json::from_str(reply.text()).unwrap();
        assert_eq!((reply.status, &lock["Operation"]), (409, &"moved".into()), "{method} {path}");
        assert_eq!((&lock["Info"], lock["ID"] == "1"), (&"s3://new".into(), false));
    }
    assert!(client.send("GET", "/states/a?versions", "").await.text().contains("\"current\": 1"));
    assert_eq!(client.send("GET", "/states/a?version=1", "").await.text(), "one");
    let listed: serde_json::Value =
        serde_json::from_str(client.send("GET", "/states", "").await.text()).unwrap();
    assert_eq!(
        (&listed[0]["moved"]["to"], &listed[0]["lock"]),
        (&"s3://new".into(), &serde_json::Value::Null)
    );

    assert_eq!(client.send("POST", "/status/a", "\"lifted\"").await.status, 200);
    assert_eq!(client.send("GET", "/states/a", "").await.text(), "one");
    assert_eq!(client.send("LOCK", "/states/a/lock", info("2")).await.status, 200);
}

#[tokio::test]
async fn what_is_no_mark_is_refused_and_changes_nothing() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;
    client.send("POST", "/states/a", "one").await;
    let before = client.send("GET", "/status/a", "").await.body;

    for body in [
        "",
        "{}",
        "moved",
        "\"Moved\"",
        "\"moved\"",
        "[]",
        "null",
        r#"{"moved":{}}"#,
        r#"{"moved":{"to":""}}"#,
        r#"{"moved":{"to":"a\nb"}}"#,
        r#"{"of_project":""}"#,
        r#"{"of_project":7}"#,
        r#"{"moved":{"to":"x","force":true}}"#,
        r#"{"lifted":{},"left_behind":{}}"#,
    ] {
        assert_eq!(client.send("POST", "/status/a", body).await.status, 400, "{body}");
    }
    let long = format!("{{\"of_project\":\"{}\"}}", "x".repeat(70_000));
    assert_eq!(client.send("POST", "/status/a", long).await.status, 413);
    for method in ["PUT", "DELETE", "LOCK", "UNLOCK"] {
        assert_eq!(client.send(method, "/status/a", MOVED).await.status, 405, "{method}");
    }
    for path in ["/status/", "/status/../a", "/status/a//b"] {
        assert_eq!(client.send("POST", path, MOVED).await.status, 400, "{path}");
    }
    assert_eq!(client.with(None).send("POST", "/status/a", MOVED).await.status, 401);
    assert_eq!(client.send("GET", "/status/a", "").await.body, before);
}

#[tokio::test]
async fn a_version_keeps_the_time_that_the_query_says() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;

    for broken in ["yesterday", "", "2020-01-01", "2020-01-01T00:00:00%zz"] {
        let reply = client.send("POST", &format!("/states/a?at={broken}"), "x").await;
        assert_eq!(reply.status, 400, "{broken}");
    }
    assert_eq!(client.send("POST", "/states/a?at=2020-01-01T02:00:00%2B02:00", "one").await.status, 200);

    let versions = client.send("GET", "/states/a?versions", "").await;
    assert!(versions.text().contains("2020-01-01T00:00:00Z"), "{}", versions.text());
}

fn remote(client: &Client, path: &str) -> RemoteState {
    let (user, password) = client.credentials.as_ref().unwrap().split_once(':').unwrap();
    let address = format!("http://{}{path}", client.address);
    let mut env = Environment::default();
    env.set("TF_HTTP_LOCK_ADDRESS", format!("{address}/lock"));
    env.set("TF_HTTP_UNLOCK_ADDRESS", format!("{address}/lock"));
    env.set("TF_HTTP_ADDRESS", address);
    env.set("TF_HTTP_USERNAME", user);
    env.set("TF_HTTP_PASSWORD", password);
    RemoteState::from_environment(&env).unwrap()
}

fn lock_info(operation: &str, who: &str) -> LockInfo {
    let (operation, who) = (operation.to_owned(), who.to_owned());
    LockInfo { id: format!("{who}-{operation}"), operation, who, ..LockInfo::default() }
}

#[tokio::test]
async fn the_client_marks_under_its_lock_and_says_where_a_moved_state_went() {
    let Tested { client, folder: _folder, server: _server } = Tested::start().await;
    let state = remote(&client, "/tfstate/states/a/states/b");
    let at = Timestamp::from_second(1_000_000_000).unwrap();
    state.write_version(None, b"one".to_vec(), at).await.unwrap();
    let lock = state.lock(&lock_info("migrate", "dana@laptop")).await.unwrap().unwrap();
    let elsewhere = Mark::Moved { to: "s3://new".to_owned() };
    let held = state.mark(None, &elsewhere).await.unwrap_err();
    assert_eq!(held.label(), Some("state-locked"), "{held}");

    let project = Mark::OfProject("lab".to_owned());
    assert_eq!(state.mark(Some(&lock), &project).await.unwrap(), MarkOutcome::Done);
    assert_eq!(state.mark(Some(&lock), &elsewhere).await.unwrap(), MarkOutcome::Done);

    state.unlock(&lock).await.unwrap();
    let status = state.status().await.unwrap().unwrap();
    assert_eq!((status.moved.unwrap().to.as_str(), status.project.as_deref()), ("s3://new", Some("lab")));
    assert_eq!(state.versions().await.unwrap().versions[0].at, at);
    assert_eq!(state.version(1).await.unwrap().as_deref(), Some(b"one".as_slice()));
    let told = [
        state.read().await.map(drop),
        state.lock(&lock_info("plan", "kim@desk")).await.map(drop),
        state.write(Some(&lock), b"two".to_vec()).await,
        state.mark(None, &project).await.map(drop),
        state.force_unlock(&state.lock_of().await.unwrap().unwrap()).await,
    ];
    for error in told.map(Result::unwrap_err) {
        assert_eq!(error.label(), Some("state-elsewhere"), "{error}");
        assert!(error.to_string().contains("was moved to `s3://new`"), "{error}");
    }
    assert_eq!(state.mark(None, &Mark::Lifted).await.unwrap(), MarkOutcome::Done);
    assert_eq!(state.read().await.unwrap().as_deref(), Some(b"one".as_slice()));
}

#[tokio::test]
async fn a_server_of_another_kind_is_sent_no_mark() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (seen, mut requests) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        // One that takes anything anywhere, and answers a read with a state.
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = vec![0; 4096];
            let read = stream.read(&mut buffer).await.unwrap();
            seen.send(String::from_utf8_lossy(&buffer[..read]).into_owned()).unwrap();
            let body = "{\"version\":4,\"serial\":1}";
            let head =
                format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        }
    });
    let client = Client { address, credentials: Some("dana:x".to_owned()) };

    let marked = remote(&client, "/states/a").mark(None, &Mark::LeftBehind).await.unwrap();
    let nameless = remote(&client, "/terraform/a").mark(None, &Mark::LeftBehind).await.unwrap();

    assert_eq!((marked, nameless), (MarkOutcome::NotOffered, MarkOutcome::NotOffered));
    let first = requests.recv().await.unwrap();
    assert!(first.starts_with("GET /status/a ") && requests.try_recv().is_err(), "{first}");
}

#[tokio::test]
async fn what_an_embedded_server_writes_has_the_name_of_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let name = StateName::parse("a").unwrap();
    for (project, expected) in [(Some("lab"), Some("lab")), (None, Some("lab")), (Some("home"), Some("home"))]
    {
        let embedded = Embedded::start(store(folder.path()), None, project.map(str::to_owned)).await.unwrap();
        let (client, path) = client_of(&embedded.environment_for(&name));
        assert_eq!(client.send("POST", &path, "state").await.status, 200);
        assert_eq!(store(folder.path()).status(&name).await.unwrap().project.as_deref(), expected);
        embedded.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn what_another_process_did_counts_although_the_server_knew_the_state_a_moment_ago() {
    let tested = Tested::start().await;
    let (other, name) = (store(tested.folder.path()), StateName::parse("a").unwrap());
    tested.client.send("POST", "/states/a", "one").await;
    assert_eq!(tested.client.send("GET", "/states/a", "").await.text(), "one");

    other.write(&name, None, "two".into()).await.unwrap();
    assert_eq!(tested.client.send("GET", "/states/a", "").await.text(), "two");

    let theirs = infra::state::HeldLock::from_client(br#"{"ID":"theirs"}"#, None).unwrap();
    other.lock(&name, &theirs).await.unwrap();
    assert_eq!(tested.client.send("LOCK", "/states/a/lock", r#"{"ID":"ours"}"#).await.status, 423);
    assert_eq!(tested.client.send("POST", "/states/a", "three").await.status, 423);

    other.unlock(&name, "theirs").await.unwrap();
    let granted = tested.client.send("LOCK", "/states/a/lock", r#"{"ID":"ours"}"#).await;
    assert_eq!((granted.status, granted.head.contains("allow:")), (200, false), "{}", granted.head);
    assert_eq!(tested.client.send("GET", "/states/a", "").await.text(), "two");
}

#[tokio::test]
async fn a_method_that_makes_no_sense_on_a_path_is_told_those_that_do() {
    let tested = Tested::start().await;

    for (method, path, allowed) in [
        ("PATCH", "/states/a", "GET, HEAD, POST, DELETE"),
        ("LOCK", "/states/a", "GET, HEAD, POST, DELETE"),
        ("POST", "/x/states/a/b/lock", "GET, HEAD, LOCK, PUT, UNLOCK, DELETE"),
        ("DELETE", "/status/a", "GET, HEAD, POST"),
        ("UNLOCK", "/applied/a", "GET, HEAD, POST, DELETE"),
        ("POST", "/states", "GET, HEAD"),
        ("POST", "/health", "GET, HEAD"),
    ] {
        let reply = tested.client.send(method, path, "").await;
        assert_eq!(reply.status, 405, "{method} {path}");
        assert!(
            reply.head.to_lowercase().contains(&format!("allow: {}\r\n", allowed.to_lowercase())),
            "{}",
            reply.head
        );
    }
    assert_eq!(tested.client.send("PATCH", "/states/..", "").await.status, 400, "the name is read first");
    assert_eq!(tested.client.send("LOCK", "/locks/a", r#"{"ID":"1"}"#).await.status, 404);
    assert_eq!(tested.client.with(None).send("LOCK", "/locks/a", "").await.status, 401);
}
