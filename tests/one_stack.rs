//! One stack from plan to destroy, on the real tofu, and everything that can be wrong with it.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use std::os::unix::fs::PermissionsExt;

use support::{Project, SIMPLE};

#[test]
fn a_plan_is_applied_and_then_nothing_is_left_to_do() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    project.run("plan").succeeds().stdout_has("terraform_data.thing will be created").stderr_has("+1 ~0 -0");
    project.run("apply --saved").succeeds().stderr_has("applied +1 ~0 -0");

    project.run("plan --detailed-exitcode").succeeds().stderr_has("no changes");
    assert_eq!(project.resources("x"), ["terraform_data.thing"]);
}

#[test]
fn changes_are_told_by_the_exit_code_when_asked_for() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    project.run("plan --detailed-exitcode").exits(2);
    project.run("plan").succeeds();
}

#[test]
fn a_saved_plan_is_applied_once_and_removed() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("plan").succeeds();
    assert!(project.has(".infra/plans/01-a/x.tfplan"));

    project.run("apply --saved").succeeds();

    assert!(!project.has(".infra/plans/01-a/x.tfplan"));
    assert!(!project.has(".infra/plans/01-a/x.plan.json"));
}

#[test]
fn a_saved_plan_can_be_read_by_its_owner_only() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    project.run("plan").succeeds();

    let mode = |path| std::fs::metadata(project.path(path)).expect("metadata").permissions().mode() & 0o777;
    assert_eq!(mode(".infra/plans/01-a/x.tfplan"), 0o600);
    assert_eq!(mode(".infra/plans/01-a"), 0o700);
}

#[test]
fn a_plan_of_files_that_changed_since_is_refused() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("plan").succeeds();
    project.write("infrastructure/01-a/x/main.tf", &SIMPLE.replace("one", "two"));

    let run = project.run("apply --saved").exits(1);

    run.stderr_has("error[stale-plan]")
        .stderr_has("changed since")
        .stderr_has("hint: plan again: `infra plan 01-a/x`");
    assert!(project.resources("x").is_empty());
}

#[test]
fn a_plan_of_a_module_that_changed_since_is_refused() {
    let module = "resource \"terraform_data\" \"m\" {\n  input = 1\n}\n";
    let user = "terraform {\n  backend \"http\" {}\n}\n\nmodule \"m\" {\n  source = \"../../modules/m\"\n}\n";
    let project = Project::new().stack("01-a/x", user).file("infrastructure/modules/m/main.tf", module);
    project.run("plan").succeeds();
    project.write("infrastructure/modules/m/main.tf", &module.replace('1', "2"));

    project.run("apply --saved").exits(1).stderr_has("error[stale-plan]");
}

#[test]
fn a_backend_that_cannot_be_reached_has_an_exit_code_of_its_own() {
    let backend = |more: &str| {
        format!(
            "terraform {{\n  backend \"http\" {{\n    address = \"http://127.0.0.1:1/x\"\n{more}    retry_max = 0\n  }}\n}}\n"
        )
    };
    let project = Project::new()
        .stack("01-a/x", &backend(""))
        .stack("01-a/y", &backend("    lock_address = \"http://127.0.0.1:1/lock\"\n").replace("/x", "/y"));

    for stack in ["x", "y"] {
        let run = project.run(&format!("plan {stack}")).exits(69);
        run.stderr_has("cannot be reached").stderr_lacks("is locked");
    }
    project.run("validate --all").succeeds();
}

#[test]
fn wrong_credentials_of_a_server_are_no_held_lock() {
    let address = support::run::unauthorized_server();
    let config = format!("name: lab\nstate:\n  url: http://{address}/states\n");
    let project = Project::new().stack("01-a/x", SIMPLE).config(&config);

    let run = project.run("plan").exits(77);

    run.stderr_has("tfstate_password").stderr_lacks("is locked");
}

/// Returns the command of a hint, as it would be pasted.
fn pasted(text: &str, words: &str) -> String {
    let from = text.find(words).unwrap_or_else(|| panic!("no `{words}` in {text}"));
    let command = text[from + words.len()..].split('`').nth(1).expect("a command");
    command.strip_prefix("infra ").expect("a command of infra").replace('\'', "")
}

