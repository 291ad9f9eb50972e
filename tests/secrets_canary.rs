//! A run with secrets, and then a search for them: in every file that the run could have
//! written, in raw, base64 and hex form, and in every write to a file where strace is there.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

mod support;
#[path = "support/tools.rs"]
mod tools;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use support::{Project, Running};
use tools::AgeKey;

/// Values that must be found nowhere; each for another way into tofu.
const CANARIES: [&str; 6] = [
    "c4n4ry-of-the-declared-variable",
    "c4n4ry-of-the-undeclared-value",
    "c4n4ry-of-the-state-password",
    "c4n4ry-of-the-bucket-secret",
    "c4n4ry-of-the-state-passphrase",
    "c4n4ry-of-the-next-passphrase",
];

/// The declared variable goes into the state, into an output and through a provisioner.
const STACK: &str = r#"
terraform {
  backend "http" {}
}

variable "api_token" {
  type      = string
  sensitive = true
}

resource "terraform_data" "vm" {
  input = var.api_token
  provisioner "local-exec" {
    command     = "echo the token is $TOKEN"
    environment = { TOKEN = nonsensitive(var.api_token) }
  }
}

output "token" {
  value     = terraform_data.vm.output
  sensitive = true
}
"#;

/// A project with all of the canaries, and the folders that its runs may write to.
struct Scene {
    project: Project,
    outside: tempfile::TempDir,
    in_memory_before: BTreeSet<PathBuf>,
}

impl Scene {
    /// Makes it with `state.encryption` set to this.
    fn new(encryption: &str) -> Self {
        // The tofu is looked up in the real home, before the runs get a new one.
        let tofu = support::tofu().display().to_string();
        let outside = tempfile::tempdir().unwrap();
        let key = AgeKey::new();
        let mut project = Project::new().stack("01-a/x", STACK).env("SOPS_AGE_KEY", &key.secret);
        for (name, folder) in [("HOME", "home"), ("TMPDIR", "tmp"), ("XDG_RUNTIME_DIR", "run")] {
            let folder = outside.path().join(folder);
            std::fs::create_dir(&folder).unwrap();
            project = project.env(name, &folder.display().to_string());
        }
        for name in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
            project = project.env(name, &outside.path().join("home").join(name).display().to_string());
        }
        project.write(
            "infra.yaml",
            &format!("name: lab\ntofu:\n  binary: {tofu}\nstate:\n  encryption: {encryption}\n"),
        );
        write_secrets(&project, &key);
        Self { project, outside, in_memory_before: files_below(Path::new("/dev/shm")) }
    }

    /// Returns every file that this run could have written.
    fn files(&self) -> BTreeSet<PathBuf> {
        let mut files = files_below(self.project.root());
        files.extend(files_below(self.outside.path()));
        files.extend(files_below(Path::new("/dev/shm")).difference(&self.in_memory_before).cloned());
        files
    }

    /// Runs infra and returns where its canaries can be read afterwards.
    fn run(&self, args: &str) -> Leaks {
        let trace = tempfile::NamedTempFile::new().unwrap();
        let finished = Running::start(traced(&self.project.command(args), trace.path()), args).wait();
        let finished = finished.succeeds();
        let shown = format!("{}{}", finished.stdout, finished.stderr);
        let holds_canary =
            |file: &PathBuf| std::fs::read(file).is_ok_and(|bytes| canary_in(&bytes).is_some());
        Leaks {
            shown: canary_in(shown.as_bytes()).is_some(),
            files: self.files().into_iter().filter(holds_canary).collect(),
            writes: if has_strace() { leaking_writes(trace.path()) } else { Vec::new() },
        }
    }

    /// Runs infra and asserts that its canaries can be read nowhere.
    fn runs_clean(&self, args: &str) {
        let leaks = self.run(args);
        assert!(
            !leaks.shown && leaks.files.is_empty() && leaks.writes.is_empty(),
            "infra {args}: {leaks:#?}"
        );
    }
}

/// Where canaries could be read.
#[derive(Debug)]
struct Leaks {
    /// On stdout or stderr.
    shown: bool,
    /// In these files.
    files: Vec<PathBuf>,
    /// In these writes to files, as strace tells them.
    writes: Vec<String>,
}

/// Returns the writes to files in a trace that hold a canary.
fn leaking_writes(trace: &Path) -> Vec<String> {
    let trace = String::from_utf8_lossy(&std::fs::read(trace).unwrap()).into_owned();
    let writes: Vec<&str> = trace.lines().filter(|line| is_write_to_file(line)).collect();
    assert!(writes.iter().any(|line| line.contains("/.infra/")), "strace saw no write of the run");
    let leaking = writes.into_iter().filter(|line| canary_in(line.as_bytes()).is_some());
    leaking.map(|line| line.chars().take(300).collect()).collect()
}

