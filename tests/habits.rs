//! How people type: folders instead of names, tofu's flags, Terragrunt's commands. What is advised is
//! pasted, with the real tofu.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use support::{Finished, Project, Running, SIMPLE};

/// Stacks in three environments, one of them with a stack inside of another.
fn environments() -> Project {
    let module = "module \"m\" {\n  source = \"../../../modules/vm\"\n}\n";
    Project::new()
        .file("stacks/dev/net/main.tf", SIMPLE)
        .file("stacks/dev/web app/main.tf", SIMPLE)
        .file("stacks/prod/net/main.tf", &format!("{SIMPLE}{module}"))
        .file("stacks/prod/net/inner/main.tf", SIMPLE)
        .file("stacks/prod/net/files/motd", "hi")
        .file("stacks/solo/main.tf", SIMPLE)
        .file("modules/vm/main.tf", "")
        .file("docs/notes.md", "")
}

/// Runs infra with these words in a folder of the project.
fn run_in(project: &Project, folder: &str, words: &[&str]) -> Finished {
    let mut command = project.command("");
    command.args(words).current_dir(project.path(folder));
    Running::start(command, &words.join(" ")).wait()
}

/// Returns the ids that a choice means, as `infra plan --dry-run` tells them; else the error.
fn chosen(project: &Project, folder: &str, words: &[&str]) -> Vec<String> {
    let run = run_in(project, folder, &[&["plan", "--dry-run"], words].concat());
    if run.code != Some(0) {
        return vec![run.stderr.lines().next().unwrap_or_default().to_owned()];
    }
    let ids = run.stdout.lines().skip(1).filter_map(|line| line.trim().split("  ").nth(1));
    ids.map(str::to_owned).collect()
}

#[test]
fn a_path_chooses_the_stack_in_a_folder_or_all_below_it() {
    let project = environments();
    let root = project.root().to_str().unwrap().to_owned();
    let dev = ["dev/net", "dev/web app"];

    for (folder, path) in [
        ("", "stacks/dev"),
        ("", "./stacks/dev/"),
        ("stacks/dev", "."),
        ("stacks/prod", "../dev"),
        ("stacks", "dev"),
        ("docs", "stacks/dev"),
        ("docs", &format!("{root}/stacks/dev")),
        ("stacks/dev/web app", ".."),
    ] {
        assert_eq!(chosen(&project, folder, &[path]), dev, "{path} in {folder}");
    }
    assert_eq!(chosen(&project, "", &["stacks/dev/web app/"]), ["dev/web app"]);
    assert_eq!(chosen(&project, "stacks/prod", &["./net"]), ["prod/net"]);
    assert_eq!(chosen(&project, "stacks/prod", &["net"]), ["prod/net"]);
    assert_eq!(chosen(&project, "stacks/prod/net", &["."]), ["prod/net"]);
    assert_eq!(chosen(&project, "stacks/prod/net/files", &["../inner"]), ["prod/net/inner"]);
    assert_eq!(chosen(&project, "stacks", &[".", "--exclude", "./prod"]), ["dev/net", "dev/web app", "solo"]);
    assert_eq!(chosen(&project, "", &["-C", "stacks/dev", "../solo"]), ["solo"]);
    assert_eq!(chosen(&project, "", &["--stack", "./stacks/solo", "dev/net"]), ["dev/net", "solo"]);
}

#[test]
fn links_lead_where_the_system_says() {
    let project = environments();
    std::os::unix::fs::symlink(project.path("stacks/prod"), project.path("current")).unwrap();
    std::os::unix::fs::symlink(project.root(), project.root().with_file_name("link")).unwrap();
    let linked = project.root().with_file_name("link").join("stacks/dev");

    assert_eq!(chosen(&project, "", &["current"]), ["prod/net", "prod/net/inner"]);
    assert_eq!(chosen(&project, "current", &["../dev"]), ["dev/net", "dev/web app"]);
    assert_eq!(chosen(&project, "current/net", &[]), ["prod/net"]);
    assert_eq!(chosen(&project, "", &[linked.to_str().unwrap()]), ["dev/net", "dev/web app"]);
}

#[test]
fn with_nothing_chosen_what_only_looks_takes_all_below_and_what_changes_wants_to_be_told() {
    let project = environments();

    assert_eq!(chosen(&project, "stacks/dev", &[]), ["dev/net", "dev/web app"]);
    assert_eq!(chosen(&project, "stacks/dev", &["--exclude", "net"]), ["dev/web app"]);
    assert_eq!(chosen(&project, "stacks/prod/net/files", &[]), ["prod/net"]);
    assert_eq!(chosen(&project, "", &[]).len(), 5);
    for command in ["validate", "drift", "test"] {
        run_in(&project, "stacks/dev", &[command, "--dry-run"]).succeeds().stdout_has("2 stacks");
    }
    for command in ["output", "show", "locks", "fmt", "state list"] {
        let words: Vec<&str> = command.split(' ').collect();
        run_in(&project, "stacks/dev", &words).succeeds();
    }
    for command in ["apply", "destroy", "init"] {
        let refused = run_in(&project, "stacks/dev", &[command]).exits(64);
        refused.stderr_has("  dev/net\n  dev/web app\n  prod/net\n").stderr_has("`.` chooses all below");
    }
    run_in(&project, "docs", &["plan"]).exits(64).stderr_has("  dev/net\n");
}