#[test]
fn a_plan_that_became_stale_by_another_apply_is_refused_before_tofu_is_asked() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("plan --out-dir first").succeeds();
    project.run("apply --yes").succeeds();

    let run = project.run("apply --plan-dir first").exits(1);

    let run = run.stderr_has("error[stale-plan]").stderr_has("its state changed since the plan was made");
    assert!(!run.stderr.contains("applying"), "{run}");
    // What is advised works, and so does the next step.
    project.run(&pasted(&run.stderr, "hint: plan again: ")).succeeds();
    project.run("apply --plan-dir first").succeeds().stderr_has("no changes");
}

#[test]
fn a_plan_of_a_state_that_only_tofu_can_compare_is_stale_too() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("plan --out-dir first").succeeds();
    let record = project.read("first/01-a/x.plan.json");
    let mut record: serde_json::Value = serde_json::from_str(&record).unwrap();
    record.as_object_mut().unwrap().remove("state");
    project.write("first/01-a/x.plan.json", &record.to_string());
    project.run("apply --yes").succeeds();

    let run = project.run("apply --plan-dir first --trust").exits(1);

    run.stderr_has("error[stale-plan]").stderr_has("Saved plan is stale").stderr_has("--out-dir");
}

#[test]
fn a_stale_plan_is_planned_again_told_and_applied_with_a_yes() {
    for flag in ["", " --plan-only-stale"] {
        let project = Project::new().stack("01-a/x", SIMPLE);
        project.run("plan").succeeds();
        project.write("infrastructure/01-a/x/main.tf", &SIMPLE.replace("one", "two"));

        let run = project.run(&format!("apply --yes{flag}")).succeeds();

        run.stderr_has("applied +1 ~0 -0")
            .stderr_has("planned again: the files of the stack or of its modules changed since");
        project.run("output x thing --raw").succeeds().stdout_has("two");
        assert!(!project.has(".infra/plans/01-a/x.tfplan"));
    }
    Project::new().run("apply --help").succeeds().stdout_lacks("plan-only-stale").stdout_has("--saved");
}

#[test]
fn with_a_yes_beforehand_another_argument_is_a_reason_to_plan_again() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("plan").succeeds();

    let run = project.run("apply --yes -- -replace=terraform_data.thing").succeeds();

    run.stderr_has("other arguments after `--`").stderr_has("applied +1 ~0 -0");
}

#[test]
fn saved_plans_take_no_arguments_and_carry_the_values_they_were_made_with() {
    let stack = "terraform {\n  backend \"http\" {}\n}\n\nvariable \"size\" {}\n\nresource \"terraform_data\" \"a\" {\n  input = var.size\n}\n\noutput \"size\" {\n  value = terraform_data.a.output\n}\n";
    let project = Project::new()
        .stack("01-a/x", stack)
        .file("infrastructure/01-a/x/vms.tfvars", "size = \"of the file\"\n");
    project.run("plan -- -var size=large").succeeds();

    let run = project.run("apply --saved -- -var size=small").exits(64);
    run.stderr_has("nothing can follow `--`");
    project.run("apply --saved").succeeds();

    project.run("output x size --raw").succeeds().stdout_has("large");
    project.write("more.tfvars", "size = \"huge\"\n");
    project.run("plan -- -var-file ../../../more.tfvars").succeeds();
    project.write("more.tfvars", "size = \"tiny\"\n");
    project.run("apply --saved").exits(1).stderr_has("error[stale-plan]").stderr_has("`-var-file` changed");
    project.write("more.tfvars", "size = \"huge\"\n");
    project.run("apply --saved").succeeds();
    project.run("output x size --raw").succeeds().stdout_has("huge");
}

