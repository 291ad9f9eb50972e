//! `infra force-unlock`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::locks::process_words;
use crate::backends::Release;
use crate::commands::Context;
use crate::commands::args::{StackArgs, VarArgs, stack_names};
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::engine;
use crate::engine::{HolderLife, StackLock, StackLocks};
use crate::error::{Error, Exit, Kind, Result};
use crate::model::{Backend, Stack, StackId};
use crate::report::Asking;

/// Release a lock that a dead run left behind
///
/// Shows who holds it and asks. Refused while the holder lives on this host.
///
/// Examples:
///   infra force-unlock k8s-prod
///   infra force-unlock 6f0c1b9e-5d1c-4f6e-9b0a-2f6c1f0d7a11 --yes
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ForceUnlockArgs {
    /// The stack, or the id of the lock
    #[arg(value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    stack: Option<String>,
    /// The id of the lock; needed for backends that infra does not serve
    #[arg(value_name = "LOCK_ID")]
    lock_id: Option<String>,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
    /// Release it even though its holder is alive
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    variables: VarArgs,
}

/// What is to be released.
struct ReleaseTarget<'a> {
    stack: &'a Stack,
    lock_id: Option<String>,
}

/// Runs the command.
pub async fn run(args: &ForceUnlockArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &StackArgs::one(args.stack.clone())).await?;
    let target = resolve_target(&loaded, args, context).await?;
    let StackLocks { locks, mut failed } =
        loaded.locks_of(std::slice::from_ref(&target.stack.id), context).await?;
    if let Some((_, error)) = failed.pop() {
        return Err(error);
    }
    let Some(lock) = locks.first() else { return nothing_seen(&loaded, &target, args, context).await };
    check(lock, &target, args)?;
    describe(lock, context);
    ask(&target.stack.id, args, context).await?;
    release(&loaded, lock, args, context).await
}

/// Ends where no lock was found: it is not locked, or its backend tells nobody but tofu.
async fn nothing_seen(
    loaded: &LoadedProject,
    target: &ReleaseTarget<'_>,
    args: &ForceUnlockArgs,
    context: &Context,
) -> Result<Exit> {
    let id = &target.stack.id;
    let home = loaded.state_homes(context, &[target.stack]).await.home_of(target.stack)?;
    match &target.lock_id {
        Some(lock_id) if !home.tells_its_lock() => {
            ask(id, args, context).await?;
            release_by_tofu(loaded, (target.stack, lock_id), args, context).await
        }
        None if !home.tells_its_lock() => Err(needs_id(target.stack)),
        _ => {
            context.terminal.note(&format!("`{id}` is not locked; nothing to release"));
            Ok(Exit::OK)
        }
    }
}

fn needs_id(stack: &Stack) -> Error {
    let (id, kind) = (&stack.id, stack.backend.kind());
    Error::usage(format!("`{id}` keeps its state in a {kind} backend, so the lock's id is needed"))
        .hint(format!("`infra force-unlock {id} LOCK_ID`; the id is in the message about the held lock"))
}

/// Finds the stack; a single argument that names none may be the id of a lock.
async fn resolve_target<'a>(
    loaded: &'a LoadedProject,
    args: &ForceUnlockArgs,
    context: &Context,
) -> Result<ReleaseTarget<'a>> {
    let by_name = loaded.choose_one(args.stack.clone(), context);
    let (Err(not_found), Some(text), None) = (&by_name, &args.stack, &args.lock_id) else {
        return Ok(ReleaseTarget { stack: by_name?, lock_id: args.lock_id.clone() });
    };
    let all: Vec<StackId> = loaded.stacks.iter().map(|stack| stack.id.clone()).collect();
    let locks = loaded.locks_of(&all, context).await?.locks;
    if let Some(lock) = locks.iter().find(|lock| lock.lock.info.id == *text) {
        return Ok(ReleaseTarget { stack: loaded.stack(&lock.stack)?, lock_id: Some(text.clone()) });
    }
    match loaded.choose_one(None, context) {
        Ok(stack) if stack.backend != Backend::Embedded => {
            Ok(ReleaseTarget { stack, lock_id: Some(text.clone()) })
        }
        _ => Err(not_found.clone().hint("no lock has this id either: `infra locks`")),
    }
}

