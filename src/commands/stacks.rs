//! `infra stacks`.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::Context;
use super::stack_args::StackArgs;
use super::workspace::Workspace;
use crate::engine::RemovedStack;
use crate::error::{Exit, Result};
use crate::model::{Stack, StackId};
use crate::report::{Terminal, Tone};
use crate::stacks;

/// List the stacks, their layers, dependencies and backends
///
/// Examples:
///   infra stacks
///   infra stacks --json
///   infra stacks --graph mermaid
///   infra stacks --removed          gone from the tree, but not destroyed
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct StacksArgs {
    #[command(flatten)]
    stacks: StackArgs,
    /// Print the graph of dependencies
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    graph: Option<GraphFormat>,
    /// List the stacks that are gone from the tree although they were not destroyed
    #[arg(long, conflicts_with = "graph")]
    removed: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// How a graph is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum GraphFormat {
    /// For Markdown.
    Mermaid,
    /// For Graphviz.
    Dot,
}

/// Runs the command.
pub async fn run(args: &StacksArgs, context: &Context) -> Result<Exit> {
    let workspace = Workspace::load(context)?;
    if args.removed {
        return list_removed(&workspace, args, context).await;
    }
    let chosen = choose_or_all(&workspace, &args.stacks, context)?;
    let listed: Vec<&Stack> = workspace.stacks.iter().filter(|stack| chosen.contains(&stack.id)).collect();
    match (args.graph, args.json) {
        (Some(format), _) => show_graph(&workspace, format, context),
        (None, true) => context.terminal.data_line(&to_json(&listed)),
        (None, false) => show_tree(&workspace, &listed, &context.terminal),
    }
    for note in &workspace.notes {
        context.terminal.note(&format!("{}: {note}", context.terminal.paint(Tone::Warn, "note")));
    }
    if workspace.stacks.is_empty() {
        context.terminal.note(&format!("no stacks: {}", workspace.way_to_stacks()));
    }
    Ok(Exit::OK)
}

/// Lists what `infra destroy --removed` would destroy.
async fn list_removed(workspace: &Workspace, args: &StacksArgs, context: &Context) -> Result<Exit> {
    let removed = workspace.removed_stacks(context).await?;
    if args.json {
        let rows: Vec<Value> = removed.iter().map(removed_json).collect();
        context.terminal.data_line(&serde_json::to_string_pretty(&rows).unwrap_or_default());
        return Ok(Exit::OK);
    }
    for gone in &removed {
        let (id, at) = (&gone.stack.id, gone.applied_at.strftime("%F %T UTC"));
        context.terminal.data_line(&format!("{id}  {} · last applied {at}", backend_words(&gone.stack)));
    }
    if removed.is_empty() {
        context.terminal.note("no stack was removed from the tree without being destroyed");
    }
    Ok(Exit::OK)
}

fn removed_json(gone: &RemovedStack) -> Value {
    json!({
        "id": gone.stack.id,
        "path": gone.was_at,
        "applied_at": gone.applied_at,
        "backend": { "type": gone.stack.backend.kind() },
    })
}

/// A listing without a choice lists everything, wherever one stands.
fn choose_or_all(workspace: &Workspace, args: &StackArgs, context: &Context) -> Result<Vec<StackId>> {
    if args.selection().is_empty() {
        return Ok(workspace.stacks.iter().map(|stack| stack.id.clone()).collect());
    }
    workspace.choose(args, context)
}

fn show_graph(workspace: &Workspace, format: GraphFormat, context: &Context) {
    let text = match format {
        GraphFormat::Mermaid => stacks::mermaid(&workspace.project, &workspace.stacks),
        GraphFormat::Dot => stacks::dot(&workspace.project, &workspace.stacks),
    };
    context.terminal.data(&text);
}

fn to_json(stacks: &[&Stack]) -> String {
    let rows: Vec<Value> = stacks.iter().map(|stack| stack_json(stack)).collect();
    serde_json::to_string_pretty(&rows).unwrap_or_default()
}

fn stack_json(stack: &Stack) -> Value {
    json!({
        "id": stack.id,
        "path": stack.path,
        "layer": stack.id.layer(),
        "tags": stack.tags,
        "depends_on": stack.depends_on,
        "modules": stack.modules,
        "backend": { "type": stack.backend.kind(), "identity": stacks::identity(&stack.backend, &stack.path) },
        "warnings": stack.warnings,
        "problems": stack.problems,
    })
}

/// Writes the stacks below their folders, each with what a person wants to know.
fn show_tree(workspace: &Workspace, listed: &[&Stack], terminal: &Terminal) {
    let width = listed.iter().map(|stack| stack.id.short_name().chars().count()).max().unwrap_or(0);
    let mut folders = BTreeSet::new();
    terminal.data_line(&terminal.paint_data(Tone::Strong, &workspace.project.name));
    for stack in listed {
        let folder = stack.id.as_str().rsplit_once('/').map(|(folder, _)| folder);
        if let Some(folder) = folder.filter(|folder| folders.insert(folder.to_owned())) {
            terminal.data_line(&format!("  {folder}"));
        }
        let indent = if folder.is_some() { "    " } else { "  " };
        let line = format!("{indent}{:width$}  {}", stack.id.short_name(), facts(stack));
        terminal.data_line(line.trim_end());
        for problem in &stack.problems {
            terminal.data_line(&format!("{indent}  {} {problem}", terminal.paint_data(Tone::Bad, "✗")));
        }
        for warning in &stack.warnings {
            terminal.data_line(&format!("{indent}  {} {warning}", terminal.paint_data(Tone::Warn, "!")));
        }
    }
}

fn facts(stack: &Stack) -> String {
    let joined = |ids: &BTreeSet<StackId>| ids.iter().map(StackId::as_str).collect::<Vec<_>>().join(", ");
    let mut facts = vec![backend_words(stack)];
    if !stack.depends_on.is_empty() {
        facts.push(format!("after {}", joined(&stack.depends_on)));
    }
    if !stack.tags.is_empty() {
        facts.push(format!("#{}", stack.tags.join(" #")));
    }
    facts.join(" · ")
}

fn backend_words(stack: &Stack) -> String {
    match &stack.backend {
        crate::model::Backend::Embedded => "embedded state".to_owned(),
        crate::model::Backend::None => "local state".to_owned(),
        crate::model::Backend::Configured { kind, .. } => format!("{kind} state"),
    }
}
