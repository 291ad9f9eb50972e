//! One comment on a pull request, however many stacks, jobs and pushes: what it says, and how it gets
//! to each forge.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

#[path = "support/forge.rs"]
mod forge;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use forge::{FakeForge, Fault, Kind, TOKEN};
use serde_json::{Value, json};
use support::{Finished, Project, Running, SIMPLE};

/// A stack with two resources, of which one is replaced when its input changes.
fn stack(input: &str) -> String {
    format!(
        "terraform {{\n  backend \"http\" {{}}\n}}\n\
         resource \"terraform_data\" \"kept\" {{\n  input = \"one\"\n}}\n\
         resource \"terraform_data\" \"thing\" {{\n  triggers_replace = \"{input}\"\n}}\n"
    )
}

/// A project whose newest plan replaces, destroys, creates, changes nothing and fails; made once.
fn planned() -> &'static Project {
    static PLANNED: OnceLock<Project> = OnceLock::new();
    PLANNED.get_or_init(|| {
        let lab = Project::new()
            .stack("01-net/same", SIMPLE)
            .stack("02-apps/replaced", &stack("one"))
            .stack("02-apps/shrunk", &stack("one"));
        lab.run("apply --all --yes").succeeds();
        lab.write("infrastructure/02-apps/replaced/main.tf", &stack("two"));
        lab.write("infrastructure/02-apps/shrunk/main.tf", SIMPLE);
        lab.write("infrastructure/03-new/fresh/main.tf", SIMPLE);
        lab.write(
            "infrastructure/03-new/broken/main.tf",
            "terraform {\n  backend \"http\" {}\n}\nresource \"nonsense\" {}\n",
        );
        lab.run("plan --all").exits(1);
        lab
    })
}

/// Returns the folder of the newest run.
fn newest_run(lab: &Project) -> PathBuf {
    let runs = std::fs::read_dir(lab.path(".infra/runs")).unwrap().flatten();
    runs.map(|entry| entry.path()).max().unwrap()
}

/// A folder outside of any project, as a job has it that only comments.
struct Job {
    dir: tempfile::TempDir,
    env: Vec<(String, String)>,
}

impl Job {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), env: Vec::new() }
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A job on GitHub for pull request 7 of dana/lab.
    fn on_github(forge: &FakeForge) -> Self {
        let job = Self::new();
        let event = json!({"number": 7, "pull_request": {"number": 7, "head": {"sha": "a".repeat(40)}}});
        std::fs::write(job.path("event.json"), event.to_string()).unwrap();
        let event = job.path("event.json").display().to_string();
        job.env("GITHUB_ACTIONS", "true")
            .env("GITHUB_API_URL", &forge.root())
            .env("GITHUB_REPOSITORY", "dana/lab")
            .env("GITHUB_EVENT_PATH", &event)
            .env("GITHUB_TOKEN", TOKEN)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes the folder of a run by hand.
    fn report(&self, name: &str, project: &str, stacks: &Value, texts: &[(&str, &str)]) -> PathBuf {
        let dir = self.path(name);
        std::fs::create_dir_all(&dir).unwrap();
        let report = json!({
            "run_id": "20260314T091500.123-1", "command": "plan", "started": "2026-03-14T09:15:00Z",
            "duration_s": 1.0, "exit_code": 0, "stacks": stacks,
        });
        std::fs::write(dir.join("report.json"), report.to_string()).unwrap();
        let mut events = json!({"type": "run_started", "project": project}).to_string() + "\n";
        for (stack, text) in texts {
            let lines: Vec<&str> = text.lines().collect();
            events += &(json!({"type": "planned", "stack": stack, "text": lines}).to_string() + "\n");
        }
        std::fs::write(dir.join("events.jsonl"), events).unwrap();
        dir
    }

    fn start(&self, args: &[&str]) -> Running {
        let mut command = support::infra();
        for (name, _) in
            std::env::vars().filter(|(name, _)| name.starts_with("CI_") || name.starts_with("GITEA_"))
        {
            command.env_remove(name);
        }
        command.arg("comment").args(args).current_dir(self.dir.path()).envs(self.env.iter().cloned());
        for name in ["HTTP_PROXY", "http_proxy"] {
            if !self.env.iter().any(|(set, _)| set == name) {
                command.env_remove(name);
            }
        }
        command.stdin(std::process::Stdio::null());
        Running::start(command, &args.join(" "))
    }

    fn comment(&self, args: &[&str]) -> Finished {
        self.start(args).wait()
    }

    /// Comments with the plans of the shared project.
    fn comment_planned(&self) -> Finished {
        self.comment(&["--report", &newest_run(planned()).display().to_string()])
    }

    fn dry(&self, report: &Path) -> String {
        self.comment(&["--dry-run", "--report", &report.display().to_string()]).succeeds().stdout
    }
}

