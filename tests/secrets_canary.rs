//! A run with secrets, and then a search for them: on the screen, in every file that the run could
//! have written, in raw, base64 and hex form, and in every write to a file where strace is there.
//!
//! With a tofu that tells text and messages (1.12) and one that tells messages only (1.11).

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
const CANARIES: [&str; 8] = [
    "c4n4ry-of-the-declared-variable",
    "c4n4ry-of-the-undeclared-value",
    "c4n4ry-of-the-state-password",
    "c4n4ry-of-the-bucket-secret",
    "c4n4ry-of-the-state-passphrase",
    "c4n4ry-of-the-next-passphrase",
    "c4n4ry-of-the-open-variable",
    "c4n4ry-before-it-was-rotated",
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

/// The variable is not marked, so tofu shows it in all of the ways in which it shows values.
const OPEN: &str = r#"
terraform {
  backend "http" {}
}

variable "open" {
  type = string
}

variable "key" {
  type = string
}

resource "terraform_data" "plain" {
  input = var.open
  provisioner "local-exec" {
    command = "echo made with ${self.input}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo made with ${self.input}"
  }
}

resource "terraform_data" "part" {
  input = "postgres://user:${var.open}@host"
}

resource "terraform_data" "document" {
  input = jsonencode({ user = "u", password = var.open, list = [var.open] })
}

resource "terraform_data" "text" {
  input = "first line\npassword: ${var.open}\nlast line\n"
}

resource "terraform_data" "lines" {
  input            = var.key
  triggers_replace = [var.open, base64encode("user:${var.open}")]
}

resource "terraform_data" "each" {
  for_each = toset([var.open])
  input    = { (each.key) = each.key }
}

output "open" {
  value = { token = var.open, (var.open) = [var.key] }
}
"#;

/// A project with all of the canaries, and the folders that its runs may write to.
struct Scene {
    project: Project,
    outside: tempfile::TempDir,
    in_memory_before: BTreeSet<PathBuf>,
    key: AgeKey,
}

impl Scene {
    /// Makes it with `state.encryption` set to this.
    fn new(encryption: &str) -> Self {
        let scene = Self::of(support::tofu(), STACK, encryption);
        let [declared, undeclared, password, bucket, passphrase, next, ..] = CANARIES;
        scene.give(&format!(
            "api_token: {declared}\nother: {undeclared}\ntfstate_password: {password}\n\
             aws_secret_access_key: {bucket}\nstate_encryption_passphrase: {passphrase}\n\
             state_encryption_passphrase_next: {next}\n"
        ));
        scene
    }

    /// Makes one with this tofu and this stack, still without secrets.
    ///
    /// The tofu is looked up in the real home, before the runs get a new one.
    fn of(tofu: &Path, stack: &str, encryption: &str) -> Self {
        let (tofu, outside, key) = (tofu.display(), tempfile::tempdir().unwrap(), AgeKey::new());
        let mut project = Project::new().stack("01-a/x", stack).env("SOPS_AGE_KEY", &key.secret);
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
        Self { project, outside, in_memory_before: files_below(Path::new("/dev/shm")), key }
    }

    /// Makes one whose variables nobody marked, without a passphrase.
    fn open(tofu: &Path) -> Self {
        let scene = Self::of(tofu, OPEN, "auto");
        scene.give(&open_secrets(CANARIES[6]));
        scene
    }

    /// Replaces the secrets.
    fn give(&self, yaml: &str) {
        self.project.write("infrastructure/secrets.sops.yaml", yaml);
        let arguments = ["-e", "-i", "--age", &self.key.recipient, "secrets.sops.yaml"];
        let done = self.key.run_sops(&self.project.path("infrastructure"), &arguments);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
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
        self.run_to(args, 0)
    }

    /// Runs infra to this exit code.
    fn run_to(&self, args: &str, code: i32) -> Leaks {
        let trace = tempfile::NamedTempFile::new().unwrap();
        let finished = Running::start(traced(&self.project.command(args), trace.path()), args).wait();
        let finished = finished.exits(code);
        let shown = format!("{}{}", finished.stdout, finished.stderr);
        let holds_canary =
            |file: &PathBuf| contents_of(file).is_some_and(|bytes| canary_in(&bytes).is_some());
        Leaks {
            shown: shown
                .lines()
                .filter(|line| canary_in(line.as_bytes()).is_some())
                .map(str::to_owned)
                .collect(),
            files: self.files().into_iter().filter(holds_canary).collect(),
            writes: if has_strace() { leaking_writes(trace.path(), args) } else { Vec::new() },
        }
    }

    /// Runs infra and asserts that its canaries can be read nowhere.
    fn runs_clean(&self, args: &str) {
        let leaks = self.run(args);
        assert!(leaks.is_empty(), "infra {args}: {leaks:#?}");
    }

    /// Runs infra without a passphrase: the canaries may be in the state, which is not encrypted then,
    /// and in saved plans, of which a test of their own tells; nowhere else.
    fn runs_open(&self, args: &str) {
        self.runs_open_to(args, 0);
    }

    fn runs_open_to(&self, args: &str, code: i32) {
        let mut leaks = self.run_to(args, code);
        // A safety copy is the state as it lies.
        let copies = self.project.user_state().join("infra/copies/");
        let allowed = [self.project.path(".infra/state/"), copies];
        leaks.files.retain(|file| !allowed.iter().any(|folder| file.starts_with(folder)));
        let allowed = allowed.map(|folder| folder.display().to_string());
        leaks.writes.retain(|write| !allowed.iter().any(|folder| write.contains(folder)));
        assert!(leaks.is_empty(), "infra {args}: {leaks:#?}");
    }
}

/// Returns the secrets of [`OPEN`]: a text, and one of several lines.
fn open_secrets(open: &str) -> String {
    format!("open: {open}\nkey: |\n  -----BEGIN KEY-----\n  {open}/first\n  {open}/second\n")
}

/// Where canaries could be read.
#[derive(Debug)]
struct Leaks {
    /// In these lines of stdout or stderr.
    shown: Vec<String>,
    /// In these files.
    files: Vec<PathBuf>,
    /// In these writes to files, as strace tells them.
    writes: Vec<String>,
}

impl Leaks {
    fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.files.is_empty() && self.writes.is_empty()
    }
}

