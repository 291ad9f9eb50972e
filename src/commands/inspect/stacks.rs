//! `infra stacks`.

mod tree;

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::commands::Context;
use crate::commands::args::{OUTPUT, StackArgs};
use crate::commands::loaded_project::{LoadedProject, tell_lost};
use crate::engine::RemovedStack;
use crate::error::{Error, Exit, Result};
use crate::model::{Backend, Stack, StackId, counted};
use crate::report::{Terminal, Tone};
use crate::stacks;
use crate::stacks::{Selection, SharedState};

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
    #[arg(long, help_heading = OUTPUT)]
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
    let loaded = LoadedProject::load_for(context, &args.stacks).await?;
    if args.removed {
        return list_removed(&loaded, args, context).await;
    }
    let chosen = choose_or_all(&loaded, &args.stacks, context)?;
    let listed: Vec<&Stack> = loaded.stacks.iter().filter(|stack| chosen.contains(&stack.id)).collect();
    let shared = stacks::shared_states(&loaded.stacks);
    match (args.graph, args.json) {
        (Some(format), _) => show_graph(&loaded, &listed, format, context),
        (None, true) => context.terminal.data_line(&to_json(&listed, &shared)),
        (None, false) => show_tree(&loaded, &listed, &context.terminal),
    }
    let remarks = stacks::state_remarks(&listed);
    let remarks = remarks.iter().map(|remark| format!("{}; {}", remark.text, remark.fix));
    let remarks = remarks.chain(shared_notes(&shared, &listed));
    for note in loaded.notes.iter().cloned().chain(remarks) {
        context.terminal.note(&format!("{}: {note}", context.terminal.paint(Tone::Warn, "note")));
    }
    if let Some(cycle) = stacks::cycle(&loaded.project, &loaded.stacks) {
        tell_cycle(&cycle, &context.terminal);
    }
    match (loaded.stacks.is_empty(), stacks::terragrunt_units(&loaded.project.root)) {
        (true, _) => context.terminal.note(&format!("no stacks: {}", loaded.how_to_get_stacks(context))),
        (false, 0) => {}
        (false, units) => context.terminal.note(&format!(
            "{}: {} of Terragrunt here too, which `terragrunt` runs, not infra",
            context.terminal.paint(Tone::Warn, "note"),
            counted(units, "folder"),
        )),
    }
    Ok(Exit::OK)
}

/// Tells of states that listed stacks share with others, which only keeps those from being run.
fn shared_notes(shared: &[SharedState], listed: &[&Stack]) -> Vec<String> {
    let is_listed = |id: &StackId| listed.iter().any(|stack| stack.id == *id);
    let shared = shared.iter().filter(|shared| shared.stacks.iter().any(is_listed));
    shared.map(|shared| format!("{}; {}", shared.error.message(), shared.error.hints().join("; "))).collect()
}

/// Says that no run is possible; a listing is.
fn tell_cycle(cycle: &Error, terminal: &Terminal) {
    terminal.alert(&format!("{}: {}", terminal.paint(Tone::Warn, "warning"), cycle.message()));
    cycle.body().iter().for_each(|line| terminal.alert_hanging(&format!("  {line}"), 2));
    cycle.hints().iter().for_each(|hint| terminal.alert_hanging(&format!("hint: {hint}"), 6));
}

/// Lists what `infra destroy --removed` would destroy.
async fn list_removed(loaded: &LoadedProject, args: &StacksArgs, context: &Context) -> Result<Exit> {
    let removed = loaded.removed_stacks(context).await?;
    let lost = loaded.lost_stacks(context).await?;
    tell_lost(&lost, context);
    if args.json {
        let rows: Vec<Value> = removed.iter().map(removed_json).collect();
        context.terminal.data_line(&serde_json::to_string_pretty(&rows).unwrap_or_default());
        return Ok(Exit::OK);
    }
    for gone in &removed {
        let (id, at) = (&gone.stack.id, gone.applied_at.strftime("%F %T UTC"));
        context.terminal.data_line(&format!("{id}  {} · last applied {at}", backend_words(&gone.stack)));
    }
    if removed.is_empty() && lost.is_empty() {
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

/// A listing that names nothing begins with everything, wherever one stands.
fn choose_or_all(loaded: &LoadedProject, args: &StackArgs, context: &Context) -> Result<Vec<StackId>> {
    match args.selection().is_empty() {
        true if loaded.stacks.is_empty() => Ok(Vec::new()),
        true => loaded.select(&Selection { all: true, ..args.selection() }, context),
        false => loaded.choose(args, context),
    }
}

fn show_graph(loaded: &LoadedProject, listed: &[&Stack], format: GraphFormat, context: &Context) {
    let chosen: Vec<StackId> = listed.iter().map(|stack| stack.id.clone()).collect();
    let text = match format {
        GraphFormat::Mermaid => stacks::mermaid(&loaded.project, &loaded.stacks, &chosen),
        GraphFormat::Dot => stacks::dot(&loaded.project, &loaded.stacks, &chosen),
    };
    context.terminal.data(&text);
}

fn to_json(stacks: &[&Stack], shared: &[SharedState]) -> String {
    let rows: Vec<Value> = stacks.iter().map(|stack| stack_json(stack, shared)).collect();
    serde_json::to_string_pretty(&rows).unwrap_or_default()
}

fn stack_json(stack: &Stack, shared: &[SharedState]) -> Value {
    json!({
        "id": stack.id,
        "path": stack.path,
        "layer": stack.id.layer(),
        "tags": stack.tags,
        "depends_on": stack.depends_on,
        "modules": stack.modules,
        "backend": { "type": stack.backend.kind(), "identity": stacks::identity_of(stack) },
        "workspace": stack.workspace_name(),
        "warnings": warnings_of(stack, shared),
        "problems": stack.file_remarks().collect::<Vec<_>>(),
    })
}

fn warnings_of(stack: &Stack, shared: &[SharedState]) -> Vec<String> {
    let risks = stacks::state_risks(stack).into_iter().map(|risk| risk.words().to_owned());
    let shared = shared.iter().filter(|shared| shared.stacks.contains(&stack.id));
    let shared = shared.map(|shared| shared.error.message().to_owned());
    stack.warnings.iter().cloned().chain(risks).chain(shared).collect()
}

/// Writes the stacks below their folders.
fn show_tree(loaded: &LoadedProject, listed: &[&Stack], terminal: &Terminal) {
    terminal.data_line(&terminal.paint_data(Tone::Strong, &loaded.project.name));
    for (line, indent) in tree::lines(listed, terminal) {
        terminal.data_hanging(&line, indent);
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
        Backend::Embedded => "embedded state".to_owned(),
        Backend::None => "local state".to_owned(),
        Backend::Unknown => "unknown state".to_owned(),
        Backend::Configured { kind, .. } => format!("{kind} state"),
    }
}
