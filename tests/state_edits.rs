//! States by hand: numbers that stay what they are, locks that are respected, states that could
//! not be saved.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use nix::sys::signal::Signal;
use support::{Project, SIMPLE};

/// A stack with numbers that a parser of JSON would round.
fn numbers(note: &str) -> String {
    format!(
        "terraform {{\n  backend \"http\" {{}}\n}}\n\nresource \"terraform_data\" \"n\" {{\n  input = \
         [123456789012345678901234567, 0.1234567890123456789012]\n}}\n\nresource \"terraform_data\" \"note\" \
         {{\n  input = \"{note}\"\n}}\n"
    )
}

#[test]
fn a_rollback_brings_back_every_digit() {
    let project = Project::new().stack("01-a/x", &numbers("one"));
    project.run("apply x --yes").succeeds();
    let history = project.run("state history x --json").succeeds().json();
    let version = history[0]["version"].as_u64().expect("a version");
    project.write("infrastructure/01-a/x/main.tf", &numbers("two"));
    project.run("apply x --yes").succeeds();

    project.run(&format!("state rollback x {version} --yes")).succeeds();

    let state = project.run("state pull x").succeeds().stdout;
    assert!(state.contains("123456789012345678901234567"), "{state}");
    assert!(state.contains("0.1234567890123456789012"), "{state}");
    project.write("infrastructure/01-a/x/main.tf", &numbers("one"));
    project.run("plan x --detailed-exitcode").succeeds().stderr_has("no changes");
}

#[test]
fn no_command_goes_past_the_lock_of_a_run() {
    let slow = format!(
        "{SIMPLE}\nresource \"terraform_data\" \"slow\" {{\n  provisioner \"local-exec\" {{\n    command = \"touch \
         ../../../started; exec sleep 300\"\n  }}\n}}\n"
    );
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("apply x --yes").succeeds();
    let state = project.run("state pull x").succeeds().stdout;
    project.write("state.json", &state);
    project.write("infrastructure/01-a/x/main.tf", &slow);
    let run = project.start("apply x --yes");
    run.until_exists(&project.path("started"));

    for command in [
        "state rm x terraform_data.thing",
        "state mv x terraform_data.thing terraform_data.other",
        "state push x state.json --force",
        "state migrate x --to local:moved.tfstate --yes",
    ] {
        project.run(command).exits(75).stderr_has("error[state-locked]");
    }

    run.signal(Signal::SIGINT);
    run.wait();
    assert!(!project.has("infrastructure/01-a/x/moved.tfstate"));
    assert_eq!(project.resources("x").first().map(String::as_str), Some("terraform_data.slow"));
}

#[test]
fn a_plan_tells_of_a_state_that_could_not_be_saved() {
    let project = Project::new().stack("01-a/x", SIMPLE).file("infrastructure/01-a/x/errored.tfstate", "{}");

    let run = project.run("plan x").succeeds();

    run.stderr_has("could not save its state").stderr_has("`infra state push 01-a/x --errored`");
}

#[test]
fn what_a_sensitive_input_was_before_is_as_hidden_as_what_it_is() {
    let producer = |value: &str| {
        format!(
            "terraform {{\n  backend \"http\" {{}}\n}}\n\noutput \"token\" {{\n  value     = \"{value}\"\n  sensitive = true\n}}\n"
        )
    };
    let consumer = "terraform {\n  backend \"http\" {}\n}\n\nvariable \"token\" {\n  sensitive = true\n}\n\nresource \"terraform_data\" \"t\" {\n  input = var.token\n}\n";
    let project = Project::new()
        .stack("01-a/producer", &producer("secret-value-old"))
        .stack("02-b/consumer", consumer)
        .config("name: lab\nstacks:\n  \"02-b/consumer\":\n    inputs: { token: \"01-a/producer.token\" }\n");
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/01-a/producer/main.tf", &producer("secret-value-new"));

    let run = project.run("apply --all --yes").succeeds().stdout_has("terraform_data.t");

    run.stdout_lacks("secret-value").stderr_lacks("secret-value");
    assert!(!project.newest_events().contains("secret-value"));
}
