//! `infra doctor` calls nothing fine that a plan would refuse.

use super::*;

/// What stands still in a plan is told by doctor, with a way that is not refused.
fn is_told(project: &Project, words: &str) -> String {
    project.run("plan --all").exits(65);
    let told = project.run("doctor").stdout_lacks("all where they should be").stdout_has(words);
    told.stdout.lines().filter(|line| !line.starts_with("PASS")).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_old_checkout_whose_states_went_elsewhere_is_told() {
    let project = applied();
    configure(&project, "{ store: ../states }");
    // They are where they were, and missing at the new place.
    let waiting = is_told(&project, "was not moved");
    assert_eq!(waiting.matches("was not moved").count(), 1, "{waiting}");
    assert!(waiting.contains("`01-a/net`, `02-b/web`"), "{waiting}");
    assert!(waiting.contains("`infra state migrate --all`") && !waiting.contains("that is not there"));
    project.run("state migrate --all --yes").succeeds();
    project.run("doctor").succeeds().stdout_has("PASS  states");

    configure(&project, "{}");
    let moved = is_told(&project, "/../states`");
    assert!(moved.contains("git pull"), "{moved}");
    assert!(!moved.contains("only this machine") && !moved.contains("is locked by"), "{moved}");
    project.run("doctor").stdout_lacks("is locked by");
}

#[test]
fn a_renamed_folder_and_a_state_of_another_project_are_told() {
    let project = applied();
    let folders = ["infrastructure/01-a/net", "infrastructure/01-a/network"].map(|path| project.path(path));
    std::fs::rename(&folders[0], &folders[1]).unwrap();
    assert!(is_told(&project, "seems to be the former").contains("infra state rename 01-a/net 01-a/network"));

    let one = Project::new().stack("01-a/net", SIMPLE).stack("01-a/dns", SIMPLE);
    let store = one.path("../states").display().to_string();
    one.write("infra.yaml", &format!("name: one\nstate: {{ store: \"{store}\" }}\n"));
    one.run("apply --all --yes").succeeds();
    one.write("infra.yaml", &format!("name: other\nstate: {{ store: \"{store}\" }}\n"));
    let shared = is_told(&one, "belongs to the project `one`");
    assert!(shared.contains("infra state adopt --all"), "{shared}");
}

#[test]
fn a_second_clone_is_told_of_the_checkout_that_has_the_states_and_of_the_way_that_works() {
    let project = applied();
    committed(&project);
    let clone = cloned(&project);

    let root = project.root().display().to_string();
    let told = is_told(&clone, "is in another checkout");
    assert!(told.contains(&root) && told.contains("state: { store: … }"), "{told}");
    assert!(!told.contains("infra state recover 01-a/net`"), "{told}");
}

#[test]
fn a_share_that_is_not_mounted_is_told_once_with_both_ways_on() {
    let project = Project::new().stack("01-a/net", SIMPLE).stack("02-b/web", SIMPLE);
    configure(&project, "{ store: ../share }");
    project.run("apply --all --yes").succeeds();
    let share = project.path("../share");
    std::fs::rename(&share, project.path("../unmounted")).unwrap();

    let told = is_told(&project, "mount it");
    assert_eq!(told.matches("mount it").count(), 1, "{told}");
    assert!(told.contains("mkdir") && !told.contains("infra state forget"), "{told}");
    // An empty folder may be where a share belongs, or all that is left.
    std::fs::create_dir(&share).unwrap();
    is_told(&project, "mount it");
    project.run("state recover --all --yes").succeeds();
    unchanged(&project);
    project.run("doctor").succeeds().stdout_has("PASS  states");
}

#[test]
fn a_server_that_is_down_is_no_place_where_all_is_fine() {
    let project = applied();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    configure(&project, &format!("{{ url: \"http://127.0.0.1:{port}/states\" }}"));

    let told = project.run("doctor").exits(1).stdout_lacks("all where they should be");
    let failed = told.stdout.lines().filter(|line| line.starts_with("FAIL")).count();
    assert_eq!(failed, 1, "{}", told.stdout);
}

#[test]
fn a_lock_file_that_git_does_not_have_is_told() {
    let project = Project::new().stack("01-a/net", SIMPLE);
    committed(&project);
    configure(&project, "{ store: ../states }");
    project.run("apply net --yes").succeeds();

    project.run("doctor").succeeds().stdout_has("infra.lock is not in git").stdout_has("git add infra.lock");
    project.git(&["add", "infra.lock"]);
    project.run("doctor").succeeds().stdout_lacks("not in git").stdout_has("PASS  states");
    project.git(&["rm", "-q", "--cached", "infra.lock"]);
    project.write(".gitignore", "infra.lock\n");
    project.run("doctor").succeeds().stdout_lacks("not in git");
}

#[test]
fn what_was_edited_and_not_rendered_is_told() {
    let project = Project::new();
    project.write("cluster.yaml", "name: lab\n");
    project.write("infra.yaml", "configure: { data: [cluster.yaml], inputs: [templates] }\n");
    project.write("templates/infrastructure/01-a/net/main.tf.j2", &SIMPLE.replace("one", "#{ name }#"));
    project.run("configure").succeeds();
    project.run("doctor").stdout_lacks("changed since");

    project.write("cluster.yaml", "name: other\n");
    project.run("doctor").stdout_has("cluster.yaml changed since").stdout_has("`infra configure`");
}
