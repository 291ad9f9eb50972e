//! `infra state`: a file for each of its commands.

mod encrypt;
mod list;
mod probe;

use clap::{Args, Subcommand};

use super::Context;
use crate::error::{Exit, Result};

/// Look into the state of stacks, and encrypt it
///
/// Examples:
///   infra state list --all
///   infra state list k8s-prod -- module.nodes
///   infra state encrypt --all
///   infra state encrypt --all --rotate-to state_encryption_passphrase_next
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct StateArgs {
    #[command(subcommand)]
    command: StateCommand,
}

#[derive(Debug, Subcommand)]
enum StateCommand {
    List(list::ListArgs),
    Encrypt(encrypt::EncryptArgs),
    Probe(probe::ProbeArgs),
}

/// Runs the command.
pub async fn run(args: &StateArgs, context: &Context) -> Result<Exit> {
    match &args.command {
        StateCommand::List(args) => list::run(args, context).await,
        StateCommand::Encrypt(args) => encrypt::run(args, context).await,
        StateCommand::Probe(args) => probe::run(args, context).await,
    }
}