fn check(lock: &StackLock, target: &ReleaseTarget<'_>, args: &ForceUnlockArgs) -> Result<()> {
    let id = &lock.lock.info.id;
    if let Some(place) = lock.lock.info.moved_to() {
        return Err(Error::invalid(format!("the state of `{}` was moved to `{place}`", lock.stack))
            .code("state-elsewhere")
            .detail("nobody holds it, and `force-unlock` does not bring it back")
            .hint("take the newer `infra.yaml`: `git pull`")
            .hint("or move it back: `infra state migrate --all --from PLACE`"));
    }
    if target.lock_id.as_ref().is_some_and(|wanted| wanted != id) {
        return Err(Error::locked(format!("`{}` is locked, but not by that lock", lock.stack))
            .fact("lock id", id.clone())
            .hint(format!("`infra force-unlock {} {id}`", lock.stack)));
    }
    if lock.life.is_alive() == Some(true) && !args.force {
        let first = match (lock.life, &lock.lock.holder) {
            (HolderLife::TofuAlive(_), Some(_)) => "wait a little: it ends by itself once its state is saved",
            _ => "stop that run first: Ctrl-C saves its state and releases its lock",
        };
        return Err(Error::locked(format!("the run that holds the lock of `{}` is alive", lock.stack))
            .fact("holder", lock.lock.info.who.clone())
            .fact("process", process_words(lock))
            .hint(first)
            .hint(format!("or, at your own risk: `infra force-unlock {} --force`", lock.stack)));
    }
    Ok(())
}

fn describe(lock: &StackLock, context: &Context) {
    let info = &lock.lock.info;
    context.terminal.note(&format!("`{}` is locked", lock.stack));
    context.terminal.note(&format!(
        "  holder   {} · {} · tofu {}",
        info.who,
        info.operation_word(),
        info.version
    ));
    context.terminal.note(&format!("  since    {}", info.created));
    context.terminal.note(&format!("  process  {}", process_words(lock)));
    context.terminal.note(&format!("  lock id  {}", info.id));
}

async fn ask(stack: &StackId, args: &ForceUnlockArgs, context: &Context) -> Result<()> {
    if args.yes {
        return Ok(());
    }
    let Asking::Person(terminal) = context.asking() else {
        return Err(
            Error::usage("`force-unlock` has to ask, but there is no terminal").hint("say yes: `--yes`")
        );
    };
    let question = format!("Release the lock of `{stack}`?");
    context.require_yes(&terminal, &question, "the lock was left as it is").await
}

async fn release(
    loaded: &LoadedProject,
    lock: &StackLock,
    args: &ForceUnlockArgs,
    context: &Context,
) -> Result<Exit> {
    let stack = loaded.stack(&lock.stack)?;
    match lock.home.force_unlock(&lock.lock).await? {
        Release::Released => context.terminal.note(&format!("released the lock of `{}`", stack.id)),
        Release::Meanwhile => context.terminal.note(&format!("`{}` was released meanwhile", stack.id)),
        Release::LockedAnew | Release::Moved => {
            let words = format!("`{}` was locked anew meanwhile; nothing was released", stack.id);
            context.terminal.alert(&words);
            return Ok(Kind::Locked.exit());
        }
        Release::ByTofu => {
            return release_by_tofu(loaded, (stack, &lock.lock.info.id), args, context).await;
        }
    }
    Ok(Exit::OK)
}

async fn release_by_tofu(
    loaded: &LoadedProject,
    (stack, lock_id): (&Stack, &str),
    args: &ForceUnlockArgs,
    context: &Context,
) -> Result<Exit> {
    let id = &stack.id;
    let released =
        async |session: &engine::Session| engine::release_foreign_lock(session, stack, lock_id).await;
    let purpose = Purpose::reading(std::slice::from_ref(id)).given(&args.variables);
    loaded.with_session(context, purpose, released).await?;
    context.terminal.note(&format!("released the lock of `{id}`"));
    Ok(Exit::OK)
}
