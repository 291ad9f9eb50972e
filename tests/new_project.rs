//! `infra new` and `infra new-stack`: what they make works, on the real tofu, and is its own.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Finished, Project, Running, SIMPLE, infra, tofu};

/// A folder that projects are made in.
struct Place {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        Self { _dir: dir, path }
    }

    /// Runs infra in the folder, or in one below it.
    fn run(&self, below: &str, args: &str) -> Finished {
        let mut command = infra();
        command.args(args.split_whitespace()).current_dir(self.path.join(below));
        Running::start(command, args).wait()
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn has(&self, path: &str) -> bool {
        self.path.join(path).exists()
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_new_homelab_goes_up_at_once_and_stays_as_it_is() {
    let place = Place::new();
    tofu();

    place.run(".", "new lab").succeeds().stderr_has("cd lab").stderr_has("infra up");

    let first = place.run("lab", "up --yes --json").succeeds();
    assert_eq!(first.json()["stacks"].as_array().map(Vec::len), Some(5));
    place.run("lab", "plan --all --detailed-exitcode").succeeds();
    place.run("lab", "doctor").succeeds();
    place.run("lab", "fmt --all --check").succeeds();
}

#[test]
fn two_new_projects_on_one_store_are_told_apart_by_their_names() {
    let place = Place::new();
    tofu();
    for name in ["la", "lb"] {
        place.run(".", &format!("new {name}")).succeeds();
        let settings = place.read(&format!("{name}/infra.yaml")) + "\nstate: { store: ../states }\n";
        std::fs::write(place.path.join(name).join("infra.yaml"), settings).unwrap();
    }
    assert!(place.read("la/infra.yaml").contains("\nname: la\n"));

    place.run("la", "up --yes").succeeds();
    place.run("lb", "up --yes").exits(65).stderr_has("state-shared");
    place.run("la", "plan --all --detailed-exitcode").succeeds();
    std::fs::create_dir(place.path.join("here")).unwrap();
    place.run("here", "new").succeeds();
    assert!(place.read("here/infra.yaml").contains("\nname: here\n"));
}

#[test]
fn every_example_has_data_templates_a_workflow_and_a_private_key() {
    for example in ["homelab", "proxmox-talos", "layered"] {
        let place = Place::new();

        place.run(".", &format!("new lab --example {example}")).succeeds();

        for file in
            ["infra.yaml", "cluster.yaml", "nodes.yaml", ".gitignore", ".github/workflows/infra-review.yaml"]
        {
            assert!(place.has(&format!("lab/{file}")), "{example}: {file}");
        }
        assert!(place.has("lab/templates/config/infrastructure"), "{example}");
        assert_eq!(mode(&place.path.join("lab/age.key")), 0o600, "{example}");
        let key = place.read("lab/age.key");
        let public = key.lines().find_map(|line| line.strip_prefix("# public key: ")).unwrap().to_owned();
        assert!(place.read("lab/.sops.yaml").contains(&public), "{example}");
        assert!(place.read("lab/Taskfile.yml").contains("infra:plan:"), "{example}");
    }
}

#[test]
fn every_example_is_rendered_once_and_then_stays() {
    for example in ["homelab", "proxmox-talos", "layered"] {
        let place = Place::new();
        place.run(".", &format!("new lab --example {example}")).succeeds();

        place.run("lab", "configure --no-init").succeeds();

        place.run("lab", "configure --check").succeeds();
        place.run("lab", "fmt --all --check").succeeds();
        let stacks = place.run("lab", "stacks --json").succeeds().json();
        let stacks = stacks.as_array().unwrap();
        assert!(stacks.iter().all(|stack| stack["backend"]["type"] == "http"), "{example}: {stacks:?}");
        let expected = match example {
            "homelab" => 5,
            "layered" => 3,
            _ => 1,
        };
        assert_eq!(stacks.len(), expected, "{example}");
    }
}

#[test]
fn a_new_homelab_follows_its_data() {
    let place = Place::new();
    tofu();
    place.run(".", "new lab").succeeds();
    place.run("lab", "up --yes").succeeds();
    let nodes = place.read("lab/nodes.yaml") + "  - { name: k8s-worker-3, address: 192.0.2.33 }\n";
    std::fs::write(place.path.join("lab/nodes.yaml"), nodes).unwrap();

    place.run("lab", "up --yes").succeeds();

    place.run("lab", "output k8s-prod").succeeds().stdout_has("k8s-worker-3");
}

#[test]
fn two_projects_never_share_a_key() {
    let place = Place::new();

    place.run(".", "new one").succeeds();
    place.run(".", "new two").succeeds();

    assert_ne!(place.read("one/age.key"), place.read("two/age.key"));
}

#[test]
fn git_sees_neither_the_key_nor_data_with_credentials() {
    let place = Place::new();
    place.run(".", "new lab --example proxmox-talos").succeeds();
    let git =
        |args: &[&str]| Command::new("git").args(args).current_dir(place.path.join("lab")).output().unwrap();

    git(&["init", "--quiet"]);
    let seen = git(&["status", "--porcelain", "--untracked-files=all"]);

    let seen = String::from_utf8(seen.stdout).unwrap();
    assert!(seen.contains("nodes.yaml") && seen.contains(".sops.yaml"), "{seen}");
    assert!(!seen.contains("age.key") && !seen.contains("cluster.yaml"), "{seen}");
}

#[test]
fn secrets_of_a_new_project_are_encrypted_for_its_own_key() {
    let place = Place::new();
    place.run(".", "new lab").succeeds();
    place.run("lab", "configure --no-init").succeeds();
    let file = place.path.join("lab/infrastructure/secrets.sops.yaml");
    std::fs::write(&file, "password: not-a-real-one\n").unwrap();

    place.run("lab", "secrets encrypt infrastructure/secrets.sops.yaml").succeeds();

    assert!(!std::fs::read_to_string(&file).unwrap().contains("not-a-real-one"));
    let shown = place.run("lab", "secrets view infrastructure/secrets.sops.yaml").succeeds();
    assert_eq!(shown.stdout, "password: not-a-real-one\n");
}

#[test]
fn a_folder_that_holds_something_is_refused_and_left_alone() {
    let place = Place::new();
    std::fs::create_dir(place.path.join("lab")).unwrap();
    std::fs::write(place.path.join("lab/notes.txt"), "mine").unwrap();

    place.run(".", "new lab").exits(64).stderr_has("`lab` is not empty").stderr_has("notes.txt");
    place.run("lab", "new").exits(64);
    place.run(".", "new lab/notes.txt").exits(64).stderr_has("no folder");
    place.run(".", "new other --example nope").exits(64).stderr_has("proxmox-talos");

    assert_eq!(std::fs::read_dir(place.path.join("lab")).unwrap().count(), 1);
    assert!(!place.has("other"));
}

#[test]
fn an_empty_repository_and_the_working_folder_can_be_filled() {
    let place = Place::new();
    std::fs::create_dir_all(place.path.join("lab/.git")).unwrap();

    place.run("lab", "new").succeeds().stderr_lacks("cd ");
    place.run(".", "new deep/er/lab").succeeds();

    assert!(place.has("lab/infra.yaml") && place.has("lab/.git") && place.has("deep/er/lab/infra.yaml"));
    let left: Vec<_> = std::fs::read_dir(place.path.join("lab")).unwrap().flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().contains("infra-new")), "{left:?}");
}

