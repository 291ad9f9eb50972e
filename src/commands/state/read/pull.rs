//! `infra state pull`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::backends::StateFacts;
use crate::commands::Context;
use crate::commands::args::{StackArgs, VarArgs, stack_names};
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::engine;
use crate::error::{Error, Exit, Result};

/// Write the state of a stack to stdout, decrypted
///
/// Examples:
///   infra state pull k8s-prod > k8s-prod.tfstate
///   infra state pull k8s-prod --version 17
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct PullArgs {
    #[command(flatten)]
    variables: VarArgs,
    /// The stack
    #[arg(value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    stack: Option<String>,
    /// An old version, as `infra state history` numbers it
    #[arg(long, value_name = "N")]
    version: Option<u64>,
}

/// Runs the command.
pub async fn run(args: &PullArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &StackArgs::one(args.stack.clone())).await?;
    let id = loaded.choose_one(args.stack.clone(), context)?.id.clone();
    let purpose = Purpose::reading(std::slice::from_ref(&id)).given(&args.variables);
    let state = loaded
        .with_session(context, purpose, async |session| match args.version {
            Some(number) => engine::read_version(session, &id, number).await,
            None => {
                engine::require_states(session, std::slice::from_ref(&id)).await?;
                engine::pull_state(session, &id).await
            }
        })
        .await?;
    if StateFacts::of(&state).is_none() && args.version.is_none() {
        return Err(Error::failed(format!("`{id}` has no state")));
    }
    context.terminal.data(&format!("{}\n", String::from_utf8_lossy(&state).trim_end_matches('\n')));
    Ok(Exit::OK)
}
