//! Jobs of a CI system: checkouts of one repository beside each other, each with a user of its own, and
//! one key that the apply job alone has.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Finished, Project, Running};
use crate::tools::AgeKey;

/// A stack with states that all checkouts share.
pub const STACK: &str = r#"
terraform {
  backend "http" {}
}

variable "word" {
  default = "one"
}

resource "terraform_data" "thing" {
  input = var.word
}

output "thing" {
  value = terraform_data.thing.output
}
"#;

pub const CONFIG: &str = "name: lab\nstate: { store: ../states }\n";

/// A repository, and the pair of keys of its apply job.
pub struct Repository {
    pub project: Project,
    pub key: AgeKey,
}

impl Repository {
    pub fn new() -> Self {
        Self { project: Project::new().config(CONFIG), key: AgeKey::new() }
    }

    pub fn stack(self, id: &str, configuration: &str) -> Self {
        Self { project: self.project.stack(id, configuration), ..self }
    }

    pub fn file(self, path: &str, text: &str) -> Self {
        Self { project: self.project.file(path, text), ..self }
    }

    /// Makes the first commit.
    pub fn committed(self) -> Self {
        self.project.write(".gitignore", ".terraform/\n.infra/\n*.bundle\n");
        self.project.git(&["init", "-q", "-b", "main"]);
        self.commit("first");
        self
    }

    pub fn commit(&self, message: &str) {
        self.project.git(&["add", "-A"]);
        self.project.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// Edits a file and commits it.
    pub fn edit(&self, path: &str, text: &str) {
        self.project.write(path, text);
        self.commit(&format!("edit {path}"));
    }

    /// Returns a file beside all checkouts.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.project.root().parent().expect("a folder").join(name)
    }

    /// Plans as a job that has no private key.
    pub fn plan(&self, args: &str) -> Finished {
        self.plan_in(self.project.root(), args)
    }

    pub fn plan_in(&self, checkout: &Path, args: &str) -> Finished {
        let mut command = self.command(&format!("plan {args}"), checkout, "planner");
        command.env("INFRA_BUNDLE_RECIPIENTS", &self.key.recipient);
        Running::start(command, args).wait()
    }

    /// Applies as the job that has the key, in a fresh clone of what is committed.
    pub fn apply(&self, args: &str) -> Finished {
        let clone = self.clone_as("apply");
        self.apply_in(&clone, args)
    }

    pub fn apply_in(&self, checkout: &Path, args: &str) -> Finished {
        let mut command = self.command(&format!("apply {args}"), checkout, "applier");
        command.env("SOPS_AGE_KEY", &self.key.secret);
        Running::start(command, args).wait()
    }

    /// Returns a run of infra by a user who has nothing.
    pub fn command(&self, args: &str, checkout: &Path, user: &str) -> Command {
        let mut command = self.project.command(args);
        command.current_dir(checkout).env("XDG_STATE_HOME", self.beside(user));
        command.env("XDG_CONFIG_HOME", self.beside("no-config"));
        for name in ["SOPS_AGE_KEY", "SOPS_AGE_KEY_FILE", "SOPS_AGE_RECIPIENTS"] {
            command.env_remove(name);
        }
        command
    }

    /// Clones what is committed into a new folder of this name.
    pub fn clone_as(&self, name: &str) -> PathBuf {
        let folder = self.beside(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).expect("a folder of ours");
        }
        self.project.git(&["clone", "-q", ".", folder.to_str().expect("text")]);
        folder
    }

    /// Returns what an output of a stack is; nothing before it is applied.
    pub fn output(&self, stack: &str) -> String {
        let args = format!("output {stack} thing --raw");
        let run = Running::start(self.command(&args, self.project.root(), "planner"), &args).wait();
        run.stdout.trim().to_owned()
    }
}
