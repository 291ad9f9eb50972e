//! Stopping a run: gently, at once, from outside, and without any warning.

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

/// A stack whose first resource is made at once and whose second takes minutes.
///
/// The provisioner leaves its own process id, so that a test can tell whether it lives.
fn slow_stack() -> Project {
    Project::new().stack(
        "01-a/x",
        r#"
terraform {
  backend "http" {}
}

resource "terraform_data" "quick" {}

resource "terraform_data" "slow" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "echo $$ > started; exec sleep 300"
  }
}
"#,
    )
}

fn started(project: &Project) -> std::path::PathBuf {
    project.path("infrastructure/01-a/x/started")
}

fn provisioner_lives(project: &Project) -> bool {
    let pid = std::fs::read_to_string(started(project)).expect("a process id");
    let pid = nix::unistd::Pid::from_raw(pid.trim().parse().expect("a number"));
    nix::sys::signal::kill(pid, None).is_ok()
}

/// Stops a run with signals once its slow resource has begun, each after the one before was heard.
fn stopped_by(project: &Project, signals: &[Signal]) -> support::Finished {
    let run = project.start("apply --yes");
    run.until_exists(&started(project));
    for (number, signal) in signals.iter().enumerate() {
        run.signal(*signal);
        let heard = format!("\"type\":\"interrupted\",\"times\":{}", number + 1);
        wait_until("the signal is heard", || project.newest_events().contains(&heard));
    }
    run.wait()
}

/// Kills a run at its slow resource, and waits until its tofu has given up.
fn killed(project: &Project) {
    let run = project.start("apply --yes");
    run.until_exists(&started(project));
    let tofu = project.tofu_at_work("01-a/x");
    run.signal(Signal::SIGKILL);
    run.wait();
    wait_until("tofu has given up", || !tofu.lives());
    assert!(project.has("infrastructure/01-a/x/errored.tfstate"));
}

#[test]
fn one_ctrl_c_saves_the_state_and_releases_the_lock() {
    let project = slow_stack();

    let run = stopped_by(&project, &[Signal::SIGINT]).exits(130);

    run.stderr_has("stopping gently").stderr_has("interrupted").stderr_has("infra apply 01-a/x");
    assert!(project.resources("x").contains(&"terraform_data.quick".to_owned()));
    assert!(project.locks().is_empty());
    assert!(!provisioner_lives(&project));
}

#[test]
fn a_termination_signal_is_as_gentle_as_ctrl_c() {
    let project = slow_stack();

    stopped_by(&project, &[Signal::SIGTERM]).exits(130);

    assert!(project.resources("x").contains(&"terraform_data.quick".to_owned()));
    assert!(project.locks().is_empty());
    assert!(!provisioner_lives(&project));
}

#[test]
fn a_closed_terminal_is_as_gentle_as_ctrl_c() {
    let project = slow_stack();

    stopped_by(&project, &[Signal::SIGHUP]).exits(130);

    assert!(project.locks().is_empty());
    assert!(!provisioner_lives(&project));
}

#[test]
fn two_ctrl_cs_stop_at_once_and_leave_no_lock_and_no_process() {
    let project = Project::new().stack(
        "01-a/x",
        r#"
terraform {
  backend "http" {}
}

resource "terraform_data" "stubborn" {
  provisioner "local-exec" {
    command = "trap '' INT TERM; echo $$ > started; while true; do sleep 1; done"
  }
}
"#,
    );

    let run = stopped_by(&project, &[Signal::SIGINT, Signal::SIGINT]).exits(130);

    run.stderr_has("stopping at once");
    assert!(project.locks().is_empty());
    wait_until("the provisioner is gone", || !provisioner_lives(&project));
}

#[test]
fn what_a_provisioner_started_does_not_outlive_a_ctrl_c() {
    let command = "sleep 300 & echo $! > started; wait";
    let project = Project::new().stack(
        "01-a/x",
        &format!("resource \"terraform_data\" \"a\" {{\n  provisioner \"local-exec\" {{\n    command = \"{command}\"\n  }}\n}}\n"),
    );

    stopped_by(&project, &[Signal::SIGINT]).exits(130);

    wait_until("the background process is gone", || !provisioner_lives(&project));
}

#[test]
fn what_a_killed_tofu_had_started_is_ended_too() {
    let project = Project::new().stack(
        "01-a/x",
        r#"
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "echo $PPID > tofu; echo $$ > started; exec sleep 300"
  }
}
"#,
    );
    let run = project.start("apply --yes");
    run.until_exists(&started(&project));
    wait_until("its process id is written", || project.read("infrastructure/01-a/x/started").contains('\n'));

    let tofu = project.read("infrastructure/01-a/x/tofu").trim().parse().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(tofu), Signal::SIGKILL).unwrap();
    run.wait().exits(1).stderr_has("tofu was killed by signal 9");

    wait_until("the provisioner is gone", || !provisioner_lives(&project));
}

#[test]
fn a_killed_run_stops_even_a_tofu_that_never_stops_talking() {
    let command = "echo $$ > started; while true; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done";
    let project = Project::new().stack(
        "01-a/x",
        &format!("resource \"terraform_data\" \"a\" {{\n  provisioner \"local-exec\" {{\n    command = \"{command}\"\n  }}\n}}\n"),
    );
    let run = project.start("apply --yes");

    run.until_exists(&started(&project)).signal(Signal::SIGKILL);
    run.wait();

    wait_until("the provisioner is gone", || !provisioner_lives(&project));
}

