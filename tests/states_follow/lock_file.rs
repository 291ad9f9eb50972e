//! `infra.lock`: when it is written, what it refuses, and what a hostile one can do.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn entries(project: &Project) -> usize {
    let text = std::fs::read_to_string(project.path("infra.lock")).unwrap_or_default();
    text.lines().filter(|line| line.starts_with("  \"")).count()
}

#[test]
fn it_is_written_by_what_makes_or_removes_a_state_and_by_nothing_else() {
    let project = Project::new().stack("01-a/net", SIMPLE);
    project.run("plan net").succeeds();
    assert!(!project.has("infra.lock"), "a plan wrote it");

    project.run("apply net --yes").succeeds().stderr_has("infra.lock changed: `01-a/net`");
    let lineage = identity(&project, "01-a/net").0;
    assert_eq!(
        entry(&project, "01-a/net").unwrap(),
        format!("  \"01-a/net\": {{ lineage: \"{lineage}\", kept: \"embedded\" }}")
    );
    let text = project.read("infra.lock");
    assert!(text.contains("\nformat: 1\nstates:\n"), "{text}");

    project.write("infrastructure/01-a/net/main.tf", &SIMPLE.replace("one", "two"));
    project.run("apply net --yes").succeeds().stderr_lacks("infra.lock");
    for reading in ["plan net", "output net", "state list net", "drift net", "show net", "doctor", "stacks"] {
        let _ = project.run(reading);
    }
    assert_eq!(project.read("infra.lock"), text, "something inside of a state changed it");
    project.run("destroy net --yes").succeeds().stderr_has("infra.lock changed: `01-a/net`");
    assert_eq!(entries(&project), 0);
}

#[test]
fn a_first_apply_that_fails_half_way_is_noted() {
    let broken = "terraform {\n  backend \"http\" {}\n}\nresource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  depends_on = [terraform_data.a]\n  provisioner \"local-exec\" {\n    command = \"false\"\n  }\n}\n";
    let project = Project::new().stack("01-a/net", broken);

    project.run("apply net --yes").exits(1);

    assert!(entry(&project, "01-a/net").is_some());
    remove_dir(&project.path(".infra/state"));
    project.run("plan net").exits(65).stderr_has("error[state-elsewhere]");
}

#[test]
fn init_adds_what_is_missing_for_a_team_whose_pipeline_applies() {
    let project = applied();
    std::fs::remove_file(project.path("infra.lock")).unwrap();

    project.run("plan --all").succeeds();
    assert!(!project.has("infra.lock"));
    project.run("init --all").succeeds().stderr_has("infra.lock changed");
    assert_eq!(entries(&project), 2);
    // A run that changes anything adds them too.
    std::fs::remove_file(project.path("infra.lock")).unwrap();
    project.run("apply --all --yes").succeeds();
    assert_eq!(entries(&project), 2);
}

#[test]
fn a_project_may_do_without_it() {
    let project = Project::new().stack("01-a/net", SIMPLE);
    configure(&project, "{ lock_file: off }");

    project.run("apply net --yes").succeeds().stderr_lacks("infra.lock");
    assert!(!project.has("infra.lock"));
    remove_dir(&project.path(".infra/state"));
    project.run("plan net --detailed-exitcode").exits(2);
}

#[test]
fn one_that_cannot_be_read_stops_those_without_a_state_and_no_others() {
    let project = applied();
    project.write("infrastructure/03-c/new/main.tf", SIMPLE);
    let good = project.read("infra.lock");
    for (text, words) in [
        ("<<<<<<< HEAD\nformat: 1\n=======\nformat: 1\n>>>>>>> x\n", "conflict"),
        ("format: 2\nstates: {}\n", "newer"),
        ("format: 1\nstates:\n  \"a\": { lineage: 1, kept: \"x\" }\n", "infra.lock:3"),
        ("format: 1\nstates: [\n", "infra.lock"),
        ("format: 1\nstates:\n  \"../../etc\": { lineage: \"x\", kept: \"embedded\" }\n", "infra.lock:3"),
    ] {
        project.write("infra.lock", text);
        let planned = project.run("plan --all --json").exits(65);
        assert_eq!(planned.result_of("01-a/net"), "no_changes", "{text}");
        assert_eq!(planned.result_of("03-c/new"), "failed", "{text}");
        project.run("plan new").exits(65).stderr_has(words);
        project.run("validate --all").succeeds();
        project.run("apply net --yes").succeeds();
        assert_eq!(project.read("infra.lock"), text, "it was written over");
    }
    project.write("infra.lock", &good);
    project.run("plan --all").succeeds();
}

