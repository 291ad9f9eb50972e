//! Locks: who holds one, and how it is released.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/served.rs"]
mod served;
mod support;

use nix::sys::signal::Signal;
use support::run::wait_until;
use support::terminal::AtTerminal;
use support::{Finished, Project, Running, SIMPLE};

/// A stack whose apply holds the lock until it is stopped.
fn holding() -> (Project, Running) {
    let stack = r#"
terraform {
  backend "http" {}
}

resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "touch ../../../started; exec sleep 300"
  }
}
"#;
    let project = Project::new().stack("01-a/x", stack).stack("01-a/free", SIMPLE);
    let run = project.start("apply x --yes");
    run.until_exists(&project.path("started"));
    (project, run)
}

fn stop(run: Running) -> Finished {
    run.signal(Signal::SIGINT);
    run.wait()
}

/// Kills a run and its tofu, so that the lock stays.
fn killed(project: &Project, holder: Running) {
    let tofu = project.tofu_at_work("01-a/x");
    holder.signal(Signal::SIGSTOP);
    tofu.signal(Signal::SIGKILL);
    holder.signal(Signal::SIGKILL);
    holder.wait();
    wait_until("tofu is gone", || !tofu.lives());
}

#[test]
fn a_held_lock_shows_its_holder_and_what_to_do() {
    let (project, holder) = holding();

    let second = project.run("plan x").exits(75);

    stop(holder);
    second
        .stderr_has("error[state-locked]: state of `01-a/x` is locked")
        .stderr_has(" · apply · tofu 1.")
        .stderr_has("since ")
        .stderr_has("lock id  ")
        .stderr_has("still running")
        .stderr_has("hint: wait with `--lock-timeout 5m`");
}

#[test]
fn waiting_for_a_lock_names_its_holder_once_and_goes_on_when_it_is_free() {
    let (project, holder) = holding();
    let waiting = project.start("plan x --lock-timeout 60s");
    wait_until("it is told", || project.newest_events().contains("lock_awaited"));

    stop(holder);
    let run = waiting.wait().succeeds();

    let told: Vec<&str> = run.stderr.lines().filter(|line| line.contains("waiting for the lock")).collect();
    assert_eq!(told.len(), 1, "{run}");
    assert!(told[0].starts_with("  · 01-a/x  waiting for the lock of "), "{run}");
    assert!(told[0].contains(" (apply since ") && told[0].ends_with(" UTC)"), "{run}");
    assert_eq!(run.stderr.matches("· 01-a/x  planning").count(), 2, "{run}");
}

#[test]
fn a_live_view_shows_whom_a_stack_waits_for() {
    let (project, holder) = holding();
    let waiting = AtTerminal::start(project.command("plan x --lock-timeout 60s"));

    waiting.sees("waiting for the lock of ").sees("(apply since ");

    stop(holder);
    waiting.wait();
}

#[test]
fn a_reviewed_plan_survives_meeting_a_lock() {
    let (project, holder) = holding();
    stop(holder);
    std::fs::remove_file(project.path("started")).expect("the file");
    project.run("plan x --out-dir kept").succeeds();
    let holder = project.start("apply x --yes");
    holder.until_exists(&project.path("started"));

    project.run("apply x --plan-dir kept").exits(75);

    assert!(project.has("kept/01-a/x.tfplan"));
    stop(holder);
}

#[test]
fn a_lock_is_listed_with_its_living_process() {
    let (project, holder) = holding();

    let locks = project.locks();
    let listed = project.run("locks").succeeds();

    let pid = holder.pid().as_raw();
    stop(holder);
    assert_eq!(locks.len(), 1, "{locks:?}");
    assert_eq!((locks[0]["stack"].as_str(), locks[0]["alive"].as_bool()), (Some("01-a/x"), Some(true)));
    assert_eq!(locks[0]["operation"], "apply");
    assert_eq!(locks[0]["pid"], pid);
    listed.stdout_has("01-a/x").stdout_has("alive");
}

/// Returns a command in another namespace of process ids on the same host.
fn in_a_container(command: &std::process::Command) -> std::process::Command {
    let unshare = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"];
    let allowed = std::process::Command::new("unshare").args(unshare).arg("true").output();
    assert!(
        allowed.is_ok_and(|tried| tried.status.success()),
        "this test needs `unshare` and user namespaces"
    );
    let mut inside = std::process::Command::new("unshare");
    inside.args(unshare).arg(command.get_program()).args(command.get_args());
    inside.current_dir(command.get_current_dir().expect("the folder of the project"));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => inside.env(name, value),
            None => inside.env_remove(name),
        };
    }
    inside
}

#[test]
fn a_holder_in_another_container_of_the_same_host_name_is_not_called_dead() {
    let (project, holder) = holding();
    let mut locks = in_a_container(&project.command("locks --json"));
    let mut doctor = in_a_container(&project.command("doctor"));

    let seen = locks.output().unwrap();
    let doctor = doctor.output().unwrap();

    stop(holder);
    let seen: serde_json::Value = serde_json::from_slice(&seen.stdout).unwrap();
    assert_eq!((&seen[0]["stack"], &seen[0]["alive"]), (&"01-a/x".into(), &serde_json::Value::Null));
    assert!(!String::from_utf8_lossy(&doctor.stdout).contains("whose process is gone"));
}

#[test]
fn the_notes_of_a_tofu_in_another_container_are_kept() {
    let (project, holder) = holding();
    let notes = project.read(".infra/working/01-a%2Fx");
    let mut other = in_a_container(&project.command("plan x --no-input -- -lock=false"));

    other.output().unwrap();

    let kept = project.read(".infra/working/01-a%2Fx");
    stop(holder);
    assert_eq!(kept, notes);
}

