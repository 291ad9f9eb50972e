//! What git tells about stacks that were renamed, asked through the one door to it.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use infra::model::Environment;
use infra::process::{Git, Interrupts};
use support::Project;

/// Returns twenty-five lines that no other text has.
fn lines(of: &str) -> String {
    (0..25).map(|line| format!("# line {line} of {of}, which nothing else resembles\n")).collect()
}

/// A project with a stack of two files, committed.
fn committed() -> Project {
    let project = Project::new()
        .file("infrastructure/01-a/old/main.tf", &lines("main"))
        .file("infrastructure/01-a/old/outputs.tf", &lines("outputs"))
        .file("infrastructure/01-a/other/main.tf", &lines("other"));
    project.git(&["init", "-q"]);
    commit(&project, "one");
    project
}

fn commit(project: &Project, name: &str) {
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", name]);
}

fn caller() -> Environment {
    std::env::vars_os().fold(Environment::default(), |env, (name, value)| match name.to_str() {
        Some(name) => env.with(name, value),
        None => env,
    })
}

/// Returns what git calls renamed below folders, as texts.
fn renames_in(folder: &Path, gone: &[&str]) -> Option<Vec<(String, String)>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let found = runtime.block_on(async {
        let git = Git::around(folder, &caller(), &Interrupts::listen().unwrap())?;
        git.renames(&gone.iter().map(PathBuf::from).collect::<Vec<_>>()).await
    });
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    found.map(|found| found.into_iter().map(|(old, new)| (text(old), text(new))).collect())
}

fn renames(project: &Project, gone: &[&str]) -> Option<Vec<(String, String)>> {
    renames_in(project.root(), gone)
}

const OLD: &str = "infrastructure/01-a/old";

/// Returns the two files of the stack, from its first place to another.
fn moved_to(new: &str) -> Option<Vec<(String, String)>> {
    Some(["main.tf", "outputs.tf"].map(|file| (format!("{OLD}/{file}"), format!("{new}/{file}"))).into())
}

/// Replaces the first lines of a file.
fn edit(project: &Project, path: &str, count: usize) {
    let text = project.read(path);
    let kept = text.split_inclusive('\n').skip(count);
    let new = (0..count).map(|line| format!("# changed {line}\n"));
    project.write(path, &new.chain(kept.map(str::to_owned)).collect::<String>());
}

#[test]
fn a_folder_that_git_moved_is_renamed_before_the_commit_and_after_it() {
    let project = committed();
    project.git(&["mv", OLD, "infrastructure/02-b"]);

    assert_eq!(renames(&project, &[OLD]), moved_to("infrastructure/02-b"));
    commit(&project, "two");
    assert_eq!(renames(&project, &[OLD]), moved_to("infrastructure/02-b"));
    // What came later is of no matter.
    project.write("infrastructure/03-c/main.tf", &lines("later"));
    commit(&project, "three");
    assert_eq!(renames(&project, &[OLD]), moved_to("infrastructure/02-b"));
    assert_eq!(renames(&project, &["infrastructure/01-a/other"]), Some(Vec::new()));
    // A path that leads out hides nothing of the others.
    assert_eq!(renames(&project, &["../x", "/etc", OLD]), moved_to("infrastructure/02-b"));
}

#[test]
fn a_folder_that_was_moved_without_git_is_recognised_by_equal_files() {
    let project = committed();
    project.write("infrastructure/02-b/empty.tf", "");
    std::fs::rename(project.path(OLD), project.path("infrastructure/new")).unwrap();
    // As long as a file of the old folder, and something else.
    project.write("infrastructure/03-c/main.tf", &lines("mine"));

    assert_eq!(renames(&project, &[OLD]), moved_to("infrastructure/new"));
    // An edit hides it from this comparison, until it is added.
    edit(&project, "infrastructure/new/main.tf", 5);
    assert_eq!(renames(&project, &[OLD]).unwrap().len(), 1);
    project.git(&["add", "-A"]);
    assert_eq!(renames(&project, &[OLD]), moved_to("infrastructure/new"));
}

#[test]
fn a_copy_is_no_rename() {
    let project = committed();
    project.write("infrastructure/copy/main.tf", &lines("main"));

    assert_eq!(renames(&project, &[OLD]), Some(Vec::new()));
    commit(&project, "two");
    assert_eq!(renames(&project, &[OLD]), Some(Vec::new()));
}