#[test]
fn another_lineage_than_the_known_one_is_an_error_with_words_of_its_own() {
    let project = applied();
    let text = project.read("infra.lock").replace(&identity(&project, "01-a/net").0, "another");
    project.write("infra.lock", &text);

    let told = project.run("apply net --yes").exits(65).stderr_has("error[state-elsewhere]");
    let told = told.stderr_has("is not the one that `infra.lock` knows").stderr_has("git pull");
    project.run(&format!("{} --yes", told.advice("state forget"))).succeeds().stderr_has("goes on with");
    project.run("apply net --yes").succeeds();
    assert!(entry(&project, "01-a/net").unwrap().contains(&identity(&project, "01-a/net").0));
}

#[test]
fn a_hostile_one_leads_to_no_request_and_to_no_credentials() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let evil = format!("http://{}/states", listener.local_addr().unwrap());
    let bucket = format!("s3://b/p?endpoint=http://{}&region=x", listener.local_addr().unwrap());
    let project = Project::new()
        .stack("01-a/net", SIMPLE)
        .env("AWS_ACCESS_KEY_ID", "canary-key")
        .env("AWS_SECRET_ACCESS_KEY", "canary-secret")
        .env("TF_HTTP_PASSWORD", "canary-password");
    for kept in [&evil, &bucket] {
        let text = format!("format: 1\nstates:\n  \"01-a/net\": {{ lineage: \"l\", kept: \"{kept}\" }}\n");
        project.write("infra.lock", &text);
        for command in [
            "plan net",
            "apply net --yes",
            "init net",
            "state migrate --all --yes",
            "doctor",
            "locks",
            "state forget net --yes",
        ] {
            let _ = project.run(command);
            project.write("infra.lock", &text);
        }
    }
    assert!(listener.accept().is_err(), "a place that only the lock names was asked");
}

#[test]
fn a_checkout_that_cannot_be_written_to_is_told_and_the_run_goes_on() {
    if nix::unistd::geteuid().is_root() {
        // Root writes everywhere; a folder in the place of the file is in its way as well.
        let project = Project::new().stack("01-a/net", SIMPLE);
        std::fs::create_dir(project.path("infra.lock")).unwrap();
        project.run("apply net --yes").exits(65).stderr_has("infra.lock");
        return;
    }
    let project = Project::new().stack("01-a/net", SIMPLE);
    project.run("init net").succeeds();
    let closed = std::fs::Permissions::from_mode(0o555);
    std::fs::set_permissions(project.root(), closed).unwrap();
    let applied = project.run("apply net --yes");
    std::fs::set_permissions(project.root(), std::fs::Permissions::from_mode(0o755)).unwrap();
    applied.succeeds().stderr_has("could not be noted");
}

#[test]
fn doctor_names_states_that_only_this_machine_has_and_what_a_store_lacks() {
    let project = applied();
    std::fs::remove_file(project.path("infra.lock")).unwrap();
    project.run("doctor").succeeds().stdout_has("only this machine").stdout_has("infra.lock");
    project.run("init --all").succeeds();
    remove_dir(&project.path(".infra/state/01-a"));
    project.run("doctor").stdout_has("01-a/net").stdout_has("infra state recover");
}

#[test]
fn it_makes_no_saved_plan_stale() {
    let project = Project::new().stack("01-a/net", SIMPLE).stack("01-a/dns", SIMPLE);
    project.run("apply net --yes").succeeds();
    committed(&project);
    project.write("infrastructure/01-a/net/main.tf", &SIMPLE.replace("one", "two"));
    project.run("plan net").succeeds();

    // Another stack writes its entry into the committed file while the plan waits.
    project.run("apply dns --yes").succeeds().stderr_has("infra.lock changed");
    project.run("apply net --saved").succeeds();
}

#[test]
fn another_persons_clone_says_what_is_missing() {
    let project = applied();
    committed(&project);
    let clone = cloned(&project).env("XDG_STATE_HOME", project.path("../somebody-else").to_str().unwrap());

    let told = clone.run("plan --all").exits(65);
    let told = told.stderr_has("neither a safety copy on this machine nor the old place");
    let told = told.stderr_has("`.infra/state` of the checkout that applied it").stderr_has("forget --all");
    // The way of the one who has it, and the way of the one who has a copy.
    told.stderr_has("on the machine that applied it: `state: { store: … }`").stderr_has("--from DIR");
    clone.run("state recover --all --yes").exits(1).stderr_has("--from DIR");
}

#[test]
fn a_state_with_nothing_in_it_needs_no_entry() {
    let project = applied();
    project.run("destroy --all --yes").succeeds();
    assert_eq!(entries(&project), 0);

    for command in ["init --all", "doctor", "destroy --all --yes"] {
        project.run(command).succeeds().stdout_lacks("does not know the state");
        assert_eq!(entries(&project), 0, "{command}");
    }
    committed(&project);
    cloned(&project).run("plan --all").succeeds();
    project.run("apply --all --yes").succeeds();
    assert_eq!(entries(&project), 2);
    // One that was emptied by hand keeps its entry until it is destroyed.
    project.run("state rm net terraform_data.thing").succeeds();
    project.write("infrastructure/01-a/net/main.tf", "terraform {\n  backend \"http\" {}\n}\n");
    project.run("apply net --yes").succeeds();
    assert_eq!(entries(&project), 2);
}

