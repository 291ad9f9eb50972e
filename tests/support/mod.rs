//! What the tests share: a project builder that reads like a sentence, and runs of the
//! real binary with the real tofu.
//!
//! tofu comes from `infra deps install`, once, into the user's cache.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod run;
pub mod screen;
pub mod terminal;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

pub use run::{Finished, Running};

/// A stack that applies anywhere: one resource, one output, served state.
pub const SIMPLE: &str = r#"
terraform {
  backend "http" {}
}

resource "terraform_data" "thing" {
  input = "one"
}

output "thing" {
  value = terraform_data.thing.output
}
"#;

/// A project in a temporary folder.
pub struct Project {
    dir: tempfile::TempDir,
    root: PathBuf,
    env: Vec<(String, String)>,
}

impl Project {
    /// Makes an empty project.
    pub fn new() -> Self {
        Self::named("project")
    }

    /// Makes an empty project in a folder of this name.
    pub fn named(name: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = dir.path().canonicalize().expect("a real path").join(name);
        std::fs::create_dir_all(&root).expect("a new folder");
        Self { dir, root, env: Vec::new() }.file("infra.yaml", "name: lab\n")
    }

    /// Adds a file.
    pub fn file(self, path: &str, text: &str) -> Self {
        self.write(path, text);
        self
    }

    /// Adds a stack with this configuration.
    pub fn stack(self, id: &str, configuration: &str) -> Self {
        self.file(&format!("infrastructure/{id}/main.tf"), configuration)
    }

    /// Replaces `infra.yaml`.
    pub fn config(self, text: &str) -> Self {
        self.file("infra.yaml", text)
    }

    /// Sets a variable for every run.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes a file into the project.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a writable folder");
        std::fs::write(path, text).expect("a writable file");
    }

    /// Reads a file of the project.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Returns a path in the project.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Returns whether a file is there.
    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// Runs infra with these arguments to its end.
    #[must_use = "say how it ends: `succeeds()` or `exits(code)`"]
    pub fn run(&self, args: &str) -> Finished {
        self.start(args).wait()
    }

    /// Starts infra with these arguments.
    pub fn start(&self, args: &str) -> Running {
        Running::start(self.command(args), args)
    }

    /// Returns the command that runs infra in the project.
    pub fn command(&self, args: &str) -> Command {
        tofu();
        let mut command = infra();
        command.args(args.split_whitespace()).current_dir(&self.root).envs(self.env.iter().cloned());
        if !self.env.iter().any(|(name, _)| name == "XDG_STATE_HOME") {
            command.env("XDG_STATE_HOME", self.user_state());
        }
        command.stdin(Stdio::null());
        command
    }

    /// Returns the resources in the state of a stack, as `infra state list` tells them.
    pub fn resources(&self, stack: &str) -> Vec<String> {
        let listed = self.run(&format!("state list {stack} -q")).succeeds();
        listed.stdout.lines().map(str::to_owned).collect()
    }

    /// Returns what `infra locks --json` tells.
    pub fn locks(&self) -> Vec<serde_json::Value> {
        self.run("locks --json").succeeds().json().as_array().expect("a list").clone()
    }

    /// Runs git in the project, and returns what it says.
    pub fn git(&self, args: &[&str]) -> String {
        let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
        let done = Command::new("git").args(identity).args(args).current_dir(self.root()).output();
        let done = done.expect("git");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("text")
    }

    /// Returns the tofu that works on a stack.
    pub fn tofu_at_work(&self, stack: &str) -> run::Tofu {
        let notes = self.path(&format!(".infra/working/{}", stack.replace('/', "%2F")));
        let notes = std::fs::read_to_string(notes).expect("a tofu at work");
        let mut pids = notes.split(' ').map(|pid| pid.parse().expect("a process id"));
        run::Tofu(pids.next().expect("a process id"))
    }

    /// Returns the path of a stack's log in the newest run.
    pub fn newest_log(&self, stack: &str) -> String {
        let runs = std::fs::read_dir(self.path(".infra/runs")).expect("runs").flatten();
        let newest = runs.map(|entry| entry.file_name()).max().expect("a run");
        format!(".infra/runs/{}/logs/{stack}.log", newest.to_string_lossy())
    }

    /// Returns the events of the newest run, or nothing before the first one is recorded.
    pub fn newest_events(&self) -> String {
        let runs = std::fs::read_dir(self.path(".infra/runs")).into_iter().flatten().flatten();
        let newest = runs.map(|entry| entry.path()).max().unwrap_or_default();
        std::fs::read_to_string(newest.join("events.jsonl")).unwrap_or_default()
    }

    /// Returns which files hold a text: those of the project by path, state as `.infra/state`.
    pub fn files_containing(&self, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        find_text(&self.root, text.as_bytes(), &mut |path| {
            let path = path.strip_prefix(&self.root).expect("a path below the root").display().to_string();
            let path = if path.starts_with(".infra/state/") { ".infra/state".to_owned() } else { path };
            if !found.contains(&path) {
                found.push(path);
            }
        });
        found.sort_by_key(|path| path.starts_with('.'));
        found
    }

    /// Returns where infra keeps what its user made and allowed, beside the project.
    pub fn user_state(&self) -> PathBuf {
        self.dir.path().join("user-state")
    }

    /// Returns the root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// Returns the binary under test with an environment that no developer's habit can change.
pub fn infra() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_infra"));
    for (name, _) in std::env::vars() {
        let habits = ["TF_", "INFRA_", "AWS_", "GITHUB_"];
        if habits.iter().any(|habit| name.starts_with(habit)) || name == "CI" {
            command.env_remove(name);
        }
    }
    command.env("NO_COLOR", "1").env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/user-state"));
    command
}

/// Returns the path of the real tofu; gets it first, which may take minutes on a new machine.
pub fn tofu() -> &'static Path {
    static TOFU: OnceLock<PathBuf> = OnceLock::new();
    TOFU.get_or_init(|| installed(&std::env::temp_dir()))
}

/// Returns the path of the last tofu that tells a plan in messages only, 1.11.
///
/// It is got after the other, so that Go builds them one after the other and compiles what they
/// share once; infra's own lock sees to it that of several test programs one builds.
pub fn older_tofu() -> &'static Path {
    static TOFU: OnceLock<PathBuf> = OnceLock::new();
    TOFU.get_or_init(|| {
        tofu();
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("infra.yaml"), "name: lab\ntofu:\n  version: \"1.11.14\"\n")
            .expect("a writable file");
        installed(folder.path())
    })
}

/// Installs the tofu that a folder asks for into the user's cache, and returns its path.
fn installed(folder: &Path) -> PathBuf {
    let output = infra().args(["deps", "install", "--json"]).current_dir(folder).output();
    let output = output.expect("the binary under test starts");
    assert!(output.status.success(), "no tofu: {}", String::from_utf8_lossy(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    found[0]["path"].as_str().expect("a path").into()
}

fn find_text(dir: &Path, text: &[u8], found: &mut dyn FnMut(&Path)) {
    for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            find_text(&path, text, found);
        } else if std::fs::read(&path).is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text)) {
            found(&path);
        }
    }
}
