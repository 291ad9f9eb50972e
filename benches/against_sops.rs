//! `cargo bench`: `infra secrets view` beside `sops -d`, written to docs/benchmarks-secrets.md.
//!
//! The real sops makes the files; then both show them in turns and medians are compared.
//! The sops is the one that the tests install.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program, not the product"
)]

#[path = "support/pair.rs"]
mod pair;
#[expect(dead_code, reason = "shared with tests")]
#[path = "../tests/support/tools.rs"]
mod tools;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use pair::{Pair, ROUNDS, milliseconds};
use tools::AgeKey;

/// What a large file may take.
const AIM: Duration = Duration::from_millis(100);

fn main() {
    let lab = Lab::new();
    let small = lab.measure("small.yaml", 20);
    let large = lab.measure("large.yaml", 2_000);
    let page = page(&small, &large);
    println!("{page}");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks-secrets.md");
    std::fs::write(target, page).unwrap();
}

/// A folder of encrypted files and the key to them.
struct Lab {
    dir: tempfile::TempDir,
    key: AgeKey,
}

impl Lab {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), key: AgeKey::new() }
    }

    /// Encrypts a file of so many keys and lets both programs show it.
    fn measure(&self, name: &str, keys: usize) -> Pair {
        std::fs::write(self.dir.path().join(name), document(keys)).unwrap();
        let made = self.key.run_sops(self.dir.path(), &["-e", "-i", "--age", &self.key.recipient, name]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let ours = || self.infra(name);
        let theirs = || self.sops(name);
        assert_eq!(printed(ours()), printed(theirs()), "{name}");
        Pair::measure(ours, theirs)
    }

    fn infra(&self, name: &str) -> Command {
        self.command(Path::new(env!("CARGO_BIN_EXE_infra")), &["secrets", "view", name])
    }

    fn sops(&self, name: &str) -> Command {
        self.command(tools::sops(), &["-d", name])
    }

    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.dir.path()).env_clear();
        command.env("HOME", self.dir.path()).env("SOPS_AGE_KEY", &self.key.secret);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// Returns what a program shows; a bench of two that disagree would mean nothing.
fn printed(mut command: Command) -> String {
    let output = command.stdout(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns a document whose values are as long as passwords, ten to a map.
fn document(keys: usize) -> String {
    let mut text = String::new();
    for at in 0..keys {
        if at % 10 == 0 {
            writeln!(text, "group_{}:", at / 10).unwrap();
        }
        writeln!(text, "    key_{at}: a secret of some length {at}").unwrap();
    }
    text
}

fn page(small: &Pair, large: &Pair) -> String {
    let verdict = if large.ours < AIM { "under" } else { "over" };
    format!(
        "# Benchmarks of secrets\n\n\
         Made by `cargo bench` (or `task bench`), which writes this page. Both programs run in turns, \
         {ROUNDS} times each; medians are compared, so the ratios hold on other machines while the times do not.\n\n\
         | what | beside what | ratio | aim |\n|---|---|---|---|\n\
         | `infra secrets view`, YAML of 20 keys | `sops -d`, the same file | {:.2} ({:.1} times faster) | at most 0.33 (3 times faster) |\n\
         | `infra secrets view`, YAML of 2,000 keys | `sops -d`, the same file | {:.2} | ours took {}, {verdict} the aim of 100 ms |\n",
        small.ratio(),
        small.ratio().recip(),
        large.ratio(),
        milliseconds(large.ours),
    )
}
