//! Which stacks a run is about, as its request says.

use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::commands::run::Request;
use crate::error::Result;
use crate::model::{RunCommand, StackId};

/// Returns the chosen stacks; of a run that is resumed only those that are undone.
pub fn choose(
    loaded: &LoadedProject,
    request: &Request,
    gone: &[StackId],
    context: &Context,
) -> Result<Vec<StackId>> {
    let args = &request.choosing();
    let is_open = args.selection().is_empty();
    let among = match &request.undone {
        _ if request.removed => choose_removed(loaded, request, gone, context)?,
        Some(_) if is_open || !request.bundles.is_empty() => {
            loaded.stacks.iter().map(|stack| stack.id.clone()).collect()
        }
        _ if request.typed == "up" => loaded.select(&args.selection(), context)?,
        _ if only_looks(request.command) => loaded.choose_to_read(args, context)?,
        _ => loaded.choose(args, context)?,
    };
    let is_undone = |id: &StackId| request.undone.as_ref().is_none_or(|undone| undone.contains(id));
    Ok(among.into_iter().filter(is_undone).collect())
}

/// Returns whether a command leaves everything as it is.
const fn only_looks(command: RunCommand) -> bool {
    match command {
        RunCommand::Validate | RunCommand::Plan | RunCommand::Drift | RunCommand::Test => true,
        RunCommand::Init | RunCommand::Apply | RunCommand::Destroy => false,
    }
}

/// Returns the chosen ones among the stacks that are gone from the tree.
fn choose_removed(
    loaded: &LoadedProject,
    request: &Request,
    gone: &[StackId],
    context: &Context,
) -> Result<Vec<StackId>> {
    if gone.is_empty() {
        context.terminal.note("no stack was removed from the tree without being destroyed");
    }
    if request.stacks.selection().is_empty() || gone.is_empty() {
        return Ok(gone.to_vec());
    }
    let chosen = loaded.choose(&request.choosing(), context)?;
    Ok(chosen.into_iter().filter(|id| gone.contains(id)).collect())
}
