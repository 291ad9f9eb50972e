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
    let many = Many::build(&dir.path().join("many"), lab.tofu.clone());
    let details = many.measure();
    let page = page(&plan, &start, &stacks, &key, memory) + &many_lines(&details);
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

/// How many stacks change in the plan over many.
const STACKS: usize = 8;

/// Stacks that were applied and then changed, and the same with bare tofu and local states.
struct Many {
    tofu: PathBuf,
    served: PathBuf,
    bare: PathBuf,
}

/// What plans over many stacks cost beside each other.
struct ManyPlans {
    /// With attributes, beside addresses alone.
    addresses: Pair,
    /// With attributes, beside a loop of bare tofu.
    bare: Pair,
    /// Nothing changes, beside a loop of bare tofu.
    quiet: Pair,
}

impl Many {
    fn build(dir: &Path, tofu: PathBuf) -> Self {
        let many = Self { tofu, served: dir.join("served"), bare: dir.join("bare") };
        many.write("1");
        finish(many.infra(&["apply", "--all", "--yes"]));
        finish(many.bare("init -input=false && \"$TOFU\" apply -auto-approve"));
        many
    }

    fn write(&self, value: &str) {
        let resources = RESOURCES.replace("thing $", &format!("thing {value} $"));
        for number in 0..STACKS {
            let served = self.served.join(format!("infrastructure/s{number}"));
            let bare = self.bare.join(format!("s{number}"));
            let text = format!("terraform {{\n  backend \"http\" {{}}\n}}\n{resources}");
            for (folder, text) in [(served, &text), (bare, &resources)] {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(folder.join("main.tf"), text).unwrap();
            }
        }
    }

    fn measure(&self) -> ManyPlans {
        let loops = || self.bare("plan -no-color -input=false -out=plan");
        // As many at once as in the loop, so that only the work itself is compared.
        let plan = |how: &[&str]| self.infra(&[&["plan", "--all", "--parallelism", "1"], how].concat());
        let quiet = Pair::measure(|| plan(&[]), loops);
        self.write("2");
        let addresses = Pair::measure(|| plan(&[]), || plan(&["--details", "addresses"]));
        ManyPlans { quiet, addresses, bare: Pair::measure(|| plan(&[]), loops) }
    }

    fn infra(&self, args: &[&str]) -> Command {
        command(Path::new(env!("CARGO_BIN_EXE_infra")), &self.served, args)
    }

    /// Runs tofu in each folder, one after the other.
    fn bare(&self, words: &str) -> Command {
        let script = format!("for dir in s*; do (cd $dir && \"$TOFU\" {words}) || exit 1; done");
        let mut command = command(Path::new("/bin/sh"), &self.bare, &["-c", &script]);
        command.env("TOFU", &self.tofu);
        command
    }
}

fn many_lines(plans: &ManyPlans) -> String {
    let plan = format!("`infra plan --all`, {STACKS} warm stacks of 20 resources, one at a time");
    format!(
        "\n| {STACKS} stacks | beside what | ratio |\n|---|---|---|\n\
         | {plan}, all change, attributes shown | the same with `--details addresses` | {:.2} |\n\
         | the same | a loop of `tofu plan`, local states | {:.2} |\n\
         | {plan}, nothing changes | a loop of `tofu plan`, local states | {:.2} |\n\n\
         Attributes are read by one `tofu show -json` for each stack that changes, which costs about as much as \
         its plan; with several at once it runs while others still plan.\n",
        plans.addresses.ratio(),
        plans.bare.ratio(),
        plans.quiet.ratio(),
    )
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
