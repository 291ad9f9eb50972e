//! A cloned repository is believed in nothing: what it brings to run, to obey or to open with
//! a person's keys waits for that person's yes, which lies outside of the tree.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

mod support;
#[path = "support/tools.rs"]
mod tools;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use support::terminal::AtTerminal;
use support::{Project, SIMPLE, tofu};
use tools::AgeKey;

/// Writes a program that leaves a mark when it runs, and then does what follows.
fn program(project: &Project, path: &str, then: &str) {
    let mark = project.path("ran");
    project.write(path, &format!("#!/bin/sh\ntouch '{}'\n{then}\n", mark.display()));
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path(path), mode).expect("a mode");
}

fn with_own_tofu() -> Project {
    let project = Project::new().stack("01-a/x", SIMPLE).config("name: lab\ntofu: { binary: ./x }\n");
    program(&project, "x", &format!("exec '{}' \"$@\"", tofu().display()));
    project
}

/// A project whose secrets open with a key in the home folder of its user.
fn with_found_key() -> (Project, AgeKey) {
    let key = AgeKey::new();
    let stack = format!("{SIMPLE}\nvariable \"api_token\" {{}}\n");
    let project = Project::new().stack("01-a/x", &stack);
    let home = project.user_state();
    std::fs::create_dir_all(home.join("sops/age")).expect("a folder");
    std::fs::write(home.join("sops/age/keys.txt"), &key.secret).expect("a key file");
    let project = project.env("XDG_CONFIG_HOME", &home.display().to_string());
    encrypt(&project, &key);
    (project, key)
}

