//! The live view in a real terminal: two hundred stacks in a small window, and windows that change
//! their size while stacks run.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;
#[path = "support/tmux.rs"]
mod tmux;

use std::os::unix::fs::PermissionsExt as _;

use support::{Project, tofu};
use tmux::Tmux;

const SIGNS: &str = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

/// Stacks whose `init` waits for a file `gate`, so that a test decides how long they run.
fn gated(stacks: usize) -> Project {
    let project = Project::new();
    let gate = project.path("gate");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" != init ] || while [ ! -e '{}' ]; do sleep 0.05; done\nexec '{}' \"$@\"\n",
        gate.display(),
        tofu().display()
    );
    let project = project.file("bin/tofu", &script).config("name: lab\ntofu: { binary: bin/tofu }\n");
    let project = project.env("INFRA_TRUST", ".");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("bin/tofu"), mode).unwrap();
    (0..stacks).fold(project, |project, number| {
        project.stack(&format!("01-a/stack-{number:03}"), "locals {\n  a = 1\n}\n")
    })
}

/// Returns the rows below the heading.
fn below_heading(rows: &[String]) -> Vec<&str> {
    let rows = rows.iter().map(String::as_str).filter(|row| !row.is_empty());
    rows.filter(|row| !row.starts_with("  lab · ")).collect()
}

fn is_running(row: &str) -> bool {
    row.trim_start().starts_with(|sign| SIGNS.contains(sign))
}

/// Returns whether the window shows exactly one whole block: so many stacks, each once, and the counts.
fn is_whole(rows: &[String], running: usize) -> bool {
    let block = below_heading(rows);
    let Some((counts, above)) = block.split_last() else { return false };
    let (stacks, rest): (Vec<&str>, Vec<&str>) = above.iter().partition(|row| is_running(row));
    let in_order = stacks.iter().enumerate().all(|(number, row)| {
        row.contains(&format!("01-a/stack-{number:03}")) && row.matches("01-a").count() == 1
    });
    let folded: Vec<String> = match running - stacks.len().min(running) {
        0 => vec![],
        more => vec![format!("    … and {more} more running")],
    };
    in_order && rest == folded && counts.starts_with("  0/200 done · 26 running")
}

#[test]
fn two_hundred_stacks_are_folded_and_counted_while_they_run_and_summed_up_at_the_end() {
    let project = gated(200);
    let window = Tmux::start(&project.command("init --all --parallelism 26"), 80, 24);

    let rows = window.until("26 stacks run", |rows| is_whole(rows, 26));
    assert_eq!(rows[0], "  lab · 200 stacks · 26 at once · tofu 1.12.6");
    assert!(rows.iter().any(|row| row == "    … and 5 more running"), "{rows:#?}");
    assert!(rows[23].contains("· 174 waiting") && rows[23].ends_with("Ctrl-C stops gently"), "{rows:#?}");

    project.write("gate", "");
    assert_eq!(window.wait(), 0);

    let rows = window.history();
    assert!(!rows.iter().any(|row| is_running(row)), "{rows:#?}");
    let words =
        ["  lab · 200 stacks", "  … and 200 more", "  200 initialised · ", "  next: `infra plan --all`"];
    for word in words {
        assert_eq!(rows.iter().filter(|row| row.starts_with(word)).count(), 1, "{word}: {rows:#?}");
    }
}

#[test]
fn a_window_that_changes_its_size_shows_no_torn_and_no_doubled_rows() {
    let project = gated(200);
    let window = Tmux::start(&project.command("init --all --parallelism 26"), 80, 24);
    window.until("26 stacks run", |rows| is_whole(rows, 26));

    for (columns, rows) in [(40, 10), (200, 50), (80, 24), (120, 30), (40, 10), (200, 50)] {
        window.resize(columns, rows);
        let first = window.until(&format!("a whole block of {columns}x{rows}"), |shown| {
            shown.len() == usize::from(rows) && is_whole(shown, 26)
        });
        let next = window.until("the next drawing", |shown| *shown != first[..]);
        assert!(is_whole(&next, 26), "{columns}x{rows}: {next:#?}");
    }
    project.write("gate", "");
    let (code, rows) = (window.wait(), window.rows());
    assert_eq!(code, 0, "{rows:#?}");
    assert!(!rows.iter().any(|row| is_running(row)), "{rows:#?}");
}