/// Makes the report of a stack.
fn told(id: &str, result: &str, counts: [u32; 4], changes: &Value) -> Value {
    let [add, change, destroy, replace] = counts;
    json!({
        "id": id, "result": result, "reason": null, "add": add, "change": change, "destroy": destroy,
        "replace": replace, "import": 0, "changes": changes, "duration_s": 1.0, "error": null,
    })
}

fn lost(addresses: &[String]) -> Value {
    let change = |address: &String| json!({"address": address, "actions": ["delete"], "replace_because": []});
    Value::Array(addresses.iter().map(change).collect())
}

/// Returns the rows of the table.
fn rows(body: &str) -> Vec<&str> {
    body.lines().skip(3).take_while(|line| line.starts_with('|')).collect()
}

fn row_of<'a>(body: &'a str, stack: &str) -> &'a str {
    rows(body)
        .into_iter()
        .find(|row| row.contains(stack))
        .unwrap_or_else(|| panic!("no row of {stack}\n{body}"))
}

/// Returns a body without what stands in fences.
fn outside_of_fences(body: &str) -> String {
    let (mut outside, mut fence) = (String::new(), None);
    for line in body.lines() {
        let ticks = line.chars().take_while(|sign| *sign == '`').count();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            Some(open) if ticks >= open && line.trim_start_matches('`').is_empty() => fence = None,
            Some(_) => {}
            None => outside += &format!("{line}\n"),
        }
    }
    assert!(fence.is_none(), "a fence is open at the end\n{body}");
    outside
}

#[test]
fn a_comment_says_what_the_plans_do_and_what_is_lost_first() {
    let body = Job::new().dry(&newest_run(planned()));

    let lines: Vec<&str> = body.lines().collect();
    assert_eq!(lines[0], "<!-- infra:comment project=\"lab\" -->");
    assert!(lines[1].starts_with("| stack |"), "{body}");
    assert!(
        row_of(&body, "02-apps/replaced").ends_with("| ⚠ `02-apps/replaced` | replaces | 0 | 0 | 0 | 1 |"),
        "{body}"
    );
    assert!(row_of(&body, "02-apps/shrunk").contains("destroys"), "{body}");
    assert!(row_of(&body, "03-new/broken").contains("✗ failed"), "{body}");
    assert_eq!(row_of(&body, "03-new/fresh"), "| `03-new/fresh` | creates | 1 | 0 | 0 | 0 |");
    assert_eq!(body.matches('⚠').count(), 2, "{body}");
    assert!(body.contains("No changes in `01-net/same`"), "{body}");
    assert!(!rows(&body).iter().any(|row| row.contains("01-net/same")), "{body}");
    let fold = body.find("<details").unwrap();
    for address in ["-/+ terraform_data.thing", "- terraform_data.kept"] {
        assert!(body.find(address).unwrap() < fold, "{address} is below the fold\n{body}");
    }
    assert!(body.contains("nonsense") && body.contains("terraform_data.thing will be created"), "{body}");
    assert!(
        !["cut", "truncated", "omitted", "full plan"]
            .iter()
            .any(|word| outside_of_fences(&body).contains(word)),
        "{body}"
    );
}

#[test]
fn a_comment_on_github_is_made_once_and_then_changed() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    let job = Job::on_github(&forge);
    (0..250).for_each(|_| _ = forge.add_comment(7, "talk", false));

    job.comment_planned().succeeds().stderr_has("made a comment");
    let reply = forge.add_comment(7, &format!("> {}\n\nwhat is that?", forge.comments()[250].text), false);
    job.comment_planned().succeeds().stderr_has("updated the comment");

    let comments = forge.comments();
    assert_eq!((comments.len(), forge.requests("POST").len(), forge.requests("PATCH").len()), (252, 1, 1));
    assert!(comments[250].text.starts_with("<!-- infra:comment project=\"lab\" -->\n| stack |"));
    assert!(comments.iter().find(|comment| comment.id == reply).unwrap().text.starts_with("> <!--"));
    assert!(forge.requests("DELETE").is_empty());
    let agents = forge.requests("").into_iter().map(|request| request.headers["user-agent"].clone());
    assert!(agents.into_iter().all(|agent| agent.starts_with("infra/")));
}

