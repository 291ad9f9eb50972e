//! A real provider: one cache for stacks that run side by side, `init` only when it is needed,
//! processes of their own that a stop ends too.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/processes.rs"]
mod processes;
#[path = "support/provider.rs"]
mod provider;
mod support;

use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, kill};
use provider::{Layout, VERSION};
use support::run::wait_until;
use support::terminal::AtTerminal;
use support::{Project, tofu};

/// A project whose providers come from a mirror of its own, with a cache of its own.
fn mirrored(layout: Layout) -> Project {
    let project = Project::new();
    let folder = project.root().parent().unwrap().to_owned();
    let settings = provider::mirror(&folder, tofu(), layout);
    let config = format!("name: lab\ntofu: {{ binary: \"{}\" }}\n", tofu().display());
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    project
        .config(&config)
        .env("TF_CLI_CONFIG_FILE", &text(settings))
        .env("XDG_CACHE_HOME", &text(folder.join("cache")))
}

/// A stack that takes some seconds to create, with this version of the provider.
fn sleeper(version: &str, seconds: u32) -> String {
    format!(
        r#"
terraform {{
  backend "http" {{}}
  required_providers {{
    time = {{
      source  = "hashicorp/time"
      version = "{version}"
    }}
  }}
}}

resource "terraform_data" "quick" {{}}

resource "time_sleep" "slow" {{
  depends_on      = [terraform_data.quick]
  create_duration = "{seconds}s"
}}
"#
    )
}

fn eight_stacks(layout: Layout) -> Project {
    (1..=8).fold(mirrored(layout), |project, number| {
        project.stack(&format!("01-a/s{number}"), &sleeper(VERSION, 1))
    })
}

fn inits(project: &Project) -> Vec<String> {
    let events = project.newest_events();
    let events = events.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let inits = events.filter(|event| event["type"] == "step_started" && event["step"] == "init");
    inits.map(|event| event["stack"].as_str().unwrap().to_owned()).collect()
}

/// Returns the paths below a folder that hold the provider itself, without following links.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(programs(&path));
        } else if kind.is_file() && entry.file_name().to_string_lossy().starts_with("terraform-provider-") {
            found.push(path);
        }
    }
    found
}

#[test]
fn cold_stacks_side_by_side_share_one_cache_of_providers() {
    let project = eight_stacks(Layout::Packed);
    let cache = project.root().with_file_name("cache");

    project.run("plan --all --parallelism 4").succeeds();

    let [program] = &programs(&cache)[..] else { panic!("{:?}", programs(&cache)) };
    assert_eq!(programs(&project.path("infrastructure")), Vec::<PathBuf>::new());
    let package = program.parent().unwrap();
    let below = package.ancestors().nth(5).unwrap();
    for number in 1..=8 {
        let providers = project.path(&format!("infrastructure/01-a/s{number}/.terraform/providers"));
        let link = providers.join(package.strip_prefix(below).unwrap());
        assert_eq!(std::fs::read_link(&link).unwrap(), package, "{}", link.display());
    }
}

#[test]
fn a_mirror_that_can_be_used_in_place_is_not_copied() {
    let project = eight_stacks(Layout::Unpacked);
    let outside = project.root().parent().unwrap();

    project.run("plan --all --parallelism 4").succeeds();

    assert_eq!(programs(outside).len(), 1, "{:?}", programs(outside));
}

#[test]
fn init_runs_again_only_where_a_constraint_or_a_lock_file_changed() {
    let project = eight_stacks(Layout::Packed);
    project.run("plan --all --parallelism 4").succeeds();
    assert_eq!(inits(&project).len(), 8);
    project.run("plan --all --parallelism 4").succeeds();
    assert_eq!(inits(&project), Vec::<String>::new());

    project.write("infrastructure/01-a/s2/main.tf", &sleeper(">= 0.14.0", 1));
    let lock = project.path("infrastructure/01-a/s5/.terraform.lock.hcl");
    std::fs::write(&lock, std::fs::read_to_string(&lock).unwrap().replace("constraints", "# constraints"))
        .unwrap();
    project.run("plan --all --parallelism 1").succeeds();

    let mut again = inits(&project);
    again.sort();
    assert_eq!(again, ["01-a/s2", "01-a/s5"]);
}

