//! A `configure` that takes much away: asked, or refused with what goes and why.

use crate::support::Project;
use crate::support::terminal::AtTerminal;
use crate::tools::AgeKey;

pub const CLUSTER: &str = "proxmox_api_url: https://pve.example.com:8006/api2/json\nproxmox_node: pve\nnode_cidr: 10.0.0.0/24\ntalos_version: 1.12.0\nproxmox_api_token_id: root@pam!infra\nproxmox_api_token_secret: canary-hunter2\n";
pub const NODE: &str = "nodes:\n  - name: k8s-0\n    address: 10.0.0.10\n    mac_addr: bc:24:11:00:00:01\n    schematic_id: 376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba\n";

/// A project of the built-in templates, rendered with Proxmox.
fn rendered() -> Project {
    let key = AgeKey::new();
    let file = format!("# public key: {}\n{}\n", key.recipient, key.secret);
    let project =
        Project::new().file("cluster.yaml", CLUSTER).file("nodes.yaml", NODE).file("age.key", &file);
    project.run("configure --no-init").succeeds();
    project
}

fn without_node() -> String {
    CLUSTER.replace("proxmox_node", "# proxmox_node")
}

/// Returns every file but what the program keeps for itself, with its content.
fn tree(project: &Project) -> Vec<(String, Vec<u8>)> {
    let mut open = vec![project.root().to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(project.root()).unwrap().display().to_string();
            if path.is_dir() && name != ".infra" {
                open.push(path);
            } else if path.is_file() {
                files.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn one_line_of_data_does_not_take_the_tree_away_unasked() {
    let project = rendered();
    project.write("cluster.yaml", &without_node());
    let (before, manifest) = (tree(&project), project.read(".infra/generated.json"));

    let run = project.run("configure").exits(64);

    insta::assert_snapshot!(run.stderr, @r"
    warning: cluster.yaml:1:1: `proxmox_api_url` without `proxmox_node`: Proxmox is not enabled and no VM is rendered
    error: this would remove all 10 generated files, 1 of them encrypted; that has to be asked, but there is no terminal
      infrastructure/secrets.sops.yaml (encrypted)
      .sops.yaml
      infrastructure/README.md
      infrastructure/tofu/backend.tf
      infrastructure/tofu/main.tf
      infrastructure/tofu/outputs.tf
      infrastructure/tofu/providers.tf
      infrastructure/tofu/terraform.tfvars
      infrastructure/tofu/variables.tf
      infrastructure/tofu/versions.tf
      their templates are there, and no longer render them
      cluster.yaml changed since the last `infra configure`
      nothing was written
    hint: see what would go: `infra configure --diff`
    hint: remove it: `infra configure --force`
    ");
    assert_eq!((tree(&project), project.read(".infra/generated.json")), (before, manifest));
    project.run("configure --check").exits(1).stdout_has("+++ /dev/null");
    project.run(&run.advice("--diff")).succeeds().stdout_has("+++ /dev/null");
    project.run(&run.advice("--force")).succeeds().stderr_has("removed");
    assert!(!project.has("infrastructure") && !project.has(".sops.yaml"));
    project.write("cluster.yaml", CLUSTER);
    project.run("configure --no-init").succeeds().stderr_has("new");
}

#[test]
fn up_refuses_in_a_pipe_with_a_way_that_works() {
    let project = rendered();
    project.write("cluster.yaml", &without_node());
    let before = tree(&project);

    let run = project.run("up --yes").exits(64);

    assert_eq!(tree(&project), before);
    project.run(&run.advice("configure --force")).succeeds();
    assert!(!project.has(".sops.yaml"));
}

#[test]
fn a_person_is_asked_and_a_no_leaves_everything() {
    let project = rendered();
    project.write("cluster.yaml", &without_node());
    let before = tree(&project);

    let mut no = AtTerminal::start(project.command("configure"));
    no.sees("infrastructure/secrets.sops.yaml (encrypted)")
        .sees("cluster.yaml changed since")
        .sees("Remove them? [y/N]");
    no.types("n");
    let (code, screen) = no.wait();
    assert_eq!((code, tree(&project) == before), (Some(1), true), "{screen}");
    assert!(screen.contains("nothing was written"), "{screen}");

    project.run("configure --no-input").exits(64);
    let mut yes = AtTerminal::start(project.command("configure --no-init"));
    yes.sees("Remove them? [y/N]");
    yes.types("y");
    let (code, screen) = yes.wait();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!project.has("infrastructure"));
}

/// A project of templates that each make one small file.
fn of_files(names: &[&str]) -> Project {
    let project = Project::new().file("cluster.yaml", "word: x\n").file("templates/config/keep.me", "");
    for name in names {
        project.write(&format!("templates/config/{name}.j2"), &format!("#{{ word }}# {name}\n"));
    }
    project.run("configure").succeeds();
    project
}

fn remove(project: &Project, names: &[&str]) {
    names
        .iter()
        .for_each(|name| std::fs::remove_file(project.path(&format!("templates/config/{name}.j2"))).unwrap());
}

#[test]
fn half_of_the_tree_or_a_single_file_goes_without_a_question_and_more_does_not() {
    let project = of_files(&["a", "b", "c", "d", "e"]);
    // `keep.me` is the sixth file.
    remove(&project, &["a", "b", "c"]);
    project.run("configure").succeeds().stderr_has("3 removed");

    remove(&project, &["d", "e"]);
    let run = project.run("configure").exits(64);
    run.stderr_has("2 of 3 generated files").stderr_has("their templates are gone").stderr_lacks("encrypted");
    assert!(project.has("d") && project.has("e"));

    let lone = Project::new().file("cluster.yaml", "word: x\n").file("templates/config/a.j2", "x\n");
    lone.run("configure").succeeds();
    std::fs::rename(lone.path("templates/config/a.j2"), lone.path("templates/config/b.j2")).unwrap();
    lone.write("templates/config/b.j2", "y\n");
    lone.run("configure").succeeds().stderr_has("1 new, 1 removed");
}

#[test]
fn files_that_only_move_are_no_loss() {
    let project = of_files(&["old/a", "old/b", "old/c"]);
    std::fs::rename(project.path("templates/config/old"), project.path("templates/config/new")).unwrap();

    project.run("configure").succeeds().stderr_has("3 new, 3 removed");

    assert!(project.has("new/a") && !project.has("old"));
}

#[test]
fn an_encrypted_file_alone_is_asked_about_also_beside_an_edit_by_hand() {
    let (project, _key) = super::with_secrets();
    for name in ["a", "b", "c", "d"] {
        project.write(&format!("templates/config/{name}.txt"), name);
    }
    project.run("configure").succeeds();
    std::fs::remove_file(project.path("templates/config/infrastructure/secrets.sops.yaml.j2")).unwrap();

    let run = project.run("configure").exits(64);
    run.stderr_has("1 of 7 generated files, which is encrypted").stderr_lacks("canary");
    project.write("a.txt", "mine");
    let edited = project.run("configure").exits(1);

    edited.stderr_has("edited by hand").stderr_has("`--force` would also remove 1 of 7 generated files");
    assert!(project.has("infrastructure/secrets.sops.yaml"));
}