#[test]
fn what_is_posted_is_what_a_dry_run_prints() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    let job = Job::on_github(&forge);

    job.comment_planned().succeeds();
    let dry = job.dry(&newest_run(planned()));

    assert_eq!(forge.comments()[0].text, dry);
}

#[test]
fn gitlab_finds_its_note_on_a_later_page_of_a_project_in_a_subgroup() {
    let forge = FakeForge::start(Kind::Gitlab, "group/sub/lab");
    (0..120).for_each(|_| _ = forge.add_comment(9, "talk", false));
    let job = Job::new()
        .env("GITLAB_CI", "true")
        .env("CI_API_V4_URL", &forge.root())
        .env("CI_PROJECT_ID", "1")
        .env("CI_MERGE_REQUEST_PROJECT_ID", "group/sub/lab")
        .env("CI_MERGE_REQUEST_IID", "9")
        .env("GITLAB_TOKEN", TOKEN);

    job.comment_planned().succeeds();
    job.comment_planned().succeeds().stderr_has("updated");

    assert_eq!((forge.comments().len(), forge.requests("PUT").len()), (121, 1));
}

#[test]
fn gitea_lists_everything_at_once_and_forgejo_is_the_same() {
    for variable in ["GITEA_ACTIONS", "FORGEJO_ACTIONS"] {
        let forge = FakeForge::start(Kind::Gitea, "dana/lab");
        (0..120).for_each(|_| _ = forge.add_comment(7, "talk", false));
        let job = Job::on_github(&forge).env(variable, "true");

        job.comment_planned().succeeds();
        job.comment_planned().succeeds().stderr_has("updated");

        assert_eq!((forge.comments().len(), forge.requests("PATCH").len()), (121, 1), "{variable}");
    }
}

#[test]
fn flags_are_enough_and_win_over_the_surroundings() {
    let forge = FakeForge::start(Kind::Gitea, "dana/lab");
    let report = newest_run(planned()).display().to_string();
    let root = format!("{}/", forge.root());
    let args =
        ["--forge", "gitea", "--repo", "dana/lab", "--pr", "3", "--api-url", &root, "--report", &report];

    Job::new().env("GITEA_TOKEN", TOKEN).comment(&args).succeeds();
    Job::new()
        .env("GITEA_TOKEN", TOKEN)
        .env("GITLAB_CI", "true")
        .env("CI_PROJECT_ID", "1")
        .comment(&args)
        .succeeds();
    let missing = Job::new().env("GITHUB_TOKEN", TOKEN).comment(&args).exits(77);

    assert_eq!((forge.comments().len(), forge.comments()[0].below), (1, 3));
    missing.stderr_has("GITEA_TOKEN");
}

#[test]
fn woodpecker_names_forge_repository_and_number() {
    let forge = FakeForge::start(Kind::Gitea, "dana/lab");
    let job = Job::new()
        .env("CI", "woodpecker")
        .env("CI_FORGE_TYPE", "forgejo")
        .env("CI_FORGE_URL", &format!("{}/git", forge.address()))
        .env("CI_REPO", "dana/lab")
        .env("CI_COMMIT_PULL_REQUEST", "5")
        .env("GITEA_TOKEN", TOKEN);

    job.comment_planned().succeeds();

    assert_eq!(forge.comments()[0].below, 5);
}

#[test]
fn two_projects_of_one_repository_keep_a_comment_each() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    let job = Job::on_github(&forge);
    for project in ["lab", "lab-two", "lab --> <b>"] {
        let report = job.report(project, project, &json!([told("a", "no_changes", [0; 4], &json!([]))]), &[]);
        for _ in 0..2 {
            job.comment(&["--report", &report.display().to_string()]).succeeds();
        }
    }

    assert_eq!((forge.comments().len(), forge.requests("PATCH").len()), (3, 3));
}

