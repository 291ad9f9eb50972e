//! Workspaces under new names in a checkout that never applied any of them.

use std::path::Path;

use crate::support::Project;
use crate::{DECLARED, bucket, declared, output_of, web, with_keys};

/// Copies what a repository has, states that were committed included.
fn another_checkout(project: &Project) -> Project {
    let other = Project::new();
    copy(&project.path(""), &other.path(""));
    other
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let is_own = [".infra", ".terraform"].iter().any(|name| entry.file_name() == *name);
        if source.is_dir() && !is_own {
            std::fs::create_dir_all(&target).unwrap();
            copy(&source, &target);
        } else if source.is_file() {
            std::fs::copy(&source, &target).unwrap();
        }
    }
}

#[test]
fn a_renamed_workspace_is_not_made_a_second_time() {
    for backend in [String::new(), bucket()] {
        let first = with_keys(declared(&backend));
        first.run("apply cloud/web --yes").succeeds();
        let live = DECLARED.replace("prod: {", "live: {");
        let other = with_keys(another_checkout(&first));

        other.write("infra.yaml", &live);
        let refused = other.run("plan --all").exits(65).stderr_has("error[stack-renamed]");
        let refused = refused.stderr_has("`cloud/web@prod`").stderr_has("✓ cloud/web@dev");
        other.run(&refused.advice("--create")).succeeds().stderr_has("+1");
        other.write("infra.yaml", &live.replace("live: {", "live: { was: \"cloud/web@prod\","));
        other.run("plan @live").succeeds().stderr_has("+0 ~1 -0");
        other.run("apply @live --yes").succeeds().stderr_has("has the state of `cloud/web@prod` now");
        assert_eq!(output_of(&other, "web@live"), "live 2 live");
        other.write("infra.yaml", &live);
        other.run("plan --all --detailed-exitcode").succeeds();
    }
}

#[test]
fn a_folder_that_got_workspaces_goes_on_with_its_state() {
    for backend in [String::new(), bucket()] {
        let first = with_keys(Project::new().stack("web", &web(&backend)));
        first.run("apply --yes").succeeds();
        let other = with_keys(another_checkout(&first));

        other.write("infra.yaml", "name: lab\nstacks:\n  web: { workspaces: { dev: {}, prod: {} } }\n");
        other.run("plan --all").exits(65).stderr_has("error[stack-renamed]");
        let was = "name: lab\nstacks:\n  web: { workspaces: { dev: { was: web }, prod: {} } }\n";
        other.write("infra.yaml", was);
        other.run("apply --all --yes").succeeds().stderr_has("`web@dev` has the state of `web` now");
        assert_eq!(other.resources("web@dev"), ["terraform_data.web"]);
    }
}

#[test]
fn a_renamed_workspace_is_known_by_the_lock_file_where_the_state_is_not_here() {
    let first = declared(r#"backend "http" {}"#);
    first.run("apply cloud/web --yes").succeeds();
    let other = another_checkout(&first);

    other.write("infra.yaml", &DECLARED.replace("prod: {", "live: {"));
    other.run("plan @live").exits(65).stderr_has("error[stack-renamed]").stderr_has("`cloud/web@prod`");
    other.write("infra.yaml", "name: lab\nstacks:\n  cloud/web: { var_files: [dev.tfvars] }\n");
    other
        .run("plan cloud/web")
        .exits(65)
        .stderr_has("error[stack-renamed]")
        .stderr_has("cloud/web@prod  its state");
}

#[test]
fn what_the_new_name_changes_is_not_passed_over() {
    let config = |entry: &str| format!("name: lab\nstacks:\n  web: {{ workspaces: {{ {entry} }} }}\n");
    let project = Project::new().config(&config("prod: {}")).stack("web", &web(""));
    project.run("apply web --yes").succeeds();

    project.write("infra.yaml", &config("live: { was: web@prod }"));
    let moved = project.run("apply web --yes").succeeds().stderr_has("has the state of `web@prod` now");

    project.run(&moved.advice("plan")).succeeds().stderr_has("+0 ~1 -0");
}
