//! What it takes: a fixed number of processes, however large the project and the change.

use std::os::unix::fs::PermissionsExt as _;

use crate::repository::Repository;

/// Returns how many processes of git one call starts.
fn processes(lab: &Repository) -> usize {
    let (folder, log) = (lab.beside("bin"), lab.beside("calls"));
    std::fs::create_dir_all(&folder).unwrap();
    let path = std::env::var("PATH").unwrap();
    let script = format!("#!/bin/sh\necho \"$*\" >> {}\nPATH={path:?} exec git \"$@\"\n", log.display());
    let git = folder.join("git");
    std::fs::write(&git, script).unwrap();
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = lab.command(&["changed", "--json"]);
    command.env("PATH", format!("{}:{path}", folder.display()));
    crate::support::Running::start(command, "changed").wait().succeeds();
    let calls = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(log).unwrap();
    calls.lines().count()
}

#[test]
fn as_many_processes_of_git_run_for_many_stacks_and_files_as_for_one() {
    let lab = Repository::new().stack("01-a/s0", &[]).file("cluster.yaml", "a: 1\n");
    lab.write("templates/config/out.txt.j2", "#{ a }#\n");
    lab.publish();
    lab.append("infrastructure/01-a/s0/main.tf", "# edited\n");
    lab.write("cluster.yaml", "a: 2\n");
    let few = processes(&lab);

    for number in 1..60 {
        lab.write(&format!("infrastructure/01-a/s{number}/main.tf"), "");
        lab.write(&format!("templates/config/{number}.txt.j2"), "#{ a }#\n");
    }
    lab.publish();
    for number in 0..60 {
        lab.append(&format!("infrastructure/01-a/s{number}/main.tf"), "# edited\n");
        lab.write(&format!("infrastructure/01-a/s{number}/untracked.txt"), "");
    }
    lab.write("cluster.yaml", "a: 3\n");
    let many = processes(&lab);

    assert_eq!(few, many);
    assert!(many <= 8, "{many} processes");
}
