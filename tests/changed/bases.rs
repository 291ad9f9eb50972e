//! What a change is measured from: checkouts as CI systems make them, and wrong names.

use std::path::Path;
use std::process::Command;

use crate::repository::{Repository, git_command, git_in};

/// A repository with a pull request: main went on by one stack, the branch by another.
fn origin() -> Repository {
    let origin = Repository::new().stack("01-a/x", &[]).stack("01-a/y", &[]).stack("01-a/z", &[]);
    origin.append("infrastructure/01-a/x/main.tf", "# what x alone was\n");
    origin.commit();
    origin.append("infrastructure/01-a/z/main.tf", "# old\n");
    origin.commit();
    origin.git("checkout -q -b topic");
    origin.append("infrastructure/01-a/x/main.tf", "# topic\n");
    origin.commit();
    origin.git("checkout -q main");
    origin.append("infrastructure/01-a/y/main.tf", "# main\n");
    origin.commit();
    origin.git("checkout -q -b merged");
    origin.git("merge -q --no-ff -m merge topic");
    origin.git("update-ref refs/pull/7/merge HEAD");
    origin.git("checkout -q main");
    origin.git("branch -q -D merged");
    origin
}

/// Checks out a ref as CI systems do: an empty repository that fetches one ref.
fn checkout(origin: &Repository, what: &str, depth: &str) -> Repository {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap().join("work");
    std::fs::create_dir_all(&top).unwrap();
    git_in(&top, &["init", "-q", "-b", "none"]);
    git_in(&top, &["remote", "add", "origin", &format!("file://{}", origin.top.display())]);
    git_in(&top, &["fetch", "-q", &format!("--depth={depth}"), "origin", what]);
    git_in(&top, &["checkout", "-q", "--detach", "FETCH_HEAD"]);
    Repository::at(dir, top)
}

fn on_github(clone: Repository) -> Repository {
    clone.env("GITHUB_REF", "refs/pull/7/merge").env("GITHUB_BASE_REF", "main")
}

/// Runs what was printed, in a shell, with nothing of the person's own settings.
fn paste(command: &str, folder: &Path) {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder);
    for (name, value) in git_command(folder).get_envs() {
        shell.env(name, value.unwrap());
    }
    shell
        .env("GIT_AUTHOR_NAME", "t")
        .env("GIT_AUTHOR_EMAIL", "t@t")
        .env("GIT_COMMITTER_NAME", "t")
        .env("GIT_COMMITTER_EMAIL", "t@t");
    let done = shell.output().unwrap();
    assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Returns the advised command that begins with these words.
fn advised(text: &str, words: &str) -> String {
    let found = text.split('`').find(|part| part.starts_with(words));
    found.unwrap_or_else(|| panic!("no `{words}` in {text}")).to_owned()
}

#[test]
fn on_a_merge_ref_two_commits_are_enough_and_nothing_of_others_is_listed() {
    let origin = origin();
    let clone = on_github(checkout(&origin, "refs/pull/7/merge", "2"));

    let told = clone.changed("");

    assert_eq!(told.stacks.iter().collect::<Vec<_>>(), ["01-a/x"], "01-a/y came from main");
    assert_eq!(told.base, origin.git("rev-parse main").trim());
}

#[test]
fn a_merge_ref_without_its_parents_says_how_to_get_them() {
    let origin = origin();
    let clone = on_github(checkout(&origin, "refs/pull/7/merge", "1"));

    let refused =
        clone.run(&["changed", "--json"]).exits(69).stderr_has("shallow").stderr_has("fetch-depth: 2");

    assert_eq!(refused.json()["error"]["kind"], "unavailable");
    paste(&advised(&refused.stderr, "git fetch"), &clone.top);
    assert_eq!(clone.changed("").stacks.len(), 1);
}

