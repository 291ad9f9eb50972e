//! A repository that somebody else wrote: what it brings is read, and neither run nor believed.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use support::run::wait_until;
use support::{Project, Running, SIMPLE};

const TEMPLATE: &str = "#{ name }#\n";

/// A project with a template and a stack, committed, in which nothing is stale.
fn committed() -> Project {
    let project = Project::new()
        .config("name: lab\nconfigure: {data: [values.yaml]}\n")
        .file("values.yaml", "name: one\n")
        .file("templates/config/plain.txt.j2", TEMPLATE)
        .file("plain.txt", "from a colleague\n")
        .stack("01-a/x", SIMPLE);
    project.git(&["init", "-q"]);
    project.git(&["add", "-f", "."]);
    project.git(&["commit", "-qm", "one"]);
    project
}

/// A program that leaves a trace when it runs.
fn tracer(project: &Project) -> (PathBuf, PathBuf) {
    let (program, trace) = (project.path("../tracer"), project.path("../trace"));
    let text = format!("#!/bin/sh\ntouch '{}'\ncat\n", trace.display());
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    (program, trace)
}

/// What a person does first in a repository that is new to them.
const LOOKS: [&str; 9] = [
    "configure --check --no-input",
    "configure --diff --no-input",
    "stacks",
    "stacks --changed HEAD",
    "doctor",
    "locks",
    "validate --no-input",
    "plan --no-input",
    "configure --no-init --no-input",
];

fn nothing_runs(project: &Project, trace: &Path) {
    for look in LOOKS {
        let _ = project.run(look);

        assert!(!trace.exists(), "`infra {look}` ran a program of the repository");
    }
}

#[test]
fn a_bare_repository_inside_the_project_runs_no_program_of_its_own() {
    let project = committed();
    let (program, trace) = tracer(&project);
    let repository = project.path("../repository");
    for folder in [None, Some(".git")] {
        // A clone has a repository of its own above, and an unpacked archive has none.
        let top = folder.map(|git| project.path("..").join(git));
        top.iter().for_each(|top| copy(&project.path(".git"), top));
        std::fs::rename(project.path(".git"), &repository).unwrap();
        for name in ["HEAD", "objects", "refs", "index"] {
            copy(&repository.join(name), &project.path(name));
        }
        let settings = "repositoryformatversion = 0\nbare = false\nworktree = ../project";
        project.write("config", &format!("[core]\n{settings}\nfsmonitor = {}\n", program.display()));
        Command::new("git").arg("status").current_dir(project.root()).output().unwrap();
        assert!(trace.exists(), "git itself would run it");
        std::fs::remove_file(&trace).unwrap();

        nothing_runs(&project, &trace);
        std::fs::rename(&repository, project.path(".git")).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg("-T").args([from, to]).status().unwrap();
    assert!(copied.success());
}

#[test]
fn a_repositorys_own_settings_start_no_program() {
    let project = committed();
    let (program, trace) = tracer(&project);
    let program = program.to_str().unwrap();
    project.git(&["config", "core.fsmonitor", program]);
    project.git(&["config", "filter.trap.clean", program]);
    project.git(&["config", "filter.trap.required", "true"]);
    project.git(&["config", "diff.external", program]);
    project.git(&["config", "core.hooksPath", "../"]);
    project.write(".git/info/attributes", "* filter=trap diff=trap\n");
    // Not as the index remembers it, so its content has to be compared.
    project.write("plain.txt", "from a colleague!\n");

    nothing_runs(&project, &trace);
}

#[test]
fn inside_a_git_hook_the_projects_own_repository_is_asked() {
    let project = committed();
    let elsewhere = Project::new();
    elsewhere.git(&["init", "-q"]);
    let git_dir = elsewhere.path(".git");

    let run = |args: &str| {
        let mut command = project.command(args);
        command.env("GIT_DIR", &git_dir).env("GIT_WORK_TREE", elsewhere.root());
        command.env("GIT_INDEX_FILE", git_dir.join("index")).env("GIT_EXTERNAL_DIFF", "false");
        Running::start(command, args).wait()
    };

    // `plain.txt` is committed as it is, so nothing is lost when it is replaced.
    run("configure --no-init --no-input").succeeds();
    assert_eq!(project.read("plain.txt"), "one\n");
}

#[test]
fn worktrees_and_projects_below_a_repository_are_still_known() {
    let project = Project::new();
    project.write("lab/infra.yaml", "name: lab\nconfigure: {data: [values.yaml]}\n");
    project.write("lab/values.yaml", "name: one\n");
    project.write("lab/templates/config/plain.txt.j2", TEMPLATE);
    project.write("lab/plain.txt", "from a colleague\n");
    project.git(&["init", "-q"]);
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "one"]);
    project.git(&["worktree", "add", "-q", "../tree"]);

    for folder in ["lab", "../tree/lab"] {
        let mut command = project.command("configure --no-init --no-input");
        command.current_dir(project.path(folder));
        Running::start(command, "configure").wait().succeeds();

        assert_eq!(project.read(&format!("{folder}/plain.txt")), "one\n");
    }
}

