//! Measures `infra changed` beside `git diff --name-only` in the same tree, over many stacks and files,
//! and writes docs/benchmarks-gitops.md.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the product's rules, not the benchmarks'"
)]

#[path = "support/pair.rs"]
mod pair;

use std::path::Path;
use std::process::{Command, Stdio};

use pair::{Pair, ROUNDS, milliseconds};

/// How many stacks, modules and files the tree has.
const STACKS: usize = 1_500;
const MODULES: usize = 60;
const FILES: usize = 20_000;

/// How many times `git diff` it may take, beside a start of 15 ms.
const AIM: f64 = 3.0;
const GRACE_MS: f64 = 15.0;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("lab");
    build(&root);
    git(&root, &["init", "-q", "-b", "main"]);
    commit(&root);
    edit(&root, 40);
    commit(&root);
    edit(&root, 7);
    std::fs::write(root.join("infrastructure/01-layer/s0003/new.txt"), "new\n").unwrap();
    let some = measure(&root, "HEAD~1");
    commit(&root);
    let none = measure(&root, "HEAD");
    let page =
        page(&[("40 stacks and a module edited, some of it not committed", some), ("nothing changed", none)]);
    println!("{page}");
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks-gitops.md"), page).unwrap();
}

fn build(root: &Path) {
    let mut files = 0;
    let mut write = |path: String, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        files += 1;
        files
    };
    write("infra.yaml".to_owned(), "name: bench\n");
    for module in 0..MODULES {
        let next =
            (module % 3 == 0).then(|| format!("module \"n\" {{\n  source = \"../m{:02}\"\n}}\n", module + 1));
        write(format!("infrastructure/modules/m{module:02}/main.tf"), &next.unwrap_or_default());
        write(format!("infrastructure/modules/m{module:02}/variables.tf"), "variable \"a\" {}\n");
    }
    for stack in 0..STACKS {
        let folder = format!("infrastructure/{:02}-layer/s{stack:04}", stack * 3 / STACKS + 1);
        let module =
            format!("module \"a\" {{\n  source = \"../../modules/m{:02}\"\n  a = 1\n}}\n", stack % MODULES);
        write(format!("{folder}/main.tf"), &format!("terraform {{\n  backend \"http\" {{}}\n}}\n{module}"));
        write(format!("{folder}/variables.tf"), "variable \"x\" {\n  type = string\n}\n");
        write(format!("{folder}/terraform.tfvars"), "x = \"2\"\n");
        for file in 0..8 {
            write(format!("{folder}/files/{file}.txt"), "words\n");
        }
    }
    let mut page = 0;
    while write(format!("docs/{:02}/{page}.md", page / 50), "words\n") < FILES {
        page += 1;
    }
}

/// Edits every so many-th stack, and a module.
fn edit(root: &Path, count: usize) {
    for stack in (0..STACKS).step_by(STACKS / count) {
        let folder = format!("infrastructure/{:02}-layer/s{stack:04}", stack * 3 / STACKS + 1);
        append(&root.join(folder).join("main.tf"));
    }
    append(&root.join("infrastructure/modules/m05/main.tf"));
}

fn append(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::write(path, text + "# edited\n").unwrap();
}

fn measure(root: &Path, base: &str) -> Pair {
    let ours =
        || quiet(Command::new(env!("CARGO_BIN_EXE_infra")), root, &["changed", "--base", base, "--json"]);
    let theirs = || quiet(Command::new("git"), root, &["diff", "--name-only", base]);
    Pair::measure(ours, theirs)
}

fn quiet(mut command: Command, root: &Path, args: &[&str]) -> Command {
    command.args(args).current_dir(root).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn commit(root: &Path) {
    git(root, &["add", "-A"]);
    git(root, &["-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", "change"]);
}

fn git(root: &Path, args: &[&str]) {
    pair::finish(quiet(Command::new("git"), root, args));
}

fn page(rows: &[(&str, Pair)]) -> String {
    let mut page = format!(
        "# Benchmarks: changes\n\n\
         Made by `cargo bench --bench changed`, which writes this page: `infra changed --base BASE --json` beside \
         `git diff --name-only BASE`, in one tree of {STACKS} stacks and {FILES} files. Both run in turns, {ROUNDS} \
         times each; medians are compared. The aim is at most {AIM:.0} times git, after a start of {GRACE_MS:.0} ms.\n\n\
         | the change | ratio | after the start | aim |\n|---|---|---|---|\n"
    );
    for (what, pair) in rows {
        let rest = (pair.ours.as_secs_f64() - GRACE_MS / 1000.0).max(0.0) / pair.theirs.as_secs_f64();
        println!("{what}: {} beside {}", milliseconds(pair.ours), milliseconds(pair.theirs));
        page += &format!("| {what} | {:.2} | {rest:.2} | at most {AIM:.2} |\n", pair.ratio());
    }
    page
}
