//! Broken, hostile and odd files: each is named, and the rest is judged.

use std::os::unix::fs::symlink;

use crate::support::Project;
use crate::{CLEAN, found};

const FAR: &str = "module \"m\" {\n  source = \"git::https://example.com/x.git\"\n}\n";

#[test]
fn a_broken_file_is_named_and_the_rest_is_judged() {
    let project = Project::new()
        .stack("a", &format!("{FAR}resource \"x\" \"y\" {{\n  k = [1\n}}\n{FAR}"))
        .stack("b", FAR)
        .file("infrastructure/b/x.tf.json", "{\"module\": {\"n\": {\"source\": \"git@h:x\"}}, ")
        .file("infrastructure/b/x.tfvars", "a = \n");

    let rows = found(&project);
    for row in [
        "file-syntax infrastructure/a/main.tf:6",
        "file-syntax infrastructure/b/x.tf.json:1",
        "file-syntax infrastructure/b/x.tfvars:1",
        "module-source infrastructure/a/main.tf:1",
        "module-source infrastructure/a/main.tf:7",
        "module-source infrastructure/b/main.tf:1",
        "module-source infrastructure/b/x.tf.json:1",
    ] {
        assert!(rows.contains(&row.to_owned()), "{row}: {rows:#?}");
    }
}

#[test]
fn files_that_cannot_be_read_are_named_once() {
    let project = Project::new()
        .stack("a", CLEAN)
        .file("infrastructure/a/vault.tf", "$ANSIBLE_VAULT;1.1;AES256\n6162\n");
    symlink("nowhere.tf", project.path("infrastructure/a/gone.tf")).unwrap();
    symlink("/dev/zero", project.path("infrastructure/a/zero.tf")).unwrap();
    nix::unistd::mkfifo(&project.path("infrastructure/a/pipe.tfvars"), nix::sys::stat::Mode::S_IRWXU)
        .unwrap();
    std::fs::write(project.path("infrastructure/a/latin.tf"), b"locals {\n  a = \"caf\xe9\"\n}\n").unwrap();

    assert_eq!(
        found(&project),
        [
            "file-syntax infrastructure/a/gone.tf:1",
            "file-syntax infrastructure/a/latin.tf:2",
            "file-syntax infrastructure/a/pipe.tfvars:1",
            "file-syntax infrastructure/a/vault.tf:1",
            "file-syntax infrastructure/a/zero.tf:1",
        ]
    );
}

#[test]
fn odd_names_and_deep_nesting_are_no_crash() {
    let deep = format!(
        "locals {{\n  a = {}\"x\"{}\n  password = {}\n}}\n",
        "[".repeat(5_000),
        "]".repeat(5_000),
        "{a=".repeat(5_000)
    );
    let project = Project::new()
        .stack("größe und space", &format!("{CLEAN}{FAR}"))
        .stack("deep", &deep)
        .file("infrastructure/deep/b.tf.json", &format!("{}\"token\"", "{\"token\":[".repeat(5_000)))
        .file("infrastructure/line\nbreak/main.tf", FAR)
        .file("infrastructure/deep/marked.tf", "\u{feff}variable \"x\" {}\r\n");
    let odd = std::ffi::OsString::from(String::from("infrastructure/deep/"));
    let mut odd = std::path::PathBuf::from(odd);
    odd.push(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"caf\xe9.tf"));
    std::fs::write(project.root().join(odd), FAR).unwrap();

    let rows = found(&project);

    assert!(rows.contains(&"module-source infrastructure/größe und space/main.tf:4".to_owned()), "{rows:#?}");
    assert!(rows.contains(&"module-source infrastructure/line\nbreak/main.tf:1".to_owned()), "{rows:#?}");
    project.run("lint").exits(1);
}

#[test]
fn what_a_file_says_never_steers_the_terminal() {
    let project = Project::new().stack("a", "module \"\\u001b[2J\" {\n  source = \"git::\\u001b[31mx\"\n}\n");

    project.run("lint").exits(1).stdout_lacks("\u{1b}").stderr_lacks("\u{1b}");
}

#[test]
fn folders_that_are_none_of_the_projects_are_left_out() {
    let project = Project::new()
        .stack("a", CLEAN)
        .file("infrastructure/a/.terraform/modules/x/main.tf", FAR)
        .file("infrastructure/a/.terraform/x.tfvars", "password = \"hunter2-hunter2\"\n")
        .file("node_modules/x/modules/y/main.tf", FAR)
        .file(".cache/modules/y/main.tf", FAR)
        .file("cookiecutter/{{x}}/main.tf", "{{ x }}\n");
    symlink(".terraform", project.path("infrastructure/a/linked")).unwrap();

    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn templates_are_judged_where_they_were_rendered() {
    let project = Project::new()
        .stack("a", CLEAN)
        .file("templates/config/infrastructure/modules/vm/main.tf", "variable \"x\" {}\n")
        .file("templates/config/infrastructure/a/x.tfvars", "a = #{ b }#\n#% endif %#\n");

    assert_eq!(found(&project), [""; 0]);
}
