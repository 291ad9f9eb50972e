//! A project in a real git repository, and what `infra changed` says of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Finished, Running, infra};

/// A repository with a project in it.
pub struct Repository {
    dir: tempfile::TempDir,
    /// The folder with `.git`.
    pub top: PathBuf,
    /// The project's root.
    pub root: PathBuf,
    env: Vec<(String, String)>,
}

/// What `infra changed --json` says.
#[derive(Debug)]
pub struct Told {
    pub base: String,
    pub stacks: BTreeSet<String>,
    pub removed: BTreeSet<String>,
    pub reasons: BTreeMap<String, BTreeSet<String>>,
}

impl Repository {
    /// Makes a repository whose root is the project's, with an empty `infra.yaml`.
    pub fn new() -> Self {
        Self::below("")
    }

    /// Makes a repository with a project in a folder below its root.
    pub fn below(folder: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let top = dir.path().canonicalize().expect("a real path").join("repository");
        let root = top.join(folder).components().collect::<PathBuf>();
        std::fs::create_dir_all(&root).expect("a folder");
        let repository = Self { dir, top, root, env: Vec::new() };
        repository.git("init -q -b main");
        repository.file("infra.yaml", "name: lab\n")
    }

    /// Makes the same from a folder that git made, such as a clone.
    pub fn at(dir: tempfile::TempDir, top: PathBuf) -> Self {
        Self { dir, root: top.clone(), top, env: Vec::new() }
    }

    pub fn file(self, path: &str, text: &str) -> Self {
        self.write(path, text);
        self
    }

    /// Adds a stack that uses modules by these sources.
    pub fn stack(self, id: &str, sources: &[&str]) -> Self {
        let path = format!("infrastructure/{id}/main.tf");
        self.file(&path, &uses(sources))
    }

    /// Adds a module that uses others.
    pub fn module(self, name: &str, sources: &[&str]) -> Self {
        let path = format!("infrastructure/modules/{name}/main.tf");
        self.file(&path, &uses(sources))
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    pub fn append(&self, path: &str, text: &str) {
        let old = std::fs::read_to_string(self.root.join(path)).expect("a file");
        self.write(path, &(old + text));
    }

    pub fn remove(&self, path: &str) {
        let path = self.root.join(path);
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.expect("gone");
    }

    pub fn link(&self, target: &str, path: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::os::unix::fs::symlink(target, path).expect("a link");
    }

    /// Runs git in the folder with `.git`, and returns what it says.
    pub fn git(&self, args: &str) -> String {
        git_in(&self.top, &args.split_whitespace().collect::<Vec<_>>())
    }

    /// Commits everything and returns the commit.
    pub fn commit(&self) -> String {
        self.git("add -A");
        self.git("commit -q --allow-empty -m change");
        self.git("rev-parse HEAD").trim().to_owned()
    }

    /// Commits everything and makes that what the remote has.
    pub fn publish(&self) -> String {
        let commit = self.commit();
        self.git("update-ref refs/remotes/origin/main HEAD");
        commit
    }

    /// Returns a command of infra in the project, with no trace of the surroundings of these tests.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = infra();
        for (name, _) in std::env::vars() {
            if name.starts_with("CI_") || name.starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        command.args(args).current_dir(&self.root).stdin(Stdio::null());
        command.env("XDG_STATE_HOME", self.dir.path().join("state")).envs(self.env.iter().cloned());
        command
    }

    pub fn run(&self, args: &[&str]) -> Finished {
        Running::start(self.command(args), &args.join(" ")).wait()
    }

    /// Asks for what changed since a base; an empty one is the default.
    pub fn changed(&self, base: &str) -> Told {
        let args: &[&str] =
            if base.is_empty() { &["changed", "--json"] } else { &["changed", "--base", base, "--json"] };
        told(&self.run(args).succeeds())
    }

    /// Returns the affected stacks since the newest commit.
    pub fn affected(&self) -> Vec<String> {
        self.changed("HEAD").stacks.into_iter().collect()
    }

    /// Returns a folder beside the repository.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// Reads what `infra changed --json` says.
pub fn told(finished: &Finished) -> Told {
    let value = finished.json();
    let texts = |value: &serde_json::Value| -> BTreeSet<String> {
        let all = value.as_array().expect("a list").iter();
        all.map(|text| text.as_str().expect("text").to_owned()).collect()
    };
    let reasons = value["reasons"].as_object().expect("a map").iter();
    Told {
        base: value["base"].as_str().expect("text").to_owned(),
        stacks: texts(&value["stacks"]),
        removed: texts(&value["removed"]),
        reasons: reasons.map(|(stack, paths)| (stack.clone(), texts(paths))).collect(),
    }
}

/// Returns the reasons of one stack.
pub fn reasons(told: &Told, stack: &str) -> Vec<String> {
    told.reasons.get(stack).cloned().unwrap_or_default().into_iter().collect()
}

/// Runs git in a folder with an identity, and nothing of the person's own settings.
pub fn git_in(folder: &Path, args: &[&str]) -> String {
    let done = git_command(folder).args(args).output().expect("git");
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

pub fn git_command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    let settings = ["user.name=test", "user.email=test@localhost", "protocol.file.allow=always"];
    for setting in settings {
        command.args(["-c", setting]);
    }
    command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command
}

/// Returns a configuration that uses modules.
pub fn uses(sources: &[&str]) -> String {
    let module = |(at, source): (usize, &&str)| format!("module \"m{at}\" {{\n  source = \"{source}\"\n}}\n");
    let modules: String = sources.iter().enumerate().map(module).collect();
    format!("terraform {{\n  backend \"http\" {{}}\n}}\n{modules}")
}
