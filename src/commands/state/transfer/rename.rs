//! `infra state rename`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::commands::Context;
use crate::commands::args::stack_names;
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::commands::state::asking::{StateQuestion, check_can_ask};
use crate::engine;
use crate::engine::StateNeed;
use crate::error::{Exit, Result};
use crate::model::{StackId, counted};
use crate::report::rename_in_runs;

/// Let a renamed stack go on with the state it had
///
/// The state goes with its versions, what was last applied, its runs and its entry in
/// `infra.lock`. `was: OLD` in infra.yaml does the same at the next apply.
///
/// Examples:
///   infra state rename 01-base/net 01-base/network
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct RenameArgs {
    /// The id that the stack had
    #[arg(value_name = "OLD")]
    old: String,
    /// The stack as it is called now
    #[arg(value_name = "NEW", add = ArgValueCompleter::new(stack_names))]
    new: String,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
}

/// Runs the command.
pub async fn run(args: &RenameArgs, context: &Context) -> Result<Exit> {
    check_can_ask("rename", args.yes, context)?;
    let loaded = LoadedProject::load(context)?;
    let new = loaded.choose_one(Some(args.new.clone()), context)?.id.clone();
    let old = StackId::new(args.old.trim_matches('/'));
    super::readers::tell_readers(&loaded, [&old, &new].into_iter(), context);
    let text = format!("Is `{new}` the former `{old}`, and shall it go on with its state?");
    StateQuestion { command: "rename", text, yes: args.yes }.ask(context).await?;
    let purpose = Purpose { state: StateNeed::Served, ..Purpose::states_of(std::slice::from_ref(&new)) };
    let moved = loaded
        .with_session(context, purpose, async |session| {
            let moved = engine::rename_state(session, &old, &new).await;
            engine::tell_noted(session);
            moved
        })
        .await?;
    rename_in_runs(&loaded.project.runs_dir(), &old, &new);
    context.terminal.note(&format!(
        "`{new}` has the state of `{old}` now: serial {}, {}",
        moved.facts.serial,
        counted(moved.versions, "version")
    ));
    Ok(Exit::OK)
}
