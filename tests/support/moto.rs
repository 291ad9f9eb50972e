//! moto's server: S3 and DynamoDB as Amazon has them, from the Python package index.
//!
//! Installed once into the user's cache; one server for a test program, which ends with it.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const VERSION: &str = "5.2.5";

/// A running server.
pub struct Moto {
    pub address: SocketAddr,
    /// Its stdin is closed by the end of the test program, which ends the server.
    _guard: Child,
}

/// Returns the server of this test program.
pub fn moto() -> &'static Moto {
    static SERVER: OnceLock<Moto> = OnceLock::new();
    SERVER.get_or_init(Moto::start)
}

impl Moto {
    fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let address = free.expect("a free port");
        let script = r#"python3 -m moto.server -H 127.0.0.1 -p "$1" & server=$!
            cat; kill $server; wait $server"#;
        let guard = Command::new("sh")
            .args(["-c", script, "sh", &address.port().to_string()])
            .env("PYTHONPATH", site())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let begun = Instant::now();
        while request(address, "GET", "/", "", "").is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(120), "moto does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        Self { address, _guard: guard }
    }

    /// Makes a bucket and a table for locks of this name.
    pub fn bucket_with_table(&self, name: &str) {
        let made = request(self.address, "PUT", &format!("/{name}"), "Host: s3.amazonaws.com\r\n", "");
        assert!(made.starts_with("HTTP/1.1 200"), "{made}");
        let body = format!(
            r#"{{"TableName":"{name}","KeySchema":[{{"AttributeName":"LockID","KeyType":"HASH"}}],"AttributeDefinitions":[{{"AttributeName":"LockID","AttributeType":"S"}}],"BillingMode":"PAY_PER_REQUEST"}}"#
        );
        let headers = "Host: dynamodb.us-east-1.amazonaws.com\r\nX-Amz-Target: DynamoDB_20120810.CreateTable\r\nContent-Type: application/x-amz-json-1.0\r\nAuthorization: AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=x\r\n";
        let made = request(self.address, "POST", "/", headers, &body);
        assert!(made.starts_with("HTTP/1.1 200"), "{made}");
    }
}

fn request(address: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> String {
    let Ok(mut stream) = TcpStream::connect(address) else { return String::new() };
    let length = body.len();
    let head =
        format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n");
    let mut answer = String::new();
    let _ = stream.write_all((head + body).as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
    answer
}

fn site() -> PathBuf {
    let tools = cache().join("infra-test-tools");
    std::fs::create_dir_all(&tools).expect("a folder in the cache");
    let program = "import sys; print('%d.%d' % sys.version_info[:2])";
    let python = Command::new("python3").args(["-c", program]).output().expect("python3");
    let python = String::from_utf8(python.stdout).expect("text");
    let target = tools.join(format!("moto-{VERSION}-python{}", python.trim()));
    let lock = File::create(tools.join("moto.lock")).expect("a lock file");
    lock.lock().expect("the lock");
    if !target.exists() {
        install(&target.with_extension("partial"), &target);
    }
    target
}

/// Installs beside the target and renames, so that a broken install is never taken for one.
fn install(partial: &Path, target: &Path) {
    let _ = std::fs::remove_dir_all(partial);
    let pip = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"])
        .arg(partial)
        .arg(format!("moto[server]=={VERSION}"))
        .output()
        .expect("python3 with pip");
    assert!(pip.status.success(), "{}", String::from_utf8_lossy(&pip.stderr));
    std::fs::rename(partial, target).expect("the new folder in its place");
}

fn cache() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))).expect("a home folder")
}
