//! The real makejinja, the Jinja2 below it and a real JSON-schema validator: installed once from
//! the Python package index into the user's cache, then asked many questions by one process, or
//! run over a whole project.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// Renders many templates in one process.
const DRIVER: &str = include_str!("makejinja_driver.py");

/// What is installed; the versions that the tests were written against.
const PACKAGES: [&str; 3] = ["makejinja==2.8.1", "jinja2==3.1.6", "jsonschema>=4.20,<5"];

/// Asks Jinja2 for every case; an answer has `text` or `error`.
pub fn jinja(asked: &Value) -> Vec<Value> {
    ask(DRIVER, asked).as_array().expect("a list").clone()
}

/// Runs a Python program with the packages at hand: JSON on its stdin, JSON on its stdout.
pub fn ask(program: &str, question: &Value) -> Value {
    let mut command = Command::new("python3");
    command.args(["-c", program]);
    let output = run(command, &question.to_string());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Returns the command that runs makejinja in a project.
pub fn makejinja(project: &Path) -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", "makejinja"]).current_dir(project).env("PYTHONPATH", site()).env("LC_ALL", "C.UTF-8");
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn run(mut command: Command, stdin: &str) -> Output {
    command.env("PYTHONPATH", site()).env("LC_ALL", "C.UTF-8");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("python3 starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(stdin.as_bytes()).expect("the child reads");
    drop(pipe);
    child.wait_with_output().expect("the child ends")
}

/// Returns the folder of the installed packages; installs them first, which may take a minute.
pub fn site() -> &'static Path {
    static SITE: OnceLock<PathBuf> = OnceLock::new();
    SITE.get_or_init(|| {
        let tools = cache().join("infra-test-tools");
        std::fs::create_dir_all(&tools).expect("a writable cache");
        // Compiled parts fit one version of Python only.
        let site = tools.join(format!("makejinja-2.8.1-with-jsonschema-python{}", python_version()));
        let lock = File::create(tools.join("makejinja.lock")).expect("a writable cache");
        lock.lock().expect("a lock");
        if !site.exists() {
            install(&tools, &site);
        }
        site
    })
}

/// Installs beside the place and renames, so that a broken installation is never found there.
fn install(tools: &Path, site: &Path) {
    let fresh = tempfile::tempdir_in(tools).expect("a writable cache");
    let output = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"])
        .arg(fresh.path())
        .args(PACKAGES)
        .output()
        .expect("python3 starts");
    assert!(output.status.success(), "no makejinja: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(fresh.keep(), site).expect("one file system");
}

fn python_version() -> String {
    let program = "import sys; print('%d.%d' % sys.version_info[:2])";
    let output = Command::new("python3").args(["-c", program]).output().expect("python3 starts");
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

fn cache() -> PathBuf {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    named.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").expect("HOME")).join(".cache"))
}
