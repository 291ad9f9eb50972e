//! `infra state rollback`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::backends::StateFacts;
use crate::commands::Context;
use crate::commands::args::{StackArgs, VarArgs, stack_names};
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::engine;
use crate::error::{Error, Exit, Result};
use crate::model::{PlanMode, StackId};
use crate::report::Asking;
use crate::tofu::call::PushMode;

/// Bring an old version of a state back, as a new version
///
/// History is not rewritten: the old content is stored once more under a higher serial, so
/// that it can be undone in the same way. Resources are not touched. A deleted state comes
/// back too.
///
/// Examples:
///   infra state history k8s-prod
///   infra state rollback k8s-prod 12 --yes
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct RollbackArgs {
    #[command(flatten)]
    variables: VarArgs,
    /// The stack
    #[arg(value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    stack: String,
    /// The version, as `infra state history` numbers it
    #[arg(value_name = "VERSION")]
    version: u64,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
}

/// Runs the command.
pub async fn run(args: &RollbackArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &StackArgs::one(Some(args.stack.clone()))).await?;
    let id = loaded.choose_one(Some(args.stack.clone()), context)?.id.clone();
    let purpose = Purpose::editing(std::slice::from_ref(&id)).given(&args.variables);
    loaded
        .with_session(context, purpose, async |session| {
            engine::require_own(session, &id).await?;
            let old = engine::read_version(session, &id, args.version).await?;
            let current = StateFacts::of(&engine::pull_state(session, &id).await?);
            let next = engine::as_successor(&old, current.as_ref())?;
            ask(args, id.as_str(), context).await?;
            // Another lineage is what an old version may well have, and what was asked for.
            let lineage = |facts: Option<StateFacts>| facts.map(|facts| facts.lineage);
            let same = current.is_none() || lineage(StateFacts::of(&next)) == lineage(current);
            let mode = if same { PushMode::Careful } else { PushMode::Forced };
            let pushed = engine::push_state(session, &id, &next, mode).await?;
            let serial = pushed.stored.or_else(|| StateFacts::of(&next)).map_or(0, |facts| facts.serial);
            context.terminal.note(&format!(
                "`{id}` has the content of version {} again, as serial {serial}",
                args.version
            ));
            note_change(session, &id).await;
            context.terminal.note(&format!("hint: see what tofu makes of it: `infra plan {id}`"));
            Ok(Exit::OK)
        })
        .await
}

/// The old version may have another lineage.
async fn note_change(session: &engine::Session, id: &StackId) {
    engine::note_state(session, id, PlanMode::Normal).await;
    engine::tell_noted(session);
}

async fn ask(args: &RollbackArgs, stack: &str, context: &Context) -> Result<()> {
    if args.yes {
        return Ok(());
    }
    let Asking::Person(terminal) = context.asking() else {
        return Err(
            Error::usage("`state rollback` has to ask, but there is no terminal").hint("say yes: `--yes`")
        );
    };
    let question = format!("Bring version {} of `{stack}` back?", args.version);
    context.require_yes(&terminal, &question, "the state was left as it is").await
}
