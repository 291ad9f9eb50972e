//! `infra drift --issue`: one issue a project, opened, kept up to date, reopened and closed.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

#[path = "support/forge.rs"]
mod forge;

use std::os::unix::fs::PermissionsExt;

use forge::{FakeForge, Fault, Kind, TOKEN};
use serde_json::json;
use support::{Finished, Project, Running, SIMPLE, tofu};

const MARK: &str = "<!-- infra:drift project=\"lab\" -->";

/// Nothing built into tofu changes by itself, so a script stands before the real one: a refresh-only plan of
/// a stack with a file `drifted` has the message that tofu would write, and one with `lost` fails.
fn applied() -> Project {
    let lab = Project::new().stack("a/x", SIMPLE).stack("a/y", SIMPLE).stack("a/z", SIMPLE);
    let script = format!(
        r#"#!/bin/sh
if [ -e lost ]; then
  for arg in "$@"; do [ "$arg" = plan ] && {{ echo "cannot reach the machine" >&2; exit 1; }}; done
fi
"{}" "$@"
code=$?
for arg in "$@"; do
  case "$arg" in
    -refresh-only) refresh=yes ;;
    -json-into=*) into="${{arg#-json-into=}}" ;;
  esac
done
if [ "$refresh" = yes ] && [ -e drifted ]; then
  echo '{{"@level":"info","@message":"drift","type":"resource_drift","change":{{"resource":{{"addr":"terraform_data.thing"}},"action":"update"}}}}' >> "$into"
fi
exit $code
"#,
        tofu().display()
    );
    lab.write("bin/tofu", &script);
    std::fs::set_permissions(lab.path("bin/tofu"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let lab = lab.config("name: lab\ntofu: { binary: bin/tofu }\n").env("INFRA_TRUST", ".");
    lab.run("apply --all --yes").succeeds();
    lab
}

fn drift(lab: &Project, forge: &FakeForge, more: &str) -> Finished {
    let (kind, variable) = match forge.root().rsplit('/').next() {
        Some("v3") => ("github", "GITHUB_TOKEN"),
        Some("v4") => ("gitlab", "GITLAB_TOKEN"),
        _ => ("gitea", "GITEA_TOKEN"),
    };
    let args =
        format!("drift --all --issue --forge {kind} --repo dana/lab --api-url {} {more}", forge.root());
    let mut command = lab.command(&args);
    command.env(variable, TOKEN).env_remove("HTTP_PROXY").env_remove("http_proxy");
    Running::start(command, &args).wait()
}

fn row_of<'a>(body: &'a str, stack: &str) -> &'a str {
    let found = body.lines().find(|line| line.starts_with('|') && line.contains(&format!("`{stack}`")));
    found.unwrap_or_else(|| panic!("no row of {stack}\n{body}"))
}

#[test]
fn an_issue_is_opened_kept_closed_and_reopened() {
    let (lab, forge) = (applied(), FakeForge::start(Kind::Github, "dana/lab"));
    drift(&lab, &forge, "").succeeds().stderr_has("no issue is needed");
    assert!(forge.issues().is_empty());

    lab.write("infrastructure/a/x/drifted", "");
    lab.write("infrastructure/a/y/main.tf", &SIMPLE.replace("\"one\"", "\"two\""));
    let report = drift(&lab, &forge, "--json").exits(2).stderr_has("opened an issue");
    assert_eq!((report.result_of("a/x"), report.result_of("a/y")), ("succeeded".into(), "no_changes".into()));
    let issue = forge.issues()[0].clone();
    assert!(issue.text.starts_with(MARK), "{}", issue.text);
    assert!(
        row_of(&issue.text, "a/x").contains("drifted") && !row_of(&issue.text, "a/x").contains("not applied")
    );
    assert!(
        row_of(&issue.text, "a/y").contains("not applied") && !row_of(&issue.text, "a/y").contains("drifted")
    );
    assert!(!lab.has(".infra/plans/a/y.tfplan"), "a look saves no plan");

    drift(&lab, &forge, "").exits(2).stderr_has("updated the issue");
    std::fs::remove_file(lab.path("infrastructure/a/x/drifted")).unwrap();
    lab.write("infrastructure/a/z/lost", "");
    drift(&lab, &forge, "").exits(1).stderr_has("updated the issue");
    let open = forge.issues()[0].clone();
    assert!(!open.closed && row_of(&open.text, "a/z").contains("not checked"), "{}", open.text);

    std::fs::remove_file(lab.path("infrastructure/a/z/lost")).unwrap();
    drift(&lab, &forge, "").succeeds().stderr_has("closed the issue");
    assert!(forge.issues()[0].closed && forge.comments().len() == 1, "{:?}", forge.comments());
    assert!(forge.comments()[0].text.contains("No drift any more"));
    drift(&lab, &forge, "").succeeds().stderr_has("no issue is needed");

    lab.write("infrastructure/a/x/drifted", "");
    drift(&lab, &forge, "").exits(2).stderr_has("reopened the issue");
    assert_eq!((forge.issues().len(), forge.issues()[0].closed), (1, false));
    assert_eq!(forge.requests("POST").len(), 2, "an issue and a word");
}