#[test]
fn exactly_the_saved_plans_are_applied_or_nothing_at_all() {
    let project = Project::new().stack("01-a/x", SIMPLE).stack("01-a/y", SIMPLE).stack("02-b/z", SIMPLE);
    project.run("plan --all").succeeds();
    project.write("infrastructure/02-b/z/main.tf", &SIMPLE.replace("one", "two"));

    let run = project.run("apply --all --saved --yes --json").exits(1);

    assert_eq!((run.result_of("01-a/x"), run.result_of("02-b/z")), ("skipped".into(), "failed".into()));
    let stacks = run.json()["stacks"].as_array().unwrap().clone();
    assert_eq!(stacks[2]["error"]["code"], "stale-plan");
    let run = run.stderr_has("nothing is applied, because the plan of 02-b/z cannot be");
    assert!(project.resources("x").is_empty() && project.resources("y").is_empty());

    // The others keep their plans: the advised command is all that is needed.
    project.run(&pasted(&run.stderr, "next: plan again: ")).succeeds();
    project.run("apply --all --saved").succeeds();
    project.run("plan --all --detailed-exitcode").succeeds();
}

#[test]
fn a_stack_without_a_saved_plan_is_named_and_left_and_keeps_nobody_back() {
    let project = Project::new().stack("01-a/x", SIMPLE).stack("02-b/y", SIMPLE);
    project.run("plan y").succeeds();

    let run = project.run("apply --all --saved --json").exits(1);

    assert_eq!((run.result_of("01-a/x"), run.result_of("02-b/y")), ("skipped".into(), "succeeded".into()));
    let run = run.stderr_has("01-a/x  skipped: it has no saved plan");
    assert!(project.resources("x").is_empty());
    project.run(&pasted(&run.stderr, "plan what has no saved plan: ")).succeeds();
    project.run("apply x --saved").succeeds();
}

#[test]
fn a_stack_whose_saved_plan_is_empty_is_no_failure_unless_it_changed_since() {
    let project = Project::new().stack("01-a/x", SIMPLE).stack("02-b/y", SIMPLE);
    project.run("apply x --yes").succeeds();
    project.run("plan --all").succeeds();

    project.run("apply --all --saved").succeeds().stderr_has("1 without changes · 1 applied");
    project.run("apply x --saved").succeeds();
    project.run("apply x --saved").succeeds();

    project.run("plan --all").succeeds();
    project.write("infrastructure/01-a/x/main.tf", &SIMPLE.replace("one", "two"));
    project.run("apply --all --saved").exits(1).stderr_has("error[stale-plan]");
}

#[test]
fn what_an_earlier_run_applied_of_the_saved_plans_is_done_until_something_changes() {
    let project = Project::new().stack("01-a/x", SIMPLE).stack("02-b/y", SIMPLE);
    project.run("plan --all").succeeds();
    project.run("apply x --saved").succeeds();

    // As after a run that was killed between the two.
    let run = project.run("apply --all --saved --json").succeeds();
    assert_eq!((run.result_of("01-a/x"), run.result_of("02-b/y")), ("no_changes".into(), "succeeded".into()));
    run.stderr_has("its saved plan was applied already");
    project.run("apply --all --saved").succeeds();

    project.write("infrastructure/01-a/x/main.tf", &SIMPLE.replace("one", "two"));
    project.run("apply --all --saved").exits(1).stderr_has("01-a/x  skipped: it has no saved plan");
    project.run("apply x --yes").succeeds();
    project.run("apply x --saved").exits(1);
}

#[test]
fn a_protected_stack_needs_a_flag_beside_saved_plans_and_the_next_step_has_it() {
    let project = Project::new()
        .stack("01-a/x", SIMPLE)
        .stack("01-a/y", SIMPLE)
        .config("name: lab\nstacks:\n  \"01-a/x\":\n    protect: true\n");
    project.run("apply x --yes").succeeds();
    project.write("infrastructure/01-a/x/main.tf", "terraform {\n  backend \"http\" {}\n}\n");
    let planned = project.run("plan --all").succeeds();

    let run = project.run("apply --all --saved --yes").exits(1);

    run.stderr_has("`01-a/x` is protected").stderr_has("--allow-destroy");
    assert_eq!((project.resources("x").len(), project.resources("y").len()), (1, 0));
    project.run(&planned.advice("--saved")).succeeds();
    assert!(project.resources("x").is_empty());
}