#[test]
fn a_comment_of_somebody_else_with_the_mark_is_left_alone() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    let job = Job::on_github(&forge);
    let theirs = "<!-- infra:comment project=\"lab\" -->\nno changes, believe me";
    forge.add_comment(7, theirs, false);

    job.comment_planned().succeeds();
    job.comment_planned().succeeds().stderr_has("updated");

    let comments = forge.comments();
    assert_eq!((comments.len(), comments[0].text.as_str()), (2, theirs));
}

#[test]
fn a_comment_that_vanishes_before_its_update_is_made_anew() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    let job = Job::on_github(&forge);
    job.comment_planned().succeeds();
    forge.fail(Fault::on("PATCH", 404));
    let gone = forge.comments()[0].id;
    let running = job.start(&["--report", &newest_run(planned()).display().to_string()]);
    support::run::wait_until("the update was tried", || !forge.requests("PATCH").is_empty());
    forge.remove_comment(gone);

    running.wait().succeeds().stderr_has("made a comment");

    assert_eq!(forge.comments().len(), 1);
}

#[test]
fn a_comment_whose_answer_was_lost_is_looked_for_before_it_is_sent_again() {
    for (stored, expected) in [(true, 1), (false, 2)] {
        let forge = FakeForge::start(Kind::Github, "dana/lab");
        let fault = Fault::on("POST", 502);
        forge.fail(if stored { fault.carried_out() } else { fault });

        Job::on_github(&forge).comment_planned().succeeds();

        assert_eq!((forge.comments().len(), forge.requests("POST").len()), (1, expected), "stored: {stored}");
    }
}

#[test]
fn trouble_on_other_requests_is_tried_again() {
    let forge = FakeForge::start(Kind::Gitea, "dana/lab");
    let job = Job::on_github(&forge).env("GITEA_ACTIONS", "true");
    job.comment_planned().succeeds();
    forge.fail(Fault::on("GET", 503)).fail(Fault::on("PATCH", 500)).fail(Fault::on("PATCH", 504));

    job.comment_planned().succeeds();

    assert_eq!((forge.comments().len(), forge.requests("PATCH").len()), (1, 3));
}

#[test]
fn a_limit_is_waited_for_and_one_that_takes_too_long_is_refused_at_once() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    let now = jiff::Timestamp::now().as_second();
    let limited = json!({"message": "You have exceeded a secondary rate limit."});
    forge.fail(Fault::on("GET", 403).header("retry-after", "1").body(limited.clone())).fail(
        Fault::on("POST", 429)
            .header("x-ratelimit-remaining", "0")
            .header("x-ratelimit-reset", now.to_string())
            .body(limited),
    );
    let job = Job::on_github(&forge);

    job.comment_planned().succeeds();
    let begun = std::time::Instant::now();
    let later = (now + 1800).to_string();
    forge.fail(
        Fault::on("PATCH", 403).header("x-ratelimit-remaining", "0").header("x-ratelimit-reset", later),
    );
    let refused = job.comment_planned().exits(69);

    assert!(begun.elapsed().as_secs() < 20);
    refused.stderr_has("limits the rate").stderr_has("try again in");
    assert_eq!(forge.comments().len(), 1);
}

#[test]
fn a_token_that_may_not_comment_is_told_with_the_ways_out_and_asked_once() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    let no = Fault::on("POST", 403).body(json!({"message": "Resource not accessible by integration"}));
    forge.fail(no);
    let job = Job::on_github(&forge);
    let page = job.path("page.md");

    let refused = job.comment_planned().exits(77);

    assert_eq!(forge.requests("POST").len(), 1);
    let refused = refused
        .stderr_has("pull request 7 of `dana/lab`")
        .stderr_has("pull-requests: write")
        .stderr_has("workflow_run");
    let advice = refused.advice("GITHUB_STEP_SUMMARY");
    let line = format!("'{}' {advice}", env!("CARGO_BIN_EXE_infra"));
    let done = std::process::Command::new("sh")
        .args(["-c", &line])
        .current_dir(planned().root())
        .env("GITHUB_STEP_SUMMARY", &page)
        .status();
    assert!(done.unwrap().success());
    assert!(std::fs::read_to_string(page).unwrap().contains("02-apps/replaced"));
}

