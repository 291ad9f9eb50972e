//! The real MinIO: built once from the Go module proxy into the user's cache, then one
//! server for a test program, on a folder of its own, which ends with that program.
//!
//! `INFRA_TEST_MINIO` names another binary. The build takes some minutes on a new machine.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The release, as the module proxy names it.
const VERSION: &str = "v0.0.0-20260212201848-7aac2a2c5b7c";

pub const USER: &str = "infra-test";
pub const PASSWORD: &str = "infra-test-secret";

/// A running server.
pub struct Minio {
    pub address: SocketAddr,
    folder: PathBuf,
    /// Its stdin is closed by the end of the test program, which ends the server.
    _guard: Child,
}

/// Returns the server of this test program.
pub fn minio() -> &'static Minio {
    static SERVER: OnceLock<Minio> = OnceLock::new();
    SERVER.get_or_init(Minio::start)
}

impl Minio {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder").keep();
        let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let address = free.expect("a free port");
        let script = r#""$1" server "$2" --address "$3" --quiet & server=$!
            cat; kill $server; wait $server; rm -rf "$2""#;
        let guard = Command::new("sh")
            .args(["-c", script, "sh"])
            .args([binary().as_os_str(), folder.as_os_str()])
            .arg(address.to_string())
            .env("MINIO_ROOT_USER", USER)
            .env("MINIO_ROOT_PASSWORD", PASSWORD)
            .env("MINIO_BROWSER", "off")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let begun = Instant::now();
        while !is_ready(address) {
            assert!(begun.elapsed() < Duration::from_secs(120), "MinIO does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { address, folder, _guard: guard }
    }

    /// Makes a bucket that nobody else uses.
    pub fn bucket(&self) -> String {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("states-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        std::fs::create_dir(self.folder.join(&name)).expect("a new bucket");
        name
    }

    /// Returns the URL of a store in a bucket, reached through this address.
    pub fn url(&self, bucket: &str, through: SocketAddr) -> String {
        format!("s3://{bucket}/lab?endpoint=http://{through}&timeout=20")
    }

    /// Returns the URL of a store in a fresh bucket.
    pub fn fresh_url(&self) -> String {
        self.url(&self.bucket(), self.address)
    }
}

fn is_ready(address: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(address) else { return false };
    let request = b"GET /minio/health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let mut answer = String::new();
    let answered = stream.write_all(request).and_then(|()| stream.read_to_string(&mut answer));
    answered.is_ok() && answer.starts_with("HTTP/1.1 200")
}

fn binary() -> PathBuf {
    std::env::var_os("INFRA_TEST_MINIO").map_or_else(installed, PathBuf::from)
}

fn installed() -> PathBuf {
    let tools = cache().join("infra-test-tools");
    std::fs::create_dir_all(&tools).expect("a folder in the cache");
    let target = tools.join(format!("minio-{VERSION}"));
    let lock = File::create(tools.join("minio.lock")).expect("a lock file");
    lock.lock().expect("the lock");
    if !target.exists() {
        build(&tools.join(format!("minio-{VERSION}.partial")), &target);
    }
    target.join("minio")
}

/// Builds beside the target and renames, so that a broken build is never taken for one.
fn build(partial: &Path, target: &Path) {
    let _ = std::fs::remove_dir_all(partial);
    let go = Command::new("nice")
        .args(["go", "install", "-trimpath", "-ldflags=-s -w"])
        .arg(format!("github.com/minio/minio@{VERSION}"))
        .env("GOBIN", partial)
        .output()
        .expect("the Go tools");
    assert!(go.status.success(), "{}", String::from_utf8_lossy(&go.stderr));
    std::fs::rename(partial, target).expect("the new folder in its place");
}

fn cache() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))).expect("a home folder")
}