#[test]
fn a_resumed_run_of_saved_plans_obeys_the_same_rules() {
    let project = Project::new().stack("01-a/x", SIMPLE).stack("02-b/y", SIMPLE);
    project.run("plan x").succeeds();
    project.run("apply --all --saved").exits(1);

    project.run("apply --resume").exits(64).stderr_has("`infra apply --resume --yes`");
    project.run("apply --resume --saved").exits(1).stderr_has("it has no saved plan");
    project.run("plan y").succeeds();

    project.run("apply --resume --saved").succeeds().stderr_has("applied +1 ~0 -0");
}

#[test]
fn a_plan_that_said_nothing_never_stands_in_the_way() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("apply --yes").succeeds();
    project.run("plan").succeeds().stderr_has("no changes");
    project.write("infrastructure/01-a/x/main.tf", &SIMPLE.replace("one", "two"));

    project.run("apply --yes").succeeds().stderr_has("applied +0 ~1 -0");
}

#[test]
fn a_plan_that_takes_over_what_changed_outside_can_be_applied() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("apply --yes").succeeds();

    project.run("plan --refresh-only").succeeds();

    project.run("apply --saved").succeeds();
}

#[test]
fn a_plan_to_destroy_is_not_applied_by_apply() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("apply --yes").succeeds();
    project.run("plan --destroy").succeeds();

    project.run("apply --saved").exits(1).stderr_has("it was made to destroy everything");

    assert_eq!(project.resources("x"), ["terraform_data.thing"]);
}

/// A stack of the simplest kind with this backend block.
fn with_backend(block: &str) -> Project {
    let project = Project::new().stack("01-a/x", &SIMPLE.replace("backend \"http\" {}", block));
    project.git(&["init", "-q"]);
    project.file("templates/config/note.txt.j2", "text\n").file("cluster.yaml", "a: 1\n")
}

/// Asserts that git would take nothing from `.infra`, and returns whether there is one.
fn hides_what_it_keeps(project: &Project, command: &str) -> bool {
    let taken = project.git(&["status", "--porcelain", "--untracked-files=all"]);
    assert!(!taken.contains(".infra"), "{command}: {taken}");
    let made = project.has(".infra");
    assert!(!made || project.read(".infra/.gitignore") == "*\n", "{command}");
    made
}

#[test]
fn what_infra_keeps_is_hidden_from_git_whatever_makes_it_and_wherever_the_state_is() {
    let makes_it = ["plan", "init", "validate", "test", "apply --yes", "destroy --yes", "drift", "configure"];
    let may_make_it =
        ["up --yes", "state pull x", "locks", "force-unlock x", "output", "doctor", "deps", "fmt"];
    for block in ["backend \"http\" {}", "backend \"local\" {}", "", "backend \"s3\" { key = \"k\" }"] {
        for command in makes_it {
            let project = with_backend(block);
            // Some cannot reach their state; what they leave behind counts all the same.
            let _ = project.run(command);
            assert!(hides_what_it_keeps(&project, command), "`{command}` with `{block}` made nothing");
        }
        for command in may_make_it {
            let project = with_backend(block);
            let _ = project.run(command);
            hides_what_it_keeps(&project, command);
        }
    }
}

#[test]
fn a_copy_of_a_state_is_hidden_from_git_in_a_folder_that_was_not_there() {
    let project = with_backend("backend \"local\" {}");
    project.run("apply --yes").succeeds();
    std::fs::remove_dir_all(project.path(".infra")).expect("a folder");

    project.run("state rm x terraform_data.thing").succeeds();

    assert!(project.has(".infra/backups") && hides_what_it_keeps(&project, "state rm"));
}

#[test]
fn a_folder_of_an_earlier_version_is_hidden_from_git_and_a_persons_own_file_stays() {
    let project = with_backend("");
    project.write(".infra/init/old.json", "{}");

    project.run("plan").succeeds();
    assert!(hides_what_it_keeps(&project, "plan"));

    project.write(".infra/.gitignore", "/*\n");
    project.run("plan").succeeds();
    assert_eq!(project.read(".infra/.gitignore"), "/*\n");
}

#[test]
fn formatting_and_foreign_backends_touch_no_state_store() {
    let project = Project::new().stack("01-a/x", "output \"o\" {\n  value = 1\n}\n");

    project.run("fmt").succeeds();
    project.run("plan").succeeds();

    assert!(!project.has(".infra/state"));
}