#[test]
fn refusals_name_their_cause() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    let job = Job::on_github(&forge);
    let cases = [
        (Fault::on("GET", 401).body(json!({"message": "Bad credentials"})), 77, "GITHUB_TOKEN"),
        (Fault::on("GET", 404).body(json!({"message": "Not Found"})), 69, "dana/lab"),
        (
            Fault::on("POST", 403)
                .body(json!({"message": "Unable to create comment because issue is locked."})),
            77,
            "locked",
        ),
        (Fault::on("POST", 422).body(json!({"message": "Validation Failed"})), 1, "does not take the text"),
    ];
    for (fault, code, cause) in cases {
        // The first GET is about the head of the pull request, which nobody needs.
        if fault.method == "GET" {
            forge.fail(Fault::on("GET", 404));
        }
        forge.fail(fault);
        job.comment_planned().exits(code).stderr_has(cause);
    }
    assert!(forge.comments().is_empty());
}

#[test]
fn a_renamed_repository_is_followed_and_another_host_gets_no_token() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    forge.moved_from("dana/old");
    let report = newest_run(planned()).display().to_string();
    let job = Job::on_github(&forge);
    job.comment(&["--repo", "dana/old", "--report", &report]).succeeds();
    assert_eq!(forge.comments().len(), 1);

    let other = FakeForge::start(Kind::Github, "dana/lab");
    for status in [301, 302, 307, 308] {
        let to = format!("{}/repos/dana/lab/issues/7/comments", other.root());
        forge
            .fail(Fault::on("GET", status).header("location", &to))
            .fail(Fault::on("GET", status).header("location", &to));
        let refused = job.comment(&["--report", &report]);
        assert_eq!(refused.code, Some(77), "{refused}");
        refused.stderr_has("another host");
    }
    assert!(!other.requests("GET").is_empty());
    for request in other.requests("") {
        assert!(!request.headers.contains_key("authorization"), "{request:?}");
    }
}

#[test]
fn an_event_without_a_pull_request_is_refused_and_a_number_helps() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    for event in [
        json!({"merge_group": {"head_sha": "b".repeat(40)}}),
        json!({"before": "0".repeat(40), "after": "b".repeat(40)}),
    ] {
        let job = Job::on_github(&forge);
        std::fs::write(job.path("event.json"), event.to_string()).unwrap();

        job.comment_planned().exits(65).stderr_has("--pr").stderr_has("about no pull request");
        assert!(forge.requests("").is_empty());
    }
    let report = newest_run(planned()).display().to_string();
    Job::on_github(&forge).comment(&["--pr", "8", "--report", &report]).succeeds();
    assert_eq!(forge.comments()[0].below, 8);
}

#[test]
fn a_job_token_of_gitlab_alone_is_told_to_be_none() {
    let job = Job::new()
        .env("GITLAB_CI", "true")
        .env("CI_API_V4_URL", "http://127.0.0.1:9/api/v4")
        .env("CI_PROJECT_ID", "1")
        .env("CI_MERGE_REQUEST_IID", "9")
        .env("CI_JOB_TOKEN", TOKEN);

    job.comment_planned().exits(77).stderr_has("GITLAB_TOKEN").stderr_has("CI_JOB_TOKEN").stderr_lacks(TOKEN);
}

#[test]
fn a_proxy_of_the_environment_is_used_in_either_case() {
    let forge = FakeForge::start(Kind::Gitea, "dana/lab");
    let report = newest_run(planned()).display().to_string();
    let args = [
        "--forge",
        "gitea",
        "--repo",
        "dana/lab",
        "--pr",
        "3",
        "--api-url",
        "http://git.invalid/git/api/v1",
        "--report",
        &report,
    ];
    for name in ["HTTP_PROXY", "http_proxy"] {
        Job::new().env("GITEA_TOKEN", TOKEN).env(name, forge.address()).comment(&args);
        let through =
            forge.requests("GET").into_iter().any(|request| request.path.starts_with("http://git.invalid/"));
        assert!(through, "{name}");
    }
    let direct = Job::new()
        .env("GITEA_TOKEN", TOKEN)
        .env("HTTP_PROXY", forge.address())
        .env("no_proxy", "git.invalid");
    let before = forge.requests("").len();
    direct.comment(&args).exits(69).stderr_has("git.invalid");
    assert_eq!(forge.requests("").len(), before);
}

