//! `cargo bench --bench many_stacks [-- N]`: infra over N layered stacks beside a bare loop
//! (`xargs -P 2` over the same tofu with local state), in one run, written to
//! docs/benchmarks-stacks.md.
//!
//! Both get the same stacks in three layers. Each measure is taken in turns, several times,
//! from the same beginning; medians are compared. What infra itself needs, beside the tofu
//! that it runs, is read from the system while it runs.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program, not the product"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How many stacks, unless the command line says otherwise.
const STACKS: usize = 60;

/// How many of them at once, on both sides.
const AT_ONCE: &str = "2";

/// How often everything is measured.
const ROUNDS: usize = 5;

/// How many stacks a listing has, and a run whose memory is looked at.
const LISTED: usize = 1000;
const REMEMBERED: usize = 500;

const RESOURCES: &str = r#"
resource "terraform_data" "thing" {
  count = 10
  input = "thing ${count.index}"
}

output "things" {
  value = length(terraform_data.thing)
}
"#;

fn main() {
    let count = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(STACKS);
    let dir = tempfile::tempdir().unwrap();
    let lab = Lab::build(dir.path(), count);
    // First: a disk that has just lost thousands of files makes new ones slowly, for a while.
    lab.infra_plan();
    let work = lab.footprints();
    let mut rows = Vec::new();
    let cold = lab.measure(Lab::make_cold, Lab::infra_plan, |lab| {
        lab.loop_over("init -input=false -no-color");
        lab.loop_over(PLAN);
    });
    rows.push(("cold: init and plan", "the loop's init and plan", cold, 1.10));
    let warm = lab.measure(|_| {}, Lab::infra_plan, |lab| lab.loop_over(PLAN));
    rows.push(("warm plan, without init", "the loop's plan alone", warm, 1.10));
    let detailed = lab.measure(|_| {}, Lab::infra_plan_with_details, |lab| lab.loop_over(PLAN));
    rows.push(("the same, every stack changes, attributes shown", "the loop's plan alone", detailed, 2.00));
    let apply = lab.measure(
        Lab::make_planned,
        |lab| lab.infra(&["apply", "--all", "--saved", "--parallelism", AT_ONCE]),
        |lab| lab.loop_over("apply -input=false -no-color plan.tfplan"),
    );
    rows.push(("apply of saved plans", "the loop's apply of saved plans", apply, 1.15));
    let own = Own { work, many: of_many(REMEMBERED), listing: listing_of(LISTED) };
    let page = page(count, &rows, &own);
    println!("{page}");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks-stacks.md");
    std::fs::write(target, page).unwrap();
}

const PLAN: &str = "plan -input=false -no-color -out=plan.tfplan";

/// The same stacks twice: for infra, and for the loop.
struct Lab {
    tofu: PathBuf,
    ours: PathBuf,
    theirs: PathBuf,
    stacks: Vec<String>,
}

/// The medians of both.
#[derive(Clone, Copy)]
struct Medians {
    ours: Duration,
    theirs: Duration,
}

impl Lab {
    fn build(dir: &Path, count: usize) -> Self {
        let stacks: Vec<String> = (0..count)
            .map(|number| format!("{:02}-layer/stack-{number:04}", number * 3 / count + 1))
            .collect();
        let (ours, theirs) = (dir.join("ours"), dir.join("theirs"));
        for root in [&ours, &theirs] {
            for stack in &stacks {
                let folder = root.join("infrastructure").join(stack);
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(folder.join("main.tf"), RESOURCES).unwrap();
            }
        }
        // Local state on both sides: the question is what infra adds to the same tofu calls.
        std::fs::write(ours.join("infra.yaml"), "name: bench\n").unwrap();
        Self { tofu: locate_tofu(), ours, theirs, stacks }
    }

    /// Takes both from the same beginning, in turns.
    fn measure(&self, prepare: impl Fn(&Self), ours: impl Fn(&Self), theirs: impl Fn(&Self)) -> Medians {
        let round = || {
            prepare(self);
            (timed(|| ours(self)), timed(|| theirs(self)))
        };
        let (ours, theirs) = (0..ROUNDS).map(|_| round()).unzip();
        Medians { ours: median(ours), theirs: median(theirs) }
    }

    /// Forgets everything that `init`, plans and states left.
    fn make_cold(&self) {
        for root in [&self.ours, &self.theirs] {
            let _ = std::fs::remove_dir_all(root.join(".infra"));
            for stack in &self.stacks {
                self.clean(&root.join("infrastructure").join(stack));
            }
        }
    }

    fn clean(&self, folder: &Path) {
        for name in [".terraform", ".terraform.lock.hcl", "plan.tfplan", "terraform.tfstate"] {
            let path = folder.join(name);
            let _ = std::fs::remove_dir_all(&path);
            let _ = std::fs::remove_file(&path);
        }
    }

    /// Leaves plans, and no states.
    fn make_planned(&self) {
        self.make_cold();
        self.infra_plan();
        self.loop_over("init -input=false -no-color");
        self.loop_over(PLAN);
    }

