//! A window of a real tmux: what a person sees in it, and what happens when it changes its size.
//!
//! Each window has a server of its own, which ends with it, even when the test fails.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::support::run::wait_until;

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// A window with one program in it.
pub struct Tmux {
    folder: tempfile::TempDir,
}

impl Tmux {
    /// Starts a command in a window of this size.
    pub fn start(command: &Command, columns: u16, rows: u16) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("conf"), "set -g remain-on-exit on\n").expect("a file");
        let window = Self { folder };
        let mut tmux = window.tmux();
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => tmux.env(name, value),
                None => tmux.env_remove(name),
            };
        }
        tmux.args(["new-session", "-d", "-x", &columns.to_string(), "-y", &rows.to_string()]);
        tmux.arg("-c").arg(command.get_current_dir().expect("a folder to work in"));
        tmux.arg("--").arg(command.get_program()).args(command.get_args());
        answered(tmux.output());
        window
    }

    /// Gives the window another size.
    pub fn resize(&self, columns: u16, rows: u16) {
        self.ask(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    /// Types a line.
    pub fn types(&self, line: &str) {
        self.ask(&["send-keys", line, "Enter"]);
    }

    /// Returns the rows that can be seen, without spaces at their ends.
    pub fn rows(&self) -> Vec<String> {
        self.captured(&[])
    }

    /// Returns all rows, those that were scrolled away included.
    pub fn history(&self) -> Vec<String> {
        self.captured(&["-S", "-"])
    }

    /// Waits until what can be seen is as it should be.
    pub fn until(&self, what: &str, holds: impl Fn(&[String]) -> bool) -> Vec<String> {
        let begun = Instant::now();
        loop {
            let rows = self.rows();
            if holds(&rows) {
                return rows;
            }
            assert!(begun.elapsed() < PATIENCE, "never seen: {what}; the window shows:\n{}", rows.join("\n"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the end of the program and returns its exit code.
    pub fn wait(&self) -> i32 {
        let ask = |what: &str| self.ask(&["display-message", "-p", what]).trim().to_owned();
        let mut code = None;
        wait_until("the program ends", || {
            code = ask("#{pane_dead_status}").parse().ok();
            // tmux may miss the end of a program; the end of another one lets it look again.
            if code.is_none() && ask("#{pane_dead}") == "1" {
                self.ask(&["run-shell", "true"]);
            }
            code.is_some()
        });
        code.expect("an exit code")
    }

    fn captured(&self, how: &[&str]) -> Vec<String> {
        let text = self.ask(&[&["capture-pane", "-p"], how].concat());
        text.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    fn ask(&self, words: &[&str]) -> String {
        answered(self.tmux().args(words).output())
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(self.folder.path().join("socket"));
        tmux.arg("-f").arg(self.folder.path().join("conf"));
        tmux.args(["-u"]).env("LC_ALL", "C.UTF-8").env_remove("TMUX");
        tmux
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // A server that is gone already needs no end.
        let _ = self.tmux().arg("kill-server").output();
    }
}

fn answered(output: std::io::Result<Output>) -> String {
    let output = output.unwrap_or_else(|error| panic!("this test needs tmux on the path: {error}"));
    assert!(output.status.success(), "tmux: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