#[test]
fn no_token_is_told_however_much_is_told() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    forge.fail(Fault::on("PATCH", 500)).fail(Fault::on("POST", 502));
    let report = newest_run(planned()).display().to_string();

    let job = Job::on_github(&forge).env("INFRA_LOG", "trace");
    for run in [
        job.comment(&["-vvv", "--report", &report]),
        job.comment(&["-vvv", "--dry-run", "--report", &report]),
    ] {
        assert!(!run.stderr.contains(TOKEN) && !run.stdout.contains(TOKEN), "{run}");
        assert!(run.stderr.len() > 100 || !run.stdout.is_empty());
    }
    assert!(forge.comments().iter().all(|comment| !comment.text.contains(TOKEN)));
    assert!(planned().files_containing(TOKEN).is_empty());
}

#[test]
fn names_and_texts_of_others_mean_nothing() {
    let job = Job::new();
    let evil = [
        "a|b",
        "c`d",
        "</details>",
        "@dana",
        "x\n/close\n| y |",
        "#12",
        "<!-- x -->",
        "\u{202e}rl",
        "``e``",
        "![x](https://evil/p.png)",
    ];
    let changes = lost(&["terraform_data.a[\"```\"]".to_owned(), "x\n/merge".to_owned()]);
    let stacks: Vec<Value> = evil.iter().map(|id| told(id, "succeeded", [1, 0, 2, 0], &changes)).collect();
    let text = "/close\n@dana #12\n````\n</details>\n<script>\n| x |\n~~~\n";
    let texts: Vec<(&str, &str)> = evil.iter().map(|id| (*id, text)).collect();
    let report = job.report("evil", "@lab|</details>", &Value::Array(stacks), &texts);

    let body = job.dry(&report);

    let outside = outside_of_fences(&body);
    assert_eq!(rows(&body).len(), evil.len(), "{body}");
    for row in rows(&body) {
        let bars = row.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 7, "{row}");
    }
    assert!(!outside.lines().any(|line| line.starts_with('/') || line.starts_with("<script")), "{outside}");
    assert_eq!(outside.matches("<details").count(), outside.matches("\n</details>\n").count(), "{outside}");
    assert!(body.contains("`````\n/close"), "{body}");
    let forge = FakeForge::start(Kind::Gitlab, "1");
    let root = forge.root();
    let args = [
        "--forge",
        "gitlab",
        "--repo",
        "1",
        "--pr",
        "3",
        "--api-url",
        &root,
        "--report",
        &report.display().to_string(),
    ];
    Job::new().env("GITLAB_TOKEN", TOKEN).comment(&args).succeeds();
    assert_eq!(forge.comments().len(), 1);
}

#[test]
fn a_comment_that_has_no_room_keeps_what_is_lost_and_says_that_it_is_cut() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    let job = Job::on_github(&forge);
    let id = |number: usize| format!("02-platforms/stack-{number:03}");
    let text =
        format!("{}\n", "  + a line of a plan that is long enough — to fill the room".repeat(2)).repeat(60);
    let stacks: Vec<Value> = (0..60)
        .map(|number| {
            let addresses: Vec<String> =
                (0..6).map(|of| format!("module.m{number}.terraform_data.gone[{of}]")).collect();
            told(&id(number), "succeeded", [0, 0, 6, 0], &lost(&addresses))
        })
        .collect();
    let ids: Vec<String> = (0..60).map(id).collect();
    let texts: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), text.as_str())).collect();
    let report = job.report("big", "lab", &Value::Array(stacks), &texts).display().to_string();
    let out = job.path("whole").display().to_string();

    job.comment(&["--report", &report, "--out-dir", &out]).succeeds().stderr_has("cut");

    let body = &forge.comments()[0].text;
    assert!(body.len() <= 65_536 && body.len() > 50_000, "{}", body.len());
    assert!(body.contains("**This comment is cut**"));
    for number in 0..60 {
        assert!(row_of(body, &id(number)).contains('⚠'));
        for of in 0..6 {
            assert!(body.contains(&format!("module.m{number}.terraform_data.gone[{of}]")));
        }
        let whole =
            std::fs::read_to_string(job.path("whole").join(format!("02-platforms%2Fstack-{number:03}.txt")));
        assert_eq!(whole.unwrap(), text);
    }
    outside_of_fences(body);
}

#[test]
fn one_plan_that_is_too_long_shows_its_beginning() {
    let job = Job::new();
    let text: String =
        (0..4000).map(|number| format!("  + line {number} `````` of a very long plan\n")).collect();
    let stacks = json!([told("a", "succeeded", [1, 0, 0, 0], &json!([]))]);
    let report = job.report("long", "lab", &stacks, &[("a", &text)]);

    let body = job.dry(&report);

    assert!(
        body.len() <= 65_536 && body.contains("line 0 ") && body.contains("**This comment is cut**"),
        "{}",
        body.len()
    );
    outside_of_fences(&body);
}

