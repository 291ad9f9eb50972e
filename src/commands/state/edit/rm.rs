//! `infra state rm` and `infra state mv`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::commands::Context;
use crate::commands::args::{StackArgs, VarArgs, stack_names};
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::engine;
use crate::engine::WithoutCopy;
use crate::error::{Exit, Result};
use crate::model::PlanMode;
use crate::tofu::call::StateEdit;

/// Forget resources without destroying them
///
/// The state from before stays as a version, or is copied to `.infra/backups`.
///
/// Examples:
///   infra state rm pihole 'proxmox_virtual_environment_vm.old'
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct RmArgs {
    #[command(flatten)]
    variables: VarArgs,
    /// The stack
    #[arg(value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    stack: String,
    /// The resources
    #[arg(value_name = "ADDRESS", required = true)]
    addresses: Vec<String>,
    /// Do it even where no copy of an encrypted state can be kept
    #[arg(long)]
    force: bool,
}

/// Give a resource another address
///
/// The state from before stays as a version, or is copied to `.infra/backups`.
///
/// Examples:
///   infra state mv pihole terraform_data.a 'module.b.terraform_data.a'
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct MvArgs {
    #[command(flatten)]
    variables: VarArgs,
    /// The stack
    #[arg(value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    stack: String,
    /// The address it has
    #[arg(value_name = "FROM")]
    from: String,
    /// The address it gets
    #[arg(value_name = "TO")]
    to: String,
    /// Do it even where no copy of an encrypted state can be kept
    #[arg(long)]
    force: bool,
}

/// Runs `rm`.
pub async fn remove(args: &RmArgs, context: &Context) -> Result<Exit> {
    let purpose =
        StateEditing { stack: &args.stack, variables: &args.variables, without: without_copy(args.force) };
    edit(purpose, StateEdit::Remove(&args.addresses), context).await
}

/// Runs `mv`.
pub async fn rename(args: &MvArgs, context: &Context) -> Result<Exit> {
    let renaming = StateEdit::Move(&args.from, &args.to);
    let purpose =
        StateEditing { stack: &args.stack, variables: &args.variables, without: without_copy(args.force) };
    edit(purpose, renaming, context).await
}

const fn without_copy(force: bool) -> WithoutCopy {
    if force { WithoutCopy::Accept } else { WithoutCopy::Refuse }
}

/// What is edited, and with what.
struct StateEditing<'a> {
    stack: &'a str,
    variables: &'a VarArgs,
    without: WithoutCopy,
}

async fn edit(editing: StateEditing<'_>, edit: StateEdit<'_>, context: &Context) -> Result<Exit> {
    let StateEditing { stack, variables, without } = editing;
    let loaded = LoadedProject::load_for(context, &StackArgs::one(Some(stack.to_owned()))).await?;
    let id = loaded.choose_one(Some(stack.to_owned()), context)?.id.clone();
    let purpose = Purpose::editing(std::slice::from_ref(&id)).given(variables);
    let text = loaded
        .with_session(context, purpose, async |session| {
            engine::require_states(session, std::slice::from_ref(&id)).await?;
            let edited = engine::edit_state(session, &id, edit, without).await;
            engine::note_state(session, &id, PlanMode::Normal).await;
            edited
        })
        .await?;
    text.lines().for_each(|line| context.terminal.note(line));
    Ok(Exit::OK)
}
