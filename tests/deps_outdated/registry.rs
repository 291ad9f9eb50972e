//! A registry on a free port of this machine, strict as the protocol: what it was not told of does not exist,
//! and it writes down every request with the token that came along. Plain, or over TLS with a certificate of
//! its own.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// How a path is answered.
#[derive(Clone)]
pub enum Answer {
    Json(String),
    /// As JSON does, but not called so.
    Text(String),
    Status(u16),
    Redirect(String),
    /// Holds the line and says nothing.
    Silence,
    /// In trouble so many times, then well.
    TroubleFirst(u16, usize, String),
}

/// A request: its path, and the token that came along.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Seen {
    pub path: String,
    pub token: Option<String>,
}

#[derive(Default)]
struct Book {
    answers: Mutex<BTreeMap<String, Answer>>,
    seen: Mutex<Vec<Seen>>,
}

/// A running registry; it ends with the test program.
pub struct Registry {
    /// `127.0.0.1:PORT`, or `localhost:PORT` over TLS.
    pub host: String,
    scheme: &'static str,
    book: Arc<Book>,
}

impl Registry {
    /// Starts a registry that speaks plain http.
    pub fn plain() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let host = listener.local_addr().expect("it is bound").to_string();
        let book = serve(listener, None);
        Self { host, scheme: "http", book }
    }

    /// Starts a registry over TLS; `tls.pem` in the folder is what proves it.
    pub fn tls(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let book = serve(listener, Some(Arc::new(tls_config(folder))));
        Self { host: format!("localhost:{port}"), scheme: "https", book }
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.host)
    }

    /// Says how a path is answered from now on.
    pub fn answer(&self, path: &str, answer: Answer) {
        self.book.answers.lock().expect("no panic").insert(path.to_owned(), answer);
    }

    /// Serves the document that says where the services are.
    pub fn discovery(&self) {
        let services = r#"{"providers.v1":"/p/","modules.v1":"/m/"}"#;
        self.answer("/.well-known/terraform.json", Answer::Json(services.to_owned()));
    }

    /// Serves the versions of a provider, `namespace/name`, each for one platform.
    pub fn provider(&self, name: &str, versions: &[&str]) {
        let versions: Vec<_> = versions
            .iter()
            .map(|version| {
                serde_json::json!({
                    "version": version,
                    "protocols": ["5.0"],
                    "platforms": [{"os": "linux", "arch": "amd64"}],
                })
            })
            .collect();
        let body = serde_json::json!({"id": name, "versions": versions, "warnings": null});
        self.answer(&format!("/p/{name}/versions"), Answer::Json(body.to_string()));
    }

    /// Serves the versions of a module, `namespace/name/system`.
    pub fn module(&self, name: &str, versions: &[&str]) {
        let versions: Vec<_> =
            versions.iter().map(|version| serde_json::json!({"version": version})).collect();
        let body = serde_json::json!({"modules": [{"versions": versions}]});
        self.answer(&format!("/m/{name}/versions"), Answer::Json(body.to_string()));
    }

    /// Returns the requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.book.seen.lock().expect("no panic").clone()
    }

    /// Returns the paths that were asked for so far.
    pub fn paths(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.path).collect()
    }

    /// Forgets the requests so far.
    pub fn forget(&self) {
        self.book.seen.lock().expect("no panic").clear();
    }
}

fn serve(listener: TcpListener, tls: Option<Arc<ServerConfig>>) -> Arc<Book> {
    let book = Arc::<Book>::default();
    let shared = Arc::clone(&book);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (book, tls) = (Arc::clone(&shared), tls.clone());
            std::thread::spawn(move || {
                // A client that hangs up early is what some tests are about.
                let _ = match tls {
                    None => exchange(stream, &book),
                    Some(config) => ServerConnection::new(config)
                        .map_err(std::io::Error::other)
                        .and_then(|connection| exchange(StreamOwned::new(connection, stream), &book)),
                };
            });
        }
    });
    book
}

fn exchange(mut stream: impl Read + Write, book: &Book) -> std::io::Result<()> {
    let seen = read_head(&mut stream)?;
    book.seen.lock().expect("no panic").push(seen.clone());
    let answer = book.answers.lock().expect("no panic").get(&seen.path).cloned();
    let (status, kind, body) = match answer.unwrap_or(Answer::Status(404)) {
        Answer::Json(body) => (200, "application/json", body.into_bytes()),
        Answer::Text(body) => (200, "text/html", body.into_bytes()),
        Answer::Status(status) => (status, "text/plain", Vec::new()),
        Answer::Redirect(to) => {
            return write!(
                stream,
                "HTTP/1.1 302 x\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
        }
        Answer::Silence => {
            std::thread::sleep(Duration::from_secs(60));
            return Ok(());
        }
        Answer::TroubleFirst(status, times, body) => {
            let asked =
                book.seen.lock().expect("no panic").iter().filter(|one| one.path == seen.path).count();
            let is_well = asked > times;
            (if is_well { 200 } else { status }, "application/json", body.into_bytes())
        }
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    )?;
    stream.write_all(&body)?;
    stream.flush()
}

/// Reads a request to the end of its head.
fn read_head(stream: &mut impl Read) -> std::io::Result<Seen> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut token = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? <= 2 {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("authorization")
        {
            token = Some(value.trim().to_owned());
        }
    }
    Ok(Seen { path: first.split(' ').nth(1).unwrap_or_default().to_owned(), token })
}

fn tls_config(folder: &Path) -> ServerConfig {
    let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test-ca \
                  -keyout ca.key -out tls.pem
                  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost \
                  -keyout own.key -out own.csr
                  printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' > ext
                  openssl x509 -req -in own.csr -CA tls.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext \
                  -out own.pem";
    let made = Command::new("sh").args(["-ec", script]).current_dir(folder).output().expect("sh");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let certificate = CertificateDer::from_pem_file(folder.join("own.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(folder.join("own.key")).expect("a key");
    let provider = tokio_rustls::rustls::crypto::aws_lc_rs::default_provider();
    ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .expect("usual versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("key and certificate fit")
}
