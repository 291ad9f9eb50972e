//! Ways in which something would be made twice, or two checkouts would go on with one state.

use super::support::terminal::AtTerminal;
use super::*;

fn with(resource: &str) -> String {
    SIMPLE.replace("thing", resource)
}

/// Writes an `infra.yaml` of a project with this name, on this store.
fn named(project: &Project, name: &str, store: &str) {
    project.write("infra.yaml", &format!("name: {name}\nstate: {{ store: \"{store}\" }}\n"));
}

#[test]
fn a_state_keeps_the_name_of_its_project_whatever_moves_it() {
    let one = Project::new().stack("01-a/net", &with("net"));
    one.write("infra.yaml", "name: one\n");
    one.run("apply --all --yes").succeeds();
    let store = one.path("../states").display().to_string();
    named(&one, "one", &store);
    one.run("state migrate --all --yes").succeeds();
    let other = Project::new().stack("01-a/net", &with("other"));
    named(&other, "other", &store);
    let refused = |args: &str| other.run(args).exits(65).stderr_has("error[state-shared]");

    refused("apply --all --yes");
    // Nor can another project take it away by another name, give it up or write over it.
    std::fs::rename(other.path("infrastructure/01-a/net"), other.path("infrastructure/01-a/mine")).unwrap();
    refused("state rename 01-a/net 01-a/mine --yes");
    other.run("state forget 01-a/net --yes").succeeds();
    other.run("plan --all").stderr_lacks("infra state rename").stderr_lacks("removed from the tree");
    unchanged(&one);

    std::fs::rename(one.path("infrastructure/01-a/net"), one.path("infrastructure/01-a/mine")).unwrap();
    one.run("state rename 01-a/net 01-a/mine --yes").succeeds();
    refused("plan mine");
    unchanged(&one);
}

#[test]
fn a_copy_of_somebody_elses_project_gives_up_nothing_of_theirs() {
    let project = applied();
    let store = project.path("../states").display().to_string();
    named(&project, "lab", &store);
    project.run("state migrate --all --yes").succeeds();
    committed(&project);
    let fork = cloned(&project);
    remove_dir(&fork.path("infrastructure/02-b"));
    named(&fork, "fork", &fork.path("../own").display().to_string());

    fork.run("state forget --all --yes").succeeds();

    unchanged(&project);
    fork.run("plan --all --detailed-exitcode").exits(2);
}

#[test]
fn a_move_back_that_fails_opens_nothing() {
    let project = applied();
    configure(&project, "{ store: ../states }");
    project.run("state migrate --all --yes").succeeds();
    project.write(
        "infrastructure/01-a/net/main.tf",
        &format!("{SIMPLE}\nresource \"terraform_data\" \"more\" {{}}\n"),
    );
    project.run("apply --all --yes").succeeds();
    configure(&project, "{}");
    let log = project.path("../states/01-a/net/@log");
    let newest = std::fs::read_dir(&log).unwrap().flatten().map(|entry| entry.path()).max().unwrap();
    std::fs::write(newest, "garbage").unwrap();

    project.run("state migrate --all --from ../states --yes").exits(65);

    project.run("plan net").exits(65).stderr_has("was moved to");
    project.run("plan web --detailed-exitcode").succeeds();
}

#[test]
fn a_copy_of_a_checkout_does_not_go_on_with_what_it_has_of_a_moved_state() {
    let project = applied();
    let copy = Project::named("copy");
    remove_dir(copy.root());
    let done = Command::new("cp").arg("-a").arg(project.root()).arg(copy.root()).status();
    assert!(done.unwrap().success());
    let store = project.path("../states").display().to_string();
    named(&project, "lab", &store);
    project.run("state migrate --all --yes").succeeds();

    // It took over infra.lock, but not infra.yaml.
    copy.write("infra.lock", &project.read("infra.lock"));
    let told = copy.run("plan net").exits(65).stderr_has("error[state-not-moved]");
    told.stderr_has("is a copy");
    named(&copy, "lab", &store);
    unchanged(&copy);
}

#[test]
fn what_is_taken_from_another_checkout_is_moved_and_not_doubled() {
    let project = applied();
    committed(&project);
    let clone = cloned(&project);
    let from = project.root().display().to_string();

    let refused = clone.run(&format!("state recover net --from {from} --yes")).exits(1);
    clone.run(&format!("{} --yes", refused.advice("--force"))).succeeds();
    clone.run(&format!("state recover --all --from {from} --force --yes")).succeeds();

    unchanged(&clone);
    project.run("apply --all --yes").exits(65).stderr_has("was moved to");
}

