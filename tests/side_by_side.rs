//! Many stacks at once: what runs together, what waits, what is skipped, tried again, resumed.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use nix::sys::signal::Signal;
use support::run::wait_until;
use support::{Project, SIMPLE};

/// A stack that runs a shell command in the project's root when it is made.
fn doing(command: &str) -> String {
    let command = command.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        r#"
terraform {{
  backend "http" {{}}
}}

resource "terraform_data" "thing" {{
  provisioner "local-exec" {{
    working_dir = "../../.."
    command     = "{command}"
  }}
}}
"#
    )
}

/// A command that ends only once two stacks are in it at the same time.
fn meeting(own: &str, other: &str) -> String {
    doing(&format!("touch {own}; while [ ! -e {other} ]; do sleep 0.05; done"))
}

/// A command that fails if another stack is in it at the same time.
fn alone() -> String {
    doing("mkdir busy && sleep 0.3 && rmdir busy")
}

#[test]
fn stacks_of_one_layer_run_at_the_same_time() {
    let project = Project::new().stack("01-a/x", &meeting("x", "y")).stack("01-a/y", &meeting("y", "x"));

    project.run("apply --all --yes --parallelism 2").succeeds().stderr_has("2 at once");
}

#[test]
fn with_loose_layers_numbers_are_only_labels() {
    let project = Project::new()
        .stack("01-a/x", &meeting("x", "y"))
        .stack("02-b/y", &meeting("y", "x"))
        .config("name: lab\nstacks:\n  layers: loose\n");

    project.run("apply --all --yes --parallelism 2").succeeds();
}

#[test]
fn a_layer_waits_for_every_stack_of_the_layer_below() {
    let slow = doing("sleep 1; echo slow >> order");
    let project = Project::new()
        .stack("01-a/quick", &doing("echo quick >> order"))
        .stack("01-a/slow", &slow)
        .stack("02-b/above", &doing("echo above >> order"));

    project.run("apply --all --yes --parallelism 4").succeeds();

    assert_eq!(project.read("order"), "quick\nslow\nabove\n");
}

#[test]
fn no_more_run_at_once_than_the_command_line_allows() {
    let project = Project::new().stack("s/a", &alone()).stack("s/b", &alone()).stack("s/c", &alone());

    project.run("apply --all --yes --parallelism 1").succeeds();
}

#[test]
fn a_pool_limits_its_own_stacks_and_nobody_else() {
    let mut project =
        Project::new().config("name: lab\nstacks:\n  \"pve/*\": { pool: pve1 }\npools: { pve1: 1 }\n");
    for id in ["pve/a", "pve/b", "pve/c"] {
        project = project.stack(id, &alone());
    }
    let project = project.stack("s/x", &meeting("x", "y")).stack("s/y", &meeting("y", "x"));

    project.run("apply --all --yes --parallelism 3").succeeds();
}

#[test]
fn after_a_failure_independent_stacks_go_on() {
    let project = Project::new().stack("s/a-bad", &doing("exit 1")).stack("s/b-good", SIMPLE);

    let run = project.run("apply --all --yes --parallelism 1 --json").exits(1);

    assert_eq!((run.result_of("s/a-bad"), run.result_of("s/b-good")), ("failed".into(), "succeeded".into()));
}

#[test]
fn fail_fast_starts_nothing_new_and_names_the_cause() {
    let project = Project::new().stack("s/a-bad", &doing("exit 1")).stack("s/b-good", SIMPLE);

    let run = project.run("apply --all --yes --parallelism 1 --fail-fast --json").exits(1);

    assert_eq!((run.result_of("s/a-bad"), run.result_of("s/b-good")), ("failed".into(), "skipped".into()));
    run.stderr_has("skipped: s/a-bad failed, and `--fail-fast` was given");
    assert!(project.resources("b-good").is_empty());
}

#[test]
fn resume_runs_only_what_failed_or_was_skipped() {
    let project = Project::new()
        .stack("01-a/bad", &doing("test -e mended"))
        .stack("01-a/good", SIMPLE)
        .stack("02-b/above", SIMPLE);
    project.run("apply --all --yes").exits(1).stderr_has("infra apply --resume");
    project.write("mended", "");

    let run = project.run("apply --resume --yes --json").succeeds();

    let ids: Vec<_> =
        run.json()["stacks"].as_array().unwrap().iter().map(|stack| stack["id"].clone()).collect();
    assert_eq!(ids, ["01-a/bad", "02-b/above"]);
    project.run("apply --resume --yes").succeeds().stderr_has("left nothing undone");
}

