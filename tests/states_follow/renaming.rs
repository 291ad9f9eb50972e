//! Stacks that get another name, and what must not happen to their resources.

use super::support::terminal::AtTerminal;
use super::*;

/// A stack with a resource that no other stack declares.
fn with(resource: &str) -> String {
    SIMPLE.replace("thing", resource)
}

fn renamed() -> Project {
    let project = Project::new().stack("01-a/net", &with("net")).stack("02-b/web", &with("web"));
    project.run("apply --all --yes").succeeds();
    rename_folder(&project);
    project
}

fn rename_folder(project: &Project) {
    std::fs::rename(project.path("infrastructure/01-a/net"), project.path("infrastructure/01-a/network"))
        .unwrap();
}

#[test]
fn a_renamed_folder_is_noticed_and_the_state_goes_along_by_one_command() {
    let project = renamed();

    let told = project.run("plan --all").exits(65).stderr_has("error[stack-renamed]");
    let told = told.stderr_has("seems to be the former `01-a/net`");
    assert_eq!(code_of(&project.run("apply --all --yes --json").exits(65), "01-a/network"), "stack-renamed");
    let advice = told.advice("state rename");
    assert_eq!(advice, "state rename 01-a/net 01-a/network");
    project.run(&advice).exits(64);
    project.run(&format!("{advice} --yes")).succeeds().stderr_has("has the state of `01-a/net` now");

    unchanged(&project);
    assert_eq!(entry(&project, "01-a/net"), None);
    assert!(entry(&project, "01-a/network").is_some());
    project.run("plan --all").succeeds().stderr_lacks("removed from the tree");
    // What was last applied went along too.
    remove_dir(&project.path("infrastructure/01-a"));
    project.run("destroy --removed --yes").succeeds().stdout_has("terraform_data.net");
}

#[test]
fn nothing_of_a_renamed_stack_is_destroyed_as_removed() {
    let project = renamed();

    project.run("destroy --removed --yes").exits(65).stderr_has("error[stack-renamed]");
    project.run("state rename 01-a/net 01-a/network --yes").succeeds();
    project.run("destroy --removed --yes").succeeds().stderr_has("no stack was removed");
    unchanged(&project);
}

#[test]
fn a_removed_stack_that_looks_renamed_is_destroyed_if_it_is_named() {
    let project = renamed();
    let told = project.run("destroy --removed --yes").exits(65);

    project.run(&format!("{} --yes", told.advice("destroy --removed"))).succeeds();
    project.run("plan network --detailed-exitcode").exits(2);
}

#[test]
fn a_former_id_in_the_configuration_is_read_by_plans_and_moved_by_apply() {
    let project = renamed();
    project.write("infra.yaml", "name: lab\nstacks:\n  \"01-a/network\": { was: \"01-a/net\" }\n");

    unchanged(&project);
    project.run("output network").succeeds().stdout_has("net");
    project.run("state list network").succeeds().stdout_has("terraform_data.net");
    assert!(entry(&project, "01-a/net").is_some(), "a plan moved the state");
    project.run("apply --all --yes").succeeds();
    assert_eq!(entry(&project, "01-a/net"), None);
    assert!(entry(&project, "01-a/network").is_some());
    unchanged(&project);
    project.run("apply --all --yes").succeeds().stderr_lacks("has the state of");
}

#[test]
fn a_former_id_that_is_a_stack_or_a_pattern_is_refused() {
    let project = applied();
    for (config, words) in [
        ("  \"01-a/net\": { was: \"02-b/web\" }\n", "is a stack"),
        ("  \"01-a/*\": { was: \"01-a/old\" }\n", "several stacks"),
        ("  \"01-a/net\": { was: \"01-a/net\" }\n", "is the id that it has"),
        ("  \"01-a/net\": { was: \"x\" }\n  \"02-b/web\": { was: \"x\" }\n", "cannot both have been"),
    ] {
        project.write("infra.yaml", &format!("name: lab\nstacks:\n{config}"));
        project.run("plan --all").exits(65).stderr_has(words);
    }
}

#[test]
fn a_person_is_asked_whether_it_is_the_former_stack() {
    let project = renamed();

    let mut asked = AtTerminal::start(project.command("plan network"));
    asked.sees("Is `01-a/network` the former `01-a/net`?");
    asked.types("y");
    let (code, screen) = asked.wait();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("no changes") || screen.contains("without changes"), "{screen}");
    assert!(entry(&project, "01-a/net").is_some(), "a plan moved the state");

    let mut asked = AtTerminal::start(project.command("apply network"));
    asked.sees("Is `01-a/network` the former `01-a/net`?");
    asked.types("y");
    let (code, screen) = asked.wait();
    assert_eq!(code, Some(0), "{screen}");
    assert!(entry(&project, "01-a/network").is_some());
}