#[test]
fn one_copy_is_put_back_into_one_checkout_only() {
    let project = applied();
    committed(&project);
    let clone = cloned(&project);
    project.git(&["clean", "-fdxq"]);

    clone.run("state recover --all --yes").succeeds();

    project.run("state recover --all --yes").exits(1).stderr_has("another checkout still has the state");
}

#[test]
fn a_moved_state_is_not_revived_from_a_copy() {
    let project = applied();
    committed(&project);
    let clone = cloned(&project);
    configure(&project, "{ store: ../states }");
    project.run("state migrate --all --yes").succeeds();

    clone.run("state recover net --yes").exits(1).stderr_has("it was moved to");
    clone.run("plan net").exits(65);
}

#[test]
fn a_clone_after_a_rename_that_nobody_applied_makes_nothing_again() {
    let project = Project::new().stack("01-a/net", &with("net"));
    project.run("apply --all --yes").succeeds();
    committed(&project);
    project.git(&["mv", "infrastructure/01-a/net", "infrastructure/01-a/network"]);
    project.git(&["commit", "-qm", "renamed"]);
    let clone = cloned(&project);

    clone
        .run("apply --all --yes")
        .exits(65)
        .stderr_has("error[stack-renamed]")
        .stderr_has("its state is not here");
    // The same in the checkout itself, once it is cleaned; there a copy brings it back.
    project.git(&["clean", "-fdxq"]);
    let told = project.run("apply --all --yes").exits(65);
    project.run(&format!("{} --yes", told.advice("state recover"))).succeeds();
    project.run(&format!("{} --yes", told.advice("state rename"))).succeeds();
    unchanged(&project);
}

#[test]
fn a_rename_and_a_new_store_in_one_step_are_both_noticed() {
    let project = Project::new().stack("01-a/net", &with("net"));
    project.run("apply --all --yes").succeeds();
    committed(&project);
    project.git(&["mv", "infrastructure/01-a/net", "infrastructure/01-a/network"]);
    configure(&project, "{ store: ../states }");

    let told = project.run("apply --all --yes").exits(65).stderr_has("error[stack-renamed]");
    project.run(&format!("{} --yes", told.advice("state migrate"))).succeeds();
    project.run(&format!("{} --yes", told.advice("state rename"))).succeeds();
    unchanged(&project);
}

#[test]
fn a_state_that_cannot_be_read_hides_no_rename() {
    let project = Project::new().stack("01-a/net", &with("net")).stack("01-a/old", &with("old"));
    project.run("apply --all --yes").succeeds();
    committed(&project);
    remove_dir(&project.path("infrastructure/01-a/old"));
    project.git(&["mv", "infrastructure/01-a/net", "infrastructure/01-a/network"]);
    let log = project.path(".infra/state/01-a/old/@log");
    let newest = std::fs::read_dir(&log).unwrap().flatten().map(|entry| entry.path()).max().unwrap();
    std::fs::write(newest, "garbage").unwrap();

    project.run("apply network --yes").exits(65).stderr_has("error[stack-renamed]");
}

#[test]
fn what_git_calls_renamed_is_not_destroyed_as_removed() {
    let project = Project::new().stack("01-a/net", &with("net"));
    project.run("apply --all --yes").succeeds();
    committed(&project);
    project.git(&["mv", "infrastructure/01-a/net", "infrastructure/01-a/network"]);
    let moved = with("net")
        .replace("\"terraform_data\" \"net\"", "\"terraform_data\" \"mesh\"")
        .replace("data.net", "data.mesh");
    project.write("infrastructure/01-a/network/main.tf", &moved);
    project.git(&["commit", "-qam", "renamed"]);
    project.run("plan network").exits(65).stderr_has("git calls its files renamed");

    project.run("destroy --removed --yes").exits(65).stderr_has("error[stack-renamed]");
}

#[test]
fn a_mere_enter_is_no_yes_to_making_everything_again() {
    let project = Project::new().stack("01-a/net", &with("net"));
    project.run("apply --all --yes").succeeds();
    std::fs::rename(project.path("infrastructure/01-a/net"), project.path("infrastructure/01-a/network"))
        .unwrap();

    let mut asked = AtTerminal::start(project.command("apply network --yes"));
    asked.sees("Is `01-a/network` the former `01-a/net`?");
    asked.types("");
    let (code, screen) = asked.wait();

    assert_eq!(code, Some(65), "{screen}");
    assert!(screen.contains("infra state forget 01-a/net"), "{screen}");
}

