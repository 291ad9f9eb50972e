//! `kill -9` in the middle of a move, a rename and a recovery: nothing is lost, nothing is
//! there twice, and the next attempt goes on.

use std::time::Duration;

use nix::sys::signal::Signal;

use super::*;

/// Starts a command again and again and kills it ever later, until it comes to its end.
fn killed_until_done(project: &Project, args: &str) -> Finished {
    for attempt in 0_u32..300 {
        let running = project.start(args);
        // Far finer than one step takes, and growing, so that each step is met.
        std::thread::sleep(Duration::from_micros(1500 * u64::from(attempt)));
        running.signal(Signal::SIGKILL);
        let finished = running.wait();
        if finished.code == Some(0) {
            return finished;
        }
        assert!(finished.code.is_none(), "{finished}");
        if attempt % 8 == 7 {
            makes_nothing(project);
        }
    }
    // On a slow machine it was not met in its last steps; then it is let through.
    project.run(args).succeeds()
}

/// Asserts that a plan in the middle of it all would make nothing.
fn makes_nothing(project: &Project) {
    let planned = project.run("plan --all --json").json();
    for stack in planned["stacks"].as_array().unwrap() {
        let none = ["add", "change", "destroy"].iter().all(|count| stack[*count] == 0);
        assert!(none, "{planned}");
    }
}

fn with_history() -> Project {
    let project = applied();
    for value in ["two", "three"] {
        project.write("infrastructure/01-a/net/main.tf", &SIMPLE.replace("one", value));
        project.run("apply net --yes").succeeds();
    }
    project
}

#[test]
fn a_move_that_is_killed_at_any_step_loses_nothing_and_goes_on() {
    let project = with_history();
    let before = [identity(&project, "01-a/net"), identity(&project, "02-b/web")];
    configure(&project, "{ store: ../states }");

    killed_until_done(&project, "state migrate --all --yes");
    project.run("state migrate --all --yes").succeeds();

    assert_eq!([identity(&project, "01-a/net"), identity(&project, "02-b/web")], before);
    unchanged(&project);
    let history = project.run("state history net --json").succeeds().json();
    assert_eq!(history.as_array().unwrap().len(), 3, "{history}");
    configure(&project, "{}");
    project.run("plan --all").exits(65).stderr_has("/../states`");
}

#[test]
fn a_rename_that_is_killed_at_any_step_loses_nothing_and_goes_on() {
    let project = with_history();
    let before = identity(&project, "01-a/net");
    std::fs::rename(project.path("infrastructure/01-a/net"), project.path("infrastructure/01-a/network"))
        .unwrap();

    killed_until_done(&project, "state rename 01-a/net 01-a/network --yes");

    assert_eq!(identity(&project, "01-a/network"), before);
    assert_eq!(entry(&project, "01-a/net"), None);
    assert!(entry(&project, "01-a/network").is_some());
    unchanged(&project);
}

#[test]
fn a_recovery_that_is_killed_at_any_step_goes_on() {
    let project = with_history();
    let before = identity(&project, "01-a/net");
    remove_dir(&project.path(".infra"));

    killed_until_done(&project, "state recover --all --yes");

    assert_eq!(identity(&project, "01-a/net"), before);
    unchanged(&project);
}
