//! How people type: folders instead of names, tofu's flags, Terragrunt's commands. What is advised is
//! pasted, with the real tofu.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use std::path::Path;
use std::process::Command;

use support::{Finished, Project, Running, SIMPLE, infra};

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

/// A stack that takes a variable, with its state beside it.
const LOCAL: &str = r#"
variable "size" {
  default = "small"
}

resource "terraform_data" "thing" {
  input = var.size
}

output "thing" {
  value = terraform_data.thing.output
}
"#;

/// Two stacks in a folder, one of them with a space in its name, and one elsewhere.
fn habitual() -> Project {
    let project = Project::new()
        .file("stacks/dev/net/main.tf", LOCAL)
        .file("stacks/dev/web app/main.tf", LOCAL)
        .file("stacks/solo/main.tf", LOCAL)
        .file("stacks/solo/big.tfvars.example", "size = \"big\"\n");
    project.run("apply --all --yes").succeeds();
    project
}

/// Gives a line to a shell in a folder of the project, as somebody who pastes it does.
fn paste(project: &Project, folder: &str, line: &str) -> Finished {
    let bin = Path::new(env!("CARGO_BIN_EXE_infra")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    for (name, value) in project.command("").get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.args(["-c", line]).env("PATH", path).current_dir(project.path(folder));
    command.stdin(std::process::Stdio::null());
    Running::start(command, line).wait()
}

/// Types lines that are habits of other tools, expects these corrections, and pastes each.
fn corrected(project: &Project, table: &[(&str, &str, &str)]) {
    for (folder, typed, expected) in table {
        let refused = paste(project, folder, typed).exits(64);
        let hints = refused.stderr.lines().filter_map(|line| line.strip_prefix("hint: `")?.strip_suffix('`'));
        assert_eq!(hints.collect::<Vec<_>>().first(), Some(expected), "{typed}\n{refused}");
        let pasted = paste(project, folder, expected);
        assert!(matches!(pasted.code, Some(0 | 2)), "{expected}\n{pasted}");
    }
}

#[test]
fn flags_of_tofu_are_put_where_they_belong() {
    let project = habitual();

    corrected(
        &project,
        &[
            (
                "",
                "infra plan solo -target=terraform_data.thing",
                "infra plan solo -- -target=terraform_data.thing",
            ),
            (
                "",
                "infra plan -target terraform_data.thing solo",
                "infra plan solo -- -target=terraform_data.thing",
            ),
            (
                "",
                "infra plan 'web app' -target='terraform_data.thing[\"a b\"]'",
                "infra plan 'web app' -- '-target=terraform_data.thing[\"a b\"]'",
            ),
            (
                "stacks/solo",
                "infra plan --target terraform_data.thing",
                "infra plan -- -target=terraform_data.thing",
            ),
            (
                "",
                "infra plan solo -refresh=false -replace=terraform_data.thing",
                "infra plan solo -- -refresh=false -replace=terraform_data.thing",
            ),
            ("", "infra plan solo -refresh false", "infra plan solo -- -refresh=false"),
            ("", "infra plan solo -lock-timeout=5s", "infra plan solo --lock-timeout 5s"),
            (
                "",
                "infra plan solo -lock-timeout 5s -lock=false",
                "infra plan solo --lock-timeout 5s -- -lock=false",
            ),
            (
                "",
                "infra plan solo -destroy -detailed-exitcode",
                "infra plan solo --destroy --detailed-exitcode",
            ),
            ("", "infra plan solo -refresh-only -json", "infra plan solo --refresh-only --json"),
            (
                "",
                "infra plan -no-color -input=false solo -out=tfplan",
                "infra plan --color never --no-input solo",
            ),
            ("", "infra plan solo -parallelism=2", "infra plan solo -- -parallelism=2"),
            ("", "infra plan solo -var size=big", "infra plan solo --var size=big"),
            ("", "infra plan -var='size=a b' solo", "infra plan --var 'size=a b' solo"),
            (
                "stacks/solo",
                "infra plan -var-file big.tfvars.example -refresh=false",
                "infra plan --var-file big.tfvars.example -- -refresh=false",
            ),
            ("", "infra plan solo -lock-timeout", "infra plan solo --lock-timeout 5m"),
            (
                "",
                "infra plan solo -replace=terraform_data.thing -out tfplan",
                "infra plan solo -- -replace=terraform_data.thing",
            ),
            ("stacks/solo", "infra show -json tfplan", "infra show --json --plan"),
            ("stacks/solo", "infra apply -auto-approve tfplan", "infra apply --saved"),
            (
                "",
                "infra plan -all -exclude=terraform_data.thing --exclude solo",
                "infra plan --all --exclude solo -- -exclude=terraform_data.thing",
            ),
            (
                "",
                "infra plan solo -compact-warnings -- -refresh=false",
                "infra plan solo -- -compact-warnings -refresh=false",
            ),
            (
                "",
                "infra -q plan --color always solo -refresh=false",
                "infra -q plan --color always solo -- -refresh=false",
            ),
            ("", "infra -chdir=stacks/solo plan", "infra -C stacks/solo plan"),
            (
                "",
                "infra -chdir='stacks/dev/web app' plan -refresh=false",
                "infra -C 'stacks/dev/web app' plan -- -refresh=false",
            ),
            ("", "infra apply -auto-approve solo", "infra apply --yes solo"),
            (
                "",
                "infra apply solo -auto-approve -replace=terraform_data.thing",
                "infra apply solo --yes -- -replace=terraform_data.thing",
            ),
            ("", "infra apply solo -auto-approve -refresh-only", "infra apply solo --yes -- -refresh-only"),
            ("", "infra init solo -upgrade -reconfigure", "infra init solo -- -upgrade -reconfigure"),
            (
                "",
                "infra init solo -migrate-state -input=false",
                "infra init solo --no-input -- -migrate-state",
            ),
            ("", "infra plan solo -upgrade", "infra init solo -- -upgrade"),
            ("", "infra validate -json solo", "infra validate --json solo"),
            ("", "infra test -verbose solo", "infra test solo -- -verbose"),
            ("", "infra output solo -raw thing", "infra output solo --raw thing"),
            ("stacks/solo", "infra output -json", "infra output --json"),
            ("", "infra fmt -check -recursive", "infra fmt --check"),
            ("", "infra fmt solo -list=false", "infra tofu --stack solo -- fmt -list=false"),
            ("", "infra -version", "infra --version"),
            (
                "stacks/solo",
                "infra state show terraform_data.thing",
                "infra state show solo terraform_data.thing",
            ),
            ("", "infra drift -detailed-exitcode solo", "infra drift solo"),
            ("", "infra apply -destroy -auto-approve solo", "infra destroy --yes solo"),
            ("", "infra destroy -force solo", "infra destroy --yes solo"),
        ],
    );
}

#[test]
fn commands_of_tofu_are_passed_on_to_the_stack_that_is_meant() {
    let project = habitual().file("stacks/solo/more.tf", "resource \"terraform_data\" \"more\" {}\n");

    corrected(
        &project,
        &[
            (
                "stacks/solo",
                "infra import terraform_data.more some-id",
                "infra tofu --stack solo -- import terraform_data.more some-id",
            ),
            (
                "",
                "infra taint solo terraform_data.thing",
                "infra tofu --stack solo -- taint terraform_data.thing",
            ),
            (
                "stacks/solo",
                "infra untaint terraform_data.thing",
                "infra tofu --stack solo -- untaint terraform_data.thing",
            ),
            ("stacks/dev/web app", "infra console", "infra tofu --stack 'dev/web app' -- console"),
            (
                "",
                "infra -C stacks/solo workspace list",
                "infra -C stacks/solo tofu --stack solo -- workspace list",
            ),
            ("", "infra graph stacks/solo", "infra tofu --stack solo -- graph"),
            (
                "",
                "infra refresh --stack solo -var 'size=a b'",
                "infra tofu --stack solo -- refresh -var 'size=a b'",
            ),
            ("", "infra providers solo", "infra tofu --stack solo -- providers"),
            ("", "infra get solo -update", "infra tofu --stack solo -- get -update"),
            ("", "infra metadata functions -json", "infra tofu --stack dev/net -- metadata functions -json"),
            ("", "infra logout example.com", "infra tofu --stack dev/net -- logout example.com"),
            ("", "infra version", "infra tofu --stack dev/net -- version"),
        ],
    );
    let unknown = paste(&project, "", "infra import terraform_data.more 'an id'").exits(64);
    insta::assert_snapshot!(unknown.stderr, @r"
    error: `import` is a command of tofu
    hint: `infra tofu --stack STACK -- import terraform_data.more 'an id'`
    hint: STACK is one of `dev/net`, `dev/web app`, `solo`
    ");
    for (typed, words, advised) in [
        ("infra taint solo terraform_data.thing", "plan", "plan solo -- -replace=terraform_data.thing"),
        ("infra refresh solo", "drift", "drift solo"),
        ("infra graph solo", "stacks", "stacks --graph dot"),
        ("infra get solo", "init", "init solo"),
        ("infra plan solo -upgrade", "plan", "plan solo"),
        ("infra plan solo -parallelism=2", "--parallelism", "plan solo --parallelism 2"),
        ("infra version", "--version", "--version"),
    ] {
        let refused = paste(&project, "", typed).exits(64);
        assert_eq!(refused.advice(words), advised, "{refused}");
        paste(&project, "", &format!("infra {advised}")).succeeds();
    }
    // A workspace is that of one run, and nothing is selected.
    for (typed, advised) in [
        ("infra workspace new blue", "plan solo --workspace blue --create"),
        ("infra workspace select blue", "plan solo --workspace blue"),
    ] {
        let refused = paste(&project, "stacks/solo", typed).exits(64);
        assert_eq!(refused.advice("plan"), advised, "{refused}");
        paste(&project, "stacks/solo", &format!("infra {advised}")).succeeds();
    }
    paste(&project, "", "infra login example.com").exits(64).stderr_has("-- login example.com`");
}

#[test]
fn commands_of_terragrunt_are_said_in_infras_words() {
    let project = habitual();

    corrected(
        &project,
        &[
            ("", "infra run-all plan", "infra plan --all"),
            (
                "stacks/dev",
                "infra run-all plan -target=terraform_data.thing",
                "infra plan . -- -target=terraform_data.thing",
            ),
            ("stacks/dev", "infra run --all apply --non-interactive", "infra apply . --yes"),
            ("", "infra run --all -- plan -refresh=false", "infra plan --all -- -refresh=false"),
            ("stacks/solo", "infra run plan", "infra plan"),
            (
                "",
                "infra run-all validate --terragrunt-working-dir stacks/dev",
                "infra -C stacks/dev validate .",
            ),
            (
                "",
                "infra run-all plan --terragrunt-exclude-dir stacks/solo --terragrunt-log-level info",
                "infra plan --all --exclude stacks/solo",
            ),
            (
                "",
                "infra run --all plan --queue-include-dir stacks/dev --parallelism 2",
                "infra plan stacks/dev --parallelism 2",
            ),
            ("", "infra plan-all", "infra plan --all"),
            ("", "infra run-all output -json", "infra output --all --json"),
            ("stacks/solo", "infra run-all refresh", "infra tofu --stack solo -- refresh"),
            ("", "infra hclfmt", "infra fmt"),
            ("", "infra hcl fmt --check", "infra fmt --check"),
            ("", "infra graph-dependencies", "infra stacks --graph dot"),
            ("", "infra list", "infra stacks"),
            ("", "infra run --all apply -- -auto-approve", "infra apply --all --yes"),
            ("", "infra run --all plan --filter ./stacks/dev", "infra plan ./stacks/dev"),
            ("", "infra run --all plan --filter '!./stacks/dev'", "infra plan --all --exclude ./stacks/dev"),
            ("", "infra --working-dir=stacks/dev run --all plan", "infra -C stacks/dev plan ."),
            ("", "infra plan --terragrunt-working-dir stacks/solo", "infra -C stacks/solo plan"),
            ("", "infra --terragrunt-log-level debug plan --all", "infra plan --all"),
            ("", "infra apply --non-interactive solo", "infra apply --yes solo"),
            ("", "infra plan --all --queue-exclude-dir stacks/dev", "infra plan --all --exclude stacks/dev"),
        ],
    );
}

#[test]
fn what_is_nobodys_habit_is_refused_as_ever() {
    let project = Project::new().file("stacks/solo/main.tf", LOCAL);

    for typed in ["infra plan -bogus", "infra plan --nonsense -target=x", "infra plam", "infra help plam"] {
        paste(&project, "", typed).exits(64).stderr_lacks("hint: `infra");
    }
    // What is passed on to tofu itself is its own business.
    paste(&project, "", "infra tofu plan -refresh=false").succeeds();
}

#[test]
fn what_is_missing_of_a_habit_is_asked_for() {
    let project = Project::new().file("stacks/solo/main.tf", LOCAL);

    let said = ["infra plan -target", "infra help import", "infra help workspace", "infra apply tfplan"]
        .map(|typed| paste(&project, "", typed).exits(64).stderr);
    let passed = paste(&project, "", "infra apply solo --yes -- -auto-approve").exits(64);

    insta::assert_snapshot!(said.join("\n"), @r"
    error: `-target` is a flag of tofu
    hint: `infra plan -- -target=ADDRESS`
    hint: ADDRESS is that of a resource or module: `infra state list`

    error: `import` is a command of tofu
    hint: `infra tofu --stack solo -- import`

    error: `workspace` is a command of tofu
    hint: `infra tofu --stack solo -- workspace`

    error: no stack is called `tfplan`
    hint: saved plans belong to their stacks: `infra apply --saved`, `infra show STACK --plan`
    hint: the stacks are `solo`
    ");
    passed.stderr_has("`-auto-approve` cannot be passed on").stderr_has("`--yes`");
}

#[test]
fn what_infra_says_itself_may_be_said_again_and_an_address_is_told_its_place() {
    let project = Project::new().file("stacks/solo/main.tf", "resource \"terraform_data\" \"a\" {}\n");

    project.run("apply --yes -- -input=false").succeeds();
    project.run("plan -- -input=true").exits(64).stderr_has("cannot be passed on");
    let address = project.run("state list terraform_data.a").exits(64);
    address.stderr_has("`infra state list -- terraform_data.a`");
    project.run("state list -- terraform_data.a").succeeds().stdout_has("terraform_data.a");
    project.run("help run-all").exits(64).stderr_has("`infra plan --all`");
}

#[test]
fn a_lone_root_hcl_is_no_unit_of_terragrunt() {
    let project = Project::new().file("stacks/solo/main.tf", LOCAL).file("root.hcl", "");

    project.run("stacks").succeeds().stderr_lacks("Terragrunt");
}

#[test]
fn a_correction_repeats_no_secret_in_a_log_and_is_json_where_json_is_asked_for() {
    let project = Project::new().file("stacks/solo/main.tf", LOCAL);

    let hidden = paste(&project, "", "infra plan -var api_token=geheim -var size=big").exits(64);
    let json = paste(&project, "", "infra plan --json -target=a.b").exits(64).json();

    hidden.stderr_lacks("geheim").stderr_has("api_token=…").stderr_has("size=big");
    assert_eq!(json["error"]["kind"], "usage");
    assert_eq!(json["error"]["hints"][0], "`infra plan --json -- -target=a.b`");
}

#[test]
fn in_an_empty_folder_new_is_what_to_do_and_it_proposes_what_is_free() {
    let temp = tempfile::tempdir().unwrap();
    let run = |folder: &str, args: &[&str]| {
        let folder = temp.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let mut command = infra();
        command.args(args).current_dir(folder);
        Running::start(command, &args.join(" ")).wait()
    };

    for args in [&["plan"][..], &["stacks"], &["configure"], &["-C", ".", "apply"]] {
        run("empty", args).stderr_has("`infra new`");
    }
    run("empty", &["doctor"]).exits(1).stdout_has("`infra new`");
    std::fs::create_dir_all(temp.path().join("fresh/.git")).unwrap();
    run("fresh", &["plan"]).exits(65).stderr_has("`infra new`");
    run("fresh", &["stacks"]).succeeds().stderr_has("`infra new`");
    run("", &["-C", "empty", "plan"]).exits(65).stderr_has("`infra -C empty new`");
    run("", &["-C", "empty", "new"]).succeeds();
    run("", &["new", "empty"]).exits(64).stderr_has("`infra new empty-2`");
    run("", &["new", "empty-2"]).succeeds();
    run("", &["new", "empty/", "--example", "layered"])
        .exits(64)
        .stderr_has("`infra new empty-3 --example layered`");
    run("", &["new"]).exits(64).stderr_has("`infra new lab`");
    run("", &["new", "lab"]).succeeds();
    run("", &["new"]).exits(64).stderr_has("`infra new lab-2`");
    run("", &["plan"]).exits(65).stderr_has("`infra new lab-2`");
}

#[test]
fn a_terragrunt_repository_is_named_as_such() {
    let project = Project::new()
        .file("root.hcl", "remote_state {}\n")
        .file("live/prod/app/terragrunt.hcl", "terraform {\n  source = \"../../../modules/app\"\n}\n")
        .file("live/prod/db/terragrunt.hcl", "")
        .file("modules/app/main.tf", SIMPLE);

    let refused = project.run("plan").exits(65);

    insta::assert_snapshot!(refused.stderr.replace(project.root().to_str().unwrap(), "ROOT"), @r#"
    error: `ROOT` is a Terragrunt repository: 2 folders, no stack
      infra runs folders of `.tf` files; units are run by `terragrunt`
    hint: what works here: `infra secrets`; `infra state serve`, as a backend for units
    hint: how a unit becomes a stack: docs/guide.md, "Coming from Terragrunt"
    "#);
    project.run("stacks").succeeds().stderr_has("2 units of Terragrunt");
    project.run("doctor").stdout_has("Terragrunt");
    std::fs::remove_file(project.path("infra.yaml")).unwrap();
    run_in(&project, "live/prod", &["plan"]).exits(65).stderr_has("Terragrunt repository");
}

#[test]
fn units_of_terragrunt_beside_stacks_are_mentioned() {
    let project = Project::new()
        .file("stacks/solo/main.tf", SIMPLE)
        .file("live/app/terragrunt.hcl", "terraform {\n  source = \"tfr:///x/y/z\"\n}\n");

    let listing = project.run("stacks").succeeds();

    listing.stdout_has("solo").stderr_has("1 folder of Terragrunt here too");
}

#[test]
fn what_many_stacks_have_is_one_finding_of_the_doctor() {
    let stacks = |count: usize| {
        let main = "variable \"node\" {}\nresource \"terraform_data\" \"x\" {}\n";
        (0..count).fold(Project::new(), |project, at| project.file(&format!("stacks/s{at}/main.tf"), main))
    };
    let findings = |project: &Project, check: &str| {
        let all = project.run("doctor --json").json();
        let all = all.as_array().unwrap().clone();
        all.into_iter().filter(|finding| finding["check"] == check && finding["status"] == "warn").count()
    };
    let (few, many) = (stacks(3), stacks(40));

    assert_eq!((findings(&few, "state"), findings(&few, "stacks")), (3, 3));
    assert_eq!((findings(&many, "state"), findings(&many, "stacks")), (1, 1));
    let told = many.run("doctor");
    let told = told.stdout_has("`s0`, `s1`, `s10`, `s11`, `s12` and 35 more: state in a local file");
    let fix = told.advice("state migrate");
    many.run(&format!("{fix} --yes")).succeeds();
}
