//! `infra ci init`: which workflows are written, that they ask for little, and that their steps are shell.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

#[path = "ci_init/workflow.rs"]
mod workflow;

use std::process::{Command, Stdio};

use serde_json::Value;
use support::Project;
use workflow::{Workflow, written};

const FORGES: [(&str, &[&str]); 3] = [
    ("github", &["infra-apply.yaml", "infra-drift.yaml", "infra-review.yaml"]),
    ("gitlab", &[".gitlab-ci.yml"]),
    ("forgejo", &["infra-apply.yaml", "infra-drift.yaml", "infra-review.yaml"]),
];

/// The actions that may be used, each at the one commit that was seen.
const ACTIONS: [&str; 4] = [
    "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1",
    "actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f",
    "actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c",
    "github/codeql-action/upload-sarif@8aad20d150bbac5944a9f9d289da16a4b0d87c1e",
];

/// What a job may write.
const WRITABLE: [&str; 6] = ["pull-requests", "issues", "statuses", "checks", "security-events", "id-token"];

fn project() -> Project {
    Project::new().stack("01-base/one", "resource \"terraform_data\" \"it\" {}\n")
}

#[test]
fn each_forge_gets_its_files_and_nothing_else() {
    for (forge, names) in FORGES {
        let project = project();

        project.run(&format!("ci init {forge}")).succeeds().stderr_has("next:");

        let found: Vec<String> = written(project.root()).into_iter().map(|file| file.name).collect();
        assert_eq!(found, *names, "{forge}");
        project.run(&format!("ci init {forge}")).succeeds();
    }
    project().run("ci init bitbucket").exits(64);
}

#[test]
fn an_edited_file_is_named_and_kept_and_nothing_is_written_beside_it() {
    let project = project().file(".github/workflows/infra-drift.yaml", "name: mine\n");

    project
        .run("ci init github")
        .exits(1)
        .stderr_has("`.github/workflows/infra-drift.yaml`")
        .stderr_has("--force");

    assert_eq!(project.read(".github/workflows/infra-drift.yaml"), "name: mine\n");
    assert!(!project.has(".github/workflows/infra-review.yaml"));
    project.run("ci init github --force").succeeds();
    assert!(project.read(".github/workflows/infra-drift.yaml").contains("infra drift"));
}

#[test]
fn a_link_that_leads_out_of_the_repository_is_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let project = project();
    project.git(&["init", "-q"]);
    std::os::unix::fs::symlink(outside.path(), project.path(".github")).unwrap();

    project.run("ci init github").exits(65).stderr_has("out of the repository");

    let left: Vec<_> = walkdir(outside.path());
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_project_below_the_top_of_its_repository_is_worked_on_from_there() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    project.write("lab/infra.yaml", "name: lab\n");
    project.write("lab/infrastructure/one/main.tf", "");

    project.run("-C lab ci init github").succeeds();

    let review = project.read(".github/workflows/infra-review.yaml");
    assert!(review.contains("  INFRA_DIR: \"lab\"\n"), "{review}");
    assert!(review.contains("lab/.infra/runs/*/*\n"), "{review}");
    assert!(!review.contains("#:") && !review.contains("__"), "{review}");
}

#[test]
fn merges_land_on_the_branch_that_origin_names_or_the_one_that_is_given() {
    let project = project();
    project.git(&["init", "-q"]);
    project.write(".git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/trunk\n");

    project.run("ci init github").succeeds();
    assert!(project.read(".github/workflows/infra-apply.yaml").contains("branches: [trunk]"));
    project.run("ci init github --force --branch release/2").succeeds();
    assert!(project.read(".github/workflows/infra-apply.yaml").contains("branches: [release/2]"));
    for branch in ["x]", "-x", "a b", "${{x}}"] {
        let mut command = project.command("ci init github --force");
        let done = command.arg(format!("--branch={branch}")).output().unwrap();
        assert_eq!(done.status.code(), Some(64), "{branch}");
    }
}

#[test]
fn generated_files_are_checked_where_git_has_them_and_made_where_it_leaves_them_out() {
    let templates = |project: Project| {
        project
            .file("cluster.yaml", "text: x\n")
            .file("templates/config/infrastructure/one/main.tf.j2", "# #{ text }#\n")
    };
    let review = |project: &Project| {
        project.git(&["init", "-q"]);
        project.run("ci init github").succeeds();
        project.read(".github/workflows/infra-review.yaml")
    };

    let checked = review(&templates(Project::new()));
    let made = review(&templates(Project::new()).file(".gitignore", "/infrastructure/\n"));
    let given = review(&templates(Project::new()).file(".gitignore", "cluster.yaml\n"));

    assert!(checked.contains("run: infra configure --check\n") && !checked.contains("configure --no-init"));
    assert!(made.contains("run: infra configure --no-init\n") && !made.contains("configure --check"));
    assert!(!given.contains("infra configure"));
}

