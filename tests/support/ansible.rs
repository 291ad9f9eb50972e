//! The real Ansible: installed once from the Python package index into the user's cache, then
//! driven as the command `ansible-vault`, or as its library, many cases in one process.

mod python;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

/// What the library is asked, all of it by one process.
const DRIVER: &str = include_str!("ansible_driver.py");

/// Which versions have what the driver uses.
const PACKAGE: &str = "ansible-core>=2.15,<3";

/// One question to the library.
pub struct Case {
    pub action: Action,
    pub password: Vec<u8>,
    pub label: String,
    pub data: Vec<u8>,
}

/// What the library is to do.
#[derive(Clone, Copy)]
pub enum Action {
    Encrypt,
    Decrypt,
}

/// Asks the library all of the cases; an answer is bytes, or the error it raised.
pub fn ask(cases: &[Case]) -> Vec<Result<Vec<u8>, String>> {
    let asked: Vec<Value> = cases.iter().map(Case::to_json).collect();
    let mut command = Command::new("python3");
    command.args(["-c", DRIVER]);
    let output = run(command, Some(&json!(asked).to_string()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answers.len(), cases.len());
    answers.iter().map(answer).collect()
}

/// Runs the command `ansible-vault` with these arguments and variables.
pub fn ansible_vault(args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = Command::new("python3");
    command.arg(site().join("bin/ansible-vault")).args(args).envs(env.iter().copied());
    run(command, None)
}

/// Runs a command of Ansible in a folder with these arguments and variables.
pub fn ansible(command: &str, args: &[&str], folder: &Path, env: &[(&str, &str)]) -> Output {
    let mut python = Command::new("python3");
    python.arg(site().join("bin").join(command)).args(args).current_dir(folder);
    python.env("ANSIBLE_NOCOLOR", "1").envs(env.iter().copied());
    run(python, None)
}

impl Case {
    fn to_json(&self) -> Value {
        let action = match self.action {
            Action::Encrypt => "encrypt",
            Action::Decrypt => "decrypt",
        };
        let (password, data) = (BASE64.encode(&self.password), BASE64.encode(&self.data));
        json!({"action": action, "password": password, "label": self.label, "data": data})
    }
}

fn answer(answer: &Value) -> Result<Vec<u8>, String> {
    match answer["data"].as_str() {
        Some(data) => Ok(BASE64.decode(data).expect("base64")),
        None => Err(answer["error"].as_str().expect("an error").to_owned()),
    }
}

/// Runs a command with the installed packages and nothing of the developer's own settings.
fn run(mut command: Command, stdin: Option<&str>) -> Output {
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ANSIBLE_")) {
        command.env_remove(name);
    }
    command.env("PYTHONPATH", site()).env("ANSIBLE_CONFIG", site().join("none.cfg"));
    python::run(command, stdin.unwrap_or_default())
}

/// Returns the folder of the installed packages; installs them first, which may take a minute.
fn site() -> &'static Path {
    static SITE: OnceLock<PathBuf> = OnceLock::new();
    SITE.get_or_init(|| {
        let site = python::site("ansible-core", &[PACKAGE]);
        // An empty file of settings: whatever the developer has does not count.
        std::fs::write(site.join("none.cfg"), "").expect("a writable cache");
        site
    })
}
