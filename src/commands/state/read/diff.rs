//! `infra state diff`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use zeroize::Zeroizing;

use crate::backends::StateVersions;
use crate::commands::Context;
use crate::commands::args::{StackArgs, VarArgs, stack_names};
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::engine;
use crate::engine::{ResourceChange, Session, StateDiff};
use crate::error::{Error, Exit, Result};
use crate::model::StackId;
use crate::report::Tone;

/// Show what changed between two versions of a state, by resource
///
/// Without numbers: what the last write changed. With one: what changed since that version.
/// Sensitive values are masked.
///
/// Examples:
///   infra state diff k8s-prod
///   infra state diff k8s-prod 12
///   infra state diff k8s-prod 12 17 --json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct DiffArgs {
    #[command(flatten)]
    variables: VarArgs,
    /// The stack
    #[arg(value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    stack: String,
    /// The older version; the one before the current by default
    #[arg(value_name = "FROM")]
    from: Option<u64>,
    /// The newer version; the current one by default
    #[arg(value_name = "TO")]
    to: Option<u64>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub async fn run(args: &DiffArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &StackArgs::one(Some(args.stack.clone()))).await?;
    let id = loaded.choose_one(Some(args.stack.clone()), context)?.id.clone();
    let purpose = Purpose::reading(std::slice::from_ref(&id)).given(&args.variables);
    let diff = loaded
        .with_session(context, purpose, async |session| {
            Ok(compare(session, &id, args).await?.masked(&session.mask()))
        })
        .await?;
    if args.json {
        context.terminal.data_line(&serde_json::to_string(&diff).unwrap_or_default());
    } else {
        show(&diff, context);
    }
    Ok(Exit::OK)
}

async fn compare(session: &Session, id: &StackId, args: &DiffArgs) -> Result<StateDiff> {
    let listed = engine::list_versions(session, id).await?;
    let (from, to) = (from_of(&listed, args), args.to.or(listed.current));
    if from.is_none() && to.is_none() {
        return Err(Error::failed(format!("`{id}` has no versions to compare")));
    }
    Ok(engine::diff_states(&read(session, id, from).await?, &read(session, id, to).await?))
}

/// Returns the older side: what was asked for, or the version before the newer one.
fn from_of(listed: &StateVersions, args: &DiffArgs) -> Option<u64> {
    let newer = args.to.or(listed.current).unwrap_or(u64::MAX);
    let before = || listed.versions.iter().rev().map(|version| version.number).find(|number| *number < newer);
    args.from.or_else(before)
}

async fn read(session: &Session, id: &StackId, number: Option<u64>) -> Result<Zeroizing<Vec<u8>>> {
    match number {
        Some(number) => engine::read_version(session, id, number).await,
        None => Ok(Zeroizing::default()),
    }
}

fn show(diff: &StateDiff, context: &Context) {
    if diff.is_empty() {
        return context.terminal.note("the two versions have the same resources and outputs");
    }
    for (kind, changes) in [("resources", &diff.resources), ("outputs", &diff.outputs)] {
        changes.iter().for_each(|change| show_change(change, kind, context));
    }
}

fn show_change(change: &ResourceChange, kind: &str, context: &Context) {
    let (sign, tone) = match change.change {
        "added" => ("+", Tone::Good),
        "removed" => ("-", Tone::Bad),
        _ => ("~", Tone::Warn),
    };
    let what = if kind == "outputs" { format!("output.{}", change.address) } else { change.address.clone() };
    context.terminal.data_line(&context.terminal.paint_data(tone, &format!("{sign} {what}")));
    for (name, before, after) in &change.attributes {
        context.terminal.data_line(&format!("    {name}: {before} -> {after}"));
    }
}
