//! `infra lint`: each rule where it holds and where it does not, in both forms of the language, what
//! comments let pass, the forms of the report, and what `--fix` writes.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

#[path = "lint/comments.rs"]
mod comments;
#[path = "lint/files.rs"]
mod files;
#[path = "lint/fixing.rs"]
mod fixing;
#[path = "lint/modules.rs"]
mod modules;
#[path = "lint/pins.rs"]
mod pins;
#[path = "support/provider.rs"]
mod provider;
#[path = "lint/sarif.rs"]
mod sarif;
#[path = "lint/secrets.rs"]
mod secrets;
#[path = "lint/settings.rs"]
mod settings;
#[path = "lint/states.rs"]
mod states;
mod support;

use serde_json::Value;

use support::Project;

/// What lint found, each as `rule file:line`, sorted.
fn found(project: &Project) -> Vec<String> {
    let run = project.run("lint --json");
    let findings = run.json();
    let rows = findings.as_array().unwrap_or_else(|| panic!("{run}")).clone();
    let fails = rows.iter().any(|row| row["severity"] == "error");
    run.exits(i32::from(fails));
    let mut rows: Vec<String> = rows.iter().map(row).collect();
    rows.sort();
    rows
}

fn row(finding: &Value) -> String {
    let text = |key: &str| finding[key].as_str().expect("a text").to_owned();
    format!("{} {}:{}", text("rule"), text("file"), finding["line"])
}

/// The message of the only finding of a rule.
fn message(project: &Project, rule: &str) -> String {
    let findings = project.run("lint --json").json();
    let of_rule: Vec<&Value> =
        findings.as_array().unwrap().iter().filter(|finding| finding["rule"] == rule).collect();
    assert_eq!(of_rule.len(), 1, "{findings:#}");
    of_rule[0]["message"].as_str().unwrap().to_owned()
}

/// A stack that nothing can be said against.
const CLEAN: &str = "terraform {\n  backend \"http\" {}\n}\n";

/// A module that nothing can be said against.
fn with_module(project: Project, folder: &str) -> Project {
    project
        .file(&format!("{folder}/main.tf"), "resource \"terraform_data\" \"x\" {\n  input = var.size\n}\n")
        .file(
            &format!("{folder}/variables.tf"),
            "variable \"size\" {\n  description = \"How large.\"\n  type        = number\n}\n",
        )
        .file(
            &format!("{folder}/outputs.tf"),
            "output \"id\" {\n  description = \"Which.\"\n  value       = terraform_data.x.id\n}\n",
        )
        .file(&format!("{folder}/README.md"), "# m\n\nTakes `size`, gives `id`.\n")
}