#[test]
fn a_new_stack_beside_a_removed_one_is_no_rename_if_it_is_another() {
    let project = Project::new().stack("01-a/net", &with("net"));
    project.run("apply --all --yes").succeeds();
    remove_dir(&project.path("infrastructure/01-a/net"));
    project.write("infrastructure/01-a/dns/main.tf", &with("dns"));

    project.run("apply dns --yes").succeeds().stderr_has("removed from the tree");
}

#[test]
fn whoever_says_that_it_is_another_is_not_asked_again() {
    let project = renamed();

    let told = project.run("plan network").exits(65);
    project.run(&format!("{} --yes", told.advice("state forget"))).succeeds().stderr_has("left behind");
    project.run("plan network --detailed-exitcode").exits(2);
    project.run("plan --all").stderr_lacks("removed from the tree");
}

#[test]
fn several_candidates_are_listed_and_none_is_proposed() {
    let project = Project::new().stack("01-a/one", SIMPLE).stack("01-a/two", SIMPLE);
    project.run("apply --all --yes").succeeds();
    for stack in ["one", "two"] {
        remove_dir(&project.path(&format!("infrastructure/01-a/{stack}")));
    }
    project.write("infrastructure/01-a/three/main.tf", SIMPLE);

    project.run("plan three").exits(65).stderr_has("01-a/one").stderr_has("01-a/two");
    let asked = AtTerminal::start(project.command("plan three"));
    let (code, screen) = asked.wait();
    assert_eq!(code, Some(65), "{screen}");
}

#[test]
fn a_name_that_went_away_can_be_used_again_and_taken_back() {
    let project = renamed();
    project.run("state rename 01-a/net 01-a/network --yes").succeeds();

    // Another stack of the old name does not go on with what is left there.
    project.write("infrastructure/01-a/net/main.tf", &with("fresh"));
    let told = project.run("plan 01-a/net").exits(65).stderr_has("error[state-elsewhere]");
    project.run(&format!("{} --yes", told.advice("state forget"))).succeeds();
    project.run("plan 01-a/net --detailed-exitcode").exits(2);
    remove_dir(&project.path("infrastructure/01-a/net"));

    // The folder gets its old name back.
    std::fs::rename(project.path("infrastructure/01-a/network"), project.path("infrastructure/01-a/net"))
        .unwrap();
    project.run("state rename 01-a/network 01-a/net --yes").succeeds();
    unchanged(&project);
}

#[test]
fn a_rename_that_git_knows_is_noticed_even_if_the_resources_changed() {
    let project = Project::new().stack("01-a/net", &with("net"));
    project.run("apply --all --yes").succeeds();
    committed(&project);
    project.git(&["mv", "infrastructure/01-a/net", "infrastructure/01-a/network"]);
    let more = format!("{}\nresource \"terraform_data\" \"more\" {{}}\n", with("net"));
    project.write("infrastructure/01-a/network/main.tf", &more);
    project.git(&["commit", "-qam", "renamed"]);

    let told = project.run("plan network").exits(65).stderr_has("git calls its files renamed");
    project.run(&format!("{} --yes", told.advice("state rename"))).succeeds();
    let planned = project.run("plan network --json").succeeds().json();
    assert_eq!((&planned["stacks"][0]["add"], &planned["stacks"][0]["destroy"]), (&1.into(), &0.into()));
}

#[test]
fn an_interrupted_run_of_the_old_name_is_resumed_under_the_new_one() {
    let failing = with("net").replace("\"one\"", "fileexists(\"go\") ? \"one\" : file(\"missing\")");
    let project = Project::new().stack("01-a/net", &with("net")).stack("02-b/web", &with("web"));
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/01-a/net/main.tf", &failing);
    project.run("apply --all --yes").exits(1);
    rename_folder(&project);
    project.run("state rename 01-a/net 01-a/network --yes").succeeds();
    project.write("infrastructure/01-a/network/main.tf", &with("net"));

    let resumed = project.run("apply --resume --yes --json").succeeds();
    assert_eq!(resumed.result_of("01-a/network"), "no_changes");
}

#[test]
fn a_stack_that_lives_on_under_another_name_is_not_called_removed() {
    let project = applied();
    let folders = ["infrastructure/01-a/net", "infrastructure/01-a/network"].map(|path| project.path(path));
    std::fs::rename(&folders[0], &folders[1]).unwrap();

    // It looks like a rename, and nobody decided yet.
    project
        .run("plan --all")
        .exits(65)
        .stderr_has("error[stack-renamed]")
        .stderr_lacks("removed from the tree");
    project.write("infra.yaml", "stacks: { \"01-a/network\": { was: \"01-a/net\" } }\n");
    project.run("plan --all").succeeds().stderr_lacks("removed from the tree");
    project.run("stacks --removed").succeeds().stderr_has("no stack was removed");
    project.run("apply --all --yes").succeeds().stderr_lacks("removed from the tree");
    unchanged(&project);
}
