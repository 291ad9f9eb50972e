//! `cargo bench --bench lint`: `infra lint --json` over 1,500 stacks and 20,000 files beside `git grep` and
//! `cat` over the same files, in one run, written to docs/benchmarks-lint.md.

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

/// What the tree has.
const STACKS: usize = 1_500;
const FILES_OF_A_STACK: usize = 12;
const MODULES: usize = 400;

/// How long it may take.
const AIM: Duration = Duration::from_secs(2);

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let lab = Lab::build(dir.path().join("lab"));
    let grep = Pair::measure(|| lab.infra(), || lab.git(&["grep", "-c", "terraform_data"]));
    let cat = Pair::measure(|| lab.infra(), || lab.cat());
    let page = lab.page(&grep, &cat);
    println!("{page}");
    assert!(grep.ours < AIM, "{:?}", grep.ours);
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks-lint.md");
    std::fs::write(target, page).unwrap();
}

/// A project that nothing can be said against, in a repository.
struct Lab {
    root: PathBuf,
    files: usize,
}

impl Lab {
    fn build(root: PathBuf) -> Self {
        let mut lab = Self { root, files: 0 };
        lab.write("infra.yaml", "name: bench\n");
        for number in 0..MODULES {
            lab.module(&format!("infrastructure/modules/m{number:03}"));
        }
        for number in 0..STACKS {
            lab.stack(&format!("infrastructure/{:02}-layer/s{number:04}", number % 9 + 1), number % MODULES);
        }
        finish(lab.git(&["init", "-q"]));
        finish(lab.git(&["add", "-A"]));
        lab
    }

    fn module(&mut self, folder: &str) {
        let variable = "variable \"size\" {\n  description = \"How large.\"\n  type        = number\n}\n";
        self.write(&format!("{folder}/main.tf"), &resources(6));
        self.write(&format!("{folder}/variables.tf"), variable);
        let output = "output \"id\" {\n  description = \"Which.\"\n  value       = terraform_data.r0.id\n}\n";
        self.write(&format!("{folder}/outputs.tf"), output);
        self.write(&format!("{folder}/README.md"), "# module\n\nTakes `size`, gives `id`.\n");
        self.write(&format!("{folder}/locals.tf"), "locals {\n  password_length = \"long-enough\"\n}\n");
    }

    fn stack(&mut self, folder: &str, module: usize) {
        let backend = "terraform {\n  backend \"http\" {}\n}\n";
        self.write(&format!("{folder}/backend.tf"), backend);
        let call = format!("module \"m\" {{\n  source = \"../../modules/m{module:03}\"\n  size   = 1\n}}\n");
        self.write(&format!("{folder}/modules.tf"), &call);
        self.write(&format!("{folder}/terraform.tfvars"), "region = \"here\"\ntoken_ttl = \"one-hour\"\n");
        for number in 3..FILES_OF_A_STACK {
            self.write(&format!("{folder}/part{number}.tf"), &resources(4));
        }
    }

    fn write(&mut self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self.files += 1;
    }

    fn infra(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_infra"));
        command.args(["lint", "--json", "-q"]).current_dir(&self.root).stdout(Stdio::null());
        command
    }

    fn git(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(args).current_dir(&self.root).stdout(Stdio::null());
        command
    }

    fn cat(&self) -> Command {
        let mut command = Command::new("sh");
        let all = "find infrastructure -type f -print0 | xargs -0 cat";
        command.args(["-c", all]).current_dir(&self.root).stdout(Stdio::null());
        command
    }

    fn page(&self, grep: &Pair, cat: &Pair) -> String {
        let row = |what: &str, beside: &str, pair: &Pair| {
            let aim = format!("ours took {}, the aim is below 2 s", milliseconds(pair.ours));
            format!("| {what} | {beside} | {:.2} | {aim} |\n", pair.ratio())
        };
        format!(
            "# Benchmarks: lint\n\n\
             Made by `cargo bench --bench lint`, which writes this page: {STACKS} stacks, {MODULES} modules and {} files \
             in a repository, nothing to be found. Both programs run in turns, {ROUNDS} times each; medians are compared.\n\n\
             | what | beside what | ratio | aim |\n|---|---|---|---|\n{}{}",
            self.files,
            row("`infra lint --json`", "`git grep -c terraform_data`", grep),
            row("`infra lint --json`", "`find … \\| xargs cat` over the same files", cat),
        )
    }
}

fn resources(count: usize) -> String {
    let resource = |number: usize| {
        format!(
            "resource \"terraform_data\" \"r{number}\" {{\n  # What it is for.\n  for_each = toset([\"a\", \"b\", \"c\"])\n\n  input = {{\n    name  = \"thing ${{each.key}}\"\n    \
             tags  = [\"one\", \"two\"]\n    notes = \"a text of some length, as real files have it\"\n  }}\n\n  lifecycle {{\n    ignore_changes = [input]\n  }}\n}}\n\n"
        )
    };
    (0..count).map(resource).collect()
}