#[test]
fn the_lock_of_a_living_run_is_not_released_without_force() {
    let (project, holder) = holding();

    let refused = project.run("force-unlock x --yes").exits(75);

    refused.stderr_has("is alive").stderr_has("--force");
    assert_eq!(project.locks().len(), 1);
    stop(holder);
}

#[test]
fn the_lock_of_a_killed_run_is_kept_while_its_tofu_still_works() {
    let (project, holder) = holding();
    let tofu = project.tofu_at_work("01-a/x");
    holder.signal(Signal::SIGKILL);
    holder.wait();

    // For seconds it tries to save its state where nobody listens any more.
    project.run("force-unlock x --yes").exits(75).stderr_has("gone, its tofu");
    assert_eq!(project.locks()[0]["alive"], true);

    wait_until("tofu is gone", || !tofu.lives());
    project.run("force-unlock x --yes").succeeds().stderr_has("released the lock");
}

#[test]
fn a_forced_release_keeps_the_old_run_from_writing() {
    let (project, holder) = holding();

    project.run("force-unlock x --yes --force").succeeds().stderr_has("released the lock of `01-a/x`");

    assert!(project.locks().is_empty());
    stop(holder).exits(130);
    assert!(project.resources("x").is_empty(), "a fenced writer must not change the state");
}

#[test]
fn a_lock_can_be_named_by_its_id_alone() {
    let (project, holder) = holding();
    killed(&project, holder);
    let id = project.locks()[0]["id"].as_str().expect("an id").to_owned();

    project.run(&format!("force-unlock {id} --yes")).succeeds().stderr_has("released the lock of `01-a/x`");

    assert!(project.locks().is_empty());
}

#[test]
fn the_wrong_id_releases_nothing() {
    let (project, holder) = holding();
    killed(&project, holder);

    project
        .run("force-unlock x 00000000-0000-0000-0000-000000000000 --yes")
        .exits(75)
        .stderr_has("not by that lock");

    assert_eq!(project.locks().len(), 1);
}

#[test]
fn releasing_what_is_not_locked_says_so() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    project.run("force-unlock x --yes").succeeds().stderr_has("is not locked");
}

#[test]
fn a_release_without_a_terminal_and_a_yes_is_refused() {
    let (project, holder) = holding();
    killed(&project, holder);

    project.run("force-unlock x").exits(64).stderr_has("there is no terminal");

    assert_eq!(project.locks().len(), 1);
}

#[test]
fn a_backend_that_tells_its_lock_to_tofu_only_needs_the_locks_id() {
    let backend = |kind: &str| format!("terraform {{\n  backend \"{kind}\" {{}}\n}}\n");
    let project = Project::new().stack("01-a/x", &backend("pg")).stack("01-a/y", &backend("local"));

    project.run("force-unlock x --yes").exits(64).stderr_has("the lock's id is needed");
    project.run("force-unlock y --yes").succeeds().stderr_has("`01-a/y` is not locked");
}

#[test]
fn what_a_holder_calls_itself_cannot_move_the_cursor() {
    let server = served::Served::start();
    let project = Project::new()
        .config(&format!("name: lab\nstate:\n  url: http://{}/states\n", server.address))
        .env("TF_HTTP_USERNAME", served::USER)
        .env("TF_HTTP_PASSWORD", served::PASSWORD)
        .stack("x", SIMPLE);
    let evil = r#"{"ID":"L1","Who":"\u001b[31mEVIL\u001b[2J\u202e","Operation":"\u0007apply"}"#;
    assert_eq!(server.send("LOCK", "/states/x/lock", evil).status, 200);

    for command in ["locks", "plan x", "force-unlock x --yes"] {
        let done = project.run(command);

        let shown = format!("{}{}", done.stdout, done.stderr);
        assert!(shown.contains("EVIL"), "{command}: {shown}");
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{command}: {shown:?}");
    }
}

#[test]
fn a_damaged_state_hides_the_locks_of_no_other_stack() {
    let (project, run) = holding();
    let log = project.path(".infra/state/01-a/free/@log");
    std::fs::create_dir_all(&log).unwrap();
    std::fs::write(log.join("00000000000000000001"), "junk\n").unwrap();

    let shown = project.run("locks").exits(65);
    let doctor = project.run("doctor").exits(1).stdout;

    assert!(shown.stdout.contains("01-a/x"), "{}", shown.stdout);
    assert!(shown.stderr.contains("the lock of `01-a/free` cannot be read"), "{}", shown.stderr);
    assert!(doctor.contains("01-a/free: entry 1 of the state"), "{doctor}");
    assert!(doctor.contains("move that entry out of the store"), "{doctor}");
    stop(run);
}

#[test]
fn a_server_that_lets_nobody_in_hides_the_locks_of_no_other_stack() {
    let (project, run) = holding();
    let server = served::Served::start();
    let elsewhere = format!("http://{}/states/z", server.address);
    let backend = format!("address = \"{elsewhere}\"\n    lock_address = \"{elsewhere}/lock\"");
    let project =
        project.stack("01-a/z", &format!("terraform {{\n  backend \"http\" {{\n    {backend}\n  }}\n}}\n"));

    let shown = project.run("locks").exits(77);

    assert!(shown.stdout.contains("01-a/x"), "{}", shown.stdout);
    assert!(shown.stderr.contains("the lock of `01-a/z` cannot be read"), "{}", shown.stderr);
    stop(run);
}
