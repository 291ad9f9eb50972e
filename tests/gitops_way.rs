//! The whole way with the real tofu, by the steps of GitHub's workflows: branch, review, merge, apply, drift.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

#[path = "ci_init/artifacts.rs"]
mod artifacts;
#[path = "support/forge.rs"]
mod forge;
#[path = "ci_init/packages.rs"]
mod packages;
#[path = "ci_init/runner.rs"]
mod runner;
#[path = "ci_init/workflow.rs"]
mod workflow;

use std::path::{Path, PathBuf};
use std::process::Command;

use artifacts::Artifacts;
use forge::{FakeForge, Kind};
use packages::Packages;
use runner::{Ended, Runner};
use support::Project;
use workflow::{Workflow, written};

const OWN_PULL_REQUEST: &str = "(github.event_name == 'merge_group' || github.event.pull_request.head.repo.full_name == \
                                github.repository) && '.' || ''";

fn stack(input: &str) -> String {
    format!(
        "terraform {{\n  backend \"http\" {{}}\n}}\n\nresource \"terraform_data\" \"it\" {{\n  input = \"{input}\"\n}}\n"
    )
}

/// A repository on a forge, and a person's clone of it.
struct Lab {
    lab: Project,
    bare: PathBuf,
    key: String,
    clones: std::cell::Cell<usize>,
}

impl Lab {
    fn new() -> Self {
        Self::on("github")
    }

    fn on(forge: &str) -> Self {
        let lab = Project::new();
        let above = lab.root().parent().unwrap().to_owned();
        let bare = above.join("bare.git");
        let keygen = lab.run("secrets keygen --output ../bundle.key").succeeds();
        let said = keygen.stdout + &keygen.stderr;
        let recipient =
            said.split_whitespace().map(|word| word.trim_matches('`')).find(|word| word.starts_with("age1"));
        let store = above.join("states");
        let lab = lab
            .config(&format!(
                "name: lab\nstate:\n  store: {}\nbundle:\n  recipients: [{}]\n",
                store.display(),
                recipient.expect("a public half")
            ))
            .file(".gitignore", ".infra/\n.terraform/\n")
            .stack("01-base/one", &stack("one"))
            .stack("02-apps/two", &stack("two"));
        lab.run(&format!("ci init {forge}")).succeeds();
        lab.git(&["init", "-q", "-b", "main"]);
        lab.run("apply --all --yes").succeeds();
        lab.git(&["add", "."]);
        lab.git(&["commit", "-qm", "lab"]);
        lab.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
        lab.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
        lab.git(&["fetch", "-q", "origin"]);
        let key = std::fs::read_to_string(above.join("bundle.key")).unwrap();
        Self { lab, bare, key, clones: std::cell::Cell::new(0) }
    }

    /// Commits a change on a branch and pushes it; returns its head.
    fn propose(&self, branch: &str, path: &str, text: &str) -> String {
        self.lab.git(&["checkout", "-q", "-B", branch, "origin/main"]);
        self.lab.write(path, text);
        self.lab.git(&["add", "."]);
        self.lab.git(&["commit", "-qm", branch]);
        self.lab.git(&["push", "-q", "-f", "origin", branch]);
        let head = self.commit("HEAD");
        // The forge makes the merge commit that a pull request's run checks out.
        self.lab.git(&["checkout", "-q", "--detach", "origin/main"]);
        self.lab.git(&["merge", "-q", "--no-ff", "--no-edit", &head]);
        self.lab.git(&["push", "-q", "-f", "origin", "HEAD:refs/pull/7/merge"]);
        head
    }

    /// Merges as the forge does, all commits as one; returns what was on main before, and what is now.
    fn squash(&self, branch: &str) -> (String, String) {
        let before = self.commit("origin/main");
        self.lab.git(&["checkout", "-q", "-B", "main", "origin/main"]);
        self.lab.git(&["merge", "-q", "--squash", branch]);
        self.lab.git(&["commit", "-qm", "merged"]);
        self.lab.git(&["push", "-q", "origin", "main"]);
        self.lab.git(&["fetch", "-q", "origin"]);
        (before, self.commit("HEAD"))
    }

    fn commit(&self, name: &str) -> String {
        self.lab.git(&["rev-parse", name]).trim().to_owned()
    }