fn encrypt(project: &Project, key: &AgeKey) {
    project.write("infrastructure/secrets.sops.yaml", "api_token: hunter2-hunter2\n");
    let folder = project.path("infrastructure");
    let done = key.run_sops(&folder, &["-e", "-i", "--age", &key.recipient, "secrets.sops.yaml"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn no_command_runs_a_tofu_of_the_repository_before_somebody_said_yes() {
    let project = with_own_tofu();

    for command in
        ["deps", "deps install", "fmt --check", "validate", "plan", "apply --yes", "state list x", "output"]
    {
        project.run(&format!("{command} --no-input")).exits(77).stderr_has("untrusted").stderr_has("`x`");
        assert!(!project.has("ran"), "`{command}` ran it");
    }
    let doctor = project.run("doctor --json");
    assert!(!project.has("ran"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("runs `x` of this project as tofu"), "{}", doctor.stdout);
    for command in ["stacks", "locks", "runs", "secrets keygen", "schema"] {
        let _ = project.run(command);
        assert!(!project.has("ran"), "`{command}` ran it");
    }

    project.run("plan --trust").succeeds();
    assert!(project.has("ran"));
    project.run("plan --no-input").exits(77);
}

#[test]
fn a_tofu_outside_of_the_project_or_on_the_path_needs_no_yes() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.write("infra.yaml", &format!("name: lab\ntofu: {{ binary: '{}' }}\n", tofu().display()));

    project.run("plan --no-input").succeeds();
    project.run("trust").succeeds().stderr_has("nothing to trust");
}

#[test]
fn a_link_out_of_the_project_is_still_a_tofu_of_the_repository() {
    let project = Project::new().stack("01-a/x", SIMPLE).config("name: lab\ntofu: { binary: bin/tofu }\n");
    std::fs::create_dir(project.path("bin")).expect("a folder");
    std::os::unix::fs::symlink(tofu(), project.path("bin/tofu")).expect("a link");

    project.run("validate --no-input").exits(77);
}

#[test]
fn a_yes_holds_until_the_thing_changes_and_can_be_taken_back() {
    let project = with_own_tofu();
    project.run("trust --yes").succeeds().stdout_has("new").stdout_has("runs `x`");
    project.run("plan --no-input").succeeds();
    project.run("trust --no-input").succeeds().stdout_has("trusted");
    let listed = project.run("trust --list --json").succeeds().json();
    assert_eq!(listed[0]["root"], project.root().display().to_string());
    assert_eq!(listed[0]["things"][0]["kind"], "tofu-binary");

    program(&project, "x", &format!("true; exec '{}' \"$@\"", tofu().display()));
    project.run("plan --no-input").exits(77).stderr_has("(changed since your yes)");
    project.run("trust --no-input").exits(64).stdout_has("changed").stderr_has("trust --yes`");
    project.run("trust --yes").succeeds();
    project.run("plan --no-input").succeeds();

    project.run("trust --revoke").succeeds();
    project.run("plan --no-input").exits(77);
    project.run("trust --list").succeeds().stderr_has("no project is trusted yet");
}

#[test]
fn the_question_names_everything_once_and_the_advice_of_a_refusal_works() {
    let project = with_own_tofu();
    project.write(
        "infra.yaml",
        "name: lab\ntofu: { binary: ./x }\nstacks: { '**': { env: { LD_PRELOAD: '' } } }\n",
    );
    let refused = project.run("plan --no-input").exits(77);
    let advice =
        refused.stderr.split("once: `infra ").nth(1).and_then(|rest| rest.split('`').next()).expect("advice");

    let mut asked = AtTerminal::start(project.command(advice));
    asked
        .sees("runs `x` of this project as tofu")
        .sees("sets `LD_PRELOAD`")
        .sees("Trust this project with it? [y/N]");
    asked.types("y");
    assert_eq!(asked.wait().0, Some(0));

    project.run("plan --no-input").succeeds();
}

#[test]
fn a_run_at_the_terminal_asks_once_and_a_no_does_nothing() {
    let project = with_own_tofu();
    let mut asked = AtTerminal::start(project.command("plan"));
    asked.sees("Trust this project with it? [y/N]");
    asked.types("n");
    assert_eq!(asked.wait().0, Some(77));
    assert!(!project.has("ran"));

    let mut asked = AtTerminal::start(project.command("plan"));
    asked.sees("Trust this project with it? [y/N]");
    asked.types("y");
    assert_eq!(asked.wait().0, Some(0));

    project.run("validate --no-input").succeeds();
}

#[test]
fn a_quiet_question_still_says_what_it_is_about() {
    let project = with_own_tofu();

    let mut asked = AtTerminal::start(project.command("plan -q"));
    asked.sees("runs `x` of this project as tofu").sees("Trust this project with it? [y/N]");
    asked.types("n");

    assert_eq!(asked.wait().0, Some(77));
}

#[test]
fn a_project_that_is_gone_can_lose_its_yes() {
    let project = with_own_tofu();
    project.run("trust --yes").succeeds();
    let root = project.root().display().to_string();
    std::fs::rename(project.root(), project.root().with_file_name("moved")).expect("another name");
    let elsewhere = |args: &str| {
        let mut command = support::infra();
        command.args(args.split_whitespace()).env("XDG_STATE_HOME", project.user_state());
        support::Running::start(command, args).wait()
    };

    elsewhere("trust --list").succeeds().stdout_has("no longer there");
    elsewhere(&format!("trust --revoke {root}")).succeeds().stderr_has("is no longer trusted");
    elsewhere("trust --list").succeeds().stderr_has("no project is trusted yet");
}

#[test]
fn the_callers_word_holds_for_its_root_and_for_one_call() {
    let project = with_own_tofu();
    let with = |value: &str| {
        let mut command = project.command("plan --no-input");
        command.env("INFRA_TRUST", value);
        support::Running::start(command, "plan --no-input").wait()
    };

    with("/nowhere").exits(77).stderr_has("`INFRA_TRUST` is `/nowhere`, which does not name this root");
    with(&project.root().display().to_string()).succeeds();
    with(".").succeeds();
    project.run("plan --no-input").exits(77);
}

#[test]
fn another_clone_is_another_root() {
    let project = with_own_tofu();
    project.run("trust --yes").succeeds();
    let clone = project.root().with_file_name("clone");
    let copied = std::process::Command::new("cp").args(["-r"]).arg(project.root()).arg(&clone).status();
    assert!(copied.expect("cp").success());

    project.run(&format!("-C {} plan --no-input", clone.display())).exits(77);
    project.run("plan --no-input").succeeds();
}

#[test]
fn a_consent_in_the_tree_and_the_word_of_the_repository_count_for_nothing() {
    let plugin = "import pathlib\nclass Plugin:\n    def data(self):\n        pathlib.Path('ran').touch()\n        return {'made': 'yes'}\n";
    let project = Project::new()
        .config("name: lab\nconfigure: { python_plugins: allow }\n")
        .file("makejinja.toml", "[makejinja]\ninputs = [\"templates\"]\noutput = \"out\"\ndata = [\"data.yaml\"]\nplugins = [\"plugin.Plugin\"]\n")
        .file("data.yaml", "a: 1\n")
        .file("templates/x.txt.jinja", "{{ made }}\n")
        .file("plugin.py", plugin);
    let trusted = project.run("configure --trust").succeeds();
    assert!(project.has("ran"), "{}", trusted.stderr);
    std::fs::remove_file(project.path("ran")).expect("the mark");
    // Whatever hash an older version looked for.
    for name in ["0", "plugin.py"] {
        project.write(&format!(".infra/allowed-plugins/{name}"), "");
    }

    for command in ["configure --check --no-input", "configure --no-input", "up --yes --no-input"] {
        project.run(command).exits(77).stderr_has("runs Python of this project").stderr_has("plugin.py");
        assert!(!project.has("ran"), "`{command}` ran it");
    }
    project.run("trust --yes").succeeds();
    project.run("configure --check --no-input").succeeds();
    assert!(project.has("ran"));
    project.write("package/deep.py", "x = 1\n");
    project.run("configure --check --no-input").exits(77);
}

#[test]
fn a_plugin_that_the_project_denies_runs_for_nobody_and_is_not_asked_about() {
    let project = Project::new()
        .config("name: lab\nconfigure: { python_plugins: deny }\n")
        .file(
            "makejinja.toml",
            "[makejinja]\ninputs = [\"templates\"]\noutput = \"out\"\nplugins = [\"plugin.Plugin\"]\n",
        )
        .file("templates/x.txt", "x\n")
        .file("plugin.py", "open('ran', 'w')\n");

    project.run("trust --yes").succeeds().stderr_has("nothing to trust");
    project.run("configure --trust --no-init").succeeds().stderr_has("python_plugins: deny");

    assert!(!project.has("ran"));
}

#[test]
fn a_program_that_prints_a_password_runs_only_with_a_yes() {
    let project = Project::new()
        .stack("01-a/x", &format!("{SIMPLE}\nvariable \"api_token\" {{}}\n"))
        .stack(
            "01-a/remote",
            "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n    key = \"k\"\n  }\n}\n",
        )
        .config("name: lab\nsecrets: { ansible_vault_password_file: ./password }\n")
        .env("AWS_EC2_METADATA_DISABLED", "true");
    project.write("infrastructure/01-a/x/secrets.tfvars", "api_token = \"hunter2-hunter2\"\n");
    project.write("infrastructure/01-a/remote/secrets.tfvars", "aws_region = \"x\"\n");
    std::fs::write(project.root().with_file_name("password"), "pass word").expect("a file");
    for stack in ["x", "remote"] {
        let sealed = format!("secrets encrypt --vault infrastructure/01-a/{stack}/secrets.tfvars");
        let mut command = project.command(&sealed);
        command.env("ANSIBLE_VAULT_PASSWORD_FILE", project.root().with_file_name("password"));
        support::Running::start(command, &sealed).wait().succeeds();
    }
    program(&project, "password", "echo 'pass word'");

    for command in ["doctor", "locks", "plan x", "secrets view infrastructure/01-a/x/secrets.tfvars"] {
        let run = project.run(&format!("{command} --no-input"));
        assert!(!project.has("ran"), "`{command}` ran it: {}", run.stderr);
    }
    project.run("plan x --no-input").exits(77).stderr_has("`password`, which prints a vault password");

    project.run("trust --yes").succeeds();
    project.run("secrets view infrastructure/01-a/x/secrets.tfvars").succeeds().stdout_has("hunter2-hunter2");
    assert!(project.has("ran"));
    project.run("plan x --no-input").succeeds();
}

#[test]
fn only_variables_that_tell_a_value_are_set_without_a_yes() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    let env = |pairs: &str| {
        project.write("infra.yaml", &format!("name: lab\nstacks: {{ '**': {{ env: {{ {pairs} }} }} }}\n"));
    };

    env("HTTPS_PROXY: '', no_proxy: '*', AWS_REGION: x, TF_VAR_a: b, TF_LOG: ''");
    project.run("validate --no-input").succeeds();
    project.run("trust").succeeds().stderr_has("nothing to trust");
    for name in [
        "LD_PRELOAD",
        "PATH",
        "TF_LOG_PATH",
        "TF_CLI_CONFIG_FILE",
        "GIT_SSH_COMMAND",
        "GIT_PROXY",
        "TF_DATA_DIR",
        "HOME",
    ] {
        env(&format!("{name}: /nowhere"));
        project.run("validate --no-input").exits(77).stderr_has(name).stderr_has("infra.yaml");
    }
    env("LD_PRELOAD: ''");
    project.run("trust --yes").succeeds();
    project.run("validate --no-input").succeeds();
    env("LD_PRELOAD: '/other'");
    project.run("validate --no-input").exits(77);
}

#[test]
fn providers_that_git_tracks_wait_for_a_yes_and_those_of_init_do_not() {
    let project = Project::new().stack("01-a/x", SIMPLE).file(".gitignore", ".infra\n");
    project.git(&["init", "-q"]);
    project.run("plan --no-input").succeeds();
    assert!(project.has("infrastructure/01-a/x/.terraform"));
    project.run("plan --no-input").succeeds();

    project.git(&["add", "-f", "infrastructure/01-a/x/.terraform"]);
    project.run("plan --no-input").succeeds();
    project.write("infrastructure/01-a/x/.terraform/providers/evil", "code");
    project.git(&["add", "-f", "infrastructure/01-a/x/.terraform"]);
    let refused = project.run("plan --no-input").exits(77);
    refused.stderr_has("infrastructure/01-a/x/.terraform");
    project.run("trust --yes").succeeds();
    project.run("plan --no-input").succeeds();

    project.git(&["rm", "-r", "-q", "--cached", "infrastructure/01-a/x/.terraform"]);
    project.write("terraform.d/plugins/evil", "code");
    project.git(&["add", "-f", "terraform.d"]);
    project.run("plan --no-input").exits(77).stderr_has("terraform.d");
}

#[test]
fn a_variable_whose_name_holds_another_is_refused() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    for name in ["TF_CLI_CONFIG_FILE=rc_PROXY", "TF_VAR_m=1\\nLD_PRELOAD", ""] {
        project.write("infra.yaml", &format!("stacks: {{ '*': {{ env: {{ \"{name}\": v }} }} }}\n"));

        project.run("validate --no-input").exits(65).stderr_has("no name and value of a variable");
    }
}

#[test]
fn a_program_for_the_key_of_a_state_waits_for_a_yes() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    program(&project, "key", "exit 1");
    let block = format!(
        "terraform {{\n  encryption {{\n    key_provider \"external\" \"k\" {{\n      command = [\"{}\"]\n    }}\n    method \"aes_gcm\" \"m\" {{\n      keys = key_provider.external.k\n    }}\n    state {{\n      method = method.aes_gcm.m\n    }}\n  }}\n}}\n",
        project.path("key").display()
    );
    project.write("infrastructure/01-a/x/encryption.tf", &block);

    for command in ["output", "show", "state list x", "drift", "plan"] {
        project.run(&format!("{command} --no-input")).exits(77).stderr_has("encryption.tf");
        assert!(!project.has("ran"), "`{command}` ran it");
    }
    project.run("validate --no-input").succeeds();
}

