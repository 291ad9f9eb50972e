//! States on their way from one place to another, and lost ones on their way back.

use super::minio::{self, minio};
use super::served::{PASSWORD, Served, USER};
use super::*;

#[test]
fn a_shared_store_gets_the_states_by_one_command_before_anything_is_made_twice() {
    let project = applied();
    let before = identity(&project, "01-a/net");
    configure(&project, "{ store: ../states }");

    let refused = project.run("apply --all --yes --json").exits(65);
    assert_eq!(code_of(&refused, "01-a/net"), "state-not-moved");
    assert_eq!(code_of(&refused, "02-b/web"), "state-not-moved");
    let told = project.run("plan --all").exits(65).stderr_has("error[state-not-moved]");
    let advice = told.advice("state migrate");
    assert_eq!(advice, "state migrate --all");
    project.run(&advice).exits(64).stderr_has("--yes");
    project.run(&format!("{advice} --yes")).succeeds().stderr_has("moved `01-a/net` to `../states`");

    assert_eq!(identity(&project, "01-a/net"), before);
    unchanged(&project);
    assert!(entry(&project, "01-a/net").unwrap().contains("kept: \"../states\""));
    project.run("state migrate --all --yes").succeeds().stderr_has("no state is waiting");
}

#[test]
fn versions_go_along_and_an_old_checkout_cannot_go_on_with_what_stays() {
    let project = applied();
    for value in ["two", "three"] {
        project.write("infrastructure/01-a/net/main.tf", &SIMPLE.replace("one", value));
        project.run("apply net --yes").succeeds();
    }
    let versions = project.run("state history net --json").succeeds().json().as_array().unwrap().len();
    configure(&project, "{ store: ../states }");
    project.run("state migrate --all --yes").succeeds();
    let moved = project.run("state history net --json").succeeds().json();
    assert_eq!(moved.as_array().unwrap().len(), versions);

    // The commit that shared the states is taken back, as an old checkout has it.
    configure(&project, "{}");
    let old = project.run("plan net").exits(65).stderr_has("error[state-elsewhere]");
    let old = old.stderr_has("/../states`");
    project.run("state list net").exits(65).stderr_has("was moved to");
    project.run("force-unlock net --yes").exits(65).stderr_has("was moved to");
    project.run(&format!("{} --yes", old.advice("state migrate"))).succeeds();
    project.run("plan net --detailed-exitcode").succeeds();
    // The other one stays where it was moved to.
    project.run("plan web").exits(65).stderr_has("was moved to");
}

#[test]
fn a_project_grows_from_a_folder_to_a_bucket_to_a_server_and_nothing_is_made_twice() {
    let server = minio();
    let served = Served::start();
    let project = applied()
        .env("AWS_ACCESS_KEY_ID", minio::USER)
        .env("AWS_SECRET_ACCESS_KEY", minio::PASSWORD)
        .env("TF_HTTP_USERNAME", USER)
        .env("TF_HTTP_PASSWORD", PASSWORD);
    let before = identity(&project, "01-a/net");
    let bucket = server.fresh_url();

    configure(&project, &format!("{{ store: \"{bucket}\" }}"));
    project.run("plan --all").exits(65).stderr_has("error[state-not-moved]");
    project.run("state migrate --all --yes").succeeds();
    unchanged(&project);

    configure(&project, &format!("{{ url: \"http://{}/states\" }}", served.address));
    let told = project.run("plan --all").exits(65).stderr_has("error[state-not-moved]");
    // Nobody said yes to the bucket by name.
    project.run("state migrate --all --yes").exits(64).stderr_has("only `infra.lock` names");
    let advice = told.advice("state migrate").replace('\'', "");
    project.run(&format!("{advice} --yes")).succeeds();
    unchanged(&project);
    assert_eq!(identity(&project, "01-a/net"), before);

    configure(&project, "{ store: ../back }");
    let from = format!("http://{}/states", served.address);
    project.run(&format!("state migrate --all --from {from} --yes")).succeeds();
    unchanged(&project);
    assert_eq!(identity(&project, "02-b/web").1, 1);
    // The server tells whoever still asks it.
    configure(&project, &format!("{{ url: \"{from}\" }}"));
    project.run("plan web").exits(65).stderr_has("/../back`");
}