#[test]
fn the_branch_itself_is_compared_with_where_it_left_its_target() {
    let origin = origin();
    let target = [
        ("GITHUB_BASE_REF", "main", ("GITHUB_REF", "refs/pull/7/head")),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main", ("CI", "true")),
        ("CI_COMMIT_TARGET_BRANCH", "main", ("CI_COMMIT_PULL_REQUEST", "7")),
    ];
    for (name, value, (other, with)) in target {
        let clone = checkout(&origin, "refs/heads/topic", "1")
            .env("GITHUB_BASE_REF", "")
            .env(name, value)
            .env(other, with);
        let clone = if name == "CI_COMMIT_TARGET_BRANCH" { clone.env("CI", "woodpecker") } else { clone };

        let refused = clone.run(&["changed"]).exits(69).stderr_has("shallow").stderr_has("origin/main");
        refused.stderr_lacks("origin/master");
        let refused = clone.run(&["changed"]).exits(69);
        paste(&advised(&refused.stderr, "git fetch"), &clone.top);
        assert_eq!(clone.changed("").stacks.iter().collect::<Vec<_>>(), ["01-a/x"], "{name}");
    }
}

#[test]
fn a_shallow_clone_whose_base_has_no_common_commit_here_says_how_to_get_it() {
    let origin = origin();
    let clone = checkout(&origin, "refs/heads/topic", "1");
    clone.git("fetch -q --depth=1 origin +refs/heads/main:refs/remotes/origin/main");

    let refused = clone.run(&["changed"]).exits(69).stderr_has("shallow").stderr_has("fetch-depth: 0");
    paste(&advised(&refused.stderr, "git fetch"), &clone.top);

    assert_eq!(clone.changed("").stacks.iter().collect::<Vec<_>>(), ["01-a/x"]);
}

#[test]
fn a_checked_out_branch_that_ends_in_a_merge_is_no_merge_ref() {
    let origin = origin();
    origin.git("checkout -q topic");
    origin.git("merge -q --no-ff -m merge main");
    let clone = on_github(checkout(&origin, "refs/heads/topic", "100"));
    clone.git("fetch -q --depth=100 origin +refs/heads/main:refs/remotes/origin/main");
    let merge = origin.git("rev-parse refs/pull/7/merge");
    let clone = clone.env("GITHUB_SHA", merge.trim());

    assert_eq!(clone.changed("").stacks.iter().collect::<Vec<_>>(), ["01-a/x"]);
}

#[test]
fn without_any_base_everything_that_was_looked_for_is_named() {
    let lab = Repository::new().stack("01-a/x", &[]);
    lab.commit();

    let refused = lab.run(&["changed"]).exits(69);

    for name in ["origin/HEAD", "origin/main", "origin/master"] {
        assert!(refused.stderr.contains(name), "{refused}");
    }
    let advice = advised(&refused.stderr, "--base");
    let words: Vec<&str> = advice.split(' ').collect();
    lab.run(&[&["changed", "--json"], words.as_slice()].concat()).succeeds();
}

#[test]
fn a_base_that_is_none_is_refused_and_never_an_option() {
    let lab = Repository::new().stack("01-a/x", &[]);
    lab.publish();
    let mark = lab.top.join("written");

    for name in ["--output=written", "-O", "nosuch", "HEAD^{tree}", "main\nHEAD", "HEAD:infra.yaml"] {
        let argument = format!("--base={name}");
        let refused = lab.run(&["changed", &argument, "--json"]);
        assert!(![Some(0), Some(64), Some(70), Some(101)].contains(&refused.code), "{name}: {refused}");
        assert!(refused.json()["error"]["message"].as_str().unwrap().contains("is not here"), "{refused}");
        let choosing = format!("--changed={name}");
        assert_ne!(lab.run(&["stacks", &choosing]).code, Some(0));
    }
    assert!(!mark.exists());
    lab.git("branch release");
    lab.run(&["changed", "--base", "relaese"]).exits(69).stderr_has("did you mean `--base release`?");
    let zeros = "0".repeat(40);
    lab.run(&["changed", "--base", &zeros]).exits(65).stderr_has("forty zeros");
}