#[test]
fn a_former_name_is_not_noted_under_the_new_one() {
    let project = applied();
    let before = project.read("infra.lock");
    std::fs::rename(project.path("infrastructure/01-a/net"), project.path("infrastructure/01-a/network"))
        .unwrap();
    project.write("infra.yaml", "stacks: { \"01-a/network\": { was: \"01-a/net\" } }\n");

    project.run("init --all").succeeds();
    assert_eq!(project.read("infra.lock"), before);
    project.run("plan --all --detailed-exitcode").succeeds();
    project.run("apply --all --yes").succeeds();
    unchanged(&project);
    assert_eq!((entry(&project, "01-a/net"), entries(&project)), (None, 2));
}

/// Returns the serials of the safety copies, by stack.
fn copies(project: &Project) -> std::collections::BTreeMap<String, u64> {
    let Ok(entries) = std::fs::read_dir(project.user_state().join("infra/copies")) else {
        return std::collections::BTreeMap::new();
    };
    let records = entries.flatten().map(|entry| entry.path());
    let records = records.filter(|path| path.extension().is_some_and(|suffix| suffix == "json"));
    records
        .map(|path| {
            let record: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            let facts = &record["facts"];
            (facts["stack"].as_str().unwrap().to_owned(), facts["serial"].as_u64().unwrap())
        })
        .collect()
}

#[test]
fn the_safety_copy_follows_every_command_that_changes_a_state() {
    let project = applied();
    let newest = |stack: &str| (copies(&project)[stack], identity(&project, stack).1);

    for command in [
        "state mv net terraform_data.thing terraform_data.other",
        "tofu --stack net -- apply -auto-approve",
        "state rm net terraform_data.thing",
    ] {
        let before = identity(&project, "01-a/net").1;
        project.run(command).succeeds();
        let (copy, there) = newest("01-a/net");
        assert!(there > before, "{command}");
        assert_eq!(copy, there, "{command}");
    }
}

#[test]
fn a_state_that_is_moved_into_the_project_gets_a_safety_copy() {
    let project =
        Project::new().stack("01-a/net", &SIMPLE.replace("backend \"http\" {}", "backend \"local\" {}"));
    project.run("apply net --yes").succeeds();
    project.run("state migrate net --to embedded --yes").succeeds();

    assert_eq!(copies(&project).get("01-a/net"), Some(&identity(&project, "01-a/net").1));
    committed(&project);
    project.git(&["clean", "-fdxq"]);
    project.run("state recover net --yes").succeeds();
    unchanged(&project);
}

#[test]
fn a_state_that_is_too_large_for_a_safety_copy_is_told_and_leaves_no_old_one() {
    let project = applied();
    assert_eq!(copies(&project).len(), 2);
    configure(&project, "{ copies: 1KiB }");
    project.write("infrastructure/01-a/net/main.tf", &SIMPLE.replace("one", &"x".repeat(2000)));

    let told = project.run("apply net --yes").succeeds().stderr_has("`01-a/net` has no safety copy");
    told.stderr_has("copies: 1MiB");
    assert_eq!(copies(&project).keys().collect::<Vec<_>>(), ["02-b/web"]);
    configure(&project, "{ copies: 1MiB }");
    project.run("state mv net terraform_data.thing terraform_data.other").succeeds();
    assert_eq!(copies(&project).len(), 2);
}

#[test]
fn a_destroy_that_fails_keeps_the_entry_even_where_only_tofu_opens_the_state() {
    let stuck = SIMPLE.replace(
        "input = \"one\"",
        "input = \"one\"\n  provisioner \"local-exec\" {\n    when    = destroy\n    command = \"test -e done\"\n  }",
    );
    let sealed = stuck.replace(
        "backend \"http\" {}",
        "backend \"http\" {}\n  encryption {\n    key_provider \"pbkdf2\" \"k\" {\n      passphrase = \"a passphrase that is long\"\n    }\n    method \"aes_gcm\" \"m\" {\n      keys = key_provider.pbkdf2.k\n    }\n    state {\n      method = method.aes_gcm.m\n    }\n  }",
    );
    for files in [stuck, sealed] {
        let project = Project::new().stack("01-a/net", &files);
        project.run("apply net --yes").succeeds();

        project.run("destroy net --yes").exits(1);
        assert!(entry(&project, "01-a/net").is_some());
        project.write("infrastructure/01-a/net/done", "");
        project.run("destroy net --yes").succeeds();
        assert_eq!(entries(&project), 0);
    }
}