#[test]
fn a_damaged_plan_file_is_refused() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("plan").succeeds();
    project.write(".infra/plans/01-a/x.tfplan", "damaged");

    project.run("apply --saved").exits(1).stderr_has("its plan file is missing or damaged");
    project.run("apply --yes").succeeds().stderr_has("planned again: its plan file is missing or damaged");
}

#[test]
fn without_a_terminal_and_a_yes_nothing_is_changed() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    let run = project.run("apply").exits(64);

    run.stderr_has("there is no terminal").stderr_has("hint: say yes beforehand: `infra apply --yes`");
    project.run("destroy").exits(64).stderr_has("there is no terminal");
    // Saved plans are no yes: `--saved` is.
    project.run("plan").succeeds().stderr_has("next: apply exactly this: `infra apply 01-a/x --saved`");
    let run = project.run("apply").exits(64);
    run.stderr_has("or apply exactly what was reviewed: `infra plan`, then `infra apply --saved`");
    assert!(project.resources("x").is_empty());
    project.run("apply --saved").succeeds();
    project.run("plan --destroy").succeeds();
    project.run("destroy").exits(64);
    project.run("destroy --yes").succeeds().stderr_has("takes the plan that was saved");
}

#[test]
fn the_advice_to_say_yes_beforehand_keeps_everything_that_was_typed() {
    let project = Project::new().stack("01-a/x", SIMPLE).stack("01-a/y", SIMPLE);
    project.run("apply --all --yes").succeeds();
    std::fs::remove_dir_all(project.path("infrastructure/01-a/y")).unwrap();

    let hint = |args: &str| project.run(args).exits(64).advice("--yes");

    assert_eq!(hint("destroy --removed"), "destroy --removed --yes");
    assert_eq!(hint("-C infrastructure/01-a/x apply"), "-C infrastructure/01-a/x apply --yes");
    assert_eq!(hint("apply x -- -target=a.b"), "apply x --yes -- -target=a.b");
    assert_eq!(
        hint("destroy x --force --allow-destroy --fail-fast --parallelism 2"),
        "destroy x --force --allow-destroy --fail-fast --parallelism 2 --yes"
    );
    let run = project.run("destroy x -- -var token=s3cr3t").exits(64).stderr_lacks("s3cr3t");
    run.stderr_has("say yes beforehand: the same command with `--yes` before the `--`");
}

#[test]
fn what_is_resumed_can_be_reviewed_first() {
    let project = Project::new()
        .stack("01-a/x", &format!("{SIMPLE}\noutput \"o\" {{\n  value = file(\"missing\")\n}}\n"));
    project.run("apply --yes").exits(1);
    project.write("infrastructure/01-a/x/main.tf", SIMPLE);

    let run = project.run("apply --resume").exits(64);

    project.run(&run.advice("plan ")).succeeds();
    project.run(&run.advice("--resume --saved")).succeeds();
    assert!(!project.resources("x").is_empty());
}

#[test]
fn destroy_takes_everything_away() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("apply --yes").succeeds();

    project.run("destroy --yes").succeeds().stderr_has("destroyed +0 ~0 -1");

    assert!(project.resources("x").is_empty());
    project.run("destroy --yes").succeeds().stderr_has("no changes");
}

#[test]
fn a_syntax_error_is_told_with_file_and_line() {
    let project = Project::new().stack("01-a/x", "resource \"terraform_data\" \"a\" {\n  input =\n}\n");

    let run = project.run("plan").exits(1);

    let run =
        run.stderr_has("01-a/x: Invalid expression").stderr_has("at main.tf:2:10").stderr_has("2:   input =");
    assert_eq!(run.stderr.matches("main.tf").count(), 1, "{}", run.stderr);
}

#[test]
fn an_error_that_only_tofu_finds_is_passed_through_with_its_place() {
    let project = Project::new().stack("01-a/x", "resource \"terraform_data\" \"a\" {\n  inputt = 1\n}\n");

    project.run("validate").exits(1).stderr_has("Unsupported argument").stderr_has("main.tf:2:3");
    project.run("plan").exits(1).stderr_has("Unsupported argument").stderr_has("main.tf:2:3");
}

