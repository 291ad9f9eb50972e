//! `infra locks`.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};

use super::Context;
use super::stack_args::StackArgs;
use super::workspace::Workspace;
use crate::engine::{self, HolderLife, LockSources};
use crate::error::{Error, Exit, Result};
use crate::model::{Backend, Stack, StackId, StateLock, human_duration};
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
    #[arg(long)]
    json: bool,
}

/// A lock of a stack, with what is known about its holder.
#[derive(Debug)]
pub(super) struct StackLock {
    pub stack: StackId,
    pub lock: StateLock,
    /// Whether the one who took it still works.
    pub life: HolderLife,
}

/// Runs the command.
pub async fn run(args: &LocksArgs, context: &Context) -> Result<Exit> {
    let workspace = Workspace::load(context)?;
    let chosen = match args.stacks.selection().is_empty() {
        true => workspace.stacks.iter().map(|stack| stack.id.clone()).collect(),
        false => workspace.choose(&args.stacks, context)?,
    };
    let locks = load_locks(&workspace, &chosen, context).await?;
    if args.json {
        let rows: Vec<Value> = locks.iter().map(|lock| to_json(lock, context)).collect();
        context.terminal.data_line(&serde_json::to_string_pretty(&rows).unwrap_or_default());
    } else {
        show(&locks, context);
    }
    Ok(Exit::OK)
}

/// Reads the locks of stacks, whichever backend keeps them.
pub(super) async fn load_locks(
    workspace: &Workspace,
    chosen: &[StackId],
    context: &Context,
) -> Result<Vec<StackLock>> {
    let stacks = chosen.iter().map(|id| workspace.stack(id)).collect::<Result<Vec<&Stack>>>()?;
    let is_own = |stack: &&Stack| stack.backend == Backend::Embedded && workspace.project.state.url.is_none();
    let store = match stacks.iter().any(is_own) {
        true => Some(workspace.open_store(context).await?),
        false => None,
    };
    // Files are opened for those only whose backend needs credentials.
    let needs_none = |stack: &Stack| matches!(stack.backend, Backend::None | Backend::Unknown);
    let foreign: Vec<&Stack> =
        stacks.iter().filter(|stack| !is_own(stack) && !needs_none(stack)).copied().collect();
    let secrets = match foreign.is_empty() {
        true => BTreeMap::new(),
        false => workspace.secrets_of(context, &foreign).await?,
    };
    let sources = LockSources { project: &workspace.project, store: store.as_ref(), env: &context.env };
    let look = async |stack: &&Stack| {
        let lock = engine::lock_of_stack(&sources, stack, secrets.get(&stack.id)).await?;
        let with_life = |lock: StateLock| {
            let life = engine::life_of_holder(&workspace.project, &stack.id, &lock);
            StackLock { stack: stack.id.clone(), lock, life }
        };
        Ok::<_, Error>(lock.map(with_life))
    };
    let found = futures::future::try_join_all(stacks.iter().map(look)).await?;
    Ok(found.into_iter().flatten().collect())
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
        "created": info.created,
        "age_s": age(lock, context),
        "alive": lock.life.is_alive(),
        "pid": lock.lock.holder.as_ref().map(|holder| holder.pid),
        "run_id": lock.lock.holder.as_ref().and_then(|holder| holder.run_id.clone()),
    })
}

fn show(locks: &[StackLock], context: &Context) {
    if locks.is_empty() {
        return context.terminal.note("no stack is locked");
    }
    let mut table = Table::new(["stack", "holder", "operation", "age", "process", "lock id"]);
    for lock in locks {
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
pub(super) fn process_words(lock: &StackLock) -> String {
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