#[test]
fn without_a_commit_a_repository_or_a_common_one_it_is_refused_with_a_way_on() {
    let lab = Repository::new().stack("01-a/x", &[]);
    let unborn = lab.run(&["changed"]).exits(65);
    paste(&advised(&unborn.stderr, "git add"), &lab.top);
    lab.git("update-ref refs/remotes/origin/main HEAD");
    assert!(lab.changed("").stacks.is_empty());

    lab.git("checkout -q --orphan other");
    lab.commit();
    let refused = lab.run(&["changed"]).exits(65).stderr_has("no commit in common");
    refused.stderr_lacks("shallow");

    let bare = Repository::new().stack("01-a/x", &[]);
    std::fs::remove_dir_all(bare.top.join(".git")).unwrap();
    bare.run(&["changed"]).exits(69).stderr_has("no git repository");
    let broken = Repository::new().stack("01-a/x", &[]).env("PATH", "/nowhere");
    broken.run(&["changed"]).exits(69).stderr_has("git");
}

#[test]
fn of_several_merge_bases_the_one_that_git_takes_counts_and_that_is_told() {
    let lab = Repository::new().stack("01-a/x", &[]).stack("01-a/y", &[]);
    lab.commit();
    lab.git("checkout -q -b other");
    lab.append("infrastructure/01-a/x/main.tf", "# other\n");
    let other = lab.commit();
    lab.git("checkout -q main");
    lab.append("infrastructure/01-a/y/main.tf", "# main\n");
    let main = lab.commit();
    git_in(&lab.top, &["merge", "-q", "--no-ff", "-m", "one", &other]);
    lab.git("checkout -q other");
    git_in(&lab.top, &["merge", "-q", "--no-ff", "-m", "two", &main]);

    let finished = lab.run(&["changed", "--base", "main", "--json"]).succeeds().stderr_has("2 merge bases");

    assert_eq!(finished.json()["base"], lab.git("merge-base main HEAD").trim());
}

#[test]
fn a_partial_clone_that_lacks_what_was_there_is_told_and_nothing_is_fetched() {
    let origin = origin();
    origin.git("config uploadpack.allowFilter true");
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap().join("work");
    let url = format!("file://{}", origin.top.display());
    git_in(
        dir.path(),
        &["clone", "-q", "--filter=blob:none", "--branch", "topic", &url, &top.display().to_string()],
    );
    let clone = Repository::at(dir, top);

    let refused = clone.run(&["changed"]).exits(69).stderr_has("partial clone");

    paste(
        &format!(
            "git -c protocol.file.allow=always {}",
            advised(&refused.stderr, "git diff").trim_start_matches("git ")
        ),
        &clone.top,
    );
    assert_eq!(clone.changed("").stacks.iter().collect::<Vec<_>>(), ["01-a/x"]);
}

#[test]
fn the_default_base_and_a_commit_that_are_not_here_are_brought_by_what_is_printed() {
    let origin = origin();
    let clone = checkout(&origin, "refs/heads/topic", "1");
    let refused = clone.run(&["changed"]).exits(69).stderr_has("shallow");
    paste(&advised(&refused.stderr, "git fetch"), &clone.top);
    assert_eq!(clone.changed("").stacks.iter().collect::<Vec<_>>(), ["01-a/x"]);

    let clone = checkout(&origin, "refs/heads/topic", "1");
    let first = origin.git("rev-parse main~2").trim().to_owned();
    origin.git("config uploadpack.allowAnySHA1InWant true");
    let refused = clone.run(&["changed", "--base", &first]).exits(69).stderr_has("shallow");
    paste(&advised(&refused.stderr, "git fetch"), &clone.top);
    assert_eq!(clone.changed(&first).stacks.len(), 2);
}