    /// Returns a fresh checkout, as deep as a workflow says.
    fn checkout(&self, reference: &str, depth: u32) -> PathBuf {
        self.clones.set(self.clones.get() + 1);
        let folder = self.bare.parent().unwrap().join(format!("job-{}/checkout", self.clones.get()));
        std::fs::create_dir_all(&folder).unwrap();
        let git = |args: &[&str]| {
            let done = Command::new("git").args(args).current_dir(&folder).output().unwrap();
            assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        };
        let url = format!("file://{}", self.bare.display());
        git(&["init", "-q"]);
        git(&["remote", "add", "origin", &url]);
        let depth = if depth == 0 { Vec::new() } else { vec![format!("--depth={depth}")] };
        let depth = depth.iter().map(String::as_str);
        let all = if depth.len() == 0 { vec!["+refs/heads/*:refs/remotes/origin/*"] } else { Vec::new() };
        let what = format!("+{reference}:refs/remotes/pull/checkout");
        git(&["fetch", "-q"]
            .into_iter()
            .chain(depth)
            .chain(["origin", &what])
            .chain(all)
            .collect::<Vec<_>>());
        git(&["checkout", "-q", "--detach", "refs/remotes/pull/checkout"]);
        folder
    }

    fn workflow(&self, name: &str) -> Workflow {
        written(self.lab.root()).into_iter().find(|file| file.name == name).expect("a workflow")
    }

    /// Returns a runner with what every job has.
    fn runner(&self, artifacts: &str) -> Runner {
        let above = self.bare.parent().unwrap();
        let programs = above.join("programs");
        std::fs::create_dir_all(&programs).unwrap();
        let link = programs.join("infra");
        if !link.exists() {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_infra"), &link).unwrap();
        }
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        Runner::new(above.join(artifacts))
            .env("PATH", path)
            .env("XDG_STATE_HOME", above.join("runner-state").display().to_string())
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_REPOSITORY", "dana/lab")
            .value("github.event.merge_group.base_sha", "")
            .value("secrets.SOPS_AGE_KEY", "")
            .value(OWN_PULL_REQUEST, ".")
    }

    /// Runs the review of a pull request, every job of it, and returns what the jobs said.
    fn review(&self, artifacts: &str, forge: &FakeForge, head: &str) -> (Vec<String>, Ended) {
        let workflow = self.workflow("infra-review.yaml");
        let event = self.bare.with_file_name("event.json");
        let told = serde_json::json!({"number": 7, "pull_request": {"number": 7, "head": {"sha": head}}});
        std::fs::write(&event, told.to_string()).unwrap();
        forge.head_is(head);
        let runner = self
            .runner(artifacts)
            .env("GITHUB_EVENT_NAME", "pull_request")
            .env("GITHUB_EVENT_PATH", event.display().to_string())
            .env("GITHUB_REF", "refs/pull/7/merge")
            .env("GITHUB_BASE_REF", "main")
            .env("GITHUB_API_URL", forge.root())
            .value("github.token", forge::TOKEN)
            .value("hashFiles('lint.sarif') != ''", "true");
        let merge = |depth| self.checkout("refs/pull/7/merge", depth);
        let changed = runner.run(&workflow, "changed", &merge(0)).succeeds();
        let found = changed.outputs["stacks"].clone();
        runner.run(&workflow, "check", &merge(0)).succeeds();
        let stacks: Vec<String> = serde_json::from_str(&found).expect("a matrix");
        for (index, stacks) in stacks.iter().enumerate() {
            let job =
                runner.clone().value("matrix.stacks", stacks).value("strategy.job-index", index.to_string());
            job.run(&workflow, "plan", &merge(2)).succeeds();
        }
        let runner = runner
            .value("needs.changed.outputs.stacks != '[]'", if found == "[]" { "false" } else { "true" });
        let comment = runner.run(&workflow, "comment", &merge(2));
        (stacks, comment)
    }

    /// Runs the workflow of a merge.
    fn merge(&self, artifacts: &str, server: &Artifacts, (before, after): (&str, &str)) -> Ended {
        let runner = self
            .runner(artifacts)
            .env("GITHUB_SHA", after)
            .env("GITHUB_API_URL", server.root())
            .value("github.token", artifacts::TOKEN)
            .value("github.event.before", before)
            .value("secrets.SOPS_AGE_KEY", &self.key);
        runner.run(&self.workflow("infra-apply.yaml"), "apply", &self.checkout("refs/heads/main", 0))
    }
}

