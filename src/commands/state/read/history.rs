//! `infra state history`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde_json::{Value, json};

use crate::backends::StateVersions;
use crate::commands::Context;
use crate::commands::args::{StackArgs, stack_names};
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::engine;
use crate::error::{Exit, Result};
use crate::report::Table;

/// List the kept versions of a state, newest first
///
/// Examples:
///   infra state history k8s-prod
///   infra state history k8s-prod --json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct HistoryArgs {
    /// The stack
    #[arg(value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    stack: Option<String>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub async fn run(args: &HistoryArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &StackArgs::one(args.stack.clone())).await?;
    let id = loaded.choose_one(args.stack.clone(), context)?.id.clone();
    let purpose = Purpose::reading(std::slice::from_ref(&id));
    let listed = loaded
        .with_session(context, purpose, async |session| engine::list_versions(session, &id).await)
        .await?;
    if args.json {
        context.terminal.data_line(&to_json(&listed));
    } else {
        show(&listed, id.as_str(), context);
    }
    Ok(Exit::OK)
}

fn to_json(listed: &StateVersions) -> String {
    let row = |version: &crate::state::Version| {
        let current = Some(version.number) == listed.current;
        json!({"version": version.number, "written": version.at, "size": version.size, "current": current})
    };
    let rows: Vec<Value> = listed.versions.iter().rev().map(row).collect();
    serde_json::to_string_pretty(&rows).unwrap_or_default()
}

fn show(listed: &StateVersions, stack: &str, context: &Context) {
    if listed.versions.is_empty() {
        return context.terminal.note(&format!("`{stack}` has no versions"));
    }
    let mut table = Table::new(["version", "written", "bytes", ""]);
    for version in listed.versions.iter().rev() {
        let mark = if Some(version.number) == listed.current { "current" } else { "" };
        let written = version.at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
        table.row([version.number.to_string(), written, version.size.to_string(), mark.to_owned()]);
    }
    table.lines().iter().for_each(|line| context.terminal.data_line(line.trim()));
    if listed.current.is_none() {
        context.terminal.note(&format!(
            "the state is deleted; bring a version back: `infra state rollback {stack} VERSION`"
        ));
    }
}