#[test]
fn a_lock_file_of_another_version_is_an_error_with_the_way_out() {
    let project = eight_stacks(Layout::Packed);
    project.run("init s1").succeeds();
    let lock = project.read("infrastructure/01-a/s1/.terraform.lock.hcl");

    project.write("infrastructure/01-a/s1/main.tf", &sleeper(&format!("< {VERSION}"), 1));
    let run = project.run("plan s1").exits(1);

    run.stderr_has("< 0.14.2").stderr_has("hint: ").stderr_has("01-a/s1");
    assert_eq!(project.read("infrastructure/01-a/s1/.terraform.lock.hcl"), lock);
}

#[test]
fn stacks_of_one_layer_are_made_at_the_same_time() {
    let project = mirrored(Layout::Unpacked)
        .stack("01-a/x", &sleeper(VERSION, 5))
        .stack("01-a/y", &sleeper(VERSION, 5))
        .stack("01-a/z", &sleeper(VERSION, 5));
    // Only the making is to be compared, not the way there.
    project.run("plan --all --parallelism 3").succeeds();

    project.run("apply --all --yes --parallelism 3").succeeds();

    let events = project.newest_events();
    let place = |text: String| events.find(&text).unwrap_or_else(|| panic!("no {text}\n{events}"));
    let stacks = ["01-a/x", "01-a/y", "01-a/z"];
    let began = stacks.map(|id| place(format!(r#""type":"step_started","stack":"{id}","step":"apply""#)));
    let ended = stacks.map(|id| place(format!(r#""type":"stack_finished","report":{{"id":"{id}""#)));
    assert!(began.iter().max() < ended.iter().min(), "{began:?} {ended:?}");
}

#[test]
fn ctrl_c_while_a_provider_works_leaves_no_process_and_no_lock_and_saves_the_state() {
    let project = mirrored(Layout::Unpacked).stack("01-a/x", &sleeper(VERSION, 600));
    let person = AtTerminal::start(project.command("apply --yes"));

    person.sees("time_sleep.slow: Creating...");
    let provider = |process: &processes::Process| process.words[0].contains("terraform-provider-time");
    assert!(processes::about(project.root()).iter().any(provider));
    kill(person.pid(), Signal::SIGINT).unwrap();
    let (code, screen) = person.wait();

    assert_eq!(code, Some(130), "{screen}");
    wait_until("nothing runs", || processes::about(project.root()).is_empty());
    assert!(project.locks().is_empty());
    assert!(project.resources("x").contains(&"terraform_data.quick".to_owned()));
}

#[test]
fn a_killed_run_takes_its_providers_with_it() {
    let project = mirrored(Layout::Unpacked).stack("01-a/x", &sleeper(VERSION, 600));
    let person = AtTerminal::start(project.command("apply --yes"));

    person.sees("time_sleep.slow: Creating...");
    kill(person.pid(), Signal::SIGKILL).unwrap();
    person.wait();

    wait_until("nothing runs", || processes::about(project.root()).is_empty());
    assert_eq!(project.locks()[0]["alive"], false);
    project.run("force-unlock x --yes").succeeds();
    project.run("state push x --errored").succeeds();
    assert!(project.resources("x").contains(&"terraform_data.quick".to_owned()));
}

#[test]
fn a_version_that_is_not_to_be_had_stops_only_its_own_stack() {
    let project = mirrored(Layout::Packed)
        .stack("01-a/good", &sleeper(VERSION, 1))
        .stack("01-a/wrong", &sleeper("9.9.9", 1))
        .stack("01-a/fine", &sleeper(VERSION, 1));

    let run = project.run("plan --all --json --parallelism 2").exits(1);

    assert_eq!(run.result_of("01-a/wrong"), "failed");
    assert_eq!(
        (run.result_of("01-a/good"), run.result_of("01-a/fine")),
        ("succeeded".into(), "succeeded".into())
    );
    run.stderr_has("no available releases match the given constraints 9.9.9")
        .stderr_has("check its source and version in `infrastructure/01-a/wrong`");
}
