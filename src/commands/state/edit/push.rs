//! `infra state push`.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use zeroize::Zeroizing;

use crate::backends::StateFacts;
use crate::commands::Context;
use crate::commands::args::{StackArgs, VarArgs, stack_names};
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::engine;
use crate::engine::Session;
use crate::error::{Error, Exit, Result, io};
use crate::model::{PlanMode, StackId, quoted};
use crate::report::Asking;
use crate::tofu::call::PushMode;

/// Store a state for a stack
///
/// A lower serial or another lineage is refused unless it is forced. What was there before
/// stays as a version, or is copied to `.infra/backups` where the backend keeps none.
/// `--errored` stores what a run could not save, and removes the file it left behind.
///
/// Examples:
///   infra state push k8s-prod k8s-prod.tfstate
///   infra state push k8s-prod --errored
///   infra state pull a | infra state push b - --force
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct PushArgs {
    #[command(flatten)]
    variables: VarArgs,
    /// The stack
    #[arg(value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    stack: String,
    /// The state, or `-` for stdin
    #[arg(value_name = "FILE", required_unless_present = "errored", conflicts_with = "errored")]
    file: Option<PathBuf>,
    /// Store the `errored.tfstate` in the stack's folder
    #[arg(long)]
    errored: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
    /// Overwrite a newer state, or one of another lineage
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub async fn run(args: &PushArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &StackArgs::one(Some(args.stack.clone()))).await?;
    let stack = loaded.choose_one(Some(args.stack.clone()), context)?;
    let unsaved = engine::unsaved_file(&loaded.project, stack);
    let usual = || loaded.project.root.join(&stack.path).join("errored.tfstate");
    let errored = unsaved.as_ref().map_or_else(usual, |file| loaded.project.root.join(&file.path));
    let bytes = match &args.file {
        Some(file) => read(file, context)?,
        None => read_errored(&errored, &stack.id)?,
    };
    let id = stack.id.clone();
    let mode = if args.force { PushMode::Forced } else { PushMode::Careful };
    let purpose = Purpose::editing(std::slice::from_ref(&id)).given(&args.variables);
    let is_unnamed = args.errored && unsaved.is_some_and(|file| !file.is_named);
    loaded
        .with_session(context, purpose, async |session| {
            if is_unnamed {
                check_owner(session, &id, args, context).await?;
            }
            push(session, &id, &bytes, mode, context).await
        })
        .await?;
    if args.errored {
        std::fs::remove_file(&errored).map_err(io("remove", &errored))?;
        context.terminal.note(&format!("removed {}", errored.display()));
    }
    Ok(Exit::OK)
}

/// A file without the name of a workspace may be that of another one: into an empty state it goes only
/// with a yes.
async fn check_owner(session: &Session, id: &StackId, args: &PushArgs, context: &Context) -> Result<()> {
    if args.yes || args.force || StateFacts::of(&engine::pull_state(session, id).await?).is_some() {
        return Ok(());
    }
    let question = format!("`{id}` has no state yet, and the file does not say whose it is. Store it there?");
    let Asking::Person(terminal) = context.asking() else {
        return Err(Error::usage(format!("`{id}` has no state yet, and the file does not say whose it is"))
            .detail("it may be that of another workspace of the same folder")
            .hint(format!(
                "if it is this one's: `infra state push {} --errored --yes`",
                quoted(id.as_str())
            )));
    };
    context.require_yes(&terminal, &question, "nothing was stored").await
}

async fn push(
    session: &Session,
    id: &StackId,
    bytes: &[u8],
    mode: PushMode,
    context: &Context,
) -> Result<()> {
    engine::require_own(session, id).await?;
    let state = engine::open_state(session, id, bytes).await?;
    let facts = StateFacts::read(&state)
        .ok_or_else(|| Error::invalid("what is to be stored is no state").hint("it has no `lineage`"))?;
    let before = StateFacts::of(&engine::pull_state(session, id).await?);
    let pushed = engine::push_state(session, id, &state, mode)
        .await
        .map_err(|error| explain(error, id, &facts, before.as_ref()))?;
    engine::note_state(session, id, PlanMode::Normal).await;
    engine::tell_noted(session);
    let StateFacts { serial, resources, .. } = pushed.stored.unwrap_or(facts);
    context.terminal.note(&format!("stored the state of `{id}`: serial {serial}, {resources} resources"));
    match (pushed.aside, before) {
        (Some(path), _) => context.terminal.note(&format!("the one before is in {}", path.display())),
        (None, Some(before)) => {
            context.terminal.note(&format!(
                "the one before, serial {}, is kept: `infra state history {id}`",
                before.serial
            ));
        }
        (None, None) => {}
    }
    Ok(())
}

/// Says what is in the way in terms of the two states.
fn explain(error: Error, id: &StackId, new: &StateFacts, before: Option<&StateFacts>) -> Error {
    let Some(before) = before else { return error };
    let error = error
        .fact("stored", format!("serial {}, lineage {}", before.serial, before.lineage))
        .fact("given", format!("serial {}, lineage {}", new.serial, new.lineage));
    if before.lineage != new.lineage || before.serial >= new.serial {
        return error
            .hint(format!("see what would be lost: `infra state pull {id}`"))
            .hint("overwrite it: `--force`");
    }
    error
}

fn read(file: &Path, context: &Context) -> Result<Zeroizing<Vec<u8>>> {
    if file == Path::new("-") {
        let mut bytes = Zeroizing::new(Vec::new());
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        return read
            .map(|_| bytes)
            .map_err(|error| Error::usage("the state cannot be read from stdin").because(error));
    }
    let file = context.cwd.join(file);
    std::fs::read(&file).map(Zeroizing::new).map_err(io("read", &file))
}

fn read_errored(file: &Path, id: &StackId) -> Result<Zeroizing<Vec<u8>>> {
    if !file.exists() {
        return Err(Error::failed(format!("`{id}` has no state that could not be saved")).at(file.display()));
    }
    std::fs::read(file).map(Zeroizing::new).map_err(io("read", file))
}
