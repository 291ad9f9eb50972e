//! Python packages for tests: installed once from the package index into the user's cache, under a
//! lock, and programs that are asked questions on their stdin.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Returns the folder of installed packages; installs them first, which may take a minute.
pub fn site(name: &str, packages: &[&str]) -> PathBuf {
    let tools = cache().join("infra-test-tools");
    std::fs::create_dir_all(&tools).expect("a writable cache");
    // Compiled parts fit one version of Python only.
    let site = tools.join(format!("{name}-python{}", version()));
    let lock = File::create(tools.join(format!("{name}.lock"))).expect("a writable cache");
    lock.lock().expect("a lock");
    if !site.exists() {
        install(&tools, &site, packages);
    }
    site
}

/// Runs a program to its end with a text on its stdin.
pub fn run(mut command: Command, stdin: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.env("LC_ALL", "C.UTF-8").spawn().expect("python3 starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(stdin.as_bytes()).expect("the child reads");
    drop(pipe);
    child.wait_with_output().expect("the child ends")
}

/// Installs beside the place and renames, so that a broken installation is never found there.
fn install(tools: &Path, site: &Path, packages: &[&str]) {
    let fresh = tempfile::tempdir_in(tools).expect("a writable cache");
    let output = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"])
        .arg(fresh.path())
        .args(packages)
        .output()
        .expect("python3 starts");
    assert!(output.status.success(), "no {packages:?}: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(fresh.keep(), site).expect("one file system");
}

fn version() -> String {
    let program = "import sys; print('%d.%d' % sys.version_info[:2])";
    let output = Command::new("python3").args(["-c", program]).output().expect("python3 starts");
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

fn cache() -> PathBuf {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    named.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").expect("HOME")).join(".cache"))
}