#[test]
fn a_missing_variable_names_the_file_to_set_it_in() {
    let project = Project::new().stack("01-a/x", "variable \"node\" {\n  type = string\n}\n");

    let run = project.run("plan").exits(1);

    run.stderr_has("No value for required variable")
        .stderr_has("hint: set `node` in `infrastructure/01-a/x/terraform.tfvars`");
}

#[test]
fn the_only_variable_file_of_a_folder_is_used() {
    let stack = "variable \"node\" {\n  type = string\n}\n\noutput \"node\" {\n  value = var.node\n}\n";
    let project =
        Project::new().stack("01-a/x", stack).file("infrastructure/01-a/x/vms.tfvars", "node = \"pve7\"\n");

    project.run("apply --yes").succeeds();

    project.run("output x node --raw").succeeds().stdout_has("pve7");
}

#[test]
fn a_failing_provisioner_fails_the_stack_and_keeps_what_was_made() {
    let failing = r#"
terraform {
  backend "http" {}
}
resource "terraform_data" "first" {}
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "echo out of paper >&2; exit 3"
  }
}
"#;
    let project = Project::new().stack("01-a/x", failing);

    let run = project.run("apply --yes").exits(1);

    run.stderr_has("local-exec provisioner error")
        .stderr_has("out of paper")
        .stderr_has("with terraform_data.second");
    assert!(project.resources("x").contains(&"terraform_data.first".to_owned()));
    assert!(project.locks().is_empty());
}

#[test]
fn init_is_skipped_until_something_it_depends_on_changes() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("plan").succeeds().stderr_has("initialising");

    project.run("plan").succeeds().stderr_lacks("initialising");

    project.write("infrastructure/01-a/x/main.tf", &SIMPLE.replace("one", "two"));
    project.run("plan").succeeds().stderr_lacks("initialising");
    std::fs::remove_dir_all(project.path("infrastructure/01-a/x/.terraform")).expect("a data folder");
    project.run("plan").succeeds().stderr_has("initialising");
    project.run("plan --init").succeeds().stderr_has("initialising");
}

#[test]
fn a_new_local_module_is_initialised_by_itself() {
    let project = Project::new()
        .stack("01-a/x", SIMPLE)
        .file("infrastructure/modules/m/main.tf", "output \"o\" {\n  value = 1\n}\n");
    project.run("plan").succeeds();
    let with_module = format!("{SIMPLE}\nmodule \"m\" {{\n  source = \"../../modules/m\"\n}}\n");
    project.write("infrastructure/01-a/x/main.tf", &with_module);

    project.run("plan").succeeds().stderr_has("initialising");
}

#[test]
fn a_changed_backend_ends_in_a_hint() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("apply --yes").succeeds();
    let local = SIMPLE.replace("backend \"http\" {}", "backend \"local\" {}");
    project.write("infrastructure/01-a/x/main.tf", &local);

    let run = project.run("plan").exits(65).stderr_has("error[state-not-moved]");

    // What it says works.
    project.run(&format!("{} --yes", run.advice("migrate"))).succeeds();
    project.run("plan --detailed-exitcode").exits(0);
}

#[test]
fn a_missing_provider_ends_in_a_hint_about_the_way_to_get_it() {
    let project = Project::new()
        .stack("01-a/x", "resource \"null_resource\" \"a\" {}\n")
        .file("none/.keep", "")
        .file("tofurc", "provider_installation {\n  filesystem_mirror {\n    path = \"none\"\n  }\n}\n");
    let cli_configuration = project.path("tofurc").display().to_string();
    let project = project.env("TF_CLI_CONFIG_FILE", &cli_configuration);

    let run = project.run("plan").exits(1);

    run.stderr_has("Failed to resolve provider packages")
        .stderr_has("hint: a provider cannot be fetched")
        .stderr_has("`infra init 01-a/x`");
}

#[test]
fn refused_credentials_of_a_remote_backend_end_in_a_hint() {
    let server = support::run::unauthorized_server();
    let stack =
        format!("terraform {{\n  backend \"http\" {{\n    address = \"http://{server}/state\"\n  }}\n}}\n");
    let project = Project::new().stack("01-a/x", &stack);

    let run = project.run("plan").exits(77);

    run.stderr_has("requires auth")
        .stderr_has("backend block in `infrastructure/01-a/x`")
        .stderr_has("TF_HTTP_USERNAME")
        .stderr_has("`infra doctor`");
}