#[test]
fn a_former_id_survives_init_and_a_no_to_the_plan() {
    let project = Project::new().stack("01-a/net", &with("net"));
    project.run("apply --all --yes").succeeds();
    std::fs::rename(project.path("infrastructure/01-a/net"), project.path("infrastructure/01-a/network"))
        .unwrap();
    project.write("infra.yaml", "name: lab\nstacks:\n  \"01-a/network\": { was: \"01-a/net\" }\n");

    project.run("init --all").succeeds();
    unchanged(&project);
    project.write("infrastructure/01-a/network/main.tf", &with("net").replace("one", "two"));
    let mut asked = AtTerminal::start(project.command("apply network"));
    asked.sees("[y/N]");
    asked.types("n");
    let (code, screen) = asked.wait();
    assert_eq!(code, Some(1), "{screen}");
    assert!(entry(&project, "01-a/net").is_some(), "a no moved the state");
    project.run("apply network --yes").succeeds().stderr_has("has the state of `01-a/net` now");
    assert!(entry(&project, "01-a/network").is_some());
}

#[test]
fn a_state_goes_to_a_block_of_its_own_and_comes_back() {
    let project = applied();
    let before = identity(&project, "01-a/net");

    project.run("state migrate net --to local --yes").succeeds().stderr_has("infra.lock changed");
    unchanged(&project);
    assert_eq!(entry(&project, "01-a/net"), None);
    project.run("state migrate net --to embedded --yes").succeeds().stderr_has("infra.lock changed");
    unchanged(&project);
    assert_eq!(identity(&project, "01-a/net"), before);
}

#[test]
fn what_others_stand_on_is_not_destroyed_while_their_state_is_elsewhere() {
    let project = Project::new()
        .stack("01-a/net", SIMPLE)
        .stack("02-b/web", SIMPLE)
        .config("name: lab\nstacks:\n  \"02-b/web\": { depends_on: [\"01-a/net\"] }\n");
    project.run("apply --all --yes").succeeds();
    remove_dir(&project.path(".infra/state/02-b"));

    project.run("destroy net --yes").exits(65).stderr_has("error[has-dependents]");
}

#[test]
fn a_destroyed_stack_is_not_missed_by_anybody() {
    let project = applied();
    std::fs::remove_file(project.path("infra.lock")).unwrap();

    project.run("destroy --all --yes").succeeds();
    project.run("init --all").succeeds();

    assert_eq!((entry(&project, "01-a/net"), entry(&project, "02-b/web")), (None, None));
}

#[test]
fn a_second_rename_of_the_same_state_says_where_it_is_now() {
    let project = Project::new().stack("01-a/a", &with("a"));
    project.run("apply --all --yes").succeeds();
    for (old, new) in [("a", "b"), ("b", "c")] {
        let path = |name: &str| project.path(&format!("infrastructure/01-a/{name}"));
        std::fs::rename(path(old), path(new)).unwrap();
        project.run(&format!("state rename 01-a/{old} 01-a/{new} --yes")).succeeds();
    }
    project.write("infrastructure/01-a/d/main.tf", &with("d"));

    project.run("state rename 01-a/a 01-a/d --yes").exits(65);
    project.write("infrastructure/01-a/a/main.tf", &with("a"));
    project.run("plan 01-a/a").exits(65).stderr_has("was moved to `the stack 01-a/c`");
}

#[test]
fn a_list_of_states_leaves_out_what_is_elsewhere_and_shows_the_rest() {
    let project = applied();
    remove_dir(&project.path(".infra/state/01-a"));

    for command in ["output --all", "state list --all", "show --all"] {
        let shown = project.run(command).exits(65).stderr_has("error[state-elsewhere]");
        shown.stdout_has("thing");
    }
}

#[test]
fn what_was_applied_in_this_folder_before_anything_was_committed_is_told() {
    let project = applied();
    remove_dir(&project.path(".infra"));
    std::fs::remove_file(project.path("infra.lock")).unwrap();

    let told = project.run("plan net").succeeds().stderr_has("was applied in this folder before");
    project.run(&format!("{} --yes", told.advice("state recover"))).succeeds();
    project.run("plan net --detailed-exitcode").succeeds().stderr_lacks("before");
}