#[test]
fn a_reviewed_change_is_applied_exactly_and_an_unreviewed_one_never() {
    let lab = Lab::new();
    let (forge, server) = (FakeForge::start(Kind::Github, "dana/lab"), Artifacts::start());

    // Reviewed: only the stack that is touched is planned, and the plan stands in one comment.
    let head = lab.propose("more", "infrastructure/02-apps/two/main.tf", &stack("more"));
    let (stacks, comment) = lab.review("first", &forge, &head);
    comment.succeeds();
    assert_eq!(stacks, ["02-apps/two"]);
    let comments = forge.comments();
    assert_eq!(comments.len(), 1);
    assert!(comments[0].text.contains("02-apps/two"), "{}", comments[0].text);
    assert!(
        Command::new("grep")
            .args(["-rq", "terraform_data"])
            .arg(first_bundle(&lab, "first"))
            .status()
            .unwrap()
            .code()
            == Some(1)
    );

    // A later push that touches no stack renews what the comment says.
    let quiet = lab.propose("quiet", "README.md", "# a lab\n");
    let (stacks, comment) = lab.review("quiet", &forge, &quiet);
    comment.succeeds();
    assert!(stacks.is_empty());
    let comments = forge.comments();
    assert!(comments.len() == 1 && !comments[0].text.contains("02-apps/two"), "{}", comments[0].text);

    // Merged: exactly that is applied, once.
    let (before, after) = lab.squash("more");
    server.merged(&after, &head);
    server.succeeded("pull_request", &head, &lab.bare.with_file_name("first"));
    lab.merge("none", &server, (&before, &after)).succeeds();
    assert_eq!(server.faults(), Vec::<String>::new());
    lab.lab.run("plan --all --detailed-exitcode").succeeds();

    // A push that nobody reviewed changes nothing; one that touches no stack is no error.
    lab.lab.git(&["checkout", "-q", "-B", "direct", "origin/main"]);
    lab.lab.write("README.md", "# lab\n");
    lab.lab.git(&["add", "."]);
    lab.lab.git(&["commit", "-qm", "words"]);
    lab.lab.git(&["push", "-q", "origin", "HEAD:main"]);
    lab.lab.git(&["fetch", "-q", "origin"]);
    let words = lab.commit("HEAD");
    let ended = lab.merge("none", &server, (&after, &words)).succeeds();
    assert!(ended.log.contains("no stack is affected"), "{}", ended.log);
    lab.lab.write("infrastructure/01-base/one/main.tf", &stack("sneaked"));
    lab.lab.git(&["commit", "-qam", "sneaked"]);
    lab.lab.git(&["push", "-q", "origin", "HEAD:main"]);
    lab.lab.git(&["fetch", "-q", "origin"]);
    let ended = lab.merge("none", &server, (&words, &lab.commit("HEAD")));
    assert!(!ended.succeeded && ended.log.contains("no reviewed plan"), "{}", ended.log);
    lab.lab.run("plan 01-base/one --detailed-exitcode").exits(2);

    // At night the merge that was never applied is named.
    let drift = lab
        .runner("none")
        .env("GITHUB_API_URL", forge.root())
        .value("github.token", forge::TOKEN)
        .run(&lab.workflow("infra-drift.yaml"), "drift", &lab.checkout("refs/heads/main", 2))
        .succeeds();
    assert!(forge.issues().is_empty() && drift.log.contains("01-base/one"), "{}", drift.log);
}

#[test]
fn on_forgejo_bundles_and_reports_wait_as_packages_and_the_merge_applies_them() {
    let lab = Lab::on("forgejo");
    let packages = Packages::start("authorization: token tok-packages");
    let head = lab.propose("more", "infrastructure/02-apps/two/main.tf", &stack("more"));
    let review = lab.workflow("infra-review.yaml");
    let event = lab.bare.with_file_name("event.json");
    let told = serde_json::json!({"number": 7, "pull_request": {"number": 7, "head": {"sha": head}}});
    std::fs::write(&event, told.to_string()).unwrap();
    let runner = lab
        .runner("none")
        .env("FORGEJO_ACTIONS", "true")
        .env("GITHUB_EVENT_PATH", event.display().to_string())
        .env("GITHUB_BASE_REF", "main")
        .env("GITHUB_SERVER_URL", packages.root())
        .env("GITHUB_API_URL", format!("{}/api/v1", packages.root()))
        .value("github.event.pull_request.head.sha", &head)
        .value("github.event.pull_request.head.repo.full_name == github.repository && '.' || ''", ".")
        .value("secrets.INFRA_PACKAGES_TOKEN", "tok-packages")
        .value("github.token", "tok-packages");
    let checkout = || lab.checkout("refs/heads/more", 0);

    let changed = runner.run(&review, "changed", &checkout()).succeeds();
    let stacks: Vec<String> = serde_json::from_str(&changed.outputs["stacks"]).unwrap();
    assert_eq!(stacks, ["02-apps/two"]);
    runner.clone().value("matrix.stacks", &stacks[0]).run(&review, "plan", &checkout()).succeeds();
    let below = format!("/api/packages/dana/generic/infra-lab/{head}/");
    let names = packages.names_below(&below);
    assert_eq!(names.len(), 2, "{names:?}");
    let files: Vec<_> = names.iter().map(|name| serde_json::json!({"name": name})).collect();
    let listing = format!("/api/v1/packages/dana/generic/infra-lab/{head}/files");
    packages.keep(&listing, serde_json::to_vec(&files).unwrap());

    let comments = "/api/v1/repos/dana/lab/issues/7/comments";
    packages.keep(comments, "[]");
    let step = runner.clone().value("needs.changed.outputs.stacks", &changed.outputs["stacks"]);
    step.run(&review, "comment", &checkout()).succeeds();
    assert!(packages.posted(comments).contains("02-apps/two"));

    let (before, after) = lab.squash("more");
    let pull = format!("/api/v1/repos/dana/lab/commits/{after}/pull");
    packages.keep(&pull, serde_json::json!({"number": 7, "head": {"sha": head}}).to_string());
    let apply = runner
        .env("GITHUB_SHA", &after)
        .value("github.event.before", &before)
        .value("secrets.SOPS_AGE_KEY", &lab.key);
    apply.run(&lab.workflow("infra-apply.yaml"), "apply", &lab.checkout("refs/heads/main", 0)).succeeds();
    lab.lab.run("plan --all --detailed-exitcode").succeeds();
}

