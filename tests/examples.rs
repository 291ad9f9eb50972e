//! The examples that are shipped work, on the real tofu.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use std::path::Path;

use support::Project;

fn homelab() -> Project {
    let project = Project::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/homelab"), project.root());
    project
}

/// Copies what is tracked: no state, no working folders.
fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("an example").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if path.is_dir() {
            std::fs::create_dir_all(&target).expect("a writable folder");
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a writable folder");
        }
    }
}

#[test]
fn the_homelab_goes_up_and_stays_as_it_is() {
    let project = homelab();

    let first = project.run("up --yes --json").succeeds();
    let second = project.run("up --yes --json").succeeds();

    assert_eq!(first.json()["stacks"].as_array().map(Vec::len), Some(5));
    for stack in first.json()["stacks"].as_array().expect("stacks") {
        let id = stack["id"].as_str().expect("an id");
        assert_eq!(
            (first.result_of(id), second.result_of(id)),
            ("succeeded".to_owned(), "no_changes".to_owned())
        );
    }
    first.stderr_has("5 applied").stderr_has("next: ");
}

#[test]
fn the_homelab_hands_values_from_layer_to_layer() {
    let project = homelab();
    project.run("up --yes").succeeds();

    let output = project.run("output --all").succeeds();

    output
        .stdout_has("endpoint   = \"https://k8s-control.example.test:6443\"")
        .stdout_has("records = {\"k8s\":\"https://k8s-control.example.test:6443\"}")
        .stdout_has("join_token = (sensitive)");
}

#[test]
fn the_homelab_is_formatted_and_valid() {
    let project = homelab();

    project.run("fmt --all --check").succeeds();
    project.run("validate --all").succeeds();
    project.run("doctor").succeeds();
}

#[test]
fn the_homelab_is_what_its_data_renders_to() {
    let project = homelab();

    project.run("configure --check").succeeds().stderr_has("up to date");
    project.run("configure").succeeds().stderr_has("unchanged");
    let data = project.read("nodes.yaml") + "  - { name: k8s-worker-3, address: 192.0.2.33 }\n";
    project.write("nodes.yaml", &data);

    project.run("configure --check").exits(1).stdout_has("k8s-worker-3");
    project.run("configure").succeeds();
    project.run("fmt --all --check").succeeds();
    project.run("up --yes").succeeds();
    project.run("output k8s-prod").succeeds().stdout_has("k8s-worker-3");
}

#[test]
fn every_example_has_the_tasks_that_users_know() {
    let expected = [
        "init",
        "plan",
        "apply",
        "apply-auto",
        "destroy",
        "output",
        "state-list",
        "force-unlock",
        "validate",
        "fmt",
        "fmt-check",
        "secrets-edit",
    ];
    for example in ["homelab", "proxmox-talos", "layered"] {
        let path = format!("{}/examples/{example}/Taskfile.yml", env!("CARGO_MANIFEST_DIR"));
        let tasks = std::fs::read_to_string(path).unwrap();

        let names: Vec<&str> =
            tasks.lines().filter_map(|line| line.strip_prefix("  infra:")?.strip_suffix(':')).collect();

        assert_eq!(names, expected, "{example}");
    }
}