#[test]
fn a_linked_folder_of_infra_is_refused_before_anything_is_done_through_it() {
    for place in [".infra", ".infra/staging", ".infra/state", ".infra/plans", ".infra/working", ".infra/runs"]
    {
        let project = committed();
        let outside = project.path("../outside");
        std::fs::create_dir_all(outside.join("staging")).unwrap();
        std::fs::write(outside.join("staging/mine"), "").unwrap();
        std::fs::write(outside.join("mine"), "").unwrap();
        std::fs::create_dir_all(project.path(place).parent().unwrap()).unwrap();
        symlink(&outside, project.path(place)).unwrap();

        for args in ["configure --force --no-init --no-input", "apply --yes", "plan", "state list x", "runs"]
        {
            project.run(args).exits(65).stderr_has(&format!("{place}` is a link"));
        }

        let left = std::fs::read_dir(&outside).unwrap().count();
        assert_eq!((left, outside.join("staging/mine").exists()), (2, true), "{place}");
    }
}

#[test]
fn a_linked_state_folder_says_where_to_name_another_and_that_one_is_used() {
    let project = committed();
    let outside = project.path("../states");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::create_dir(project.path(".infra")).unwrap();
    symlink(&outside, project.path(".infra/state")).unwrap();

    project.run("apply --yes").exits(65).stderr_has("state: {store: PATH}");
    std::fs::remove_file(project.path(".infra/state")).unwrap();
    project.write("infra.yaml", "name: lab\nstate: {store: ../states}\n");

    project.run("apply --yes").succeeds();
    assert!(std::fs::read_dir(&outside).unwrap().count() > 0);
}

#[test]
fn the_advice_about_a_linked_folder_loses_no_state() {
    let project = committed();
    project.run("apply --all --yes").succeeds();
    let outside = project.path("../moved infra");
    std::fs::rename(project.path(".infra"), &outside).unwrap();
    symlink(&outside, project.path(".infra")).unwrap();

    let refused = project.run("plan --all").exits(65).stderr_has("states lie behind it");
    let advice =
        refused.stderr.split("bring them back: `").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    let done = Command::new("sh").args(["-c", advice]).status().unwrap();

    assert!(done.success(), "{advice}");
    project.run("plan --all --detailed-exitcode").succeeds();
}

#[test]
fn a_note_about_a_process_cannot_lead_to_a_file_that_is_not_a_note() {
    let project = committed();
    let precious = project.path("../precious");
    std::fs::write(&precious, "mine\n").unwrap();
    std::fs::create_dir_all(project.path(".infra/working")).unwrap();
    symlink(&precious, project.path(".infra/working/01-a%2Fx")).unwrap();

    project.run("apply --yes").exits(65).stderr_has("is a link");

    assert_eq!(std::fs::read_to_string(precious).unwrap(), "mine\n");
}

