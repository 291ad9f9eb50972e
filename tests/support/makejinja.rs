//! The real makejinja, the Jinja2 below it and a real JSON-schema validator: installed once from
//! the Python package index into the user's cache, then asked many questions by one process, or
//! run over a whole project.

#![allow(dead_code, reason = "each test file uses its own part")]

mod python;

use std::path::{Path, PathBuf};
use std::process::Command;
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
    command.args(["-c", program]).env("PYTHONPATH", site());
    let output = python::run(command, &question.to_string());
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

/// Returns the folder of the installed packages; installs them first, which may take a minute.
pub fn site() -> &'static Path {
    static SITE: OnceLock<PathBuf> = OnceLock::new();
    SITE.get_or_init(|| python::site("makejinja-2.8.1", &PACKAGES))
}