#[test]
fn fifteen_hundred_stacks_still_fit() {
    let job = Job::new();
    let stacks: Vec<Value> = (0..1500)
        .map(|number| {
            let result = if number < 20 { "succeeded" } else { "no_changes" };
            told(
                &format!("02-platforms/region-{number:04}/k8s"),
                result,
                [u32::from(number < 20), 0, 0, 0],
                &json!([]),
            )
        })
        .collect();
    let report = job.report("many", "lab", &Value::Array(stacks), &[]);

    let body = job.dry(&report);

    assert!(body.len() <= 65_536 && rows(&body).len() == 20, "{}", body.len());
    assert!(body.contains("02-platforms/region-1499/k8s"));
}

#[test]
fn several_reports_are_one_comment_and_the_newer_plan_of_a_stack_counts() {
    let job = Job::new();
    let one = job.report(
        "one",
        "lab",
        &json!([
            told("a", "succeeded", [1, 0, 0, 0], &json!([])),
            told("b", "succeeded", [1, 0, 0, 0], &json!([]))
        ]),
        &[("a", "old plan"), ("b", "plan of b")],
    );
    let two = job.report(
        "two",
        "lab",
        &json!([told("a", "succeeded", [0, 3, 0, 0], &json!([]))]),
        &[("a", "new plan")],
    );
    let text = std::fs::read_to_string(two.join("report.json")).unwrap().replace("09:15:00Z", "10:15:00Z");
    std::fs::write(two.join("report.json"), text).unwrap();
    let (one, two) = (one.display().to_string(), two.display().to_string());

    let body = job.comment(&["--dry-run", "--report", &two, "--report", &one]).succeeds().stdout;

    assert_eq!(rows(&body).len(), 2, "{body}");
    assert!(row_of(&body, "`a`").contains("| 3 |"), "{body}");
    assert!(body.contains("new plan") && body.contains("plan of b") && !body.contains("old plan"), "{body}");
    let other = job.report("other", "home", &json!([]), &[]).display().to_string();
    job.comment(&["--dry-run", "--report", &one, "--report", &other]).exits(65).stderr_has("two projects");
}

#[test]
fn without_a_plan_there_is_nothing_to_say() {
    let lab = Project::new().stack("a/x", SIMPLE);
    lab.run("comment --dry-run").exits(65).stderr_has("no plan").stderr_has("infra plan --all");
    lab.run("validate").succeeds();
    let validated = newest_run(&lab).display().to_string();
    lab.run(&format!("comment --dry-run --report {validated}")).exits(65).stderr_has("infra validate");
    lab.run("comment --dry-run --report .infra/runs").exits(65).stderr_has("--report");
    lab.run("comment --dry-run --report nowhere").exits(65).stderr_has("nowhere");
    lab.run("plan").succeeds();
    let all = lab.run("comment --dry-run").succeeds();
    assert!(row_of(&all.stdout, "a/x").contains("creates"));
}

#[test]
fn nothing_to_plan_renews_the_comment() {
    let lab = Project::new().stack("a/x", SIMPLE);
    lab.run("plan").succeeds();
    lab.run("apply x --yes").succeeds();
    lab.run("plan").succeeds();

    let body = lab.run("comment --dry-run").succeeds().stdout;

    assert!(rows(&body)[0].contains("no changes") && body.contains("`a/x`"), "{body}");
}