#[test]
fn a_folder_that_was_renamed_and_edited_in_one_commit_is_recognised_whatever_git_is_set_to() {
    let project = committed();
    project.git(&["mv", OLD, "infrastructure/new"]);
    for file in ["main.tf", "outputs.tf"] {
        edit(&project, &format!("infrastructure/new/{file}"), 5);
    }
    commit(&project, "two");
    let settings = [
        ("diff.renames", "false"),
        ("diff.renameLimit", "1"),
        ("diff.orderFile", "missing"),
        ("diff.relative", "true"),
        ("diff.ignoreSubmodules", "none"),
        ("log.diffMerges", "off"),
        ("log.follow", "true"),
        ("log.decorate", "full"),
        ("format.pretty", "fuller"),
        ("color.ui", "always"),
        ("core.quotePath", "true"),
    ];
    for (name, value) in settings {
        project.git(&["config", name, value]);
    }

    assert_eq!(renames(&project, &[OLD]), moved_to("infrastructure/new"));
}

#[test]
fn a_rename_inside_a_squash_merge_with_many_others_is_recognised() {
    let project = committed();
    let name = |place: &str, number: usize| format!("{place}/{place}{number}.txt");
    for number in 0..1_010 {
        project.write(&name("docs", number), &lines(&format!("page {number}")));
    }
    for number in 0..30 {
        let stack = format!("infrastructure/04-d/s{number}/main.tf");
        project.write(&stack, &lines(&format!("stack {number}")));
    }
    commit(&project, "two");
    project.git(&["checkout", "-qb", "branch"]);
    project.git(&["mv", OLD, "infrastructure/new"]);
    edit(&project, "infrastructure/new/main.tf", 3);
    edit(&project, "infrastructure/new/outputs.tf", 3);
    for number in 0..1_010 {
        project.write(&name("pages", number), &project.read(&name("docs", number)));
        edit(&project, &name("pages", number), 3);
    }
    std::fs::remove_dir_all(project.path("docs")).unwrap();
    project.git(&["mv", "infrastructure/04-d", "infrastructure/05-e"]);
    commit(&project, "three");
    project.git(&["checkout", "-q", "-"]);
    project.git(&["merge", "-q", "--squash", "branch"]);
    commit(&project, "four");

    assert_eq!(renames(&project, &[OLD]), moved_to("infrastructure/new"));
    let all = renames(&project, &[OLD, "infrastructure/04-d"]).unwrap();
    assert_eq!(all.len(), 32);
    let kept = |(old, new): &(String, String)| old.replace("04-d", "05-e") == *new;
    assert_eq!(all.iter().filter(|pair| kept(pair)).count(), 30);
}

#[test]
fn a_rename_that_a_merge_brought_is_recognised_from_either_side() {
    for fast in ["--no-ff", "--ff"] {
        let project = committed();
        project.git(&["checkout", "-qb", "branch"]);
        project.git(&["mv", OLD, "infrastructure/new"]);
        commit(&project, "renamed");
        project.git(&["checkout", "-q", "-"]);
        project.write("notes.md", "mine\n");
        commit(&project, "mine");
        project.git(&["merge", "-q", fast, "-m", "merged", "branch"]);

        assert_eq!(renames(&project, &[OLD]), moved_to("infrastructure/new"), "{fast}");
    }
}

#[test]
fn a_folder_is_followed_over_several_renames_and_when_it_came_and_went() {
    let project = committed();
    project.git(&["mv", OLD, "infrastructure/between"]);
    commit(&project, "two");
    project.git(&["mv", "infrastructure/between", "infrastructure/new"]);
    assert_eq!(renames(&project, &[OLD]), moved_to("infrastructure/new"));
    commit(&project, "three");
    assert_eq!(renames(&project, &[OLD]), moved_to("infrastructure/new"));

    project.write(&format!("{OLD}/main.tf"), &lines("another"));
    commit(&project, "four");
    project.git(&["rm", "-rq", OLD]);
    assert_eq!(renames(&project, &[OLD]).unwrap(), moved_to("infrastructure/new").unwrap()[1..]);
}