#[test]
fn a_killed_run_can_be_resumed_too() {
    let project = Project::new()
        .stack("01-a/done", SIMPLE)
        .stack("02-b/slow", &doing("test -e mended || { touch started; exec sleep 300; }"));
    let run = project.start("apply --all --yes");
    run.until_exists(&project.path("started"));
    let tofu = project.tofu_at_work("02-b/slow");
    run.signal(Signal::SIGKILL);
    run.wait();
    wait_until("tofu has given up", || !tofu.lives());
    let unsaved = project.path("infrastructure/02-b/slow/errored.tfstate");
    project.run("force-unlock 02-b/slow --yes").succeeds();
    std::fs::remove_file(unsaved).expect("a file");
    project.write("mended", "");

    let run = project.run("apply --resume --yes --json").succeeds();

    assert_eq!(run.json()["stacks"].as_array().unwrap().len(), 1);
    assert_eq!(run.result_of("02-b/slow"), "succeeded");
}

#[test]
fn there_must_be_something_to_resume() {
    let project = Project::new().stack("s/a", SIMPLE);

    project.run("plan --resume").exits(64).stderr_has("no earlier `plan`");
}

#[test]
fn an_error_that_is_listed_as_transient_is_tried_again() {
    let flaky = doing("test -e tried || { touch tried; echo TLS handshake timeout; exit 1; }");
    let project = Project::new()
        .stack("s/a", &flaky)
        .config("name: lab\nrun: { retries: 1, transient_errors: [\"TLS handshake timeout\"] }\n");

    let run = project.run("apply --yes").succeeds();

    run.stderr_has("trying again (1 of 1)");
}

#[test]
fn an_error_that_is_not_listed_is_not_tried_again() {
    let failing = doing("echo tried >> tries; echo quota exceeded; exit 1");
    let project = Project::new()
        .stack("s/a", &failing)
        .config("name: lab\nrun: { retries: 3, transient_errors: [\"TLS handshake timeout\"] }\n");

    project.run("apply --yes").exits(1).stderr_lacks("trying again");

    assert_eq!(project.read("tries"), "tried\n");
}

#[test]
fn a_transient_error_that_stays_fails_after_the_last_try() {
    let failing = doing("echo tried >> tries; echo TLS handshake timeout; exit 1");
    let project = Project::new()
        .stack("s/a", &failing)
        .config("name: lab\nrun: { retries: 2, transient_errors: [\"TLS handshake timeout\"] }\n");

    project.run("apply --yes").exits(1);

    assert_eq!(project.read("tries"), "tried\n".repeat(3));
}

#[test]
fn ctrl_c_stops_every_running_stack_and_leaves_no_lock_and_no_process() {
    let slow = |name: &str| doing(&format!("echo $$ > pid-{name}; exec sleep 300"));
    let project =
        Project::new().stack("01-a/x", &slow("x")).stack("01-a/y", &slow("y")).stack("02-b/z", SIMPLE);
    let run = project.start("apply --all --yes --parallelism 2 --json");
    run.until_exists(&project.path("pid-x")).until_exists(&project.path("pid-y"));
    wait_until("both are written", || {
        ["x", "y"].iter().all(|name| !project.read(&format!("pid-{name}")).is_empty())
    });

    run.signal(Signal::SIGINT);
    let run = run.wait().exits(130);

    for id in ["01-a/x", "01-a/y", "02-b/z"] {
        assert_eq!(run.result_of(id), "interrupted");
    }
    assert!(project.locks().is_empty());
    assert!(!["x", "y"].iter().any(|name| lives(&project.read(&format!("pid-{name}")))));
}

#[test]
fn a_second_ctrl_c_stops_all_of_them_at_once() {
    let stubborn =
        |name: &str| doing(&format!("trap '' INT TERM; echo $$ > pid-{name}; while true; do sleep 1; done"));
    let project = Project::new().stack("s/x", &stubborn("x")).stack("s/y", &stubborn("y"));
    let run = project.start("apply --all --yes --parallelism 2");
    for name in ["pid-x", "pid-y"] {
        run.until_exists(&project.path(name));
        wait_until("it is written", || !project.read(name).is_empty());
    }

    for times in [1, 2] {
        run.signal(Signal::SIGINT);
        let heard = format!("\"type\":\"interrupted\",\"times\":{times}");
        wait_until("the signal is heard", || project.newest_events().contains(&heard));
    }
    run.wait().exits(130);

    assert!(project.locks().is_empty());
    wait_until("nothing is left", || !["pid-x", "pid-y"].iter().any(|name| lives(&project.read(name))));
}