fn write_secrets(project: &Project, key: &AgeKey) {
    let [declared, undeclared, password, bucket, passphrase, next] = CANARIES;
    let yaml = format!(
        "api_token: {declared}\nother: {undeclared}\ntfstate_password: {password}\n\
         aws_secret_access_key: {bucket}\nstate_encryption_passphrase: {passphrase}\n\
         state_encryption_passphrase_next: {next}\n"
    );
    project.write("infrastructure/secrets.sops.yaml", &yaml);
    let folder = project.path("infrastructure");
    let done = key.run_sops(&folder, &["-e", "-i", "--age", &key.recipient, "secrets.sops.yaml"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Returns all files below a folder; what cannot be read belongs to somebody else.
fn files_below(dir: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files.extend(files_below(&path)),
            Ok(kind) if kind.is_file() => drop(files.insert(path)),
            _ => {}
        }
    }
    files
}

/// Returns the canary that some bytes hold, in any of its forms.
fn canary_in(bytes: &[u8]) -> Option<&'static str> {
    CANARIES.into_iter().find(|canary| {
        forms_of(canary).iter().any(|form| bytes.windows(form.len()).any(|part| part == form.as_bytes()))
    })
}

/// Returns a text as it is, in hex, and in base64 at each of the three places it can begin at.
fn forms_of(canary: &str) -> Vec<String> {
    let hex: String = canary.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![canary.to_owned(), hex.to_uppercase(), hex];
    for before in 0..3 {
        let encoded = BASE64.encode(format!("{}{canary}", "\0".repeat(before)));
        // The signs at both ends depend on what surrounds the text.
        forms.push(encoded[[0, 2, 3][before]..encoded.len() - 2].to_owned());
    }
    forms
}

/// Returns whether strace is there and may trace.
fn has_strace() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        let tried = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
        tried.is_ok_and(|output| output.status.success())
    })
}

/// Returns the same command under strace, or as it is where there is none.
fn traced(command: &Command, trace: &Path) -> Command {
    let mut traced = if has_strace() { Command::new("strace") } else { Command::new("env") };
    if has_strace() {
        traced.args(["-f", "-y", "-e", "trace=write,pwrite64,writev", "-s", "65536", "-o"]).arg(trace);
    }
    traced.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    traced.current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    traced
}

/// Returns whether a line of strace is a write to a file, and not to a pipe, socket or event.
fn is_write_to_file(line: &str) -> bool {
    let Some((_, target)) = line.split_once('<') else { return false };
    target.starts_with('/') && !target.starts_with("/dev/null") || target.starts_with("(deleted)")
}

#[test]
fn plan_apply_and_destroy_with_an_encrypted_state_write_no_secret_anywhere() {
    let scene = Scene::new("auto");

    scene.runs_clean("plan -v");
    let plan = scene.project.path(".infra/plans");
    assert!(files_below(&plan).iter().any(|file| file.extension().is_some_and(|ending| ending == "tfplan")));
    scene.runs_clean("apply -v");
    assert_eq!(scene.project.files_containing("encrypted_data"), [".infra/state"]);
    scene.runs_clean("destroy --yes --allow-destroy -v");

    assert!(scene.project.resources("x").is_empty());
}

#[test]
fn a_rotation_writes_no_secret_either() {
    let scene = Scene::new("auto");
    scene.runs_clean("apply --yes");

    scene.runs_clean("state encrypt x --yes --rotate-to state_encryption_passphrase_next");
}

#[test]
fn a_plain_state_is_found_by_the_same_search_but_is_not_shown() {
    let scene = Scene::new("off");

    let leaks = scene.run("apply --yes -v");

    assert!(!leaks.shown, "{leaks:#?}");
    assert!(
        leaks.files.iter().any(|file| file.starts_with(scene.project.path(".infra/state"))),
        "{leaks:#?}"
    );
    assert!(!has_strace() || leaks.writes.iter().any(|line| line.contains("/.infra/state")), "{leaks:#?}");
}

#[test]
fn the_search_finds_what_it_is_meant_to_find() {
    let canary = CANARIES[0];

    let raw = format!("x{canary}y");
    let hex: String = canary.bytes().map(|byte| format!("{byte:02X}")).collect();
    let base64 = ["", "a", "ab"].map(|before| BASE64.encode(format!("{before}{canary} and more")));

    for text in [raw, hex].iter().chain(&base64) {
        assert_eq!(canary_in(text.as_bytes()), Some(canary), "{text}");
    }
    assert_eq!(canary_in(b"nothing of the kind"), None);
    assert!(is_write_to_file("12 write(3</tmp/file>, \"x\", 1) = 1"));
    assert!(!is_write_to_file("12 write(3<pipe:[4711]>, \"x\", 1) = 1"));
}
