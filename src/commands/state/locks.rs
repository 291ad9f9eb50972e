//! `infra locks`.

use clap::Args;
use serde_json::{Value, json};

use crate::commands::Context;
use crate::commands::args::{OUTPUT, StackArgs};
use crate::commands::loaded_project::LoadedProject;
use crate::engine::{HolderLife, StackLock, StackLocks};
use crate::error::{Error, Exit, Result};
use crate::model::{StackId, human_duration};
use crate::report::Table;

/// Show who holds which lock since when
///
/// Examples:
///   infra locks
///   infra locks --json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct LocksArgs {
    #[command(flatten)]
    stacks: StackArgs,
    /// Print as JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// Runs the command.
pub async fn run(args: &LocksArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &args.stacks).await?;
    let chosen = match loaded.stacks.is_empty() {
        true => Vec::new(),
        false => loaded.choose_to_read(&args.stacks, context)?,
    };
    let StackLocks { locks, failed } = loaded.locks_of(&chosen, context).await?;
    if args.json {
        let rows: Vec<Value> = locks.iter().map(|lock| to_json(lock, context)).collect();
        context.terminal.data_line(&serde_json::to_string_pretty(&rows).unwrap_or_default());
    } else {
        show(&locks, &failed, context);
    }
    Ok(tell_failed(&failed, context))
}

/// Says of which stacks nothing is known, and returns the exit code of the first.
fn tell_failed(failed: &[(StackId, Error)], context: &Context) -> Exit {
    for (stack, error) in failed {
        context
            .terminal
            .alert(&format!("warning: the lock of `{stack}` cannot be read: {}", error.message()));
        error.body().iter().for_each(|line| context.terminal.alert(&format!("  {line}")));
        error.hints().iter().for_each(|hint| context.terminal.alert(&format!("  hint: {hint}")));
    }
    failed.first().map_or(Exit::OK, |(_, error)| error.exit())
}

fn age(lock: &StackLock, context: &Context) -> Option<i64> {
    let created = lock.lock.info.created_at()?;
    Some((context.clock.now().as_second() - created.as_second()).max(0))
}

fn to_json(lock: &StackLock, context: &Context) -> Value {
    let info = &lock.lock.info;
    json!({
        "stack": lock.stack,
        "id": info.id,
        "who": info.who,
        "operation": info.operation_word(),
        "moved_to": info.moved_to(),
        "created": info.created,
        "age_s": age(lock, context),
        "alive": lock.life.is_alive(),
        "pid": lock.lock.holder.as_ref().map(|holder| holder.pid),
        "run_id": lock.lock.holder.as_ref().and_then(|holder| holder.run_id.clone()),
        "tofu_pid": match lock.life {
            HolderLife::TofuAlive(pid) => Some(pid),
            HolderLife::Alive | HolderLife::Gone | HolderLife::Unknown => None,
        },
    })
}

fn show(locks: &[StackLock], failed: &[(StackId, Error)], context: &Context) {
    let (moved, locks): (Vec<_>, Vec<_>) = locks.iter().partition(|lock| lock.lock.info.moved_to().is_some());
    for lock in moved {
        let place = lock.lock.info.moved_to().unwrap_or_default();
        context.terminal.data_line(&format!("{}  moved to {place}", lock.stack));
    }
    if locks.is_empty() {
        let whose = if failed.is_empty() { "no stack is locked" } else { "no other stack is locked" };
        return context.terminal.note(whose);
    }
    let mut table = Table::new(["stack", "holder", "operation", "age", "process", "lock id"]);
    for lock in &locks {
        let info = &lock.lock.info;
        let age = age(lock, context).and_then(|seconds| i32::try_from(seconds).ok());
        table.row([
            lock.stack.to_string(),
            info.who.clone(),
            info.operation_word(),
            age.map_or_else(|| "?".to_owned(), |seconds| human_duration(seconds.into())),
            process_words(lock),
            info.id.clone(),
        ]);
    }
    table.lines().iter().for_each(|line| context.terminal.data_line(line.trim_start()));
    if let Some(dead) = locks.iter().find(|lock| lock.life == HolderLife::Gone) {
        context
            .terminal
            .note(&format!("hint: release the lock of a dead run: `infra force-unlock {}`", dead.stack));
    }
}

/// Says whether the holder's process lives.
pub fn process_words(lock: &StackLock) -> String {
    let pid = lock.lock.holder.as_ref().map(|holder| holder.pid.to_string()).unwrap_or_default();
    let words = match lock.life {
        HolderLife::Alive => format!("{pid} alive"),
        HolderLife::TofuAlive(tofu) if pid.is_empty() => format!("tofu {tofu} alive"),
        HolderLife::TofuAlive(tofu) => format!("{pid} gone, its tofu {tofu} alive"),
        HolderLife::Gone => format!("{pid} gone"),
        HolderLife::Unknown => "unknown".to_owned(),
    };
    words.trim_start().to_owned()
}