#[test]
fn providers_wait_for_a_yes_where_git_cannot_say_and_init_did_not_make_them() {
    let project = Project::new().stack("01-a/x", SIMPLE).file(".gitignore", ".infra\n");
    project.git(&["init", "-q"]);
    // A folder on PATH with everything but git.
    let without_git = |args: &str| {
        let mut command = project.command(args);
        command.env("PATH", "/nowhere");
        support::Running::start(command, args).wait()
    };
    project.run("init").succeeds();
    project.write("infrastructure/01-a/x/.terraform/providers/made", "by init");

    without_git("validate --no-input").succeeds();
    std::fs::remove_dir_all(project.path(".infra")).expect("the record of init");
    without_git("validate --no-input").exits(77).stderr_has(".terraform");
    project.run("validate --no-input").succeeds();

    project.write("infrastructure/01-a/x/terraform.d/plugins/evil", "code");
    project.run("validate --no-input").exits(77).stderr_has("terraform.d/plugins");
    project.run("trust --yes").succeeds();
    project.run("validate --no-input").succeeds();
    project.write("infrastructure/01-a/x/terraform.d/plugins/evil", "other code");
    project.run("validate --no-input").exits(77).stderr_has("changed since your yes");
}

#[test]
fn settings_of_tofu_in_the_tree_wait_for_a_yes() {
    let project = Project::new().stack("01-a/x", SIMPLE).file(".terraformrc", "disable_checkpoint = true\n");

    project.run("plan --no-input").exits(77).stderr_has(".terraformrc");
    project.run("plan --no-input --trust").succeeds();

    // What the caller names is the caller's word.
    std::fs::rename(project.path(".terraformrc"), project.path("own.rc")).expect("a file");
    let named = project.path("own.rc").display().to_string();
    project.env("TF_CLI_CONFIG_FILE", &named).run("plan --no-input").succeeds();
}