#[test]
fn on_gitlab_the_merge_applies_the_bundle_of_the_merge_requests_pipeline() {
    let lab = Lab::on("gitlab");
    let api = Packages::start("private-token: tok-gitlab");
    let head = lab.propose("more", "infrastructure/02-apps/two/main.tf", &stack("more"));
    let yaml = lab.workflow(".gitlab-ci.yml").yaml();
    let env = |folder: &Path, extra: &[(&str, &str)]| {
        let mut runner = lab.runner("none").env("CI_PROJECT_ID", "5").env("GITLAB_TOKEN", "tok-gitlab");
        runner.env.retain(|name, _| !name.starts_with("GITHUB_"));
        runner = runner.env("CI_API_V4_URL", format!("{}/api/v4", api.root())).env("INFRA_TRUST", ".");
        for (name, value) in extra {
            runner = runner.env(name, *value);
        }
        (runner, folder.to_owned())
    };
    let run = |job: &str, (runner, folder): (Runner, PathBuf)| {
        let mut lines = Vec::new();
        let base = yaml[job]["extends"].as_str().map(|name| &yaml[name]["before_script"]);
        for script in base.into_iter().chain([&yaml[job]["before_script"], &yaml[job]["script"]]) {
            lines.extend(
                script.as_array().into_iter().flatten().map(|line| line.as_str().unwrap().to_owned()),
            );
        }
        runner.script(&lines.join("\n"), &folder)
    };

    let review = lab.checkout("refs/heads/more", 0);
    run("infra:plan", env(&review, &[("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")])).succeeds();
    let bundle = std::fs::read(review.join("infra.bundle")).unwrap();
    let (before, after) = lab.squash("more");
    let project = "/api/v4/projects/5";
    let json = |value: serde_json::Value| value.to_string().into_bytes();
    api.keep(
        &format!("{project}/repository/commits/{after}/merge_requests"),
        json(serde_json::json!([{"iid": 7, "state": "merged", "sha": head}])),
    );
    api.keep(
        &format!("{project}/merge_requests/7/pipelines"),
        json(serde_json::json!([{"id": 90, "status": "success"}, {"id": 91, "status": "failed"}])),
    );
    api.keep(
        &format!("{project}/pipelines/90/jobs"),
        json(serde_json::json!([{"id": 900, "name": "infra:plan", "status": "success"}])),
    );
    api.keep(&format!("{project}/jobs/900/artifacts/infra.bundle"), bundle);

    let merged = lab.checkout("refs/heads/main", 0);
    let told = [
        ("CI_COMMIT_SHA", after.as_str()),
        ("CI_COMMIT_BEFORE_SHA", before.as_str()),
        ("SOPS_AGE_KEY", lab.key.as_str()),
    ];
    run("infra:apply", env(&merged, &told)).succeeds();

    lab.lab.run("plan --all --detailed-exitcode").succeeds();
}

fn first_bundle(lab: &Lab, artifacts: &str) -> PathBuf {
    let folder: &Path = &lab.bare.with_file_name(artifacts);
    folder.join("infra-0/infra.bundle")
}

#[test]
fn a_plan_that_has_expired_is_an_error_and_no_reason_to_plan_anew() {
    let lab = Lab::new();
    let server = Artifacts::start();
    let head = lab.propose("more", "infrastructure/02-apps/two/main.tf", &stack("more"));
    let (before, after) = lab.squash("more");
    std::fs::create_dir_all(lab.bare.with_file_name("old/infra-0")).unwrap();
    server.merged(&after, &head);
    server.succeeded("pull_request", &head, &lab.bare.with_file_name("old"));
    server.expire();

    let ended = lab.merge("none", &server, (&before, &after));

    assert!(!ended.succeeded && ended.log.contains("has expired"), "{}", ended.log);
    lab.lab.run("plan two --detailed-exitcode").exits(2);
}