#[test]
fn actions_are_pinned_to_commits_that_were_seen_and_name_their_version() {
    for file in all() {
        for line in file.text.lines().filter(|line| line.contains("uses:")) {
            let (action, version) = line.split_once("uses:").unwrap().1.split_once('#').expect("a version");
            assert!(ACTIONS.contains(&action.trim()), "{}: {line}", file.name);
            assert!(version.trim().starts_with('v'), "{}: {line}", file.name);
        }
    }
}

#[test]
fn jobs_may_read_and_write_only_what_they_need_and_end_in_time() {
    for file in all().into_iter().filter(Workflow::has_actions) {
        let yaml = file.yaml();
        assert_eq!(yaml["permissions"], serde_json::json!({ "contents": "read" }), "{}", file.name);
        assert!(yaml["concurrency"]["group"].is_string(), "{}", file.name);
        assert!(!file.text.contains("pull_request_target"));
        for (name, job) in yaml["jobs"].as_object().unwrap() {
            assert!(job["timeout-minutes"].is_u64(), "{}: {name}", file.name);
            for (what, right) in job["permissions"].as_object().into_iter().flatten() {
                assert!(
                    right == "read" || WRITABLE.contains(&what.as_str()),
                    "{}: {name}: {what}",
                    file.name
                );
            }
            assert!(!job["env"].to_string().contains("secrets."), "{}: {name}", file.name);
        }
        assert!(!yaml["env"].to_string().contains("secrets."), "{}", file.name);
        let applies = file.text.contains("infra apply");
        assert_eq!(
            yaml["concurrency"]["cancel-in-progress"] == true,
            file.name.contains("review"),
            "{applies}"
        );
    }
}

#[test]
fn checkouts_keep_no_token_and_have_the_history_that_changed_needs() {
    for file in all().into_iter().filter(Workflow::has_actions) {
        for step in file.steps() {
            if step["uses"].as_str().is_some_and(|uses| uses.starts_with("actions/checkout@")) {
                assert_eq!(step["with"]["persist-credentials"], false, "{}", file.name);
                let depth = step["with"]["fetch-depth"].as_u64().unwrap();
                assert!(depth == 0 || depth == 2, "{}: {depth}", file.name);
            }
        }
    }
}

#[test]
fn no_expression_stands_in_a_script_and_every_script_is_shell() {
    for file in all() {
        let scripts = file.scripts();
        assert!(!scripts.is_empty(), "{}", file.name);
        for script in scripts {
            assert!(!script.contains("${{"), "{}: {script}", file.name);
            let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
            std::io::Write::write_all(&mut bash.stdin.take().unwrap(), script.as_bytes()).unwrap();
            assert!(bash.wait().unwrap().success(), "{}: {script}", file.name);
        }
    }
}

#[test]
fn a_gitlab_apply_waits_for_its_turn_and_forks_are_not_trusted() {
    let file = all().into_iter().find(|file| file.name == ".gitlab-ci.yml").unwrap();
    let yaml = file.yaml();

    assert_eq!(yaml["variables"]["GIT_DEPTH"], "0");
    assert_eq!(yaml["infra:apply"]["resource_group"], "infra");
    assert_eq!(yaml["infra:apply"]["interruptible"], false);
    let rules = yaml[".infra:review"]["rules"].as_array().unwrap();
    let trusted: Vec<&Value> = rules.iter().filter(|rule| rule["variables"]["INFRA_TRUST"] == ".").collect();
    assert_eq!(trusted.len(), 1);
    assert!(trusted[0]["if"].as_str().unwrap().contains("SOURCE_PROJECT_ID == $CI_PROJECT_ID"));
}

/// Returns the workflows of every forge, of a project that has all that they can hold.
fn all() -> Vec<Workflow> {
    let write = |(forge, _): (&str, _)| {
        let project = project();
        project.run(&format!("ci init {forge}")).succeeds();
        written(project.root())
    };
    FORGES.into_iter().flat_map(write).collect()
}

fn walkdir(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect()
}