#[test]
fn a_copied_stack_applies_into_a_state_of_its_own() {
    let place = Place::new();
    tofu();
    place.run(".", "new lab").succeeds();
    place.run("lab", "configure --no-init").succeeds();
    place.run("lab", "apply pve1 --yes").succeeds();

    let made = place.run("lab", "new-stack 01-hypervisors/pve3 --from pve1").succeeds();

    made.stderr_has("made `01-hypervisors/pve3` from `01-hypervisors/pve1`").stderr_has("infra plan");
    place.run("lab", "apply pve3 --yes --json").succeeds();
    place.run("lab", "destroy pve3 --yes").succeeds();
    assert!(place.run("lab", "state list pve1 -q").succeeds().stdout.contains("bridge"));
    place.run("lab", "plan pve1 --detailed-exitcode").succeeds();
}

const S3: &str = r#"terraform {
  backend "s3" {
    bucket = "states"
    key    = "onprem/server_a.tfstate" # one for each stack
    region = "auto"
  }
}

module "vm" {
  source = "../../modules/vm"
}
"#;

#[test]
fn a_copy_leaves_behind_what_belongs_to_the_original() {
    let project = Project::new()
        .stack("onprem/server_a", S3)
        .file("infrastructure/modules/vm/main.tf", "")
        .file("infrastructure/onprem/server_a/vms.tfvars", "")
        .file("infrastructure/onprem/server_a/.terraform.lock.hcl", "")
        .file("infrastructure/onprem/server_a/.terraform/terraform.tfstate", "{}")
        .file("infrastructure/onprem/server_a/terraform.tfstate.backup", "{}")
        .file("infrastructure/onprem/server_a/.terraform.tfstate.lock.info", "{}")
        .file("infrastructure/onprem/server_a/errored.tfstate", "{}")
        .file("infrastructure/onprem/server_a/tfplan", "");

    project.run("new-stack onprem/server_b --from server_a").succeeds().stderr_has("onprem/server_b.tfstate");

    let copied = std::fs::read_dir(project.path("infrastructure/onprem/server_b")).unwrap().flatten();
    let mut copied: Vec<String> = copied.map(|entry| entry.file_name().to_string_lossy().into()).collect();
    copied.sort();
    assert_eq!(copied, [".terraform.lock.hcl", "main.tf", "vms.tfvars"]);
    let text = project.read("infrastructure/onprem/server_b/main.tf");
    assert_eq!(text, S3.replace("server_a", "server_b"));
}

