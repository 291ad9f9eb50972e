//! `infra state`: a file for each of its commands.

mod encrypt;
mod list;
mod probe;
mod serve;

use clap::{Args, Subcommand};

use super::Context;
use crate::error::{Exit, Result};

/// Look into the state of stacks, change it, serve it
///
/// Examples:
///   infra state list --all
///   infra state probe
///   infra state serve --store /srv/states --users users.sops.yaml
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
    Serve(serve::ServeArgs),
}

/// Runs the command.
pub async fn run(args: &StateArgs, context: &Context) -> Result<Exit> {
    match &args.command {
        StateCommand::List(args) => list::run(args, context).await,
        StateCommand::Encrypt(args) => encrypt::run(args, context).await,
        StateCommand::Probe(args) => probe::run(args, context).await,
        StateCommand::Serve(args) => serve::run(args, context).await,
    }
}
