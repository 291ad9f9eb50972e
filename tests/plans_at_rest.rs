//! Saved plans: encrypted with a key of their user, and taken only where that user made them.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use std::path::Path;

use infra::model::Fingerprint;
use serde_json::{Value, json};
use support::terminal::AtTerminal;
use support::{Finished, Project, Running, SIMPLE};

const PLAN: &str = ".infra/plans/01-a/x.tfplan";
const RECORD: &str = ".infra/plans/01-a/x.plan.json";

/// Text that a plain plan holds, though nobody marked it as sensitive.
const OPEN: &str = r#"
terraform {
  backend "http" {}
}

variable "word" {
  default = "c4n4ry-of-the-plan"
}

resource "terraform_data" "thing" {
  input = var.word
}

output "thing" {
  value = terraform_data.thing.output
}
"#;

/// A stack that leaves a file behind when it is applied.
fn leaving(mark: &Path) -> String {
    let provisioner = format!(
        "  provisioner \"local-exec\" {{\n    command = \"touch {}\"\n  }}\n  input = \"one\"",
        mark.display()
    );
    SIMPLE.replace("  input = \"one\"", &provisioner)
}

/// Runs infra as somebody else.
fn as_another(project: &Project, args: &str) -> Finished {
    let mut command = project.command(args);
    command.env("XDG_STATE_HOME", project.user_state().join("somebody-else"));
    Running::start(command, args).wait()
}

fn begins(project: &Project, path: &str, text: &str) -> bool {
    std::fs::read(project.path(path)).unwrap().starts_with(text.as_bytes())
}

fn edit_record(project: &Project, edit: impl FnOnce(&mut Value)) {
    let mut record: Value = serde_json::from_str(&project.read(RECORD)).unwrap();
    edit(&mut record);
    project.write(RECORD, &record.to_string());
}

/// A repository that brings a plan of its own, which does more than the files say.
fn hostile(proof: Option<&str>) -> Project {
    let project = Project::new();
    let evil = leaving(&project.path("mark"));
    let project = project.stack("01-a/x", &evil);
    project.run("init").succeeds();
    let out = project.path("evil.tfplan");
    project.run(&format!("tofu --stack x -- plan -out={}", out.display())).succeeds();
    project.write("infrastructure/01-a/x/main.tf", SIMPLE);
    project.run("plan").succeeds();
    std::fs::copy(&out, project.path(PLAN)).unwrap();
    let digest = Fingerprint::of_reader(std::fs::File::open(&out).unwrap()).unwrap();
    edit_record(&project, |record| {
        record["file"] = json!(digest.to_string());
        record["changes"] = json!([]);
        record["proof"] = json!(proof);
    });
    std::fs::remove_dir_all(project.user_state()).unwrap();
    project
}