    fn infra_plan(&self) {
        self.infra(&["plan", "--all", "--details", "addresses", "--parallelism", AT_ONCE]);
    }

    /// Plans all stacks, and reads from each plan which attributes change: one `tofu show` a stack.
    fn infra_plan_with_details(&self) {
        self.infra(&["plan", "--all", "--parallelism", AT_ONCE]);
    }

    fn infra(&self, args: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_infra"));
        command.args(args).current_dir(&self.ours);
        finish(command);
    }

    /// Runs one tofu command in every folder, two at once, as a shell would.
    fn loop_over(&self, arguments: &str) {
        let tofu = self.tofu.display();
        let script =
            format!("xargs -P {AT_ONCE} -I{{}} \"{tofu}\" -chdir=infrastructure/{{}} {arguments} < list");
        std::fs::write(self.theirs.join("list"), self.stacks.join("\n")).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(&self.theirs);
        finish(command);
    }

    /// Returns what infra itself needs for several plans of all stacks: a clock tick is coarse.
    fn footprints(&self) -> Footprint {
        (0..ROUNDS).map(|_| self.footprint()).fold(Footprint::default(), |all, one| Footprint {
            own: all.own + one.own,
            children: all.children + one.children,
            peak: all.peak.max(one.peak),
        })
    }

    /// Returns what infra itself needs for a plan of all stacks.
    fn footprint(&self) -> Footprint {
        let mut command = Command::new(env!("CARGO_BIN_EXE_infra"));
        command.args(["plan", "--all", "--parallelism", AT_ONCE]).current_dir(&self.ours);
        Footprint::of(command)
    }
}

/// What infra itself needs.
struct Own {
    work: Footprint,
    many: Footprint,
    listing: Duration,
}

/// The work of a process and of those that it waited for, in clock ticks, and its most memory in KiB.
#[derive(Clone, Copy, Default)]
struct Footprint {
    own: u64,
    children: u64,
    peak: u64,
}

impl Footprint {
    /// Runs a command and looks at it until it ends; the last look counts.
    fn of(mut command: Command) -> Self {
        quiet(&mut command);
        let mut child = command.spawn().unwrap();
        let mut seen = Self::default();
        let status = loop {
            if let Some(now) = Self::read(child.id()) {
                seen = now;
            }
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(status.success(), "{command:?}");
        seen
    }

    fn read(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |index: usize| fields.get(index)?.parse::<u64>().ok();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(Self {
            own: ticks(11)? + ticks(12)?,
            children: ticks(13)? + ticks(14)?,
            peak: peak.trim().trim_end_matches(" kB").parse().ok()?,
        })
    }
}

/// Returns what infra needs for a plan of so many stacks.
fn of_many(count: usize) -> Footprint {
    let dir = tempfile::tempdir().unwrap();
    Lab::build(dir.path(), count).footprint()
}

/// Returns how long the listing of so many stacks takes.
fn listing_of(count: usize) -> Duration {
    let dir = tempfile::tempdir().unwrap();
    let lab = Lab::build(dir.path(), count);
    median((0..ROUNDS).map(|_| timed(|| lab.infra(&["stacks", "--json"]))).collect())
}

fn quiet(command: &mut Command) {
    command.env_remove("TF_CLI_CONFIG_FILE").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
}

fn finish(mut command: Command) {
    quiet(&mut command);
    assert!(command.status().unwrap().success(), "{command:?}");
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn locate_tofu() -> PathBuf {
    let found =
        Command::new(env!("CARGO_BIN_EXE_infra")).args(["deps", "install", "--json"]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    found[0]["path"].as_str().unwrap().into()
}

fn page(count: usize, rows: &[(&str, &str, Medians, f64)], own: &Own) -> String {
    let mut page = format!(
        "# Benchmarks: many stacks\n\n\
         Made by `cargo bench --bench many_stacks`, which writes this page: {count} stacks in three layers, \
         {AT_ONCE} at once, beside `xargs -P {AT_ONCE}` over the bare tofu with local state. Both run in turns, \
         {ROUNDS} times each; medians are compared.\n\n\
         | what | beside what | ratio | aim |\n|---|---|---|---|\n"
    );
    for (what, beside, times, aim) in rows {
        let ratio = times.ours.as_secs_f64() / times.theirs.as_secs_f64();
        writeln!(page, "| {what} | {beside} | {ratio:.2} | at most {aim:.2} |").unwrap();
    }
    let share = own.work.own as f64 / own.work.children as f64;
    writeln!(page, "| processor time of infra itself | that of its tofu | {share:.3} | at most 0.050 |")
        .unwrap();
    page + &format!(
        "\n| what infra itself needs | measured | aim |\n|---|---|---|\n\
         | most memory, plan of {REMEMBERED} stacks | {} MiB | below 80 MB |\n\
         | `infra stacks --json`, {LISTED} stacks | {:.0} ms | below 300 ms |\n\n\
         A ratio below 1 comes from the rare garbage collection that `infra` asks of tofu's runtime where \
         there is memory for it (`GOGC`, unless it is set).\n",
        own.many.peak / 1024,
        own.listing.as_secs_f64() * 1000.0,
    )
}
