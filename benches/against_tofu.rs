//! `cargo bench`: infra beside the bare tofu, in one run, written to docs/benchmarks.md.
//!
//! Each round runs both, one after the other, so that whatever else the machine does
//! falls on both alike; medians are compared.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program, not the product"
)]

#[path = "support/pair.rs"]
mod pair;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use pair::{Pair, ROUNDS, finish, milliseconds};

const RESOURCES: &str = r#"
resource "terraform_data" "thing" {
  count = 20
  input = "thing ${count.index}"
}
"#;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let lab = Lab::build(dir.path());
    let plan = Pair::measure(|| lab.infra(&["plan"]), || lab.tofu(&["plan", "-no-color", "-input=false"]));
    let start = Pair::measure(|| lab.infra(&["--version"]), || lab.tofu(&["version"]));
    let stacks = Pair::measure(|| lab.infra(&["stacks"]), || lab.tofu(&["version"]));
    let key = Pair::measure(|| lab.plan_key(), || lab.tofu(&["version"]));
    let memory = peak_memory(lab.infra(&["plan"]));
    let page = page(&plan, &start, &stacks, &key, memory);
    println!("{page}");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
    std::fs::write(target, page).unwrap();
}

/// One applied stack twice: served by infra, and with bare tofu and local state.
struct Lab {
    tofu: PathBuf,
    served: PathBuf,
    bare: PathBuf,
}

impl Lab {
    fn build(dir: &Path) -> Self {
        let (served, bare) = (dir.join("served"), dir.join("bare"));
        let stack = served.join("infrastructure/01-a/x");
        std::fs::create_dir_all(&stack).unwrap();
        std::fs::create_dir_all(&bare).unwrap();
        std::fs::write(
            stack.join("main.tf"),
            format!("terraform {{\n  backend \"http\" {{}}\n}}\n{RESOURCES}"),
        )
        .unwrap();
        std::fs::write(bare.join("main.tf"), RESOURCES).unwrap();
        let lab = Self { tofu: locate_tofu(), served, bare };
        finish(lab.infra(&["apply", "--yes"]));
        finish(lab.tofu(&["init"]));
        finish(lab.tofu(&["apply", "-auto-approve"]));
        lab
    }

    fn infra(&self, args: &[&str]) -> Command {
        command(Path::new(env!("CARGO_BIN_EXE_infra")), &self.served, args)
    }

    /// The command by which tofu gets the key of plans, as tofu calls it.
    fn plan_key(&self) -> Command {
        let key = user_state().join("infra/key");
        let question = self.served.join("question");
        std::fs::write(&question, "null").unwrap();
        let mut command = self.infra(&["plan-key", key.to_str().unwrap()]);
        command.stdin(std::fs::File::open(question).unwrap());
        command
    }

    fn tofu(&self, args: &[&str]) -> Command {
        command(&self.tofu, &self.bare, args)
    }
}

fn command(program: &Path, dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir).env_remove("TF_CLI_CONFIG_FILE");
    command.env("XDG_STATE_HOME", user_state());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Returns where the measured infra keeps its key; never that of whoever measures.
fn user_state() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("user-state")
}

fn locate_tofu() -> PathBuf {
    let found =
        Command::new(env!("CARGO_BIN_EXE_infra")).args(["deps", "install", "--json"]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    found[0]["path"].as_str().unwrap().into()
}

/// Returns the largest resident size of the process itself, in KiB, as the system last told it.
fn peak_memory(mut command: Command) -> u64 {
    let mut child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let size = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = peak.max(size.unwrap_or(0));
    }
    peak
}

fn page(plan: &Pair, start: &Pair, stacks: &Pair, key: &Pair, memory: u64) -> String {
    format!(
        "# Benchmarks\n\n\
         Made by `cargo bench` (or `task bench`), which writes this page. Both programs run in turns, \
         {ROUNDS} times each; medians are compared, so the ratios hold on other machines while the times do not.\n\n\
         | what | beside what | ratio | aim |\n|---|---|---|---|\n\
         | `infra plan`, one warm stack of 20 resources, served state | `tofu plan`, the same stack, local state | {:.2} | at most 1.15 |\n\
         | `infra --version` | `tofu version` | {:.2} | ours took {} |\n\
         | `infra stacks`, one stack | `tofu version` | {:.2} | ours took {} |\n\
         | the key of a plan, once or twice in a tofu call | `tofu version` | {:.2} | ours took {}, {} |\n\n\
         Peak memory of `infra` itself during that plan: {:.1} MiB (aim: below 40 MB).\n",
        plan.ratio(),
        start.ratio(),
        under_ten(start.ours),
        stacks.ratio(),
        under_ten(stacks.ours),
        key.ratio(),
        milliseconds(key.ours),
        under_four(key.ours),
        memory as f64 / 1024.0,
    )
}

/// The aim for all that the key costs in one call of tofu, which asks for it at most twice.
fn under_four(time: Duration) -> &'static str {
    if 2 * time < Duration::from_millis(4) {
        "twice is under the aim of 4 ms"
    } else {
        "twice is over the aim of 4 ms"
    }
}

fn under_ten(time: Duration) -> String {
    let verdict = if time < Duration::from_millis(10) { "under" } else { "over" };
    format!("{}, {verdict} the aim of 10 ms", milliseconds(time))
}