#[test]
fn a_share_that_is_not_mounted_is_no_empty_store() {
    let project = Project::new().stack("01-a/net", SIMPLE).stack("02-b/new", SIMPLE);
    configure(&project, "{ store: ../share }");
    project.run("apply net --yes").succeeds();
    let share = project.path("../share");
    std::fs::rename(&share, project.path("../unmounted")).unwrap();

    let refused = project.run("plan --all --json").exits(65);
    assert_eq!(code_of(&refused, "01-a/net"), "state-elsewhere");
    assert_eq!(code_of(&refused, "02-b/new"), "state-elsewhere");
    project.run("output net").exits(65).stderr_has("mount it");
    project.run("validate --all").succeeds();
    assert!(!share.exists(), "the folder of the share was made");

    std::fs::rename(project.path("../unmounted"), &share).unwrap();
    project.run("plan net --detailed-exitcode").succeeds();
}

#[test]
fn a_cleaned_checkout_gets_its_states_back_from_this_machine() {
    let project = applied();
    let before = identity(&project, "01-a/net");
    committed(&project);
    project.git(&["clean", "-fdxq"]);
    assert!(!project.has(".infra"));

    let told = project.run("apply --all --yes").exits(65).stderr_has("error[state-elsewhere]");
    let told = told.stderr_has("a safety copy: serial 1");
    project.run("output --all").exits(65).stderr_has("error[state-elsewhere]");
    project.run("state list net").exits(65).stderr_has("error[state-elsewhere]").stderr_lacks("no resources");
    project.run("show net").exits(65).stderr_has("error[state-elsewhere]");
    project.run(&told.advice("state recover")).exits(64);
    project.run(&format!("{} --yes", told.advice("state recover"))).succeeds();
    project.run("state recover --all --yes").succeeds().stderr_has("put the state of `02-b/web` back");

    assert_eq!(identity(&project, "01-a/net"), before);
    unchanged(&project);
    project.run("state recover --all --yes").succeeds().stderr_has("no state is missing");
    project.run("state recover net --yes").exits(64).stderr_has("is where it should be");
}

#[test]
fn a_second_clone_on_one_machine_does_not_take_a_state_that_lives_in_the_first() {
    let project = applied();
    committed(&project);
    let clone = cloned(&project);

    let told = clone.run("plan net").exits(65).stderr_has("error[state-elsewhere]");
    let told = told.stderr_has("is in another checkout").stderr_has(project.root().to_str().unwrap());
    told.stderr_has("let both use one store").stderr_has("`infra state recover 01-a/net --force`");
    clone
        .run("state recover net --yes")
        .exits(1)
        .stderr_has("another checkout still has the state")
        .stderr_has("state: { store:");
    // The way that is proposed works.
    for checkout in [&project, &clone] {
        let store = project.path("../shared");
        configure(checkout, &format!("{{ store: \"{}\" }}", store.display()));
    }
    project.run("state migrate --all --yes").succeeds();
    unchanged(&clone);
    clone.run("state recover net --force --yes").exits(64);
}

#[test]
fn a_lost_state_comes_back_from_a_folder_that_a_person_names() {
    let project = applied();
    let before = identity(&project, "01-a/net");
    std::fs::rename(project.path(".infra"), project.path("../old/.infra")).unwrap_err();
    std::fs::create_dir(project.path("../old")).unwrap();
    std::fs::rename(project.path(".infra"), project.path("../old/.infra")).unwrap();
    remove_dir(&project.user_state().join("infra/copies"));

    project.run("plan net").exits(65).stderr_has("neither a safety copy on this machine nor the old place");
    project.run("state recover net --yes").exits(1).stderr_has("--from DIR");
    project.run("state recover --all --from ../old --yes").succeeds();

    assert_eq!(identity(&project, "01-a/net"), before);
    unchanged(&project);
}

#[test]
fn whoever_wants_to_start_over_says_so_and_is_not_asked_again() {
    let project = applied();
    remove_dir(&project.path(".infra/state"));

    let told = project.run("plan net").exits(65);
    project.run(&told.advice("state forget")).exits(64).stderr_has("--yes");
    project.run(&format!("{} --yes", told.advice("state forget 01-a/net"))).succeeds();
    assert_eq!(entry(&project, "01-a/net"), None);
    project.run("apply net --yes").succeeds();
    assert!(entry(&project, "01-a/net").is_some());
    // In a copy of somebody else's project all of it goes.
    project.run(&format!("{} --yes", told.advice("forget --all"))).succeeds();
    assert_eq!(entry(&project, "02-b/web"), None);
    project.run("apply --all --yes").succeeds();
}

