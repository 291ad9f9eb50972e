//! `infra state serve` as a process, and a client that speaks raw HTTP to it.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

pub const USER: &str = "dana";
pub const PASSWORD: &str = "pass:word";

/// A running server with a folder of its own.
pub struct Served {
    child: Child,
    pub address: SocketAddr,
    pub folder: PathBuf,
    _dir: tempfile::TempDir,
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Served {
    /// Starts a server for one user on a fresh folder.
    pub fn start() -> Self {
        Self::with(|_, _| {})
    }

    /// Starts a server after a look at its command and its folder.
    pub fn with(prepare: impl FnOnce(&mut Command, &Path)) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().canonicalize().expect("a real path");
        let mut command = command(&folder, prepare);
        let mut served = Self::of(&mut command);
        (served.folder, served._dir) = (folder, dir);
        served
    }

    /// Starts a server by its whole command.
    pub fn of(command: &mut Command) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().to_owned();
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the binary starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let address = line.trim().rsplit("//").next().expect("an address").parse();
        let address = address.unwrap_or_else(|_| panic!("no address in {line:?}"));
        Self { child, address, folder, _dir: dir }
    }

    /// Starts a server that is to fail at once, and returns what it says.
    pub fn refused(prepare: impl FnOnce(&mut Command, &Path)) -> String {
        let dir = tempfile::tempdir().expect("a folder");
        let mut command = command(dir.path(), prepare);
        let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output().expect("the binary starts");
        assert!(!output.status.success(), "it serves");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).expect("a process id")), signal)
            .expect("a process");
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the most memory that it has had so far.
    pub fn peak_memory_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("a process");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        peak.trim().trim_end_matches(" kB").trim().parse::<u64>().expect("a number") / 1024
    }

    /// Waits for the end and returns how long it took.
    pub fn wait(mut self) -> (ExitStatus, Duration) {
        let begun = Instant::now();
        let status = self.child.wait().expect("a child of ours");
        (status, begun.elapsed())
    }

    pub fn audit(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.folder.join("audit.jsonl")).expect("an audit log");
        text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
    }

    /// Sends a request as the one user.
    pub fn send(&self, method: &str, path: &str, body: &str) -> Reply {
        self.send_as(Some((USER, PASSWORD)), method, path, body)
    }

    /// Sends a request as somebody, or as nobody.
    pub fn send_as(&self, who: Option<(&str, &str)>, method: &str, path: &str, body: &str) -> Reply {
        let who = who.map(|(user, password)| STANDARD.encode(format!("{user}:{password}")));
        let who = who.map(|pair| format!("Authorization: Basic {pair}\r\n")).unwrap_or_default();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{who}Content-Length: {length}\r\n\r\n"
        );
        exchange(self.address, (head + body).as_bytes())
    }
}

/// Returns the command of a server for one user, on a free port and a folder of states.
fn command(folder: &Path, prepare: impl FnOnce(&mut Command, &Path)) -> Command {
    let mut command = super::support::infra();
    command.args(["state", "serve", "--listen", "127.0.0.1:0", "--audit-log", "audit.jsonl"]);
    command.current_dir(folder).env("INFRA_STATE_USERNAME", USER).env("INFRA_STATE_PASSWORD", PASSWORD);
    command.stderr(Stdio::inherit());
    prepare(&mut command, folder);
    if !command.get_args().any(|arg| arg == "--store") {
        command.args(["--store", "states"]);
    }
    command
}

/// No server outlives its test.
impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends bytes and reads the answer to its end.
pub fn exchange(address: SocketAddr, request: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(address).expect("a server");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    // A server that has heard enough may close before everything is sent.
    let _ = stream.write_all(request);
    read_reply(&mut stream)
}

/// Reads an answer to its end; a connection without one is status 0.
pub fn read_reply(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Reply { status, head: head.to_lowercase(), body: body.to_owned() }
}

pub fn info(id: &str) -> String {
    format!("{{\"ID\":\"{id}\",\"Operation\":\"OperationTypeApply\",\"Who\":\"dana@here\"}}")
}