#[test]
fn keys_that_are_found_open_secrets_only_for_a_trusted_root() {
    let (project, key) = with_found_key();

    for command in ["plan", "apply --yes", "state encrypt x"] {
        let refused = project.run(&format!("{command} --no-input")).exits(77);
        refused.stderr_has(&key.recipient).stderr_has("keys.txt").stderr_lacks("hunter2");
    }
    // What is opened for the person alone, and what needs no secret, is never asked about.
    project.run("secrets view infrastructure/secrets.sops.yaml").succeeds().stdout_has("hunter2-hunter2");
    project.run("validate --no-input").succeeds();
    project.run("doctor").stdout_has(&key.recipient).stdout_has("all encrypted files open");

    project.run("trust --yes").succeeds();
    project.run("plan --no-input").succeeds();
}

#[test]
fn a_key_of_the_call_or_of_the_project_needs_no_trust_and_a_link_is_no_key_of_the_project() {
    let (project, key) = with_found_key();
    let named = |name: &str, value: &str| {
        let mut command = project.command("plan --no-input");
        command.env(name, value);
        support::Running::start(command, "plan --no-input").wait()
    };
    let keys = project.user_state().join("sops/age/keys.txt");

    named("SOPS_AGE_KEY", &key.secret).succeeds();
    named("SOPS_AGE_KEY_FILE", &keys.display().to_string()).succeeds();
    named("SOPS_AGE_KEY_CMD", &format!("cat '{}'", keys.display())).succeeds();
    std::os::unix::fs::symlink(&keys, project.path("age.key")).expect("a link");
    project.run("plan --no-input").exits(77).stderr_has(&key.recipient);
    project.write("infra.yaml", &format!("name: lab\nsecrets: {{ age_key: '{}' }}\n", keys.display()));
    project.run("plan --no-input").exits(77).stderr_has(&key.recipient);
    std::fs::remove_file(project.path("age.key")).expect("the link");
    project.write("infra.yaml", "name: lab\n");
    project.write("age.key", &key.secret);
    project.run("plan --no-input").succeeds();
}

