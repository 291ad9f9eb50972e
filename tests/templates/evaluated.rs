//! Lets the real tofu read what was rendered for a folder: its values against the types of its
//! variables, and its locals. Providers are not needed for that, nor had.

use std::path::Path;
use std::process::Command;

use hcl_edit::structure::{Block, Body};
use serde_json::Value;

use super::tree::{Folder, Tree};
use crate::support::tofu;

/// Returns the variables and locals of a folder as tofu computes them, with the values of a stack.
pub fn evaluate(tree: &Tree, folder: &str, stack: &str, more: &[(&str, &str)]) -> Value {
    let folders = tree.folders();
    let found = folders.iter().find(|other| other.path == folder).expect("a folder of the tree");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("a file");
    write("variables.tf", tree.text(&format!("{folder}/variables.tf")));
    write("terraform.tfvars", tree.text(&format!("{stack}/terraform.tfvars")));
    write("locals.tf", &locals(found));
    write("outputs.tf", &outputs(found));
    let mut command = Command::new(tofu());
    command.args(["apply", "-auto-approve", "-no-color", "-compact-warnings"]);
    for name in sensitive(found) {
        command.env(format!("TF_VAR_{name}"), "x");
    }
    command.envs(more.iter().map(|(name, value)| (format!("TF_VAR_{name}"), value)));
    succeed(&mut command, dir.path());
    let mut command = Command::new(tofu());
    command.args(["output", "-json"]);
    serde_json::from_str(&succeed(&mut command, dir.path())).expect("JSON")
}

/// Returns what a command of tofu printed.
pub fn succeed(command: &mut Command, dir: &Path) -> String {
    let output = command.current_dir(dir).env_remove("TF_CLI_CONFIG_FILE").output().expect("tofu starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{printed}{said}");
    printed
}

fn locals(folder: &Folder) -> String {
    let blocks = folder.labels("locals").map(|(_, block)| block.clone());
    Body::from_iter(blocks).to_string()
}

fn outputs(folder: &Folder) -> String {
    let variables = folder.labels("variable").filter(|(_, block)| !is_sensitive(block));
    let variables = variables.map(|(labels, _)| format!("var.{}", labels[0]));
    let locals = folder.labels("locals").flat_map(|(_, block)| {
        block.body.attributes().map(|local| format!("local.{}", local.key.as_str())).collect::<Vec<_>>()
    });
    let output =
        |value: String| format!("output \"{}\" {{\n  value = {value}\n}}\n", value.replace('.', "_"));
    variables.chain(locals).map(output).collect()
}

fn sensitive(folder: &Folder) -> Vec<String> {
    let variables = folder.labels("variable").filter(|(_, block)| is_sensitive(block));
    variables.map(|(labels, _)| labels[0].to_owned()).collect()
}

fn is_sensitive(variable: &Block) -> bool {
    variable.body.get_attribute("sensitive").is_some()
}
