//! The command line itself: help, completions, man pages, schemas, exit codes, bad input.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use std::process::Command;

use support::{Finished, Project, Running, SIMPLE, infra};

fn run(args: &str) -> Finished {
    let mut command = infra();
    command.args(args.split_whitespace()).current_dir(std::env::temp_dir());
    Running::start(command, args).wait()
}

/// The commands that `infra --help` lists.
fn commands() -> Vec<String> {
    let help = run("--help").succeeds();
    let listed = help.stdout.split("Commands:\n").nth(1).expect("a list of commands");
    let lines = listed.lines().take_while(|line| !line.is_empty());
    lines.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

#[test]
fn every_command_is_listed_with_a_line_and_has_examples_first() {
    let commands = commands();

    assert!(commands.len() >= 19, "{commands:?}");
    for command in commands {
        let help = run(&format!("{command} --help")).succeeds();
        let (before, _) = help.stdout.split_once("Usage:").expect("a usage line");
        assert!(before.contains("Examples:\n  "), "{command}: {help}");
    }
}

#[test]
fn the_documentation_names_every_command_exit_code_and_variable() {
    let reference =
        std::fs::read_to_string(format!("{}/docs/reference.md", env!("CARGO_MANIFEST_DIR"))).unwrap();

    for command in commands() {
        assert!(reference.contains(&format!("`infra {command}")), "{command} is not in docs/reference.md");
    }
    for code in ["0", "1", "2", "64", "65", "69", "70", "75", "77", "130"] {
        assert!(reference.contains(&format!("| {code} |")), "exit code {code}");
    }
    for variable in [
        "INFRA_DIR",
        "INFRA_COLOR",
        "INFRA_QUIET",
        "INFRA_VERBOSE",
        "INFRA_NO_INPUT",
        "INFRA_TRUST",
        "INFRA_LOG",
        "INFRA_TOFU_MIRROR",
    ] {
        assert!(reference.contains(variable), "{variable}");
    }
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    run("").exits(64);
    run("plam").exits(64).stderr_has("plan");
    run("plan --nonsense").exits(64);
    run("-C /nonexistent plan").exits(64).stderr_has("/nonexistent");
}

#[test]
fn help_and_version_are_no_errors() {
    run("--version").succeeds().stdout_has("infra 0.");
    run("-h").succeeds();
}

#[test]
fn help_is_a_command_too() {
    assert_eq!(run("help").succeeds().stdout, run("--help").succeeds().stdout);
    assert_eq!(run("help plan").succeeds().stdout, run("plan --help").succeeds().stdout);
    let rollback = run("help state rollback").succeeds();
    assert_eq!(rollback.stdout, run("state rollback --help").succeeds().stdout);
    run("help plan k8s-prod").succeeds().stdout_has("infra plan");
    run("help plam").exits(64).stderr_has("did you mean `plan`?");
    run("help state rolback").exits(64).stderr_has("did you mean `rollback`?");
}

#[test]
fn only_what_chooses_stacks_is_listed_as_choosing_stacks() {
    const CHOOSING: [&str; 11] = [
        "[STACK]",
        "--stack",
        "--layer",
        "--tag",
        "--all",
        "--changed",
        "--exclude",
        "--with-dependencies",
        "--with-dependents",
        "--workspace",
        "--create",
    ];

    for command in commands().iter().map(String::as_str).chain(["state list", "state encrypt"]) {
        let help = run(&format!("{command} --help")).succeeds().stdout;
        let Some((_, section)) = help.split_once("Choosing stacks:\n") else { continue };
        let section = section.split_once("\n\n\n").map_or(section, |(section, _)| section);
        let until_next = section.lines().take_while(|line| line.is_empty() || line.starts_with(' '));
        let flags =
            until_next.filter_map(|line| line.trim_start().strip_prefix(['-', '[']).map(|_| line.trim()));
        for flag in flags {
            let name = flag.split([' ', '=', '.']).next().unwrap_or_default();
            let name = name.strip_suffix('[').unwrap_or(name);
            assert!(CHOOSING.contains(&name), "{command}: `{flag}` chooses no stacks");
        }
    }
    for (flag, heading) in [("--json", "Output"), ("--out-dir", "Saved plans"), ("--parallelism", "Running")]
    {
        let help = run("plan --help").succeeds().stdout;
        let (before, _) = help.split_once(&format!("      {flag}")).expect("the flag");
        let nearest = before.lines().rfind(|line| line.ends_with(':') && !line.starts_with(' '));
        assert_eq!(nearest, Some(format!("{heading}:").as_str()), "{flag}");
    }
}

#[test]
fn outside_of_a_project_the_error_says_what_makes_one() {
    let empty = tempfile::tempdir().unwrap();
    let mut command = infra();
    command.arg("plan").current_dir(empty.path());

    let run = Running::start(command, "plan").wait().exits(65);

    run.stderr_has("infra.yaml");
}

#[test]
fn a_misspelt_key_is_named_with_place_and_nearest_name() {
    let project = Project::new().stack("01-a/x", SIMPLE).config("name: lab\nstakcs: {}\n");

    project.run("plan").exits(65).stderr_has("infra.yaml:2:1").stderr_has("stakcs").stderr_has("stacks");
}

#[test]
fn a_tofu_below_the_floor_is_refused_with_the_reason() {
    let project = Project::new().stack("01-a/x", SIMPLE).config("name: lab\ntofu:\n  version: \"1.10.0\"\n");

    let run = project.run("plan");

    assert!(matches!(run.code, Some(65 | 69)), "{run}");
    run.stderr_has("1.11.3");
}

#[test]
fn completions_know_the_stacks() {
    let project = Project::new().stack("01-a/pihole", SIMPLE).stack("01-a/other", SIMPLE);
    let mut command = infra();
    command.env("INFRA_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2").env("_CLAP_IFS", "\n");
    command.args(["--", "infra", "plan", "pi"]).current_dir(project.root());

    let completed = Running::start(command, "plan pi<TAB>").wait().succeeds();

    assert_eq!(completed.stdout.trim(), "pihole", "{completed}");
    let mut command = infra();
    command.env("INFRA_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2").env("_CLAP_IFS", "\n");
    command.args(["--", "infra", "plan", "./infrastructure/01-a/p"]).current_dir(project.root());
    let completed = Running::start(command, "plan ./infrastructure/01-a/p<TAB>").wait().succeeds();
    assert_eq!(completed.stdout.trim(), "./infrastructure/01-a/pihole/", "{completed}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        run(&format!("completions {shell}")).succeeds().stdout_has("infra");
    }
}

#[test]
fn bash_accepts_its_completions() {
    let script = run("completions bash").succeeds().stdout;

    let checked = Command::new("bash").args(["-n", "-c", &script]).status().unwrap();

    assert!(checked.success());
}

#[test]
fn there_is_a_man_page_for_every_command() {
    let dir = tempfile::tempdir().unwrap();

    run(&format!("man --dir {}", dir.path().display())).succeeds();

    for command in commands() {
        let page = dir.path().join(format!("infra-{command}.1"));
        assert!(page.exists(), "{}", page.display());
    }
    run("man").succeeds().stdout_has(".TH infra 1");
}

#[test]
fn schemas_are_json_and_describe_what_is_printed() {
    for name in ["infra", "cluster", "nodes", "report", "events"] {
        let schema = run(&format!("schema {name}")).succeeds().json();
        assert!(schema["$schema"].is_string(), "{name}");
    }
    let report = run("schema report").succeeds().json();
    assert!(report["properties"]["exit_code"].is_object());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    let piped = Command::new("sh")
        .args(["-c", "\"$0\" stacks --json | head -c 1 >/dev/null; \"$0\" man | true; echo fine"])
        .arg(env!("CARGO_BIN_EXE_infra"))
        .current_dir(project.root())
        .output()
        .unwrap();

    assert_eq!(String::from_utf8_lossy(&piped.stdout).trim(), "fine");
    assert!(
        !String::from_utf8_lossy(&piped.stderr).contains("bug"),
        "{}",
        String::from_utf8_lossy(&piped.stderr)
    );
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = infra();
    command.arg("schema").stdout(full);

    let status = command.output().unwrap();

    assert_eq!(status.status.code(), Some(69));
    assert!(String::from_utf8_lossy(&status.stderr).contains("could not be written"));
}

#[test]
fn a_usage_error_is_json_too_when_json_is_asked_for() {
    let refused = run("plan --json --bogus").exits(64);

    assert_eq!(refused.json()["error"]["kind"], "usage");
}

#[test]
fn flags_can_be_set_by_the_environment_in_the_usual_words() {
    let project = Project::new().stack("01-a/x", SIMPLE).env("INFRA_QUIET", "1").env("INFRA_NO_INPUT", "0");

    project.run("plan").succeeds().stderr_lacks("lab");
}

#[test]
fn tracing_tells_what_is_started_and_served() {
    let project = Project::new().stack("01-a/x", SIMPLE).env("INFRA_LOG", "debug");

    project.run("plan").succeeds().stderr_has("started").stderr_has("LOCK");
    project.run("plan").succeeds();
    let unknown = Project::new().stack("01-a/x", SIMPLE).env("INFRA_LOG", "banana");
    unknown.run("plan").exits(64).stderr_has("INFRA_LOG").stderr_has("debug");
}

#[test]
fn what_infra_sets_itself_cannot_be_passed_on() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    project.run("plan -- -out=elsewhere").exits(64).stderr_has("-out");
    project.run("plan --lock-timeout banana").exits(64).stderr_has("5m");
    project.run("apply --plan-dir nowhere --yes").exits(64).stderr_has("nowhere");
    assert!(!project.has("nowhere"));
}