#[test]
fn a_missing_cli_configuration_is_told_once_and_not_by_every_call() {
    let project = Project::new().stack("01-a/x", SIMPLE).env("TF_CLI_CONFIG_FILE", "/nonexistent/tofurc");

    let run = project.run("plan").succeeds();

    assert_eq!(run.stderr.matches("/nonexistent/tofurc").count(), 1, "{run}");
    assert!(!project.read(&project.newest_log("01-a/x")).contains("tofurc"));
}

#[test]
fn what_is_inherited_cannot_change_a_command_unseen() {
    let project = Project::new().stack("01-a/x", SIMPLE).env("TF_CLI_ARGS_plan", "-destroy");

    project.run("plan").succeeds().stderr_has("+1 ~0 -0");
}

#[test]
fn a_path_with_spaces_and_unicode_works() {
    let project = Project::named("mein Labor ✓").stack("01-höhe/ein stack", SIMPLE);

    project.run("apply --all --yes").succeeds().stderr_has("applied +1 ~0 -0");

    project.run("apply --all --yes").succeeds().stderr_has("no changes");
}

#[test]
fn a_project_that_cannot_be_written_says_so_and_where() {
    let project = Project::new().stack("01-a/x", SIMPLE).file(".infra", "a file where a folder must be");

    let run = project.run("plan").exits(69);

    run.stderr_has("cannot create").stderr_has("/.infra`");
}

#[test]
fn a_full_disk_fails_the_stack_and_keeps_the_old_state() {
    let project = Project::new().stack("01-a/x", SIMPLE);
    project.run("apply --yes").succeeds();
    project.write("infrastructure/01-a/x/main.tf", &SIMPLE.replace("one", "two"));

    // A limit on the size of files is how a full disk looks from inside.
    let mut limited = std::process::Command::new("sh");
    limited
        .args(["-c", "ulimit -f 1; exec \"$0\" apply x --yes"])
        .arg(env!("CARGO_BIN_EXE_infra"))
        .current_dir(project.root());
    let run = support::Running::start(limited, "apply x --yes").wait();

    assert_ne!(run.code, Some(0), "{run}");
    project.run("output x thing --raw").succeeds().stdout_has("one");
}

#[test]
fn errors_are_json_too_when_json_is_asked_for() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    let run = project.run("plan nowhere --json").exits(64);

    let error = &run.json()["error"];
    assert_eq!(error["kind"], "usage");
    assert!(error["message"].as_str().expect("a message").contains("nowhere"), "{run}");
    assert!(run.stderr.contains("nowhere"), "{run}");
}

#[test]
fn the_report_has_the_documented_shape() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    let run = project.run("plan --json").succeeds();

    let report = run.json();
    assert_eq!((report["command"].as_str(), report["exit_code"].as_i64()), (Some("plan"), Some(0)));
    assert_eq!(report["stacks"][0]["id"], "01-a/x");
    assert_eq!(report["stacks"][0]["add"], 1);
    assert_eq!(run.result_of("01-a/x"), "succeeded");
    let recorded =
        project.read(&format!(".infra/runs/{}/report.json", report["run_id"].as_str().expect("an id")));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&recorded).expect("JSON"), report);
}

#[test]
fn the_event_stream_is_one_object_a_line() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    let run = project.run("plan --jsonl").succeeds();

    let types: Vec<String> = run
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).expect("JSON")["type"]
                .as_str()
                .expect("a type")
                .to_owned()
        })
        .collect();
    assert_eq!(types.first().map(String::as_str), Some("run_started"));
    assert_eq!(types.last().map(String::as_str), Some("run_finished"));
    assert!(types.contains(&"planned".to_owned()), "{types:?}");
}

#[test]
fn arguments_after_two_dashes_reach_tofu() {
    let two = format!("{SIMPLE}\nresource \"terraform_data\" \"other\" {{}}\n");
    let project = Project::new().stack("01-a/x", &two);

    project.run("plan -- -target=terraform_data.other").succeeds().stderr_has("+1 ~0 -0");
}

