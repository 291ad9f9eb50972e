//! `infra state show`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::commands::Context;
use crate::commands::args::{StackArgs, VarArgs, stack_names};
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::engine;
use crate::engine::WithoutCopy;
use crate::error::{Exit, Result};
use crate::tofu::call::StateEdit;

/// Show one resource of a state
///
/// Sensitive values are masked, their copies in other attributes too.
///
/// Examples:
///   infra state show k8s-prod 'module.nodes.proxmox_virtual_environment_vm.node["cp1"]'
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ShowArgs {
    #[command(flatten)]
    variables: VarArgs,
    /// The stack
    #[arg(value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    stack: String,
    /// The resource's address
    #[arg(value_name = "ADDRESS")]
    address: String,
}

/// Runs the command.
pub async fn run(args: &ShowArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &StackArgs::one(Some(args.stack.clone()))).await?;
    let id = loaded.choose_one(Some(args.stack.clone()), context)?.id.clone();
    let purpose = Purpose::reading(std::slice::from_ref(&id)).given(&args.variables);
    let edit = StateEdit::Show(&args.address);
    let text = loaded
        .with_session(context, purpose, async |session| {
            engine::require_states(session, std::slice::from_ref(&id)).await?;
            let shown = engine::edit_state(session, &id, edit, WithoutCopy::Refuse).await?;
            // tofu hides what is marked, but not its copies in other attributes.
            engine::mask_shown(&shown, &engine::pull_state(session, &id).await?, &args.address)
        })
        .await?;
    context.terminal.text(&text);
    Ok(Exit::OK)
}