#[test]
fn after_an_interruption_the_run_can_go_on() {
    let project = slow_stack();
    stopped_by(&project, &[Signal::SIGINT]).exits(130);
    let quick = project.read("infrastructure/01-a/x/main.tf").replace("exec sleep 300", "true");
    project.write("infrastructure/01-a/x/main.tf", &quick);

    project.run("apply --yes").succeeds();

    assert_eq!(project.resources("x"), ["terraform_data.quick", "terraform_data.slow"]);
}

#[test]
fn a_stop_keeps_the_stacks_that_have_not_begun_from_beginning() {
    let project = slow_stack().stack("02-b/y", SIMPLE);

    let run = project.start("apply --all --yes --json");
    run.until_exists(&started(&project)).signal(Signal::SIGINT);
    let run = run.wait().exits(130);

    assert_eq!(run.result_of("01-a/x"), "interrupted");
    assert_eq!(run.result_of("02-b/y"), "interrupted");
    assert!(!project.has("infrastructure/02-b/y/.terraform"));
}

#[test]
fn a_killed_run_is_explained_by_the_next_one_with_the_way_to_go_on() {
    let project = slow_stack();
    killed(&project);
    wait_until("nothing of the run is left", || !provisioner_lives(&project));

    let next = project.run("plan").exits(75);

    next.stderr_has("ended without finishing")
        .stderr_has("error[state-locked]: state of `01-a/x` is locked")
        .stderr_has("which is gone")
        .stderr_has("hint: that run is dead; release its lock: `infra force-unlock 01-a/x`");
    assert_eq!(project.locks()[0]["alive"], false);
}

#[test]
fn after_a_killed_run_lock_and_state_are_brought_back_by_the_commands_that_were_hinted_at() {
    let project = slow_stack();
    killed(&project);

    project.run("force-unlock 01-a/x --yes").succeeds().stderr_has("released the lock");
    let refused = project.run("apply --yes").exits(1);
    refused.stderr_has("error[unsaved-state]").stderr_has("infra state push 01-a/x --errored");
    project.run("state push 01-a/x --errored").succeeds();

    assert!(!project.has("infrastructure/01-a/x/errored.tfstate"));
    assert!(project.resources("x").contains(&"terraform_data.quick".to_owned()));
    project.run("plan").succeeds().stderr_lacks("ended without finishing");
}

#[test]
fn after_a_stop_a_person_sees_what_was_done_and_what_was_not() {
    let project = slow_stack().stack("02-b/y", SIMPLE);

    let run = project.start("apply --all --yes");
    run.until_exists(&started(&project)).signal(Signal::SIGINT);
    let run = run.wait().exits(130);

    run.stderr_has("interrupted: while applying; 1 created before the stop")
        .stderr_has("see what is left: `infra plan 01-a/x`")
        .stderr_has("· not begun")
        .stderr_has("1 interrupted · 1 not begun");
    let report = project.run("runs show --json").succeeds().json()["report"].clone();
    assert_eq!((&report["stacks"][0]["add"], &report["stacks"][1]["not_begun"]), (&1.into(), &true.into()));
}

/// Returns what the system says a process does: `T` is stopped.
fn doing(pid: i32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, fields)| fields.chars().next()).unwrap_or('?')
}

fn wait_until_all(what: &str, pids: [i32; 3], stand: bool) {
    wait_until(what, || pids.iter().all(|pid| (doing(*pid) == 'T') == stand));
}

/// Stops and wakes a run twice: infra, its tofu and what that started stand still and go on together.
fn stops_and_goes_on(project: &Project, command: std::process::Command) {
    let run = support::Running::start(command, "apply --yes");
    run.until_exists(&started(project));
    wait_until("the provisioner says who it is", || {
        !project.read("infrastructure/01-a/x/started").is_empty()
    });
    let provisioner = project.read("infrastructure/01-a/x/started").trim().parse().unwrap();
    let all = [run.pid().as_raw(), project.tofu_at_work("01-a/x").0, provisioner];

    for _ in 0..2 {
        run.signal(Signal::SIGTSTP);
        wait_until_all("all stand still", all, true);
        run.signal(Signal::SIGCONT);
        wait_until_all("all go on", all, false);
    }

    run.signal(Signal::SIGINT);
    run.wait().exits(130);
    assert!(project.locks().is_empty());
}

#[test]
fn ctrl_z_stops_tofu_and_its_provisioner_too_and_they_go_on_together() {
    let project = slow_stack();
    let mut command = project.command("apply --yes");
    // As a shell starts a job.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    stops_and_goes_on(&project, command);
}

#[test]
fn a_stop_that_somebody_sends_where_there_is_no_terminal_is_obeyed_too() {
    let project = slow_stack();
    let command = project.command("apply --yes");
    let mut alone = std::process::Command::new("setsid");
    alone.arg(command.get_program()).args(command.get_args());
    alone.current_dir(project.root()).stdin(std::process::Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => alone.env(name, value),
            None => alone.env_remove(name),
        };
    }
    stops_and_goes_on(&project, alone);
}

#[test]
fn ctrl_z_stops_a_tofu_that_was_called_directly() {
    let project = slow_stack();
    project.run("init").succeeds();
    let mut command = project.command("tofu --stack x -- apply -auto-approve");
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let run = support::Running::start(command, "tofu");
    run.until_exists(&started(&project));
    wait_until("the provisioner says who it is", || {
        !project.read("infrastructure/01-a/x/started").is_empty()
    });
    let provisioner: i32 = project.read("infrastructure/01-a/x/started").trim().parse().unwrap();
    let both = [run.pid().as_raw(), provisioner, provisioner];

    run.signal(Signal::SIGTSTP);
    wait_until_all("both stand still", both, true);
    run.signal(Signal::SIGCONT);
    wait_until_all("both go on", both, false);

    run.signal(Signal::SIGINT);
    run.wait();
}