/// Returns what can be read in a file: what is packed in it as well, where it is an archive, as a plan is
/// that is not encrypted.
fn contents_of(file: &Path) -> Option<Vec<u8>> {
    let mut bytes = std::fs::read(file).ok()?;
    if bytes.starts_with(b"PK\x03\x04") {
        let program = "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1]) as packed:\n    \
             [sys.stdout.buffer.write(packed.read(name)) for name in packed.namelist()]";
        let unpacked = Command::new("python3").args(["-c", program]).arg(file).output().unwrap();
        assert!(unpacked.status.success() && !unpacked.stdout.is_empty(), "{unpacked:?}");
        bytes.extend(unpacked.stdout);
    }
    Some(bytes)
}

/// Returns the writes to files in a trace that hold a canary.
fn leaking_writes(trace: &Path, args: &str) -> Vec<String> {
    let trace = String::from_utf8_lossy(&std::fs::read(trace).unwrap()).into_owned();
    let writes: Vec<&str> = trace.lines().filter(|line| is_write_to_file(line)).collect();
    let is_run = ["plan", "apply", "destroy"].iter().any(|command| args.starts_with(command));
    assert!(!is_run || writes.iter().any(|line| line.contains("/.infra/")), "strace saw no write of the run");
    let leaking = writes.into_iter().filter(|line| canary_in(line.as_bytes()).is_some());
    leaking.map(|line| line.chars().take(300).collect()).collect()
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
    scene.runs_clean("apply --saved -v");
    assert_eq!(scene.project.files_containing("encrypted_data"), [".infra/state"]);
    scene.runs_clean("destroy --yes --allow-destroy -v");

    assert!(scene.project.resources("x").is_empty());
}

#[test]
fn a_bundle_is_made_and_applied_without_a_secret_in_any_write() {
    let scene = Scene::new("auto");

    scene.runs_clean("plan --bundle plan.bundle -v");
    scene.runs_clean("apply --bundle plan.bundle -v");

    assert_eq!(scene.project.resources("x").len(), 1);
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

    assert!(leaks.shown.is_empty(), "{leaks:#?}");
    assert!(
        leaks.files.iter().any(|file| file.starts_with(scene.project.path(".infra/state"))),
        "{leaks:#?}"
    );
    assert!(!has_strace() || leaks.writes.iter().any(|line| line.contains("/.infra/state")), "{leaks:#?}");
}

#[test]
fn variables_that_nobody_marked_are_shown_and_recorded_nowhere() {
    for tofu in [support::tofu(), support::older_tofu()] {
        let scene = Scene::open(tofu);

        scene.runs_open("plan -v");
        scene.runs_open("show x --plan");
        scene.runs_open("apply --saved -v");
        for command in ["show x", "output x", "output x --json", "state list x", "state list --json"] {
            scene.runs_open(command);
        }
        scene.runs_open("state show x terraform_data.plain");
        scene.runs_open("drift -v");
        scene.runs_open("destroy --yes --allow-destroy -v");

        assert!(scene.project.resources("x").is_empty());
    }
}

