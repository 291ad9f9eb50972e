//! A folder with a key and a creation rule, in which infra and sops run with nothing of the
//! developer's own; editors work in a folder in memory that belongs to it alone.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{Finished, Running, infra};
use crate::tools::AgeKey;

pub struct Folder {
    dir: tempfile::TempDir,
    memory: tempfile::TempDir,
    pub key: AgeKey,
}

impl Folder {
    /// Makes a folder in which everything is encrypted for one key.
    pub fn new() -> Self {
        let key = AgeKey::new();
        let (dir, memory) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        let folder = Self { dir, memory, key };
        folder.rule_for(&[&folder.key.recipient]);
        folder
    }

    /// Writes the creation rule.
    pub fn rule_for(&self, recipients: &[&str]) {
        let rules = format!("creation_rules:\n  - age: {}\n", recipients.join(","));
        self.write(".sops.yaml", rules.as_bytes());
    }

    /// Adds a file that infra encrypts.
    pub fn encrypted(self, name: &str, plain: &str) -> Self {
        self.write(name, plain.as_bytes());
        self.run(&["encrypt", name]).succeeds();
        self
    }

    /// Returns a call of `infra secrets` with the key at hand.
    pub fn infra(&self, args: &[&str]) -> Command {
        let mut command = infra();
        let foreign = |name: &str| name.starts_with("SOPS_") || name.starts_with("ANSIBLE_");
        for (name, _) in std::env::vars().filter(|(name, _)| foreign(name)) {
            command.env_remove(name);
        }
        command.env_remove("XDG_CONFIG_HOME").env_remove("VISUAL").env_remove("EDITOR");
        command.env("HOME", self.dir.path()).env("XDG_RUNTIME_DIR", self.memory.path());
        command.env("SOPS_AGE_KEY", &self.key.secret);
        command.arg("secrets").args(args).current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    /// Runs `infra secrets` to its end.
    pub fn run(&self, args: &[&str]) -> Finished {
        Running::start(self.infra(args), &args.join(" ")).wait()
    }

    /// Runs the real sops, which must succeed, and returns what it prints.
    pub fn sops(&self, args: &[&str]) -> Vec<u8> {
        let output = self.key.run_sops(self.dir.path(), args);
        assert!(output.status.success(), "sops {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Writes a shell script and returns its path, for `EDITOR`.
    pub fn script(&self, name: &str, body: &str) -> String {
        self.write(name, format!("#!/bin/sh\n{body}\n").as_bytes());
        self.set_mode(name, 0o755);
        self.path(name).display().to_string()
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub fn set_mode(&self, name: &str, mode: u32) {
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    pub fn mode(&self, name: &str) -> u32 {
        std::fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    /// Returns the names of everything in the folder.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path()).unwrap().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns how many folders for editing lie in memory.
    pub fn edits_in_memory(&self) -> usize {
        std::fs::read_dir(self.memory.path()).unwrap().count()
    }
}

/// Counts the lines that differ between two texts of the same length.
pub fn differing_lines(before: &str, after: &str) -> usize {
    assert_eq!(before.lines().count(), after.lines().count(), "{before}\n{after}");
    before.lines().zip(after.lines()).filter(|(old, new)| old != new).count()
}