#[test]
fn two_runs_at_once_share_a_project_and_a_held_lock_is_told() {
    let project = Project::new()
        .stack("s/a-slow", &doing("touch started; while [ ! -e go ]; do sleep 0.05; done"))
        .stack("s/b-free", SIMPLE);
    let first = project.start("apply a-slow --yes");
    first.until_exists(&project.path("started"));

    let second = project.run("apply --all --yes --json").exits(75);
    project.write("go", "");

    first.wait().succeeds();
    assert_eq!(
        (second.result_of("s/a-slow"), second.result_of("s/b-free")),
        ("failed".into(), "succeeded".into())
    );
    second.stderr_has("state of `s/a-slow` is locked");
}

fn lives(pid: &str) -> bool {
    let pid = nix::unistd::Pid::from_raw(pid.trim().parse().expect("a number"));
    nix::sys::signal::kill(pid, None).is_ok()
}

#[test]
fn a_repetition_that_is_not_applied_says_why_and_how_to_go_on() {
    let flaky = doing("touch tried; echo TLS handshake timeout; exit 1");
    let project = Project::new().stack("s/a", &flaky).config(
        "name: lab\nrun: { retries: 1, transient_errors: [\"TLS handshake timeout\"] }\nstacks:\n  \"s/a\":\n    protect: true\n",
    );

    let run = project.run("apply --yes").exits(1);

    run.stderr_has("trying again (1 of 1)")
        .stderr_has(
            "not applied again: `s/a` is protected, and what is left to do would lose resources: -/+ `",
        )
        .stderr_has("hint: see what is left: `infra plan s/a`, then `infra apply s/a`");
}

/// Two stacks, one of which fails until it is mended.
fn half_failing() -> Project {
    Project::new().stack("s/a", &doing("true")).stack("s/b", &doing("test -e mended"))
}

#[test]
fn of_two_applies_that_begin_together_nothing_is_made_twice_or_lost() {
    let made = "provisioner \"local-exec\" {\n    command = \"echo x >> ../../../made\"\n  }";
    let stack = format!(
        "terraform {{\n  backend \"http\" {{}}\n}}\n\nresource \"terraform_data\" \"a\" {{\n  {made}\n}}\n"
    );
    let project =
        (0..4).fold(Project::new(), |project, number| project.stack(&format!("s/{number}"), &stack));

    let runs = [project.start("apply --all --yes"), project.start("apply --all --yes")];
    let ends = runs.map(support::Running::wait);

    // Who comes second finds nothing to do, or a held lock; a plan that no longer fits is made again.
    for end in &ends {
        assert!([Some(0), Some(75)].contains(&end.code), "{end}");
        assert!(!end.stderr.contains("error[stale-plan]"), "{end}");
    }
    assert_eq!(project.read("made").lines().count(), 4);
    assert!(project.locks().is_empty());
    project.run("plan --all --detailed-exitcode").succeeds().stderr_has("4 without changes");
}

fn recorded_runs(project: &Project) -> usize {
    std::fs::read_dir(project.path(".infra/runs")).expect("runs").count()
}

#[test]
fn resume_looks_back_beyond_a_run_about_other_stacks() {
    let project = half_failing();
    project.run("apply --all --yes").exits(1);
    project.run("apply a --yes").succeeds();
    project.write("mended", "");

    let run = project.run("apply --resume --yes --json").succeeds();

    assert_eq!(run.json()["stacks"].as_array().unwrap().len(), 1);
    assert_eq!(run.result_of("s/b"), "succeeded");
}

#[test]
fn a_resume_with_nothing_to_do_is_no_recorded_run() {
    let project = half_failing();
    project.write("mended", "");
    project.run("apply --all --yes").succeeds();
    let before = recorded_runs(&project);

    let run = project.run("apply --resume --yes --json").succeeds();

    run.stderr_has("left nothing undone").stderr_lacks("at once");
    assert_eq!(recorded_runs(&project), before);
}

#[test]
fn a_resumed_plan_to_destroy_stays_one() {
    let project = half_failing();
    project.write("mended", "");
    project.run("apply --all --yes").succeeds();
    let good = project.read("infrastructure/s/b/main.tf");
    project.write("infrastructure/s/b/main.tf", "resource {");
    project.run("plan --destroy --all").exits(1);
    project.write("infrastructure/s/b/main.tf", &good);

    let run = project.run("plan --resume --json").succeeds();

    let stacks = run.json()["stacks"].as_array().unwrap().clone();
    assert_eq!((stacks.len(), &stacks[0]["id"], &stacks[0]["destroy"]), (1, &"s/b".into(), &1.into()));
    run.stderr_has("goes on with `infra plan --destroy`");
}