#[test]
fn a_copy_elsewhere_still_finds_its_modules() {
    let project = Project::new().stack("onprem/server_a", S3).file("infrastructure/modules/vm/main.tf", "");

    project.run("new-stack infrastructure/cloud/eu/server_b --from server_a").succeeds();

    let text = project.read("infrastructure/cloud/eu/server_b/main.tf");
    assert!(text.contains("source = \"../../../modules/vm\""), "{text}");
    let stacks = project.run("stacks --json").succeeds().json();
    assert_eq!(stacks[0]["id"], "cloud/eu/server_b");
    assert_eq!(stacks[0]["modules"][0], "infrastructure/modules/vm");
}

#[test]
fn a_copy_that_would_share_a_state_is_refused_and_leaves_nothing() {
    let taken = S3.replace("server_a", "server_b");
    let project = Project::new()
        .stack("onprem/server_a", S3)
        .stack("onprem/other", &taken)
        .file("infrastructure/modules/vm/main.tf", "");

    let refused = project.run("new-stack onprem/server_b --from server_a").exits(65);

    refused.stderr_has("state-shared").stderr_has("onprem/other");
    assert!(!project.has("infrastructure/onprem/server_b") && project.has("infrastructure/onprem/server_a"));
}

#[test]
fn a_state_that_is_named_in_json_is_not_copied() {
    let json = r#"{"terraform": {"backend": {"s3": {"bucket": "b", "key": "k"}}}}"#;
    let project = Project::new().file("infrastructure/a/main.tf.json", json);

    project.run("new-stack b --from a").exits(64).stderr_has("main.tf.json").stderr_has("JSON");

    assert!(!project.has("infrastructure/b"));
}

#[test]
fn an_empty_stack_is_served_at_once() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    project.run("new-stack 01-a/y").succeeds();

    project.run("apply 01-a/y --yes").succeeds();
    assert!(project.read("infrastructure/01-a/y/main.tf").contains("backend \"http\" {}"));
}

#[test]
fn a_place_that_is_taken_outside_or_no_place_for_stacks_is_refused() {
    let project = Project::new().stack("01-a/x", SIMPLE);

    project.run("new-stack 01-a/x").exits(64).stderr_has("there already");
    project.run("new-stack ../../elsewhere").exits(64).stderr_has("not inside");
    project.run("new-stack modules/x --from 01-a/x").exits(64).stderr_has("no stack");
    project.run("new-stack 01-a/y --from nope").exits(64).stderr_has("nope");

    assert!(!project.has("infrastructure/modules") && !project.has("infrastructure/01-a/y"));
}

#[test]
fn what_infra_yaml_says_about_the_original_is_pointed_out() {
    let project = Project::new()
        .stack("01-a/x", SIMPLE)
        .config("name: lab\nstacks:\n  \"01-a/x\": { tags: [metal] }\n");

    let made = project.run("new-stack 01-a/y --from x").succeeds();

    made.stderr_has("infra.yaml says something about `01-a/x`");
}