#[test]
fn a_list_of_generated_files_that_came_with_the_repository_removes_nothing_of_git() {
    let project = committed();
    let head = project.read(".git/HEAD");
    let digest = |text: &str| infra::model::hex(&<sha2::Sha256 as sha2::Digest>::digest(text));
    let list = format!(r#"{{"version":1,"files":{{".git/HEAD":["{}"]}}}}"#, digest(&head));
    project.write(".infra/generated.json", &list);

    project.run("configure --force --no-init --no-input").succeeds();

    assert_eq!(project.read(".git/HEAD"), head);
}

#[test]
fn two_configures_at_once_wait_for_each_other_and_ctrl_c_ends_the_wait() {
    let project = committed();
    project.run("configure --no-init --no-input").succeeds();
    let held = std::fs::File::options().append(true).open(project.path(".infra/configure.lock")).unwrap();
    held.lock().unwrap();
    project.write("values.yaml", "name: two\n");

    let mut command = project.command("configure --no-init --no-input");
    let note = project.path("../note");
    command.stderr(std::fs::File::create(&note).unwrap()).stdout(Stdio::null());
    let mut waiting = command.spawn().unwrap();
    let said = |text: &str| std::fs::read_to_string(&note).unwrap().contains(text);
    wait_until("it waits", || said("waiting for another"));
    let pid = nix::unistd::Pid::from_raw(i32::try_from(waiting.id()).unwrap());
    nix::sys::signal::kill(pid, Signal::SIGINT).unwrap();
    assert_eq!(waiting.wait().unwrap().code(), Some(130));
    assert_eq!(project.read("plain.txt"), "one\n");

    let mut waiting = command.spawn().unwrap();
    wait_until("it waits", || std::fs::read_to_string(&note).unwrap().matches("waiting for").count() > 1);
    drop(held);
    assert_eq!(waiting.wait().unwrap().code(), Some(0));
    assert_eq!(project.read("plain.txt"), "two\n");
}

#[test]
fn providers_in_an_infra_folder_that_came_with_the_repository_are_not_run_by_validate() {
    let evil = "registry.opentofu.org/evil/evil";
    let project = Project::new().stack(
        "01-a/x",
        "terraform {\n  required_providers {\n    evil = { source = \"evil/evil\" }\n  }\n}\n\nprovider \"evil\" {}\n",
    );
    // Where the provider is to be had, harmless.
    let mirror = project.path("../mirror");
    let settings = format!("filesystem_mirror {{\n    path = \"{}\"\n  }}", mirror.display());
    project.write("../cli.tfrc", &format!("provider_installation {{\n  {settings}\n}}\n"));
    project.write(&format!("../mirror/{evil}/1.0.0/{}/terraform-provider-evil", platform()), "harmless");
    let settings = project.path("../cli.tfrc").display().to_string();
    let project = project.env("TF_CLI_CONFIG_FILE", &settings);
    let (program, trace) = tracer(&project);
    let package = format!(".infra/validate/01-a%2Fx/providers/{evil}/1.0.0/{}", platform());
    std::fs::create_dir_all(project.path(&package)).unwrap();
    std::fs::copy(&program, project.path(&package).join("terraform-provider-evil")).unwrap();
    let digest = |bytes: &[u8]| <sha2::Sha256 as sha2::Digest>::digest(bytes);
    let listed = infra::model::hex(&digest(&std::fs::read(&program).unwrap()));
    let hash = digest(format!("{listed}  terraform-provider-evil\n").as_bytes());
    let hash = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, hash);
    let lock = format!("provider \"{evil}\" {{\n  version = \"1.0.0\"\n  hashes = [\"h1:{hash}\"]\n}}\n");
    project.write("infrastructure/01-a/x/.terraform.lock.hcl", &lock);

    project.run("validate --no-input").exits(1);

    assert!(!trace.exists(), "a provider of the repository ran");
}

fn platform() -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    format!("{system}_{processor}")
}