#[test]
fn a_dry_run_says_what_would_run_and_runs_nothing() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    project.run("apply --dry-run").succeeds().stdout_has("init → plan → approve → apply");

    assert!(!project.has("infrastructure/01-a/x/.terraform"));
}

#[test]
fn plans_that_make_and_change_no_resource_are_changes_all_the_same() {
    let head = "terraform {\n  backend \"http\" {}\n}\n\n";
    let thing = |name: &str| format!("resource \"terraform_data\" \"{name}\" {{\n  input = \"one\"\n}}\n");
    let output = "output \"said\" {\n  value = \"hello\"\n}\n";
    let moved = "moved {\n  from = terraform_data.a\n  to   = terraform_data.b\n}\n";
    let removed = "removed {\n  from = terraform_data.b\n  lifecycle {\n    destroy = false\n  }\n}\n";
    let import = "import {\n  to = terraform_data.c\n  id = \"made-elsewhere\"\n}\nresource \"terraform_data\" \"c\" {}\n";
    let project = Project::new().stack("01-a/x", &format!("{head}{}", thing("a")));
    project.run("apply --yes").succeeds();

    let steps = [
        format!("{}{output}", thing("a")),
        format!("{}{moved}{output}", thing("b")),
        format!("{removed}{output}"),
        format!("{import}{output}"),
    ];
    for step in steps {
        project.write("infrastructure/01-a/x/main.tf", &format!("{head}{step}"));
        project.run("plan --detailed-exitcode").exits(2);
        project.run("apply --saved").succeeds();
        project.run("plan --detailed-exitcode").succeeds();
    }
    assert_eq!(project.resources("x"), ["terraform_data.c"]);
}

#[test]
fn a_replaced_resource_whose_old_one_is_only_forgotten_is_a_change() {
    let stack = |trigger: &str| {
        format!(
            "terraform {{\n  backend \"http\" {{}}\n}}\n\nresource \"terraform_data\" \"a\" {{\n  \
             triggers_replace = \"{trigger}\"\n  lifecycle {{\n    destroy = false\n  }}\n}}\n"
        )
    };
    let project = Project::new().stack("01-a/x", &stack("one"));
    project.run("apply --yes").succeeds();
    project.write("infrastructure/01-a/x/main.tf", &stack("two"));

    project.run("plan --detailed-exitcode").exits(2).stdout_has("terraform_data.a");
    project.run("apply --saved").succeeds();

    project.run("plan --detailed-exitcode").succeeds();
}

#[test]
fn every_step_that_is_advised_after_a_run_can_be_taken() {
    let project = Project::new().stack("01-a/x", SIMPLE).stack("01-a/y", SIMPLE);

    let no_plan = project.run("show x --plan").exits(1);
    project.run(&no_plan.advice("plan")).succeeds();
    project.run("show x --plan").succeeds();
    let planned = project.run("plan --all").succeeds();
    let applied = project.run(&format!("{} --yes", planned.advice("apply"))).succeeds();
    project.run(&applied.advice("output")).succeeds().stdout_has("one");
    let to_destroy = project.run("plan --all --destroy").succeeds();
    project.run(&format!("{} --yes", to_destroy.advice("destroy"))).succeeds();
    assert!(project.resources("x").is_empty() && project.resources("y").is_empty());
}

#[test]
fn the_ways_out_of_small_mistakes_can_be_taken() {
    let project = Project::new().stack("01-a/x", "output \"o\" {\nvalue = 1\n}\n");

    let unformatted = project.run("fmt --check").exits(1);
    project.run(&unformatted.advice("fmt")).succeeds();
    project.run("fmt --check").succeeds();
    let unknown = project.run("runs show nothing").exits(64);
    project.run(&unknown.advice("runs")).succeeds();
    let unasked = project.run("apply x").exits(64);
    project.run(&unasked.advice("plan")).succeeds();
    project.run(&unasked.advice("apply")).succeeds();
    let fresh = project.run("destroy --resume --yes").exits(64);
    project.run(&format!("{} --yes", fresh.advice("destroy"))).succeeds();
}