#[test]
fn a_plan_of_an_older_commit_and_a_state_that_moved_on_are_marked() {
    let lab =
        Project::new().stack("a/x", SIMPLE).stack("a/y", SIMPLE).file(".gitignore", ".infra\n.terraform\n");
    lab.git(&["init", "-q", "-b", "main"]);
    lab.git(&["add", "."]);
    lab.git(&["commit", "-qm", "one"]);
    let first = lab.git(&["rev-parse", "HEAD"]).trim().to_owned();
    lab.run("plan --all").succeeds();
    let body = lab.run("comment --dry-run").succeeds().stdout;
    assert!(body.contains(&first) && !body.contains("older commit") && !body.contains("moved on"), "{body}");
    let kept = newest_run(&lab).display().to_string();

    lab.run("apply x --yes").succeeds();
    let moved = lab.run(&format!("comment --dry-run --report {kept}")).succeeds().stdout;
    lab.git(&["commit", "-qm", "two", "--allow-empty"]);
    let older = lab.run(&format!("comment --dry-run --report {kept}")).succeeds().stdout;

    assert!(
        row_of(&moved, "a/x").contains("state moved on since") && !row_of(&moved, "a/y").contains("moved"),
        "{moved}"
    );
    assert!(
        older.contains("**Plan of an older commit.**") && row_of(&older, "a/y").contains("older commit"),
        "{older}"
    );
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    let job = Job::on_github(&forge);
    forge.head_is(&first);
    job.comment(&["--report", &kept]).succeeds();
    assert!(!forge.comments()[0].text.contains("older commit"));
    forge.head_is(&"c".repeat(40));
    job.comment(&["--report", &kept]).succeeds();
    assert!(forge.comments()[0].text.contains(&format!("`{}` now", "c".repeat(40))));
}

#[test]
fn the_head_of_the_pull_request_is_named_on_a_merge_ref() {
    let lab = Project::new().stack("a/x", SIMPLE).file(".gitignore", ".infra\n.terraform\n");
    lab.git(&["init", "-q", "-b", "main"]);
    lab.git(&["add", "."]);
    lab.git(&["commit", "-qm", "base"]);
    lab.git(&["checkout", "-q", "-b", "topic"]);
    lab.git(&["commit", "-qm", "head", "--allow-empty"]);
    let head = lab.git(&["rev-parse", "HEAD"]).trim().to_owned();
    lab.git(&["checkout", "-q", "main"]);
    lab.git(&["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
    let merge = lab.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let event = json!({"pull_request": {"number": 7, "head": {"sha": head}}});
    lab.write(".infra-event.json", &event.to_string());
    lab.run("plan").succeeds();

    let mut command = lab.command("comment --dry-run");
    command
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_SHA", &merge)
        .env("GITHUB_EVENT_PATH", lab.path(".infra-event.json"));
    let body = Running::start(command, "comment --dry-run").wait().succeeds().stdout;

    assert!(body.contains(&head) && !body.contains(&merge) && !body.contains("older"), "{body}");
}

#[test]
fn jobs_that_comment_at_once_leave_one_comment_with_the_plans() {
    let forge = FakeForge::start(Kind::Github, "dana/lab");
    let jobs: Vec<Job> = (0..4).map(|_| Job::on_github(&forge)).collect();
    let report = newest_run(planned()).display().to_string();
    let running: Vec<Running> = jobs.iter().map(|job| job.start(&["--report", &report])).collect();
    running.into_iter().for_each(|job| drop(job.wait().succeeds()));

    let plans = forge.comments().into_iter().filter(|comment| comment.text.starts_with("<!-- infra:comment"));
    assert_eq!(plans.count(), 1, "{:#?}", forge.comments());
}

#[test]
fn a_change_of_data_shows_what_it_did_to_the_rendered_files() {
    let template = "terraform {\n  backend \"http\" {}\n}\nresource \"terraform_data\" \"a\" {\n  input = \"#{ size }#\"\n}\n# #{ admin_password }#\n";
    let lab = Project::new()
        .file("templates/config/infrastructure/a/x/main.tf.j2", template)
        .file("cluster.yaml", "size: small\nadmin_password: hunter2-hunter2\n")
        .file(".gitignore", ".infra\n.terraform\n");
    lab.run("configure --no-init").succeeds();
    lab.git(&["init", "-q", "-b", "main"]);
    lab.git(&["add", "."]);
    lab.git(&["commit", "-qm", "base"]);
    lab.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    lab.run("plan").succeeds();
    assert!(!lab.run("comment --dry-run").succeeds().stdout.contains("rendered files"));
    lab.write("cluster.yaml", "size: large\nadmin_password: hunter3-hunter3\n");
    lab.run("configure --no-init").succeeds();
    lab.git(&["commit", "-qam", "large"]);

    lab.run("plan").succeeds();
    let body = lab.run("comment --dry-run").succeeds().stdout;

    assert!(body.contains("rendered files: 1 file"), "{body}");
    assert!(body.contains("-  input = \"small\"\n+  input = \"large\""), "{body}");
    assert!(!body.contains("hunter2") && !body.contains("hunter3"), "{body}");
}