#[test]
fn a_saved_plan_is_encrypted_and_can_be_shown_and_applied() {
    let project = Project::new().stack("01-a/x", OPEN);

    project.run("plan").succeeds();

    assert!(begins(&project, PLAN, r#"{"meta":{"key_provider.external.infra_plan""#));
    project.run("show x --plan").succeeds().stdout_has("c4n4ry-of-the-plan");
    let key = std::fs::read_to_string(project.user_state().join("infra/key")).unwrap();
    assert!(project.files_containing(key.split(' ').nth(1).unwrap().trim()).is_empty());
    project.run("apply --saved").succeeds().stderr_has("takes the plan that was saved");
    project.run("output x thing --raw").succeeds().stdout_has("c4n4ry-of-the-plan");
    assert_eq!(
        project.files_containing("c4n4ry-of-the-plan").iter().filter(|f| f.ends_with(".json")).count(),
        0
    );
}

#[test]
fn a_plan_that_lives_for_one_run_is_encrypted_too() {
    let project = Project::new();
    let copying =
        format!("cp -r {} {}", project.path(".infra/runs").display(), project.path("seen").display());
    let project = project.stack("01-a/x", &leaving(Path::new("unused")).replace("touch unused", &copying));

    project.run("apply --yes").succeeds();

    let run = std::fs::read_dir(project.path("seen")).unwrap().flatten().next().unwrap().path();
    let plan = std::fs::read(run.join("plans/01-a/x.tfplan")).unwrap();
    assert!(plan.starts_with(br#"{"meta":{"key_provider.external.infra_plan""#));
}

#[test]
fn a_plan_that_a_repository_brings_is_no_plan_without_trust() {
    let project = hostile(None);

    project.run("apply --no-input").exits(64);
    let mut in_ci = project.command("apply");
    in_ci.env("CI", "true");
    Running::start(in_ci, "apply").wait().exits(64);
    assert!(!project.has("mark"));
    project
        .run("apply --saved --no-input")
        .exits(1)
        .stderr_has("it has no saved plan that counts: nothing proves");
    assert!(!project.has("mark"));
    let run = project.run("apply --yes --no-input").succeeds();
    run.stderr_has("planned anew: nothing proves that you made it here").stderr_has("applied +1 ~0 -0");
    assert!(!project.has("mark"));
}

#[test]
fn a_plan_with_a_proof_of_somebody_else_is_refused_with_and_without_a_yes() {
    let project = hostile(Some("00ff"));

    for args in ["apply --saved --no-input", "apply --yes --no-input", "apply --saved"] {
        let run = project.run(args).exits(77);
        run.stderr_has("error[untrusted-plan]").stderr_has("not made by you here").stderr_has("--trust");
    }

    assert!(!project.has("mark"));
    assert!(project.has(PLAN), "the plan is not consumed");
}

#[test]
fn a_plan_that_the_caller_trusts_is_taken_as_it_is() {
    for (proof, trust) in [(None, "--trust"), (Some("00ff"), "")] {
        let project = hostile(proof);
        // What it does is more than its record says.
        edit_record(&project, |record| record["changes"] = json!([{"address": "a.b", "action": "create"}]));
        let project = if trust.is_empty() { project.env("INFRA_TRUST", ".") } else { project };

        project.run(&format!("apply --saved --no-input {trust}")).succeeds();

        assert!(project.has("mark"));
    }
}

#[test]
fn a_person_is_shown_what_a_foreign_plan_does_and_asked() {
    for (answer, applied) in [("n", false), ("y", true)] {
        let project = hostile(Some("00ff"));
        let mut person = AtTerminal::start(project.command("apply --yes"));

        person.sees("terraform_data.thing").sees("was not made by you here").sees("[y/N]");
        person.types(answer);

        let (_, screen) = person.wait();
        assert_eq!(project.has("mark"), applied, "{screen}");
    }
}

#[test]
fn plans_in_a_folder_of_their_own_are_taken_from_who_made_them_or_with_trust() {
    let project = Project::new().stack("01-a/x", OPEN).stack("01-a/y", SIMPLE);
    let run = project.run("plan --all --out-dir out").succeeds();
    assert_eq!(run.stderr.matches("are not encrypted").count(), 1, "{}", run.stderr);
    assert!(begins(&project, "out/01-a/x.tfplan", "PK"));

    as_another(&project, "apply x --plan-dir out --yes --no-input").exits(77).stderr_has("untrusted-plan");
    as_another(&project, "apply x --plan-dir out --no-input").exits(77);
    as_another(&project, "apply x --plan-dir out --no-input --trust").succeeds();
    project.run("apply y --plan-dir out --no-input").succeeds().stderr_has("applied +1 ~0 -0");
}

#[test]
fn a_foreign_plan_that_was_approved_is_made_again_when_its_values_come() {
    let lower = SIMPLE.replace("\"one\"", "file(\"${path.module}/value\")");
    let upper = format!("variable \"thing\" {{}}\n{}", SIMPLE.replace("\"one\"", "var.thing"));
    let project = Project::new()
        .stack("01-a/x", &lower)
        .stack("02-b/y", &upper)
        .file("infrastructure/01-a/x/value", "one")
        .config("name: lab\nstacks: { \"02-b/y\": { inputs: { thing: \"01-a/x.thing\" } } }\n");
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/01-a/x/value", "two");
    project.write("infrastructure/02-b/y/main.tf", &upper.replace("var.thing", "\"new ${var.thing}\""));
    project.run("plan --all --out-dir out").succeeds();
    let mut command = project.command("apply --all --plan-dir out");
    command.env("XDG_STATE_HOME", project.path("../another-user"));

    let mut person = AtTerminal::start(command);
    person.sees("were not made by you here").sees("[y/N]");
    person.types("y");
    person.sees("with these differences? [y/N]");
    person.types("y");
    let (code, screen) = person.wait();

    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(project.run("output y thing --raw").succeeds().stdout, "new two");
}

#[test]
fn a_plan_that_this_users_key_does_not_open_is_made_anew() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("plan").succeeds();

    as_another(&project, "apply --no-input").exits(64);
    as_another(&project, "show x --plan").exits(77).stderr_has("a key that is not yours");
    let run = as_another(&project, "apply --yes --trust").succeeds();

    run.stderr_has("planned anew: it is encrypted with a key that is not yours").stderr_has("applied +1");
    project.run("plan --out-dir out").succeeds();
}

#[test]
fn another_checkout_of_the_same_user_takes_a_plan_and_another_project_does_not() {
    let project = Project::named("first").stack("01-a/x", SIMPLE);
    project.run("plan").succeeds();
    let state = project.user_state().display().to_string();
    for (folder, name, code) in [("second", "lab", 0), ("third", "other", 77)] {
        let other = Project::named(folder).stack("01-a/x", SIMPLE).env("XDG_STATE_HOME", &state);
        let other = other.config(&format!("name: {name}\n"));
        other.write(RECORD, &project.read(RECORD));
        std::fs::copy(project.path(PLAN), other.path(PLAN)).unwrap();

        other.run("apply --saved --no-input").exits(code);
    }
}

#[test]
fn an_edited_record_is_no_longer_of_its_user() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("plan").succeeds();
    edit_record(&project, |record| record["extra"] = json!(["-target=terraform_data.other"]));

    project.run("apply --yes").exits(77).stderr_has("untrusted-plan");
}

#[test]
fn plan_files_that_are_no_files_are_refused_without_waiting() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    let outside = project.user_state().with_file_name("outside");
    std::fs::write(&outside, "outside").unwrap();
    for file in [PLAN, RECORD] {
        let path = project.path(file);
        let odd: [(&str, i32, &dyn Fn()); 4] = [
            ("is a link", 65, &|| std::os::unix::fs::symlink(&outside, &path).unwrap()),
            ("neither a file nor a folder", 65, &|| {
                nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
            }),
            ("larger than any plan", 1, &|| std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap()),
            ("damaged", 1, &|| std::fs::write(&path, [0; 100]).unwrap()),
        ];
        for (words, code, make) in odd {
            project.run("plan").succeeds();
            std::fs::remove_file(&path).unwrap();
            make();

            project.run("apply --saved").exits(code).stderr_has(words);

            if code == 65 {
                std::fs::remove_file(&path).unwrap();
            }
            project.run("plan").succeeds();
        }
    }
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "outside");
    std::fs::remove_dir_all(project.path(".infra/plans/01-a")).unwrap();
    std::os::unix::fs::symlink(outside.parent().unwrap(), project.path(".infra/plans/01-a")).unwrap();
    project.run("plan").exits(65).stderr_has("is a link");
}