#[test]
fn what_is_told_while_the_window_changes_its_size_stays_readable() {
    let project = gated(30);
    for number in 0..30 {
        // One cause of many failures would be told once.
        let wrong = format!("module \"x\" {{\n  source = \"./nowhere-{number}\"\n}}\n");
        project.write(&format!("infrastructure/01-a/stack-{number:03}/main.tf"), &wrong);
    }
    let window = Tmux::start(&project.command("init --all --parallelism 8"), 80, 24);
    window.until("8 stacks run", |rows| rows.iter().filter(|row| is_running(row)).count() == 8);

    window.resize(120, 40);
    project.write("gate", "");
    assert_eq!(window.wait(), 1);

    let rows = window.history();
    assert!(!rows.iter().any(|row| is_running(row)), "{rows:#?}");
    for number in 0..30 {
        let told = format!("  ✗ 01-a/stack-{number:03}  failed");
        assert_eq!(rows.iter().filter(|row| row.starts_with(&told)).count(), 1, "{told}: {rows:#?}");
    }
}

#[test]
fn a_narrow_window_has_one_row_for_each_line() {
    let project = gated(3);
    let window = Tmux::start(&project.command("init --all --parallelism 3"), 24, 8);

    let rows = window.until("3 stacks run", |rows| rows.iter().filter(|row| is_running(row)).count() == 3);

    let block: Vec<&String> = rows.iter().skip_while(|row| !is_running(row)).collect();
    assert_eq!(block[3], "  0/3 done · 3 running…", "{rows:#?}");
    assert!(block[4..].iter().all(|row| row.is_empty()), "{rows:#?}");
}

#[test]
fn the_question_lists_saved_plans_with_their_age_and_d_shows_their_attributes_at_any_width() {
    let stack = "terraform {\n  backend \"http\" {}\n}\n\nresource \"terraform_data\" \"a\" {\n  input = \"one\"\n}\n";
    for columns in [80, 200] {
        let project = Project::new().stack("01-a/x", stack).stack("01-a/y", stack);
        project.run("plan x").succeeds();
        let window = Tmux::start(&project.command("apply --all"), columns, 50);
        let question = "Apply these changes to 2 stacks? [y/N] (d shows every attribute)";
        let asked = |rows: &[String]| rows.iter().filter(|row| row.starts_with(question)).count();

        let rows = window.until("the question", |rows| asked(rows) == 1);
        assert!(rows.iter().any(|row| row.starts_with("01-a/x  +1 ~0 -0 · saved ")), "{rows:#?}");
        assert!(rows.iter().any(|row| row == "01-a/y  +1 ~0 -0"), "{rows:#?}");
        window.types("d");
        let rows = window.until("the question again", |rows| asked(rows) == 2);
        assert_eq!(rows.iter().filter(|row| row.contains("+ input  = \"one\"")).count(), 2, "{rows:#?}");
        window.types("n");

        assert_eq!(window.wait(), 1);
        let rows = window.history();
        let end = rows.iter().rposition(|row| row.starts_with(question)).expect("a question");
        let said: Vec<&String> = rows[end + 1..].iter().filter(|row| !row.is_empty()).collect();
        assert_eq!(said[0], "  nothing was done", "{rows:#?}");
        assert!(said.len() == 1 || said[1].starts_with("Pane is dead"), "{rows:#?}");
    }
}

#[test]
fn one_cause_of_many_failures_fits_a_screen_at_any_width_and_breaks_at_spaces() {
    let project = (1..=16).fold(Project::new(), |project, number| {
        let wrong = "module \"x\" {\n  source = \"./nowhere\"\n}\n";
        project.stack(&format!("01-a/stack-{number:03}"), wrong)
    });
    for (columns, most) in [(80, 19), (200, 16)] {
        let window = Tmux::start(&project.command("init --all"), columns, 24);

        assert_eq!(window.wait(), 1);

        let told = window.history();
        let words = told.iter().flat_map(|row| row.split_whitespace()).collect::<Vec<_>>().join(" ");
        let names = (1..=12).map(|number| format!("01-a/stack-{number:03}")).collect::<Vec<_>>().join(", ");
        let cause = "✗ 16 stacks failed for one reason: Unreadable module directory";
        assert_eq!(words.matches("error: 01-a/stack-").count(), 1, "{told:#?}");
        let all = "and 4 more all of them: `infra runs show ";
        assert!(words.contains(&format!("{cause} {names} {all}")), "{told:#?}");
        let lines = told.iter().filter(|row| !row.is_empty() && !row.starts_with("Pane is dead")).count();
        assert!(lines <= most, "{lines} lines: {told:#?}");
    }
}
