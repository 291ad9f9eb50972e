//! Runs the jobs of a workflow as a forge's runner does: each in a checkout of its own, its steps in bash,
//! its expressions from a table. What a step hands to other jobs goes through folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::workflow::Workflow;

/// A runner with what it knows of the event, the secrets and the forge.
#[derive(Clone)]
pub struct Runner {
    /// Where artifacts wait, a folder each.
    pub artifacts: PathBuf,
    /// What stands for each expression.
    pub values: BTreeMap<String, String>,
    /// What the forge sets.
    pub env: BTreeMap<String, String>,
}

/// How a job ended.
pub struct Ended {
    pub succeeded: bool,
    pub outputs: BTreeMap<String, String>,
    pub log: String,
}

impl Ended {
    pub fn succeeds(self) -> Self {
        assert!(self.succeeded, "{}", self.log);
        self
    }
}

impl Runner {
    pub fn new(artifacts: PathBuf) -> Self {
        std::fs::create_dir_all(&artifacts).unwrap();
        Self { artifacts, values: BTreeMap::new(), env: BTreeMap::new() }
    }

    /// Says what an expression stands for.
    pub fn value(mut self, expression: &str, value: impl Into<String>) -> Self {
        self.values.insert(expression.to_owned(), value.into());
        self
    }

    /// Sets a variable of the runner.
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.insert(name.to_owned(), value.into());
        self
    }

    /// Runs a job in a checkout.
    pub fn run(&self, workflow: &Workflow, job: &str, checkout: &Path) -> Ended {
        let yaml = workflow.yaml();
        let described = &yaml["jobs"][job];
        let mut ended = Ended { succeeded: true, outputs: BTreeMap::new(), log: String::new() };
        for step in described["steps"].as_array().unwrap_or_else(|| panic!("no job {job}")) {
            let condition = step["if"].as_str().unwrap_or("success()");
            if condition.contains("cancelled()") || (ended.succeeded && self.holds(condition)) {
                self.step(&yaml, step, checkout, &mut ended);
            }
        }
        ended
    }

    fn holds(&self, condition: &str) -> bool {
        condition == "success()" || self.filled(condition) == "true"
    }

    fn step(&self, yaml: &Value, step: &Value, checkout: &Path, ended: &mut Ended) {
        match (step["uses"].as_str().and_then(|uses| uses.split('@').next()), step["run"].as_str()) {
            (Some("actions/checkout"), _) => assert!(checkout.join(".git").exists()),
            (Some("actions/upload-artifact"), _) => self.upload(&step["with"], checkout),
            (Some("actions/download-artifact"), _) => self.download(&step["with"], checkout),
            (Some("github/codeql-action/upload-sarif"), _) => {
                let sarif =
                    std::fs::read(checkout.join(step["with"]["sarif_file"].as_str().unwrap())).unwrap();
                let sarif: Value = serde_json::from_slice(&sarif).expect("SARIF");
                assert_eq!(sarif["version"], "2.1.0");
            }
            (None, Some(script)) => self.shell(yaml, step, script, checkout, ended),
            (uses, _) => panic!("what is {uses:?}?"),
        }
    }

    /// Runs a script in a checkout, with what the forge sets.
    pub fn script(&self, script: &str, checkout: &Path) -> Ended {
        let done = self.bash(script, checkout).output().expect("bash");
        let log = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
        Ended { succeeded: done.status.success(), outputs: BTreeMap::new(), log }
    }

    fn bash(&self, script: &str, checkout: &Path) -> Command {
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir(checkout);
        for (name, _) in std::env::vars() {
            if ["TF_", "INFRA_", "AWS_", "GITHUB_", "CI", "SOPS_"].iter().any(|habit| name.starts_with(habit))
            {
                bash.env_remove(name);
            }
        }
        bash.env("NO_COLOR", "1").env("CI", "true").envs(&self.env);
        bash
    }

    fn shell(&self, yaml: &Value, step: &Value, script: &str, checkout: &Path, ended: &mut Ended) {
        let outputs = checkout.parent().unwrap().join("outputs");
        std::fs::write(&outputs, "").unwrap();
        let mut bash = self.bash(script, checkout);
        bash.env("GITHUB_OUTPUT", &outputs);
        for env in [&yaml["env"], &step["env"]] {
            for (name, value) in env.as_object().into_iter().flatten() {
                bash.env(name, self.filled(value.as_str().expect("a text")));
            }
        }
        let done = bash.output().expect("bash");
        let said = [done.stdout, done.stderr].concat();
        ended.log += &format!("== {}\n{}\n", step["name"], String::from_utf8_lossy(&said));
        ended.succeeded &= done.status.success();
        for line in std::fs::read_to_string(&outputs).unwrap().lines() {
            let (name, value) = line.split_once('=').expect("NAME=VALUE");
            ended.outputs.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Returns a text with its expressions replaced; one that nobody gave a value for is a fault of the test.
    fn filled(&self, text: &str) -> String {
        let Some((before, rest)) = text.split_once("${{") else { return text.to_owned() };
        let (expression, after) = rest.split_once("}}").expect("an end");
        let value = self.values.get(expression.trim());
        let value = value.unwrap_or_else(|| panic!("no value for `{}`", expression.trim()));
        format!("{before}{value}{}", self.filled(after))
    }

    fn upload(&self, with: &Value, checkout: &Path) {
        let to = self.artifacts.join(self.filled(with["name"].as_str().unwrap()));
        let paths = with["path"].as_str().unwrap();
        // The patterns are those of a shell, but for the ones that leave out.
        let (kept, left): (Vec<&str>, Vec<&str>) = paths.lines().partition(|path| !path.starts_with('!'));
        std::fs::create_dir_all(&to).unwrap();
        let script = format!(
            "shopt -s nullglob dotglob; for path in {}; do [ ! -e \"$path\" ] || cp -r --parents \"$path\" \"$TO\"; done; \
             cd \"$TO\"; rm -rf {}",
            kept.join(" "),
            left.iter().map(|path| &path[1..]).collect::<Vec<_>>().join(" ")
        );
        let done = Command::new("bash").args(["-ec", &script]).env("TO", &to).current_dir(checkout).status();
        assert!(done.unwrap().success());
    }

    fn download(&self, with: &Value, checkout: &Path) {
        let prefix = with["pattern"].as_str().unwrap().trim_end_matches('*');
        let to = checkout.join(with["path"].as_str().unwrap());
        std::fs::create_dir_all(&to).unwrap();
        for artifact in std::fs::read_dir(&self.artifacts).unwrap().flatten() {
            if artifact.file_name().to_string_lossy().starts_with(prefix) {
                let done = Command::new("cp").arg("-r").arg(artifact.path()).arg(&to).status();
                assert!(done.unwrap().success());
            }
        }
    }
}