#[test]
fn the_old_value_of_a_rotated_secret_is_as_secret_as_the_new_one() {
    for tofu in [support::tofu(), support::older_tofu()] {
        let scene = Scene::open(tofu);
        scene.give(&open_secrets(CANARIES[7]));
        scene.runs_open("apply --yes");
        scene.give(&open_secrets(CANARIES[6]));

        scene.runs_open("plan");
        scene.runs_open("plan -v");
        let shown = scene.project.run("show x --plan").succeeds();
        shown.stdout_has("\"(redacted)\" -> \"(redacted)\"").stdout_has("first line").stdout_has("last line");
        scene.runs_open("show x --plan");
        scene.runs_open("plan --destroy -v");
        scene.project.write("infrastructure/01-a/x/broken.tf", BROKEN);
        scene.runs_open_to("plan -v", 1);
        std::fs::remove_file(scene.project.path("infrastructure/01-a/x/broken.tf")).unwrap();
        scene.runs_open("plan");
        // The provisioner of what is replaced tells the old value.
        scene.runs_open("apply --saved -v");

        scene.project.run("plan --detailed-exitcode").succeeds();
    }
}

/// Fails after everything else was planned.
const BROKEN: &str = r#"
resource "terraform_data" "broken" {
  lifecycle {
    precondition {
      condition     = terraform_data.part.input == ""
      error_message = "the part is not empty"
    }
  }
}
"#;

/// Secrets that are words of tofu's own messages, or signs of their form.
const WORDS: &str = r#"
words: [create, update, delete, replace, error, type, action, resource, no-op, noop, planned_change, diagnostic, severity, outputs, "{", "\"", 1, true]
word: create
"#;

const OF_WORDS: &str = r#"
terraform {
  backend "http" {}
}

variable "words" {
  type = any
}

variable "word" {
  type = string
}

resource "terraform_data" "words" {
  input = var.words
}

resource "terraform_data" "each" {
  for_each = toset([var.word, "other"])
}

output "word" {
  value = var.word
}
"#;

#[test]
fn secrets_that_are_words_of_tofus_messages_change_nothing_in_what_is_done() {
    for tofu in [support::tofu(), support::older_tofu()] {
        let scene = Scene::of(tofu, OF_WORDS, "auto");
        scene.give(WORDS);
        let counts = |args: &str, code: i32| {
            let run = scene.project.run(args).exits(code).json()["stacks"][0].clone();
            ["add", "change", "destroy"].map(|count| run[count].as_u64().unwrap())
        };

        assert_eq!(counts("plan --json --detailed-exitcode", 2), [3, 0, 0]);
        scene.project.run("show x --plan").succeeds().stdout_has("terraform_data.each[\"(redacted)\"]");
        assert_eq!(counts("apply --yes --json", 0), [3, 0, 0]);
        assert_eq!(counts("plan --json --detailed-exitcode", 0), [0, 0, 0]);
        assert_eq!(scene.project.resources("x").len(), 3);
        scene.give(&WORDS.replace("severity", "rotated"));
        assert_eq!(counts("apply --yes --json", 0), [0, 1, 0]);

        let broken = "resource \"terraform_data\" \"broken\" {\n  lifecycle {\n    precondition {\n      \
             condition     = var.word == \"\"\n      error_message = \"the word is ${var.word}\"\n    }\n  }\n}\n";
        scene.project.write("infrastructure/01-a/x/broken.tf", broken);
        scene.project.run("plan").exits(1).stderr_has("the word is (redacted)");
        std::fs::remove_file(scene.project.path("infrastructure/01-a/x/broken.tf")).unwrap();

        assert_eq!(counts("destroy --yes --allow-destroy --json", 0), [0, 0, 3]);
        assert!(scene.project.resources("x").is_empty());
    }
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

/// Saved plans hold the variables that they were made with, so without a passphrase they are encrypted
/// with a key of their user.
#[test]
fn a_saved_plan_holds_no_secret_although_there_is_no_passphrase() {
    for tofu in [support::tofu(), support::older_tofu()] {
        let scene = Scene::open(tofu);

        let leaks = scene.run("plan");

        let plans = files_below(&scene.project.path(".infra/plans"));
        assert!(plans.iter().any(|file| file.extension().is_some_and(|ending| ending == "tfplan")));
        let leaking: Vec<_> = leaks.files.iter().filter(|file| plans.contains(*file)).collect();
        assert!(leaking.is_empty(), "{leaking:#?}");
    }
}