#[test]
fn doctor_tells_what_is_wrong_and_how_to_mend_it() {
    let project = Project::new()
        .stack("01-a/bad", "$ANSIBLE_VAULT;1.1;AES256\n6162\n")
        .stack("01-a/local", "output \"o\" {\n  value = 1\n}\n");

    let run = project.run("doctor --json").exits(1);

    let findings = run.json();
    let statuses: Vec<&str> =
        findings.as_array().unwrap().iter().filter_map(|row| row["status"].as_str()).collect();
    assert!(statuses.contains(&"pass") && statuses.contains(&"warn") && statuses.contains(&"fail"), "{run}");
    project.run("doctor").exits(1).stdout_has("FAIL").stdout_has("fix:");
}

#[test]
fn doctor_leaves_a_file_that_infra_cannot_read_to_tofu() {
    let project = Project::new().stack("01-a/odd", "resource {");

    let run = project.run("doctor --json").exits(0);

    let findings = run.json();
    let about = findings.as_array().unwrap().iter().find(|row| row["check"] == "stacks").unwrap();
    assert_eq!(about["status"], "warn", "{run}");
    assert!(about["message"].as_str().unwrap().contains("main.tf:1:"), "{run}");
    let fix = about["fix"].as_str().unwrap().split('`').nth(1).unwrap();
    project.run(fix.strip_prefix("infra ").unwrap()).exits(1).stderr_has("Unclosed configuration block");
}