#[test]
fn a_state_that_is_left_at_the_old_place_is_no_longer_asked_about() {
    let project = applied();
    configure(&project, "{ store: ../states }");

    let told = project.run("plan net").exits(65).stderr_has("error[state-not-moved]");
    project.run(&format!("{} --yes", told.advice("state forget"))).succeeds().stderr_has("left behind");
    project.run("plan net --detailed-exitcode").exits(2);
    project.run("plan web").exits(65).stderr_has("error[state-not-moved]");
    // Its history is kept.
    configure(&project, "{}");
    assert!(!project.run("state history net --json").succeeds().json().as_array().unwrap().is_empty());
}

#[test]
fn two_projects_on_one_store_do_not_destroy_each_others_resources() {
    let one = Project::new().stack("01-a/net", SIMPLE);
    let store = one.path("../states").display().to_string();
    one.write("infra.yaml", &format!("name: one\nstate: {{ store: \"{store}\" }}\n"));
    one.run("apply --all --yes").succeeds();
    let other = Project::new().stack("01-a/net", SIMPLE.replace("thing", "other").as_str());
    other.write("infra.yaml", &format!("name: other\nstate: {{ store: \"{store}\" }}\n"));

    let refused = other.run("apply --all --yes --json").exits(65);
    assert_eq!(code_of(&refused, "01-a/net"), "state-shared");
    other.run("state list net").exits(65).stderr_has("error[state-shared]");
    unchanged(&one);

    // The project was renamed: the advice says so.
    one.write("infra.yaml", &format!("name: renamed\nstate: {{ store: \"{store}\" }}\n"));
    let told = one.run("plan net").exits(65).stderr_has("belongs to the project `one`");
    one.run(&format!("{} --yes", told.advice("state adopt"))).succeeds();
    unchanged(&one);
}

#[test]
fn a_stack_whose_upstream_is_elsewhere_fails_with_that_and_is_not_deferred() {
    let project = Project::new()
        .stack("01-a/net", SIMPLE)
        .stack(
            "02-b/web",
            "terraform {\n  backend \"http\" {}\n}\nvariable \"thing\" {}\nresource \"terraform_data\" \"w\" {\n  input = var.thing\n}\n",
        )
        .config("name: lab\nstacks:\n  \"02-b/web\": { inputs: { thing: \"01-a/net.thing\" } }\n");
    project.run("apply --all --yes").succeeds();
    remove_dir(&project.path(".infra/state/01-a"));

    let planned = project.run("plan web --json").exits(65);
    assert_eq!(code_of(&planned, "02-b/web"), "state-elsewhere");
    let all = project.run("apply --all --yes --json").exits(65);
    assert_eq!(code_of(&all, "01-a/net"), "state-elsewhere");
    assert!(all.json()["stacks"].as_array().unwrap().iter().all(|stack| stack["add"] == 0));
}

#[test]
fn a_run_that_changes_anything_does_nothing_while_one_state_is_elsewhere() {
    let project = applied();
    remove_dir(&project.path(".infra/state/01-a"));
    project.write("infrastructure/02-b/web/main.tf", &SIMPLE.replace("one", "two"));

    let applied = project.run("apply --all --yes --json").exits(65);
    assert_eq!(applied.result_of("02-b/web"), "skipped");
    let planned = project.run("plan --all --json").exits(65);
    assert_eq!(planned.result_of("02-b/web"), "succeeded");
    project.run("apply web --yes").succeeds();
}

#[test]
fn tofu_itself_is_not_let_near_a_state_that_is_elsewhere() {
    let project = applied();
    let state = project.run("state pull net").succeeds().stdout;
    remove_dir(&project.path(".infra/state/01-a"));

    project.run("tofu --stack net -- plan").exits(65).stderr_has("error[state-elsewhere]");
    project.run("tofu --stack net -- apply -auto-approve").exits(65);
    project.run("tofu --stack net -- version").succeeds();
    // By hand it can be brought back.
    project.write("saved.tfstate", &state);
    project.run("state push net saved.tfstate").succeeds();
    unchanged(&project);
}
