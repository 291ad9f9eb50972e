//! `cargo bench`: `infra configure` beside makejinja 2.8, written to docs/benchmarks-rendering.md.
//!
//! Both render the same project of 688 templates in turns: into an empty folder, and once more
//! where nothing is to be done. Medians are compared; then 5,000 templates are rendered by infra
//! alone. The makejinja is the one that the tests install.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program, not the product"
)]

#[path = "../tests/support/makejinja.rs"]
mod makejinja;
#[path = "support/pair.rs"]
mod pair;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pair::{Pair, ROUNDS, finish, milliseconds};

/// How many templates both render.
const TEMPLATES: usize = 688;

/// How many templates infra renders alone, and how long that may take.
const MANY: usize = 5_000;
const AIM: Duration = Duration::from_secs(2);

/// How often the many are rendered.
const MANY_ROUNDS: usize = 5;

fn main() {
    let few = Lab::new(TEMPLATES);
    few.compare();
    let first = Pair::measure(|| few.fresh(few.infra()), || few.fresh(few.makejinja()));
    finish(few.fresh(few.infra()));
    let again = Pair::measure(|| few.infra(), || few.makejinja());
    let many = Lab::new(MANY).median();
    let page = page(&first, &again, many);
    println!("{page}");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks-rendering.md");
    fs::write(target, page).unwrap();
}

/// A project of so many templates.
struct Lab {
    dir: tempfile::TempDir,
    /// What earlier rounds made.
    away: tempfile::TempDir,
}

impl Lab {
    fn new(templates: usize) -> Self {
        let lab = Self { dir: tempfile::tempdir().unwrap(), away: tempfile::tempdir().unwrap() };
        lab.write("makejinja.toml", SETTINGS);
        lab.write("values.yaml", &values());
        lab.write("templates/config/labels.partial.yaml.j2", PARTIAL);
        for at in 0..templates {
            lab.write(&format!("templates/config/apps/group-{}/app-{at}.yaml.j2", at / 20), &template(at));
        }
        lab
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns a command that begins with an empty folder, as the other one does. What was there is moved
    /// away, not removed: file systems avoid the numbers of files that were removed a moment ago, and
    /// the search for others would be measured.
    fn fresh(&self, command: Command) -> Command {
        let away = tempfile::tempdir_in(self.away.path()).unwrap().keep();
        for made in ["out", ".infra"] {
            let _ = fs::rename(self.dir.path().join(made), away.join(made));
        }
        command
    }

    fn infra(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_infra"), &["configure", "--no-init"])
    }

    fn makejinja(&self) -> Command {
        let mut command = self.command("python3", &["-m", "makejinja"]);
        command.env("PYTHONPATH", makejinja::site());
        command
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.dir.path()).env("LC_ALL", "C.UTF-8");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Checks that both make the same tree; a bench of two that disagree would mean nothing.
    fn compare(&self) {
        finish(self.fresh(self.infra()));
        let ours = tree(&self.dir.path().join("out"));
        finish(self.fresh(self.makejinja()));
        let theirs = tree(&self.dir.path().join("out"));
        assert!(ours.len() >= TEMPLATES && ours == theirs, "the trees differ");
    }

    fn median(&self) -> Duration {
        finish(self.fresh(self.infra()));
        let mut times: Vec<Duration> = (0..MANY_ROUNDS)
            .map(|_| {
                let command = self.fresh(self.infra());
                let start = Instant::now();
                finish(command);
                start.elapsed()
            })
            .collect();
        times.sort();
        times[times.len() / 2]
    }
}

/// Returns the bytes of every file below a folder.
fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

const SETTINGS: &str = r##"[makejinja]
inputs = ["templates/config"]
output = "out"
data = ["values.yaml"]
exclude_patterns = ["*.partial.yaml.j2"]
jinja_suffix = ".j2"
undefined = "chainable"
force = true
quiet = true
copy_metadata = true

[makejinja.delimiter]
block_start = "#%"
block_end = "%#"
variable_start = "#{"
variable_end = "}#"
comment_start = "#|"
comment_end = "#|"
"##;

const PARTIAL: &str = "#% macro labels(name) %#\napp: #{ name }#\nmanaged: \"true\"\n#% endmacro %#\n";

fn values() -> String {
    let mut text = "domain: example.com\nnetwork:\n  cidr: 10.0.0.0/24\nnodes:\n".to_owned();
    for at in 0..12 {
        let role = if at < 3 { "controller" } else { "worker" };
        writeln!(text, "  - {{name: node-{at}, address: 10.0.0.{}, role: {role}, mtu: 9000}}", at + 10)
            .unwrap();
    }
    for at in 0..200 {
        writeln!(text, "setting_{at}: value {at}").unwrap();
    }
    text
}

/// Returns a template of the length and the habits of real ones.
fn template(at: usize) -> String {
    let mut text = format!(
        "#% from 'labels.partial.yaml.j2' import labels %#\n---\napiVersion: v1\nkind: Release\nmetadata:\n  \
         name: app-{at}\n  labels:\n    #% filter indent(4) %#\n#{{ labels('app-{at}') }}#\n    #% endfilter %#\n\
         #| app {at} #|\nspec:\n  host: app-{at}.#{{ domain }}#\n  replicas: #{{ replicas_{at} | default(2) }}#\n  nodes:\n    \
         #% for node in nodes if node.role == 'worker' %#\n    - name: \"#{{ node.name | upper }}#\"\n      \
         address: #{{ node.address }}#\n      order: \"#{{ '%03d' % loop.index }}#\"\n    #% endfor %#\n"
    );
    for line in 0..12 {
        let setting = (at + line) % 200;
        writeln!(text, "  value_{line}: \"#{{ setting_{setting} | default('none') | lower }}#\"").unwrap();
        writeln!(
            text,
            "#% if feature_{line} is defined and feature_{line} %#\n  feature_{line}: true\n#% endif %#"
        )
        .unwrap();
    }
    text
}

fn page(first: &Pair, again: &Pair, many: Duration) -> String {
    let verdict = if many < AIM { "under" } else { "over" };
    let row = |what: &str, pair: &Pair| {
        let ratio = pair.ratio();
        format!(
            "| {what} | {ratio:.3} ({:.1} times faster) | at most 0.04 (25 times faster) |\n",
            ratio.recip()
        )
    };
    format!(
        "# Benchmarks of rendering\n\n\
         Made by `cargo bench` (or `task bench`), which writes this page. Both programs render the same project, \
         in turns, {ROUNDS} times each; medians are compared, so the ratios hold on other machines while the \
         times do not. An empty folder is one from which the last tree was moved away, not removed.\n\n\
         | what | ratio | aim |\n|---|---|---|\n{}{}\
         | `infra configure` alone, {MANY} templates into an empty folder | took {}, {verdict} 2 s | 2 s |\n",
        row(
            &format!("`infra configure` beside makejinja 2.8, {TEMPLATES} templates into an empty folder"),
            first
        ),
        row("the same once more, with nothing to do", again),
        milliseconds(many),
    )
}
