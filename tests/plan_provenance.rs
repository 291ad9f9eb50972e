//! What a saved plan was made from, and what makes it stale: commits, edits, the environment.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use support::{Project, SIMPLE};

/// A stack that reads a file beside the stacks.
fn reading_around() -> Project {
    let stack = SIMPLE.replace("\"one\"", "file(\"${path.module}/../../../data/x.txt\")");
    let project = Project::new().stack("01-a/x", &stack).stack("01-a/y", SIMPLE).file("data/x.txt", "one");
    project.git(&["init", "-q"]);
    commit(&project);
    project
}

fn commit(project: &Project) {
    project.git(&["add", "."]);
    project.git(&["commit", "-q", "-m", "all"]);
}

#[test]
fn a_plan_is_refused_after_a_commit_that_changed_what_it_may_have_read() {
    let project = reading_around();
    project.run("plan x").succeeds();
    project.write("data/x.txt", "two");
    commit(&project);

    let run = project.run("apply x --saved").exits(1);

    run.stderr_has("error[stale-plan]").stderr_has("`data/x.txt` changed since");
    assert!(project.has(".infra/plans/01-a/x.tfplan"), "the plan is not consumed");
}

#[test]
fn a_plan_is_refused_after_an_edit_of_what_it_may_have_read() {
    let project = reading_around();
    project.write("data/x.txt", "two");
    project.run("plan x").succeeds();

    commit(&project);
    project.write("data/x.txt", "three");

    project.run("apply x --saved").exits(1).stderr_has("`data/x.txt` changed since");
}

#[test]
fn a_plan_survives_a_commit_of_other_stacks_documents_and_what_it_was_made_from() {
    let project = reading_around();
    project.write("data/x.txt", "two");
    project.run("plan x").succeeds();
    project.write("README.md", "words");
    project.write("infrastructure/01-a/y/main.tf", &SIMPLE.replace("one", "other"));
    commit(&project);

    project.run("apply x --saved").succeeds().stderr_has("applied +1 ~0 -0");
}

#[test]
fn a_plan_made_with_another_environment_is_refused() {
    let stack = "terraform {\n  backend \"http\" {}\n}\n\nvariable \"v\" {}\n\nresource \"terraform_data\" \"a\" {\n  input = var.v\n}\n";
    let env = |value: &str| format!("name: lab\nstacks:\n  \"01-a/x\":\n    env: {{ TF_VAR_v: {value} }}\n");
    let project = Project::new().stack("01-a/x", stack).config(&env("one"));
    project.run("plan").succeeds();
    project.write("infra.yaml", &env("two"));

    project.run("apply --saved").exits(1).stderr_has("error[stale-plan]").stderr_has("`env` in infra.yaml");
}

#[test]
fn a_plan_of_a_part_that_found_nothing_does_not_stand_for_the_whole() {
    let stack = "terraform {\n  backend \"http\" {}\n}\n\nresource \"terraform_data\" \"a\" {}\n";
    for narrow in ["plan -- -target=terraform_data.other", "plan --refresh-only"] {
        let project = Project::new().stack("01-a/x", stack);

        project.run(narrow).succeeds();

        project.run("apply --yes").succeeds().stderr_has("applied +1 ~0 -0");
    }
}

#[test]
fn an_image_beside_the_configuration_is_not_held_in_memory() {
    const MIB: u64 = 1 << 20;
    let project = Project::new().stack("01-a/x", SIMPLE);
    let image = project.path("infrastructure/01-a/x/image.iso");
    std::fs::File::create(&image).unwrap().set_len(1536 * MIB).unwrap();

    let run = project.start("plan x");
    let status = format!("/proc/{}/status", run.pid());
    // The last figure before the process ends is the most that it ever had.
    let mut most = 0;
    while let Some(peak) = std::fs::read_to_string(&status).ok().as_deref().and_then(peak_memory) {
        most = peak;
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    run.wait().succeeds();

    assert!(most > 0 && most < 300 * 1024, "{most} KiB");
    let last = std::fs::File::options().write(true).open(&image).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&last, b"x", 1536 * MIB - 1).unwrap();
    project.run("apply x --saved").exits(1).stderr_has("error[stale-plan]");
}

/// Returns the most memory that a process had so far, in KiB; nothing of one that has ended.
fn peak_memory(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[test]
fn a_pipe_or_a_device_beside_the_configuration_is_not_waited_for() {
    let project = reading_around();
    for place in ["infrastructure/01-a/x/pipe", "infrastructure/01-a/x/files/pipe"] {
        std::fs::create_dir_all(project.path(place).parent().unwrap()).unwrap();
        nix::unistd::mkfifo(&project.path(place), nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    std::os::unix::fs::symlink("/dev/zero", project.path("infrastructure/01-a/x/zero")).unwrap();
    // One that git knows as a file.
    project.write("data/y.txt", "one");
    commit(&project);
    std::fs::remove_file(project.path("data/y.txt")).unwrap();
    nix::unistd::mkfifo(&project.path("data/y.txt"), nix::sys::stat::Mode::S_IRWXU).unwrap();

    project.run("plan x").succeeds();
    project.run("apply x --saved").succeeds();
}
