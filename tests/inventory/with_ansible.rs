//! The real Ansible reads what infra writes: every form the same, whatever machines are called.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::ansible::ansible;
use super::states::{add, aws, project_of, resource};
use super::support::Project;

/// What means something to a shell, to YAML, to INI, to Jinja or to Ansible.
const PARTS: &[&str] = &[
    "web",
    "a",
    "1",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "[",
    "]",
    "[1:3]",
    ":",
    ":22",
    "=",
    "'",
    "\"",
    "\\",
    "#",
    ";",
    ",",
    "-",
    "--",
    "---",
    "{",
    "{{",
    "}}",
    "{%",
    "{#",
    "*",
    "&",
    "!",
    "%",
    "@",
    "`",
    "|",
    ">",
    "<<",
    "?",
    "~",
    "$HOME",
    "$(id)",
    "null",
    "true",
    "0x10",
    "1e5",
    "None",
    "_meta",
    "all",
    "ungrouped",
    "localhost",
    "stack_cloud_x",
    "ansible_host=6.6.6.6",
    "[all:vars]",
    "ProxyCommand touch x",
    "é",
    "日本",
    "🙂",
    "\u{a0}",
    "\u{200b}",
    "\u{2028}",
    "\u{85}",
    "\u{feff}",
    "\u{7f}",
    "\u{202e}",
    "2001:db8::1",
    "10.0.0.1",
    ".",
    "..",
    "/",
    "../x",
];

/// Names made of these, the same in every run.
fn hostile_names() -> Vec<String> {
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let name =
        proptest::collection::vec(proptest::sample::select(PARTS), 1..5).prop_map(|parts| parts.concat());
    let many = proptest::collection::vec(name, 250).new_tree(&mut runner).unwrap().current();
    PARTS.iter().map(|part| (*part).to_owned()).chain(many).collect()
}

/// Returns what the real Ansible makes of an inventory: the variables of its hosts, and its groups.
fn read_by_ansible(
    inventory: &Path,
    folder: &Path,
    project: &Project,
) -> (Value, BTreeMap<String, Vec<String>>) {
    let (path, state) = (path_with_infra(), project.user_state().display().to_string());
    let env = [("PATH", path.as_str()), ("XDG_STATE_HOME", &state), ("NO_COLOR", "1")];
    let done = ansible("ansible-inventory", &["--list", "-i", inventory.to_str().unwrap()], folder, &env);
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && told.trim().is_empty(), "{}: {told}", inventory.display());
    let all: Value = serde_json::from_slice(&done.stdout).unwrap();
    let names = |group: &Value| {
        let mut names: Vec<String> = serde_json::from_value(group["hosts"].clone()).unwrap_or_default();
        names.sort();
        names
    };
    let own =
        all.as_object().unwrap().iter().filter(|(group, _)| !["all", "_meta"].contains(&group.as_str()));
    (all["_meta"]["hostvars"].clone(), own.map(|(group, hosts)| (group.clone(), names(hosts))).collect())
}

fn path_with_infra() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_infra")).parent().unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// Writes the script into a folder, ready to be run.
fn script_in(folder: &Path, project: &Project, chosen: &str) -> PathBuf {
    let script = project.run(&format!("inventory {chosen} --script")).succeeds();
    let file = folder.join("inventory.sh");
    std::fs::write(&file, &script.stdout).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file
}

#[test]
fn ansible_reads_the_same_hosts_from_every_form_whatever_they_are_called() {
    let names = hostile_names();
    let machines: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let mut machine = aws(name, number);
            machine["tags"]["word"] = json!(name);
            machine
        })
        .collect();
    let project = project_of(&[("cloud/x", &[resource("aws_instance", &machines)])]);
    let elsewhere = tempfile::tempdir().unwrap();

    let mut read =
        vec![read_by_ansible(&script_in(elsewhere.path(), &project, ""), elsewhere.path(), &project)];
    for form in ["ini", "yaml"] {
        let file = elsewhere.path().join(format!("hosts.{form}"));
        std::fs::write(&file, project.run(&format!("inventory --format {form}")).succeeds().stdout).unwrap();
        read.push(read_by_ansible(&file, elsewhere.path(), &project));
    }

    let told = project.run("inventory --list").succeeds().json();
    let (hosts, groups) = &read[0];
    assert_eq!(hosts.as_object().unwrap().len(), names.len());
    assert_eq!(*hosts, told["_meta"]["hostvars"]);
    assert_eq!(groups["stack_cloud_x"].len(), names.len());
    assert!(read.iter().all(|other| other == &read[0]), "the forms differ");
    // Addresses are each machine's own, and no text of a state became a template or a variable of its own.
    assert!(
        hosts
            .as_object()
            .unwrap()
            .values()
            .all(|host| host["ansible_host"].as_str().unwrap().starts_with("10.1."))
    );
    assert!(!told.to_string().contains("{{") && !hosts.as_object().unwrap().contains_key("all"));
}