#[test]
fn a_password_file_outside_that_the_repository_names_waits_for_a_yes() {
    let project = Project::new().stack("01-a/x", &format!("{SIMPLE}\nvariable \"api_token\" {{}}\n"));
    let outside = project.root().with_file_name("vault-pass");
    std::fs::write(&outside, "pass word").expect("a file");
    project.write("infrastructure/01-a/x/secrets.tfvars", "api_token = \"hunter2-hunter2\"\n");
    let sealing = "secrets encrypt --vault infrastructure/01-a/x/secrets.tfvars";
    let mut command = project.command(sealing);
    command.env("ANSIBLE_VAULT_PASSWORD_FILE", &outside);
    support::Running::start(command, sealing).wait().succeeds();
    let config = format!("name: lab\nsecrets: {{ ansible_vault_password_file: '{}' }}\n", outside.display());
    project.write("infra.yaml", &config);

    project.run("plan --no-input").exits(77).stderr_has("vault-pass");
    project.run("trust --yes").succeeds();
    project.run("plan --no-input").succeeds();
}

#[test]
fn a_project_that_is_made_here_opens_its_secrets_with_found_keys_unasked() {
    let (donor, key) = with_found_key();
    let home = donor.user_state();
    let made = donor.root().with_file_name("made");
    let run = |args: &str| donor.run(&format!("-C {} {args}", made.display()));
    donor.run(&format!("new {}", made.display())).succeeds();
    let main = format!("{SIMPLE}\nvariable \"api_token\" {{}}\n");
    std::fs::create_dir_all(made.join("infrastructure/09-own/x")).expect("a folder");
    std::fs::write(made.join("infrastructure/09-own/x/main.tf"), main).expect("a file");
    let own = made.join("infrastructure/09-own/x/secrets.sops.yaml");
    std::fs::copy(donor.path("infrastructure/secrets.sops.yaml"), own).expect("a copy");
    assert!(Path::new(&home).join("sops/age/keys.txt").exists() && !key.secret.is_empty());

    run("plan 09-own/x --no-input").succeeds();

    // Another folder of the same name is another project.
    std::fs::rename(&made, made.with_file_name("aside")).expect("another name");
    let copied =
        std::process::Command::new("cp").arg("-r").arg(made.with_file_name("aside")).arg(&made).status();
    assert!(copied.expect("cp").success());
    run("plan 09-own/x --no-input").exits(77);
}

