//! What is left of a run for people and machines: drift, tests, the history, summaries, exit codes.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use std::os::unix::fs::PermissionsExt;

use support::{Finished, Project, SIMPLE, tofu};

/// Nothing built into tofu changes by itself, so a script stands before the real one: after a
/// refresh-only plan of a stack with a file `drifted` it adds the message that tofu would write.
fn drifting() -> Project {
    let project = Project::new().stack("a/x", SIMPLE).stack("a/y", SIMPLE);
    let script = format!(
        r#"#!/bin/sh
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
    let path = project.path("bin/tofu");
    project.write("bin/tofu", &script);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    project.config("name: lab\ntofu: { binary: bin/tofu }\n").env("INFRA_TRUST", ".")
}

#[test]
fn drift_is_exit_code_2_and_names_the_stack() {
    let project = drifting();
    project.run("apply --all --yes").succeeds();
    project.run("drift --all").succeeds().stderr_has("no drift");
    project.write("infrastructure/a/y/drifted", "");

    let run = project.run("drift --all --json").exits(2);

    assert_eq!((run.result_of("a/x"), run.result_of("a/y")), ("no_changes".into(), "succeeded".into()));
    assert_eq!(run.json()["command"], "drift");
    run.stderr_has("drifted +0 ~1 -0");
    assert!(!project.has(".infra/plans/a/y.tfplan"), "drift saves no plan");
}

const TESTED: &str = "output \"a\" {\n  value = \"x\"\n}\n";

fn assertion(value: &str) -> String {
    format!(
        "run \"a\" {{\n  assert {{\n    condition     = output.a == \"{value}\"\n    error_message = \"not {value}\"\n  }}\n}}\n"
    )
}

#[test]
fn tests_run_in_every_chosen_stack_and_a_stack_without_any_is_passed_over() {
    let project = Project::new()
        .stack("a/good", TESTED)
        .file("infrastructure/a/good/tests/a.tftest.hcl", &assertion("x"))
        .stack("a/bad", TESTED)
        .file("infrastructure/a/bad/a.tftest.hcl", &assertion("y"))
        .stack("a/none", SIMPLE);

    let run = project.run("test --all --json").exits(1);

    assert_eq!(run.result_of("a/good"), "succeeded");
    assert_eq!(run.result_of("a/none"), "no_changes");
    assert_eq!(run.result_of("a/bad"), "failed");
    run.stderr_has("Test assertion failed").stderr_has("not y");
}

#[test]
fn the_history_lists_runs_and_shows_one() {
    let project = Project::new().stack("a/x", SIMPLE).stack("a/y", "resource \"nonsense\" {}\n");
    project.run("plan x").succeeds();
    project.run("plan --all").exits(1);

    let runs = project.run("runs --json").succeeds().json();
    let first = runs[1]["run_id"].as_str().unwrap();

    assert_eq!((&runs[0]["end"], &runs[1]["end"]), (&"failed (1)".into(), &"ok".into()));
    project.run("runs").succeeds().stdout_has("failed (1)").stdout_has(first);
    project.run("runs show").succeeds().stdout_has("a/y").stdout_has("✗ failed");
    project.run(&format!("runs show {first}")).succeeds().stdout_has("a/x").stdout_lacks("a/y");
    project.run("runs show nonsense").exits(64).stderr_has("no run `nonsense`");
}

#[test]
fn a_run_over_several_stacks_leaves_a_summary_and_a_log_for_each() {
    let project = Project::new().stack("a/x", SIMPLE).stack("a/y", SIMPLE);
    let page = project.path("page.md");

    let mut command = project.command("plan --all");
    command.env("GITHUB_STEP_SUMMARY", &page).env("GITHUB_ACTIONS", "true").env("CI", "true");
    let run = support::Running::start(command, "plan --all").wait().succeeds();

    run.stdout_has("::group::a/x")
        .stdout_has("terraform_data.thing will be created")
        .stdout_has("::endgroup::");
    let run_dir = project.newest_log("a/x").replace("/logs/a/x.log", "");
    let summary = project.read(&format!("{run_dir}/summary.md"));
    assert!(summary.contains("| a/x | ✓ +1 ~0 -0 | 1 | 0 | 0 |"), "{summary}");
    assert_eq!(project.read("page.md"), summary);
    assert!(project.has(&project.newest_log("a/x")) && project.has(&project.newest_log("a/y")));
}

#[test]
fn the_record_of_a_run_is_closed_to_others() {
    let project = Project::new().stack("a/x", SIMPLE);

    project.run("plan x").succeeds();

    let log = project.newest_log("a/x");
    let events = log.replace("/logs/a/x.log", "/events.jsonl");
    for file in [&log, &events] {
        let mode = std::fs::metadata(project.path(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn one_stack_leaves_no_summary_and_no_durations() {
    let project = Project::new().stack("a/x", SIMPLE);

    project.run("plan").succeeds();

    let run_dir = project.newest_log("a/x").replace("/logs/a/x.log", "");
    assert!(!project.has(&format!("{run_dir}/summary.md")) && !project.has(".infra/durations.json"));
}

#[test]
fn the_stream_of_events_tells_every_stack_from_beginning_to_end() {
    let project = Project::new().stack("a/x", SIMPLE).stack("a/y", SIMPLE);

    let run = project.run("plan --all --jsonl").succeeds();

    let events: Vec<serde_json::Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(events[0]["type"], "run_started");
    assert_eq!(events[events.len() - 1]["type"], "run_finished");
    for id in ["a/x", "a/y"] {
        let finished =
            events.iter().filter(|event| event["type"] == "stack_finished" && event["report"]["id"] == id);
        assert_eq!(finished.count(), 1, "{id}");
    }
}

#[test]
fn every_event_has_a_time_and_its_number_in_the_run_and_in_its_stack() {
    let project = Project::new().stack("a/x", SIMPLE).stack("a/y", SIMPLE);

    let run = project.run("plan --all --jsonl").succeeds();

    let log = project.newest_log("a/x").replace("/logs/a/x.log", "/events.jsonl");
    let recorded = std::fs::read_to_string(project.path(&log)).unwrap();
    assert_eq!(recorded, run.stdout);
    let events: Vec<serde_json::Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let times: Vec<&str> = events.iter().map(|event| event["at"].as_str().expect("a time")).collect();
    assert!(times.is_sorted() && times[0].ends_with('Z'), "{times:?}");
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    for id in ["a/x", "a/y"] {
        let own = events.iter().filter(|event| event["stack"] == id || event["report"]["id"] == id);
        let numbers: Vec<u64> = own.filter_map(|event| event["stack_seq"].as_u64()).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "{id}");
        assert!(numbers.len() > 2, "{id}");
    }
}

#[test]
fn plans_are_printed_in_the_order_of_the_stacks() {
    let mut project = Project::new();
    for id in ["a/1", "a/2", "a/3", "a/4"] {
        project = project.stack(id, SIMPLE);
    }

    let run = project.run("plan --all").succeeds();

    let headings: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("a/")).collect();
    assert_eq!(headings, ["a/1  +1 ~0 -0", "a/2  +1 ~0 -0", "a/3  +1 ~0 -0", "a/4  +1 ~0 -0"]);
}

#[test]
fn a_failure_is_marked_in_the_log_of_github() {
    let project = Project::new().stack("a/x", "resource \"nonsense\" {}\n").stack("a/y", SIMPLE);

    let mut command = project.command("validate --all");
    command.env("GITHUB_ACTIONS", "true");
    let run = support::Running::start(command, "validate --all").wait().exits(1);

    run.stderr_has("::error title=a/x::");
}

#[test]
fn stacks_that_use_the_same_outputs_prepare_their_stack_once() {
    let consumer = "variable \"thing\" {\n  type = string\n}\n";
    let mut project = Project::new().stack("01-a/producer", SIMPLE);
    for id in ["02-b/x", "02-b/y", "02-b/z"] {
        project = project.stack(id, consumer);
    }
    let project =
        project.config("name: lab\nstacks:\n  \"02-b/*\":\n    inputs: { thing: \"01-a/producer.thing\" }\n");

    let run = project.run("plan --all --parallelism 4 --json").succeeds();

    assert_eq!(run.result_of("02-b/z"), "deferred");
    let prepared = r#""type":"step_started","stack":"01-a/producer","step":"init""#;
    assert_eq!(project.newest_events().matches(prepared).count(), 1);
}

#[test]
fn each_kind_of_end_has_its_exit_code() {
    let project = Project::new().stack("a/x", SIMPLE).stack("a/y", SIMPLE);

    project.run("plan --all --detailed-exitcode").exits(2);
    project.run("apply --all --yes").exits(0);
    project.run("plan --all --detailed-exitcode").exits(0);
    project.run("plan --all --no-such-flag").exits(64);
    project.run("destroy --all").exits(64);
    project.write("infrastructure/a/x/secrets.tfvars", "password = \"plain\"\n");
    project.run("plan --all").exits(77);
    std::fs::remove_file(project.path("infrastructure/a/x/secrets.tfvars")).expect("a file");
    project.write("infrastructure/a/x/main.tf", "resource {");
    project.run("plan --all").exits(1);
    project.write("infra.yaml", "name: lab\ntofu: { binary: bin/missing }\n");
    project.run("plan --all").exits(69);
    project.write("infra.yaml", "nmae: lab\n");
    project.run("plan --all").exits(65);
}

#[test]
fn what_tofu_writes_is_no_command_of_the_log_of_github() {
    let nasty = "resource \"terraform_data\" \"a\" {\n  input = <<-EOT\n    ::error title=x::boom\n    ::set-output name=a::b\n  EOT\n}\n";
    let project = Project::new().stack("a/x", nasty).stack("a/y", nasty);

    for args in ["plan --all", "plan x", "plan y -v"] {
        let mut command = project.command(args);
        command.env("GITHUB_ACTIONS", "true");
        let run = support::Running::start(command, args).wait().succeeds();

        let is_ours = |line: &str| line.starts_with("::group::") || line == "::endgroup::";
        let commands =
            |text: &str| text.lines().any(|line| line.trim_start().starts_with("::") && !is_ours(line));
        assert!(!commands(&run.stdout) && !commands(&run.stderr), "{run}");
        run.stdout_has("error title=x::boom");
    }
}

#[test]
fn a_count_without_drift_reads_as_a_sentence() {
    let project = drifting();
    project.run("apply --all --yes").succeeds();

    project.run("drift --all").succeeds().stderr_has("2 without drift");
}

#[test]
fn the_plan_of_a_protected_stack_is_printed_once() {
    let project = Project::new()
        .stack("a/kept", SIMPLE)
        .stack("a/free", SIMPLE)
        .config("name: lab\nstacks:\n  \"a/kept\":\n    protect: true\n");
    project.run("apply --all --yes").succeeds();
    project.run("plan --all --destroy").succeeds();

    let run = project.run("destroy --all --yes").exits(1);

    assert_eq!(run.stdout.matches("a/kept  +0 ~0 -1").count(), 1, "{run}");
    assert_eq!(run.stderr.matches("a/kept: takes the plan that was saved").count(), 1, "{run}");
}

#[test]
fn the_next_step_after_a_layer_is_about_that_layer_and_does_what_it_says() {
    let mut project = Project::new().stack("02-platforms/elsewhere", SIMPLE);
    for number in 0..6 {
        project = project.stack(&format!("01-hypervisors/server-{number}"), SIMPLE);
    }

    let run = project.run("plan --layer hypervisors").succeeds();

    let said = "  next: apply exactly this: `infra apply --layer hypervisors --saved`";
    let line = run.stderr.lines().find(|line| line.starts_with("  next: ")).unwrap();
    assert_eq!(line, said);
    let applied = project.run("apply --layer hypervisors --saved --json").succeeds();
    assert_eq!(applied.json()["stacks"].as_array().unwrap().len(), 6);
    applied.stderr_has("next: see what it made: `infra output --layer hypervisors`");
    project.run("output --layer hypervisors").succeeds().stdout_has("01-hypervisors/server-5");
}

#[test]
fn a_saved_plan_is_told_to_be_taken_once_though_it_is_looked_at_again_in_its_turn() {
    let project = Project::new().stack("01-a/x", SIMPLE).stack("02-b/y", SIMPLE);
    project.run("plan --all").succeeds();

    let run = project.run("apply --all --saved").succeeds();

    assert_eq!(run.stderr.matches("02-b/y: takes the plan that was saved").count(), 1, "{run}");
}

#[test]
fn an_apply_that_fails_half_way_counts_what_it_made() {
    let failing = "resource \"terraform_data\" \"bad\" {\n  depends_on = [terraform_data.thing]\n  provisioner \"local-exec\" {\n    command = \"exit 1\"\n  }\n}\n";
    let project = Project::new().stack("01-a/x", &format!("{SIMPLE}{failing}")).stack("01-a/y", SIMPLE);

    let run = project.run("apply --all --yes --json").exits(1);

    let stacks = run.json()["stacks"].clone();
    assert_eq!((&stacks[0]["result"], &stacks[0]["add"]), (&"failed".into(), &1.into()), "{run}");
    run.stderr_has("failed after +1 ~0 -0");
}

/// A stack whose provider cannot be had: nobody listens where it should come from.
fn without_registry(provider: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    p = {{ source = \"localhost:1/acme/{provider}\" }}\n  }}\n}}\n"
    )
}

/// Returns what was told, without times and without how the network words it.
fn told(run: &Finished) -> String {
    let line = |line: &str| match line.split_once(" could not connect to ") {
        Some((words, _)) => format!("{words} …"),
        None => {
            line.split(' ').filter(|word| !is_time(word)).collect::<Vec<_>>().join(" ").trim_end().to_owned()
        }
    };
    run.stderr.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn is_time(word: &str) -> bool {
    word.strip_suffix('s').is_some_and(|seconds| seconds.parse::<f64>().is_ok())
}

#[test]
fn one_cause_that_hits_many_stacks_is_told_once_with_their_names() {
    let stack = |number: usize| without_registry(["even", "odd"][number % 2]);
    let project = (1..=14)
        .fold(Project::new(), |project, number| project.stack(&format!("a/s{number:02}"), &stack(number)));
    let project = project.stack("b/sound", SIMPLE);

    let run = project.run("plan --all --parallelism 1").exits(69);

    let (_, all) = run.stderr.split_once("all of them: `infra ").expect("the way to all names");
    let all = all.split('`').next().unwrap_or_default();
    let id = all.split(' ').nth(2).expect("a run");
    let told = told(&run).replace(&project_name(&project), "lab").replace(&version(&run), "1.x");
    let told = told.replace(id, "RUN");
    project.run(all).succeeds().stdout_has("\"a/s14\"");
    insta::assert_snapshot!(told, @r"
      lab · 15 stacks · 1 at once · tofu 1.x
      · a/s01    initialising
      ✗ a/s01    failed
    error[unavailable]: a/s01: Failed to resolve provider packages
      Could not resolve provider localhost:1/acme/odd: …
    hint: a provider cannot be fetched: check its source and version in `infrastructure/a/s01`, the network, HTTPS_PROXY, or the mirror in the tofu CLI configuration; then `infra init a/s01`
      · a/s02    initialising
      ✗ a/s02    failed like a/s01
      · a/s03    initialising
      ✗ a/s03    failed like a/s01
      · a/s04    initialising
      · b/sound  planning
      ✓ b/sound  +1 ~0 -0

      stack    result     add  change  destroy  time
      b/sound  ✓ changes    1       0        0

      ✗ 14 stacks failed for one reason: Failed to resolve provider packages
          each with its own: localhost:1/acme/even (7), localhost:1/acme/odd (7)
          a/s01, a/s02, a/s03, a/s04, a/s05, a/s06, a/s07, a/s08, a/s09, a/s10, a/s11, a/s12 and 2 more
          all of them: `infra runs show RUN --json`
          the hint above is for each of them

      14 failed · 1 with changes ·

      next: fix what failed, then `infra plan --resume`
    ");
    let events = project.newest_events();
    assert_eq!(events.matches("\"type\":\"stack_finished\"").count(), 15, "each is recorded");
    let report = project.run("plan --all --json").json();
    let errors =
        report["stacks"].as_array().expect("stacks").iter().filter(|stack| stack["error"].is_object());
    assert_eq!(errors.count(), 14, "the report keeps the error of each stack");
}

#[test]
fn modules_that_no_registry_answers_for_are_one_cause_and_told_once() {
    let modules = |count: usize| {
        let module = |at: usize| {
            format!(
                "module \"m{at}\" {{\n  source  = \"127.0.0.1:1/acme/m{at}/null\"\n  version = \"1.0.{at}\"\n}}\n"
            )
        };
        (0..count).map(module).collect::<String>()
    };
    let project = (1..=5)
        .fold(Project::new(), |project, number| project.stack(&format!("a/s{number}"), &modules(number + 1)));

    let run = project.run("validate --all --parallelism 1").exits(69);

    assert_eq!(run.stderr.matches("for module ").count(), 1, "{run}");
    run.stderr_has("at main.tf:1:1, main.tf:5:1\n")
        .stderr_has("a module cannot be fetched")
        .stderr_has("5 stacks failed for one reason: Error accessing remote module registry");
}

fn project_name(project: &Project) -> String {
    project.root().file_name().expect("a name").to_string_lossy().into_owned()
}

fn version(run: &Finished) -> String {
    let (_, rest) = run.stderr.split_once(" · tofu ").expect("a heading");
    rest.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn one_cause_is_told_once_to_who_wants_failures_only_and_to_each_stack_with_v() {
    let project = (1..=6).fold(Project::new(), |project, number| {
        project.stack(&format!("a/s{number}"), &without_registry("x"))
    });

    let quiet = project.run("-q plan --all").exits(69);
    let verbose = project.run("-v validate --all").exits(69);

    assert_eq!(quiet.stderr.matches("error[unavailable]").count(), 1, "{quiet}");
    assert!(quiet.stderr.contains("✗ 6 stacks failed for one reason: "), "{quiet}");
    assert!(quiet.stderr.contains("      a/s1, a/s2, a/s3, a/s4, a/s5, a/s6\n"), "{quiet}");
    assert_eq!(verbose.stderr.matches("error[unavailable]").count(), 6, "{verbose}");
}

#[test]
fn a_state_that_several_stacks_share_is_one_cause() {
    let shared =
        |key: &str| format!("terraform {{\n  backend \"local\" {{\n    path = \"{key}\"\n  }}\n}}\n");
    let project = Project::new().stack("a/x", &shared("/tmp/one")).stack("a/y", &shared("/tmp/one"));

    let run = project.stack("a/z", SIMPLE).run("plan --all").exits(65);

    assert_eq!(run.stderr.matches("error[state-shared]").count(), 1, "{run}");
    run.stderr_has("a/y  failed like a/x").stderr_has("a/z  +1 ~0 -0");
}

#[test]
fn a_bucket_without_credentials_is_refused_with_what_to_set() {
    let bucket = |key: &str| {
        let lines = format!("bucket = \"b\"\n    key = \"{key}\"\n    region = \"eu-central-1\"");
        format!("terraform {{\n  backend \"s3\" {{\n    {lines}\n  }}\n}}\n")
    };
    let project = Project::new().stack("a/s3", &bucket("s3")).stack("a/x", &bucket("x"));
    let project = project.env("AWS_EC2_METADATA_DISABLED", "true").env("AWS_CONFIG_FILE", "/nowhere");
    let project = project.env("AWS_SHARED_CREDENTIALS_FILE", "/nowhere");

    let run = project.run("plan --all --parallelism 1").exits(77);

    assert_eq!(run.stderr.matches("error[refused]").count(), 1, "{run}");
    run.stderr_has(
        "hint: the backend block in `infrastructure/a/s3` found no credentials that hold: set AWS_PROFILE",
    );
    project.run("plan x").exits(77);
}

#[test]
fn the_same_warning_of_many_stacks_is_told_once() {
    let project = (1..=4).fold(Project::new(), |project, number| {
        let values = format!("infrastructure/a/s{number}/terraform.tfvars");
        project.stack(&format!("a/s{number}"), SIMPLE).file(&values, "unknown = 1\n")
    });

    let run = project.run("plan --all --parallelism 1").succeeds();

    let warnings: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(warnings.len(), 2, "{run}");
    assert!(warnings[0].starts_with("warning: a/s1: Value for undeclared variable"), "{run}");
    assert_eq!(warnings[1], "warning: Value for undeclared variable, as in a/s1: a/s2, a/s3, a/s4");
}

#[test]
fn validate_and_test_have_no_columns_of_changes_and_tests_are_counted() {
    let project = Project::new()
        .stack("a/good", TESTED)
        .file("infrastructure/a/good/tests/a.tftest.hcl", &assertion("x"))
        .stack("a/bad", TESTED)
        .file("infrastructure/a/bad/a.tftest.hcl", &assertion("y"))
        .stack("a/none", SIMPLE);

    let (validated, tested) = (project.run("validate --all").succeeds(), project.run("test --all").exits(1));

    let head = |run: &Finished| {
        let line = run.stderr.lines().find(|line| line.starts_with("  stack ")).expect("a table");
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(head(&validated), ["stack", "result", "time"]);
    assert_eq!(head(&tested), ["stack", "result", "passed", "failed", "time"]);
    tested.stderr_has("passed 1 test").stderr_has("failed: 1 of 1 tests");
}

#[test]
fn a_stack_that_is_prepared_outside_of_a_run_is_named() {
    let project = Project::new().stack("a/x", &without_registry("x")).stack("a/y", SIMPLE);

    for command in ["output x", "show x", "state list x"] {
        project.run(command).exits(69).stderr_has("  · a/x  initialising\n").stderr_lacks("…");
    }
}