#[test]
fn the_script_works_from_any_folder_and_finds_the_checkout_around_it() {
    let project = project_of(&[("cloud/x", &[resource("aws_instance", &[aws("web", 1)])])]);
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = script_in(elsewhere.path(), &project, "");
    std::fs::create_dir_all(project.path("ansible")).unwrap();
    let copy = project_of(&[("cloud/x", &[resource("aws_instance", &[aws("other", 2)])])]);
    std::fs::create_dir_all(copy.path("ansible")).unwrap();
    let inside = copy.path("ansible/inventory.sh");
    std::fs::copy(&outside, &inside).unwrap();

    let names = |script: &Path| {
        let (hosts, _) = read_by_ansible(script, Path::new("/"), &project);
        hosts.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };

    assert_eq!(names(&outside), ["web"]);
    assert_eq!(names(&inside), ["other"], "the checkout around the script is the one that is meant");
    let env = [("PATH", path_with_infra()), ("XDG_STATE_HOME", project.user_state().display().to_string())];
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let one = ansible(
        "ansible-inventory",
        &["--host", "web", "-i", outside.to_str().unwrap()],
        elsewhere.path(),
        &env,
    );
    assert_eq!(serde_json::from_slice::<Value>(&one.stdout).unwrap()["ansible_host"], "10.1.0.2");
    let ping = ["all", "-c", "local", "-m", "ping", "-e", "ansible_python_interpreter=python3", "-i"];
    let done =
        ansible("ansible", &[&ping[..], &[outside.to_str().unwrap()]].concat(), elsewhere.path(), &env);
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("web | SUCCESS"), "{said}");
}

#[test]
fn the_script_keeps_the_choice_of_stacks() {
    let project = project_of(&[
        ("01-a/x", &[resource("aws_instance", &[aws("one", 1)])]),
        ("02-b/y", &[resource("aws_instance", &[aws("two", 2)])]),
        ("02-b/z", &[resource("aws_instance", &[aws("three", 3)])]),
    ]);
    let elsewhere = tempfile::tempdir().unwrap();
    let names = |chosen: &str| {
        let (hosts, _) =
            read_by_ansible(&script_in(elsewhere.path(), &project, chosen), Path::new("/"), &project);
        hosts.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };

    assert_eq!(names("--layer 02-b --exclude z"), ["two"]);
    assert_eq!(names("./infrastructure/01-a"), ["one"]);
    assert_eq!(names("--exclude y"), ["one", "three"]);
}

#[test]
fn ansible_is_told_of_a_state_that_cannot_be_read() {
    let project = project_of(&[("cloud/x", &[resource("aws_instance", &[aws("web", 1)])])]);
    add(&project, "cloud/y", &[]);
    project.write("infrastructure/cloud/y/terraform.tfstate", "no state");
    let elsewhere = tempfile::tempdir().unwrap();
    let script = script_in(elsewhere.path(), &project, "");
    let (path, state) = (path_with_infra(), project.user_state().display().to_string());

    let env = [
        ("PATH", path.as_str()),
        ("XDG_STATE_HOME", state.as_str()),
        ("ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED", "1"),
    ];
    let done =
        ansible("ansible-inventory", &["--list", "-i", script.to_str().unwrap()], elsewhere.path(), &env);

    let told = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && told.contains("cloud/y"), "{told}");
    let failed = project.run("inventory --list").exits(65).stderr_has("`cloud/y`").stderr_has("hint:");
    assert_eq!(failed.stdout, "");
}