/// Returns the result of each stack in a report, and the code of its error.
fn results(run: &support::Finished) -> Vec<(String, String, String)> {
    let report = run.json();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let stacks = report["stacks"].as_array().expect("stacks").iter();
    stacks.map(|stack| (text(&stack["id"]), text(&stack["result"]), text(&stack["error"]["code"]))).collect()
}

fn row(id: &str, result: &str, code: &str) -> (String, String, String) {
    (id.to_owned(), result.to_owned(), code.to_owned())
}

#[test]
fn one_stack_with_providers_of_the_repository_ends_alone_where_nobody_can_be_asked() {
    let taking = format!("{SIMPLE}\nvariable \"word\" {{}}\n");
    let project = Project::new()
        .stack("01-a/own", SIMPLE)
        .stack("01-a/plain", SIMPLE)
        .stack("02-b/taking", &taking)
        .config("name: lab\nstacks:\n  \"02-b/taking\": { inputs: { word: \"01-a/own.name\" } }\n")
        .file(".gitignore", ".infra\n");
    project.git(&["init", "-q"]);
    project.write("infrastructure/01-a/own/.terraform/providers/evil", "code");
    project.git(&["add", "-f", "infrastructure/01-a/own/.terraform"]);

    for (command, done) in
        [("validate", "succeeded"), ("init", "succeeded"), ("plan", "succeeded"), ("drift", "no_changes")]
    {
        let run = project.run(&format!("{command} --all --no-input --json")).exits(77);
        let expected = [
            row("01-a/own", "failed", "untrusted"),
            row("01-a/plain", done, ""),
            row("02-b/taking", "failed", "untrusted"),
        ];
        assert_eq!(results(&run), expected, "{command}: {}", run.stderr);
        let report = run.json();
        let hint = report["stacks"][0]["error"]["hint"].as_str().unwrap_or_default();
        assert!(hint.contains(" trust`"), "{command}: {hint}");
        let summary = report["stacks"][2]["error"]["summary"].as_str().unwrap_or_default();
        assert!(summary.contains("takes values from `01-a/own`"), "{command}: {summary}");
    }
    assert!(!project.has("infrastructure/01-a/own/.terraform.lock.hcl"));
    let left = std::fs::read_dir(project.path("infrastructure/01-a/own/.terraform")).expect("a folder");
    assert_eq!(left.count(), 1, "nothing was initialised");
    project.run("fmt --all --check --no-input").succeeds();

    // What changes things is done as a whole, or not at all.
    project.run("apply --all --yes --no-input").exits(77).stderr_has("is not trusted");
    project.run("plan own --no-input").exits(77).stderr_has("error[untrusted]");
    project.run("trust --yes").succeeds();
    project.run("validate --all --no-input").succeeds();
}

#[test]
fn programs_and_variables_of_one_stack_keep_only_it_from_running() {
    let project = Project::new()
        .stack("01-a/key", SIMPLE)
        .stack("01-a/plain", SIMPLE)
        .stack("01-a/variable", SIMPLE)
        .config("name: lab\nstacks: { '01-a/variable': { env: { LD_PRELOAD: '' } } }\n");
    program(&project, "key", "exit 1");
    let block = format!(
        "terraform {{\n  encryption {{\n    key_provider \"external\" \"k\" {{\n      command = [\"{}\"]\n    }}\n    method \"aes_gcm\" \"m\" {{\n      keys = key_provider.external.k\n    }}\n    state {{\n      method = method.aes_gcm.m\n    }}\n  }}\n}}\n",
        project.path("key").display()
    );
    project.write("infrastructure/01-a/key/encryption.tf", &block);

    let run = project.run("plan --all --no-input --json").exits(77);

    let expected = [
        row("01-a/key", "failed", "untrusted"),
        row("01-a/plain", "succeeded", ""),
        row("01-a/variable", "failed", "untrusted"),
    ];
    assert_eq!(results(&run), expected, "{}", run.stderr);
    assert!(!project.has("ran"), "the program ran");
    // What concerns the whole project still ends the run.
    project.write(".terraformrc", "disable_checkpoint = true\n");
    project.run("plan --all --no-input").exits(77).stderr_has("error[untrusted]").stderr_has(".terraformrc");
}
