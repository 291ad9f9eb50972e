//! `infra state`: a file for each of its commands.

mod asking;
mod bring_along;
mod diff;
mod encrypt;
mod forget;
mod history;
mod list;
mod migrate;
mod probe;
mod pull;
mod push;
mod readers;
mod recover;
mod rename;
mod rm;
mod rollback;
mod serve;
mod show;

use clap::{Args, Subcommand};

use super::Context;
use crate::error::{Exit, Result};

/// Look into the state of stacks, change it, serve it
///
/// Examples:
///   infra state list --all
///   infra state history k8s-prod
///   infra state rollback k8s-prod 12
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
    Show(show::ShowArgs),
    Pull(pull::PullArgs),
    Push(push::PushArgs),
    History(history::HistoryArgs),
    Diff(diff::DiffArgs),
    Rollback(rollback::RollbackArgs),
    Rm(rm::RmArgs),
    Mv(rm::MvArgs),
    Migrate(migrate::MigrateArgs),
    Rename(rename::RenameArgs),
    Recover(recover::RecoverArgs),
    Forget(forget::ForgetArgs),
    Adopt(forget::AdoptArgs),
    Encrypt(encrypt::EncryptArgs),
    Probe(probe::ProbeArgs),
    Serve(serve::ServeArgs),
}

/// Runs the command.
pub async fn run(args: &StateArgs, context: &Context) -> Result<Exit> {
    match &args.command {
        StateCommand::List(args) => list::run(args, context).await,
        StateCommand::Show(args) => show::run(args, context).await,
        StateCommand::Pull(args) => pull::run(args, context).await,
        StateCommand::Push(args) => push::run(args, context).await,
        StateCommand::History(args) => history::run(args, context).await,
        StateCommand::Diff(args) => diff::run(args, context).await,
        StateCommand::Rollback(args) => rollback::run(args, context).await,
        StateCommand::Rm(args) => rm::remove(args, context).await,
        StateCommand::Mv(args) => rm::rename(args, context).await,
        StateCommand::Migrate(args) => migrate::run(args, context).await,
        StateCommand::Rename(args) => rename::run(args, context).await,
        StateCommand::Recover(args) => recover::run(args, context).await,
        StateCommand::Forget(args) => forget::forget(args, context).await,
        StateCommand::Adopt(args) => forget::adopt(args, context).await,
        StateCommand::Encrypt(args) => encrypt::run(args, context).await,
        StateCommand::Probe(args) => probe::run(args, context).await,
        StateCommand::Serve(args) => serve::run(args, context).await,
    }
}
