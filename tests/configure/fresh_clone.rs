//! A makejinja project as it comes from git: the data is everybody's own and not there, samples are.

use std::process::Command;

use super::removals::{CLUSTER, NODE};
use crate::support::Project;
use crate::support::run::{Finished, Running};

/// A project with samples of its data, as git brings it.
fn cloned() -> Project {
    Project::new()
        .file(".gitignore", "/cluster.yaml\n/nodes.yaml\n/age.key\n")
        .file(
            "makejinja.toml",
            "[makejinja]\ninputs = [\"./templates/config\"]\noutput = \"./\"\n\
             data = [\"./cluster.yaml\", \"./nodes.yaml\"]\njinja_suffix = \".j2\"\nundefined = \"chainable\"\n\
             [makejinja.delimiter]\nblock_start = \"#%\"\nblock_end = \"%#\"\ncomment_start = \"#|\"\n\
             comment_end = \"#|\"\nvariable_start = \"#{\"\nvariable_end = \"}#\"\n",
        )
        .file("cluster.sample.yaml", CLUSTER)
        .file("nodes.sample.yaml", &NODE.replace("bc:24:11:00:00:01", "00:00:00:00:00:00"))
        .file(
            "templates/config/infrastructure/tofu/main.tf.j2",
            "terraform {\n  backend \"http\" {}\n}\n\n#% for node in nodes %#\n\
             # #{ node.name }# #{ node.mac_addr }# #{ node.nothing }#\n#% endfor %#\n",
        )
}

/// Returns the command that `doctor` offers for the data.
fn fix(run: &Finished) -> String {
    let findings = run.json();
    let data = findings.as_array().unwrap().iter().find(|finding| finding["check"] == "data").unwrap();
    data["fix"].as_str().unwrap().split('`').nth(1).unwrap().to_owned()
}

fn pasted(command: &str, folder: &std::path::Path) {
    let done = Command::new("sh").args(["-c", command]).current_dir(folder).status().unwrap();
    assert!(done.success(), "{command}");
}

#[test]
fn the_advice_of_doctor_in_a_fresh_clone_leads_to_a_rendered_project() {
    let project = cloned();
    project.run("configure --no-init").exits(65).stderr_has("data files `cluster.yaml`, `nodes.yaml`");

    let command = fix(&project.run("doctor --json").exits(1));
    pasted(&command, project.root());

    assert_eq!(command, "cp cluster.sample.yaml cluster.yaml && cp nodes.sample.yaml nodes.yaml");
    // Stricter than the schema that such projects publish: told, and no more.
    let run = project.run("configure --no-init").succeeds();
    run.stderr_has("`nodes[0].mac_addr` should be the MAC address of a single machine");
    assert!(project.read("infrastructure/tofu/main.tf").contains("00:00:00:00:00:00"));
    let stacks = project.run("stacks --json").succeeds().json();
    assert_eq!(stacks[0]["id"], "tofu");
    project.run("validate --all").succeeds();
}

#[test]
fn the_advice_works_from_another_folder_too() {
    let project = cloned();
    let below = project.path("templates");

    let mut command = project.command("doctor --json");
    command.current_dir(&below);
    let run = Running::start(command, "doctor --json").wait().exits(1);
    pasted(&fix(&run), &below);

    assert!(project.has("cluster.yaml") && project.has("nodes.yaml"));
}