#[test]
fn names_with_spaces_line_ends_and_other_letters_are_read_as_they_are() {
    let project = Project::named("lab [1]*");
    let top = project.path("..");
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
        let done = Command::new("git").args(identity).args(args).current_dir(&top).status().unwrap();
        assert!(done.success(), "{args:?}");
    };
    let (old, new) = ("01 a\n/grün \"x\"", "-R100/*[?] \\b\n");
    project.write(&format!("{old}/main.tf"), &lines("main"));
    project.write(&format!("{old}/:(x)\n.tofu.json"), &lines("json"));
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "one"]);
    let expected = Some(
        [":(x)\n.tofu.json", "main.tf"]
            .map(|file| (format!("{old}/{file}"), format!("{new}/{file}")))
            .to_vec(),
    );

    std::fs::create_dir(project.path("-R100")).unwrap();
    std::fs::rename(project.path(old), project.path(new)).unwrap();
    assert_eq!(renames(&project, &[old]), expected);
    git(&["add", "-A"]);
    assert_eq!(renames(&project, &[old]), expected);
    git(&["commit", "-qm", "two"]);
    assert_eq!(renames(&project, &[old]), expected);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_are_no_trouble() {
    let project = committed();
    let name = std::os::unix::ffi::OsStringExt::from_vec(b"n\xffw".to_vec());
    let name = project.path("infrastructure").join::<std::ffi::OsString>(name);

    std::fs::rename(project.path(OLD), &name).unwrap();
    assert_eq!(renames(&project, &[OLD]).unwrap().len(), 2);
    commit(&project, "two");
    assert_eq!(renames(&project, &[OLD]).unwrap().len(), 2);
}

#[test]
fn a_project_that_was_one_stack_and_became_several_is_told() {
    let project = Project::new().file("main.tf", &lines("main"));
    project.git(&["init", "-q"]);
    commit(&project, "one");
    std::fs::create_dir_all(project.path("infrastructure/x")).unwrap();
    let expected = Some(vec![("main.tf".to_owned(), "infrastructure/x/main.tf".to_owned())]);

    std::fs::rename(project.path("main.tf"), project.path("infrastructure/x/main.tf")).unwrap();
    assert_eq!(renames(&project, &["."]), expected);
    commit(&project, "two");
    assert_eq!(renames(&project, &["."]), expected);
}

#[test]
fn where_git_knows_nothing_there_is_no_answer_and_no_error() {
    let project = Project::new().file("infrastructure/new/main.tf", "");
    assert_eq!(renames(&project, &[OLD]), None);
    project.git(&["init", "-q"]);
    assert_eq!(renames(&project, &[OLD]), None);

    let project = committed();
    project.git(&["mv", OLD, "infrastructure/new"]);
    commit(&project, "two");
    let (whole, shallow) = (project.path(""), project.path("../shallow"));
    let whole = format!("file://{}", whole.display());
    project.git(&["clone", "-q", "--depth=1", &whole, shallow.to_str().unwrap()]);
    assert_eq!(renames_in(&shallow, &[OLD]), Some(Vec::new()));
}

#[test]
fn a_clone_without_old_contents_is_not_completed_for_a_look() {
    let project = committed();
    project.git(&["mv", OLD, "infrastructure/new"]);
    edit(&project, "infrastructure/new/main.tf", 5);
    commit(&project, "two");
    project.git(&["config", "uploadpack.allowFilter", "true"]);
    let (whole, partial) = (format!("file://{}", project.path("").display()), project.path("../partial"));
    project.git(&["clone", "-q", "--filter=blob:none", &whole, partial.to_str().unwrap()]);
    let objects = || project.git(&["-C", partial.to_str().unwrap(), "count-objects", "-v"]);
    let before = objects();

    // The edited one is not recognised: its old content is not there.
    let expected = moved_to("infrastructure/new").unwrap()[1..].to_vec();
    assert_eq!(renames_in(&partial, &[OLD]), Some(expected));
    assert_eq!(objects(), before);
}

/// A program that leaves a trace when it runs.
fn tracer(project: &Project) -> (String, PathBuf) {
    let (program, trace) = (project.path("../tracer"), project.path("../trace"));
    let text = format!("#!/bin/sh\ntouch '{}'\ncat\n", trace.display());
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    (program.to_str().unwrap().to_owned(), trace)
}

