//! A run of the binary: started, signalled, waited for, asserted about.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// A run under way.
#[must_use = "wait for its end"]
pub struct Running {
    child: Child,
    args: String,
}

/// A run that has ended.
pub struct Finished {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    args: String,
}

/// A tofu that a run has started, by its process id.
#[derive(Clone, Copy, Debug)]
pub struct Tofu(pub i32);

impl Tofu {
    /// Sends it a signal.
    pub fn signal(self, signal: Signal) {
        kill(Pid::from_raw(self.0), signal).expect("a running tofu");
    }

    /// Returns whether it is still there; one that nobody waits for is not.
    pub fn lives(self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, fields)| !fields.trim_start().starts_with('Z'))
    }
}

impl Running {
    pub fn start(mut command: Command, args: &str) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        Self { child, args: args.to_owned() }
    }

    /// Sends a signal to the process itself.
    pub fn signal(&self, signal: Signal) -> &Self {
        kill(self.pid(), signal).expect("a running process");
        self
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"))
    }

    /// Waits until a file appears.
    pub fn until_exists(&self, path: &Path) -> &Self {
        wait_until(&format!("{} exists", path.display()), || path.exists());
        self
    }

    /// Waits for the end.
    pub fn wait(mut self) -> Finished {
        let out = self.child.stdout.take().map(read_all);
        let err = self.child.stderr.take().map(read_all);
        let mut code = None;
        wait_until(&format!("`infra {}` ends", self.args), || {
            code = self.child.try_wait().expect("a child of ours");
            code.is_some()
        });
        let code = code.and_then(|status| status.code());
        let text = |thread: Option<std::thread::JoinHandle<String>>| {
            thread.map_or(String::new(), |t| t.join().expect("text"))
        };
        Finished { code, stdout: text(out), stderr: text(err), args: self.args }
    }
}

impl Finished {
    /// Asserts the exit code 0.
    pub fn succeeds(self) -> Self {
        self.exits(0)
    }

    /// Asserts an exit code.
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Asserts that stderr contains a text.
    pub fn stderr_has(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "stderr lacks `{text}`\n{self}");
        self
    }

    /// Asserts that stderr does not contain a text.
    pub fn stderr_lacks(self, text: &str) -> Self {
        assert!(!self.stderr.contains(text), "stderr has `{text}`\n{self}");
        self
    }

    /// Asserts that stdout contains a text.
    pub fn stdout_has(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "stdout lacks `{text}`\n{self}");
        self
    }

    /// Asserts that stdout does not contain a text.
    pub fn stdout_lacks(self, text: &str) -> Self {
        assert!(!self.stdout.contains(text), "stdout has `{text}`\n{self}");
        self
    }

    /// Returns the command with these words that the run advises, without the name of the program.
    pub fn advice(&self, words: &str) -> String {
        let all = format!("{}\n{}", self.stdout, self.stderr);
        let mut commands = all.split('`').filter_map(|part| part.strip_prefix("infra "));
        let found = commands.find(|command| command.contains(words));
        found.unwrap_or_else(|| panic!("no advice with `{words}`\n{self}")).to_owned()
    }

    /// Reads stdout as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is no JSON: {error}\n{self}"))
    }

    /// Returns the result of a stack from the JSON report.
    pub fn result_of(&self, stack: &str) -> String {
        let report = self.json();
        let stacks = report["stacks"].as_array().unwrap_or_else(|| panic!("no stacks\n{self}"));
        let found = stacks.iter().find(|entry| entry["id"] == stack);
        found.unwrap_or_else(|| panic!("no `{stack}`\n{self}"))["result"]
            .as_str()
            .expect("a result")
            .to_owned()
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { code, stdout, stderr, args } = self;
        write!(f, "--- infra {args} → {code:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

/// Waits until something holds; panics with its name if it never does.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn read_all(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a readable pipe");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Starts a server that refuses everybody, and returns its address; it ends with the test process.
pub fn unauthorized_server() -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            refuse(stream);
        }
    });
    address
}

fn refuse(mut stream: std::net::TcpStream) {
    let mut request = [0; 4096];
    let _ = stream.read(&mut request);
    let _ = std::io::Write::write_all(
        &mut stream,
        b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
}