#[test]
fn all_means_the_project_and_says_so_in_a_folder_of_several_stacks() {
    let project = environments();

    let all = run_in(&project, "stacks/dev", &["plan", "--all", "--dry-run"]).succeeds();
    let elsewhere = run_in(&project, "", &["-C", "stacks/dev", "apply", "--all", "--dry-run"]).succeeds();

    insta::assert_snapshot!(all.stderr, @"`--all` is the whole project: 5 stacks; for the 2 in this folder: `infra plan .`");
    assert_eq!(elsewhere.advice("apply"), "-C stacks/dev apply .");
    run_in(&project, "", &["-C", "stacks/dev", "apply", ".", "--dry-run"]).succeeds().stdout_has("2 stacks");
    for folder in ["", "stacks", "stacks/solo", "docs"] {
        let all = run_in(&project, folder, &["plan", "--all", "--dry-run"]).succeeds();
        assert_eq!(all.stderr, "", "{folder}");
    }
    for command in ["up --dry-run", "stacks"] {
        let words: Vec<&str> = command.split(' ').collect();
        run_in(&project, "stacks/dev", &words).succeeds().stderr_lacks("--all");
    }
}

#[test]
fn a_path_that_chooses_nothing_says_what_is_there() {
    let project = environments().file("plan.tfplan", "");
    let refused = |folder: &str, path: &str| {
        let run = run_in(&project, folder, &["plan", path]).exits(64);
        run.stderr.replace(project.root().to_str().unwrap(), "ROOT")
    };

    let refusals = [
        refused("", "docs"),
        refused("", "modules"),
        refused("", "./modules/vm"),
        refused("", "plan.tfplan"),
        refused("stacks/prod/net", "files"),
        refused("", ".."),
        refused("", "/usr"),
        refused("stacks", "./dve"),
        refused("", "dev"),
    ];

    insta::assert_snapshot!(refusals.join("\n"), @r"
    error: no stack is in `docs` or below it
    hint: the stacks are `dev/net`, `dev/web app`, `prod/net`, `prod/net/inner`, `solo`

    error: no stack is in `modules` or below it, only modules
    hint: used by `prod/net`

    error: no stack is in `./modules/vm` or below it, only modules
    hint: used by `prod/net`

    error: `plan.tfplan` is a file; a stack is a folder
    hint: saved plans belong to their stacks: `infra apply --saved`, `infra show STACK --plan`
    hint: the stacks are `dev/net`, `dev/web app`, `prod/net`, `prod/net/inner`, `solo`

    error: no stack is in `files` or below it
    hint: it is a part of `prod/net`

    error: `..` is outside of the project `ROOT`
    hint: `--all` chooses every stack of the project

    error: `/usr` is outside of the project `ROOT`
    hint: a project in another folder is worked on with `-C DIR`

    error: there is no folder `./dve`
    hint: the stacks are `dev/net`, `dev/web app`, `prod/net`, `prod/net/inner`, `solo`

    error: no stack is called `dev`
    hint: did you mean the folder `stacks/dev`?
    ");
}

#[test]
fn a_project_that_is_a_stack_itself_is_chosen_by_its_folder() {
    let project = Project::new().file("main.tf", SIMPLE).file("envs/dev/main.tf", SIMPLE);

    assert_eq!(chosen(&project, "", &["."]), ["."]);
    assert_eq!(chosen(&project, "envs", &["."]), ["envs/dev"]);
    assert_eq!(chosen(&project, "envs/dev", &["../.."]), ["."]);
    assert_eq!(chosen(&project, "", &["envs"]), ["envs/dev"]);
}

#[test]
fn a_last_word_that_is_no_stack_is_an_output_of_all_stacks_below() {
    let project = environments();
    project.run("apply dev/net solo --yes").succeeds();

    let all = run_in(&project, "", &["output", "thing", "--json"]).succeeds().json();
    let dev = run_in(&project, "stacks/dev", &["output", ".", "thing", "--json"]).succeeds().json();

    assert_eq!(all.as_object().unwrap().keys().collect::<Vec<_>>(), ["dev/net", "solo"]);
    assert_eq!(dev.as_object().unwrap().keys().collect::<Vec<_>>(), ["dev/net"]);
    let slip = run_in(&project, "", &["output", "slo"]).exits(64);
    slip.stderr_has("no stack is called `slo`").stderr_has("did you mean `solo`?");
}