/// Makes a commit that claims to be signed, so that a look at it may ask a program.
fn sign(project: &Project) {
    let commit = project.git(&["cat-file", "commit", "HEAD"]);
    let armor = |edge: &str| format!("-----{edge} SSH SIGNATURE-----");
    let signature = format!("gpgsig {}\n U1NIU0lH\n {}\n\n", armor("BEGIN"), armor("END"));
    std::fs::write(project.path("../signed"), commit.replacen("\n\n", &format!("\n{signature}"), 1)).unwrap();
    let file = project.path("../signed");
    let id = project.git(&["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]);
    project.git(&["reset", "-q", "--hard", id.trim()]);
}

#[test]
fn no_program_of_a_repository_runs_for_an_answer() {
    let project = committed();
    // A merge that a driver would make anew.
    project.git(&["checkout", "-qb", "branch"]);
    edit(&project, "infrastructure/01-a/other/main.tf", 3);
    project.write("infrastructure/01-a/other/theirs.tf", &lines("theirs"));
    commit(&project, "theirs");
    project.git(&["checkout", "-q", "-"]);
    edit(&project, "infrastructure/01-a/other/main.tf", 4);
    commit(&project, "mine");
    project.git(&["merge", "-q", "-X", "ours", "-m", "merged", "branch"]);
    project.git(&["mv", OLD, "infrastructure/between"]);
    edit(&project, "infrastructure/between/main.tf", 5);
    commit(&project, "two");
    sign(&project);
    project.git(&["mv", "infrastructure/between", "infrastructure/new"]);
    project.git(&["mv", "infrastructure/01-a/other", "infrastructure/other"]);
    edit(&project, "infrastructure/other/main.tf", 5);
    std::fs::rename(project.path("infrastructure/new"), project.path("infrastructure/newer")).unwrap();
    let (program, trace) = tracer(&project);
    for name in [
        "core.fsmonitor",
        "core.pager",
        "pager.log",
        "core.sshCommand",
        "diff.external",
        "diff.trap.command",
        "diff.trap.textconv",
        "filter.trap.clean",
        "filter.trap.smudge",
        "filter.trap.process",
        "merge.trap.driver",
        "gpg.program",
        "gpg.ssh.program",
        "gpg.ssh.defaultKeyCommand",
    ] {
        project.git(&["config", name, &program]);
    }
    project.git(&["config", "gpg.ssh.allowedSignersFile", "/dev/null"]);
    project.git(&["config", "log.showSignature", "true"]);
    project.git(&["config", "log.diffMerges", "remerge"]);
    project.git(&["config", "filter.trap.required", "true"]);
    project.write(".git/info/attributes", "* filter=trap diff=trap merge=trap\n");
    for args in [&["log", "-m"][..], &["diff"], &["status"]] {
        let _ = std::fs::remove_file(&trace);
        let mut git = Command::new("git");
        git.args(args).current_dir(project.root()).stdin(Stdio::null()).output().unwrap();
        assert!(trace.exists(), "`git {args:?}` itself would run one");
    }
    std::fs::remove_file(&trace).unwrap();

    let found = renames(&project, &[OLD, "infrastructure/01-a/other", "infrastructure/new"]).unwrap();

    assert!(!trace.exists(), "a program of the repository ran");
    assert_eq!(found.iter().filter(|(old, _)| old.starts_with(OLD)).count(), 2, "{found:?}");
}

#[test]
fn pipes_and_links_among_new_files_are_not_opened() {
    let project = committed();
    let size = project.read(&format!("{OLD}/main.tf"));
    project.write("../outside.tf", &size);
    std::fs::remove_dir_all(project.path(OLD)).unwrap();
    std::fs::create_dir(project.path("infrastructure/new")).unwrap();
    symlink(project.path("../outside.tf"), project.path("infrastructure/new/main.tf")).unwrap();
    let mode = nix::sys::stat::Mode::S_IRUSR;
    nix::unistd::mkfifo(&project.path("infrastructure/new/pipe.tf"), mode).unwrap();

    assert_eq!(renames(&project, &[OLD]), Some(Vec::new()));
}