#[test]
fn where_no_key_can_be_kept_a_plan_lives_for_its_run_only() {
    let project = Project::new().stack("01-a/x", OPEN).env("XDG_STATE_HOME", "/dev/null/nowhere");

    let run = project.run("plan").succeeds();

    run.stderr_has("no plan is saved, it lives for this run only").stdout_has("terraform_data.thing");
    assert!(!project.has(PLAN));
    project.run("apply --yes").succeeds().stderr_has("applied +1 ~0 -0");
}

#[test]
fn with_a_passphrase_plans_that_stay_have_the_users_key_and_those_that_leave_the_passphrase() {
    const FILE: &str = "infrastructure/01-a/x/secrets.tfvars";
    let project = Project::new().stack("01-a/x", OPEN).env("ANSIBLE_VAULT_PASSWORD", "vault-pass");
    project.write(FILE, "state_encryption_passphrase = \"the-first-passphrase\"\n");
    project.run(&format!("secrets encrypt --vault {FILE}")).succeeds();

    project.run("plan").succeeds();
    project.run("plan --out-dir out").succeeds().stderr_lacks("not encrypted");

    assert!(begins(&project, PLAN, r#"{"meta":{"key_provider.external.infra_plan""#));
    assert!(begins(&project, "out/01-a/x.tfplan", r#"{"meta":{"key_provider.pbkdf2.infra_"#));
    as_another(&project, "apply --plan-dir out --no-input").exits(77);
    as_another(&project, "apply --plan-dir out --no-input --trust").succeeds();
    assert!(!project.files_containing("c4n4ry-of-the-plan").contains(&".infra/state".to_owned()));
    project.run("plan --detailed-exitcode").succeeds();
}

#[test]
fn what_a_stack_or_the_caller_says_about_plans_is_left_as_it_is() {
    let own = |name: &str, target: &str| {
        format!(
            "terraform {{\n  encryption {{\n    key_provider \"pbkdf2\" \"{name}\" {{\n      passphrase = \"0123456789abcdef\"\n    }}\n    method \"aes_gcm\" \"{name}\" {{\n      keys = key_provider.pbkdf2.{name}\n    }}\n    {target} {{\n      method = method.aes_gcm.{name}\n    }}\n  }}\n}}\n"
        )
    };
    let callers = r#"{"key_provider":{"pbkdf2":{"callers":{"passphrase":"0123456789abcdef"}}},"method":{"aes_gcm":{"callers":{"keys":"${key_provider.pbkdf2.callers}"}}},"plan":{"method":"method.aes_gcm.callers"}}"#;
    let plans = Project::new().stack("01-a/x", OPEN).file("infrastructure/01-a/x/e.tf", &own("mine", "plan"));
    let states =
        Project::new().stack("01-a/x", OPEN).file("infrastructure/01-a/x/e.tf", &own("mine", "state"));
    let called = Project::new().stack("01-a/x", OPEN).env("TF_ENCRYPTION", callers);
    for (project, provider) in
        [(plans, "pbkdf2.mine"), (states, "external.infra_plan"), (called, "pbkdf2.callers")]
    {
        project.run("plan").succeeds();

        assert!(begins(&project, PLAN, &format!(r#"{{"meta":{{"key_provider.{provider}""#)), "{provider}");
        project.run("apply --saved --no-input").succeeds().stderr_has("applied +1 ~0 -0");
    }
}

#[test]
fn a_state_that_another_stack_reads_stays_readable() {
    let local = SIMPLE.replace("backend \"http\" {}", "backend \"local\" {\n    path = \"x.tfstate\"\n  }");
    let reading = "terraform {\n  backend \"http\" {}\n}\n\ndata \"terraform_remote_state\" \"x\" {\n  backend = \"local\"\n  config  = { path = \"../x/x.tfstate\" }\n}\n\noutput \"read\" {\n  value = data.terraform_remote_state.x.outputs.thing\n}\n";
    let project = Project::new().stack("01-a/x", &local).stack("01-a/y", reading);
    project.run("plan x").succeeds();
    project.run("apply x --saved").succeeds();

    project.run("plan y").succeeds();
    project.run("apply y --saved").succeeds();

    project.run("output y read --raw").succeeds().stdout_has("one");
}

#[test]
fn tofu_itself_gets_the_key_only_for_a_plan_that_needs_it() {
    let project = Project::new().stack("01-a/x", OPEN);
    project.run("plan").succeeds();
    let (bound, own) = (project.path(PLAN), project.path("own.tfplan"));

    project.run(&format!("tofu --stack x -- show {}", bound.display())).succeeds().stdout_has("c4n4ry");
    project.run(&format!("tofu --stack x -- plan -out={}", own.display())).succeeds();

    assert!(begins(&project, "own.tfplan", "PK"));
    project.run(&format!("tofu --stack x -- show {}", own.display())).succeeds().stdout_has("c4n4ry");
}

#[test]
fn the_command_of_the_key_is_not_for_people() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("plan").succeeds();

    project.run("plan-key").exits(64).stderr_has("called by tofu");
    project.run("plan-key /nonexistent/key").exits(69).stderr_has("no such key");
    project.run("--help").succeeds().stdout_lacks("plan-key");
    project.run("man").stdout_lacks("plan-key");
}

#[test]
fn doctor_says_whether_saved_plans_are_encrypted() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    let terraform = project.user_state().with_file_name("terraform");
    std::fs::write(&terraform, "#!/bin/sh\necho 'Terraform v1.9.8'\n").unwrap();
    std::fs::set_permissions(&terraform, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let finding = |project: &Project| {
        let findings = project.run("doctor --json").json();
        findings.as_array().unwrap().iter().find(|finding| finding["check"] == "plans").unwrap().clone()
    };

    let with_tofu = finding(&project);
    project.write("infra.yaml", &format!("name: lab\ntofu: {{ binary: \"{}\" }}\n", terraform.display()));
    let with_terraform = finding(&project);

    assert_eq!(with_tofu["status"], "pass");
    assert!(!project.user_state().exists(), "looking makes no key");
    assert_eq!(with_terraform["status"], "warn");
    assert!(with_terraform["message"].as_str().unwrap().contains("not encrypted"), "{with_terraform}");
}