#[test]
fn the_closed_issue_is_found_among_a_hundred_and_an_old_one_is_not() {
    for (newer, expected) in [(99, 1), (100, 2)] {
        let (lab, forge) = (applied(), FakeForge::start(Kind::Github, "dana/lab"));
        lab.write("infrastructure/a/x/drifted", "");
        forge.add_issue(&format!("{MARK}\nold"), true, false);
        for number in 0..newer {
            forge.add_issue("talk", true, false);
            // Those count for nothing.
            (number % 2 == 0).then(|| forge.add_issue("a pull request", true, true));
        }
        forge.add_issue(&format!("> {MARK}\nsomebody quotes it"), false, false);

        drift(&lab, &forge, "").exits(2);

        let ours = forge.issues().into_iter().filter(|issue| issue.text.starts_with(MARK) && !issue.closed);
        let marked = forge.issues().into_iter().filter(|issue| issue.text.starts_with(MARK)).count();
        assert_eq!((ours.count(), marked), (1, expected), "{newer}");
    }
}

#[test]
fn gitlab_and_gitea_have_their_own_words_for_it() {
    let lab = applied();
    for kind in [Kind::Gitlab, Kind::Gitea] {
        let forge = FakeForge::start(kind, "dana/lab");
        lab.write("infrastructure/a/x/drifted", "");
        forge.fail(Fault::on("POST", 502).carried_out());
        drift(&lab, &forge, "").exits(2).stderr_has("opened an issue");
        assert_eq!((forge.issues().len(), forge.requests("POST").len()), (1, 1), "{kind:?}");
        std::fs::remove_file(lab.path("infrastructure/a/x/drifted")).unwrap();

        drift(&lab, &forge, "").succeeds().stderr_has("closed the issue");

        assert!(forge.issues()[0].closed && forge.comments().len() == 1, "{kind:?}");
    }
}

#[test]
fn merges_that_were_not_applied_open_no_issue_and_a_dry_run_prints_it() {
    let (lab, forge) = (applied(), FakeForge::start(Kind::Github, "dana/lab"));
    lab.write("infrastructure/a/y/main.tf", &SIMPLE.replace("\"one\"", "\"two\""));

    drift(&lab, &forge, "").succeeds().stderr_has("no issue is needed");
    let dry = lab.run("drift --all --issue --dry-run").succeeds();

    assert!(dry.stdout.starts_with(MARK) && row_of(&dry.stdout, "a/y").contains("not applied"), "{dry}");
    assert!(forge.issues().is_empty());
    lab.run("drift --all --repo dana/lab").exits(64).stderr_has("--issue");
    let refused = lab.run("drift --all --issue --forge github --repo dana/lab").exits(77);
    refused.stderr_has("GITHUB_TOKEN").stderr_lacks("a/x");
}

#[test]
fn no_token_is_told_and_a_refusal_is_no_drift() {
    let (lab, forge) = (applied(), FakeForge::start(Kind::Github, "dana/lab"));
    lab.write("infrastructure/a/x/drifted", "");
    forge.fail(Fault::on("POST", 403).body(json!({"message": "Resource not accessible by integration"})));

    let args = format!("drift --all --issue --forge github --repo dana/lab -vvv --api-url {}", forge.root());
    let mut command = lab.command(&args);
    command.env("GITHUB_TOKEN", TOKEN).env("INFRA_LOG", "trace");
    let run = Running::start(command, &args).wait().exits(77).stderr_has("issues: write");

    assert!(!run.stderr.contains(TOKEN) && !run.stdout.contains(TOKEN));
    assert!(lab.files_containing(TOKEN).is_empty());
}
