//! `infra state`, `infra locks` and `infra force-unlock`: states and their locks, a file for each command.

mod asking;
mod edit;
mod force_unlock;
mod locks;
mod probe;
mod read;
mod serve;
mod transfer;

use clap::{Args, Subcommand};

use crate::commands::Context;
pub use force_unlock::{ForceUnlockArgs, run as force_unlock};
pub use locks::{LocksArgs, run as locks};

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
    List(read::ListArgs),
    Show(read::ShowArgs),
    Pull(read::PullArgs),
    Push(edit::PushArgs),
    History(read::HistoryArgs),
    Diff(read::DiffArgs),
    Rollback(edit::RollbackArgs),
    Rm(edit::RmArgs),
    Mv(edit::MvArgs),
    Migrate(transfer::MigrateArgs),
    Rename(transfer::RenameArgs),
    Recover(transfer::RecoverArgs),
    Forget(transfer::ForgetArgs),
    Adopt(transfer::AdoptArgs),
    Encrypt(edit::EncryptArgs),
    Probe(probe::ProbeArgs),
    Serve(serve::ServeArgs),
}

/// Runs the command.
pub async fn run(args: &StateArgs, context: &Context) -> Result<Exit> {
    match &args.command {
        StateCommand::List(args) => read::list(args, context).await,
        StateCommand::Show(args) => read::show(args, context).await,
        StateCommand::Pull(args) => read::pull(args, context).await,
        StateCommand::Push(args) => edit::push(args, context).await,
        StateCommand::History(args) => read::history(args, context).await,
        StateCommand::Diff(args) => read::diff(args, context).await,
        StateCommand::Rollback(args) => edit::rollback(args, context).await,
        StateCommand::Rm(args) => edit::remove(args, context).await,
        StateCommand::Mv(args) => edit::rename(args, context).await,
        StateCommand::Migrate(args) => transfer::migrate(args, context).await,
        StateCommand::Rename(args) => transfer::rename(args, context).await,
        StateCommand::Recover(args) => transfer::recover(args, context).await,
        StateCommand::Forget(args) => transfer::forget(args, context).await,
        StateCommand::Adopt(args) => transfer::adopt(args, context).await,
        StateCommand::Encrypt(args) => edit::encrypt(args, context).await,
        StateCommand::Probe(args) => probe::run(args, context).await,
        StateCommand::Serve(args) => serve::run(args, context).await,
    }
}
