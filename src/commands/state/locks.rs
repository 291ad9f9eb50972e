//! `infra locks`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::backends::{HomeParts, StateHome, StatePlace, home_of, open_place, state_name, workspace_in_use};
use crate::commands::Context;
use crate::commands::args::{OUTPUT, StackArgs};
use crate::commands::loaded_project::Workspace;
use crate::engine;
use crate::engine::{HolderLife, StackSecrets, Unopened};
use crate::error::{Error, Exit, Result};
use crate::model::{Backend, Environment, Project, Stack, StackId, StateLock, human_duration};
use crate::report::Table;
use crate::stacks;
use crate::state::AwsSources;
use crate::trust::UNTRUSTED;

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

/// A lock of a stack, with what is known about its holder.
#[derive(Debug)]
pub struct StackLock {
    pub stack: StackId,
    pub lock: StateLock,
    /// Whether the one who took it still works.
    pub life: HolderLife,
    /// Where the state lies that it holds.
    pub home: StateHome,
}

/// Runs the command.
pub async fn run(args: &LocksArgs, context: &Context) -> Result<Exit> {
    let workspace = Workspace::load_for(context, &args.stacks).await?;
    let chosen = match workspace.stacks.is_empty() {
        true => Vec::new(),
        false => workspace.choose_to_read(&args.stacks, context)?,
    };
    let Looked { locks, failed } = load_locks(&workspace, &chosen, context).await?;
    if args.json {
        let rows: Vec<Value> = locks.iter().map(|lock| to_json(lock, context)).collect();
        context.terminal.data_line(&serde_json::to_string_pretty(&rows).unwrap_or_default());
    } else {
        show(&locks, &failed, context);
    }
    Ok(tell_failed(&failed, context))
}

/// The locks that were found, and the stacks whose lock cannot be read.
#[derive(Debug, Default)]
pub struct Looked {
    pub locks: Vec<StackLock>,
    pub failed: Vec<(StackId, Error)>,
}

/// Reads the locks of stacks, whichever backend keeps them; one that fails hides no other.
pub async fn load_locks(workspace: &Workspace, chosen: &[StackId], context: &Context) -> Result<Looked> {
    let stacks = chosen.iter().map(|id| workspace.stack(id)).collect::<Result<Vec<&Stack>>>()?;
    let homes = Homes::of(workspace, &stacks, context).await;
    let found = futures::future::join_all(stacks.iter().map(|stack| homes.look(stack))).await;
    let mut looked = Looked::default();
    for (stack, found) in stacks.iter().zip(found) {
        let stack = stack.id.clone();
        match found {
            Ok((home, Some(lock))) => {
                let life = engine::life_of_holder(&workspace.project, &stack, &lock);
                looked.locks.push(StackLock { stack, lock, life, home });
            }
            Ok((_, None)) => {}
            Err(error) => looked.failed.push((stack, error)),
        }
    }
    Ok(looked)
}

/// What it takes to find the states of stacks without a tofu.
pub struct Homes<'a> {
    workspace: &'a Workspace,
    place: Result<Option<StatePlace>>,
    secrets: BTreeMap<StackId, Result<StackSecrets>>,
    env: &'a Environment,
    sources: AwsSources,
}

impl<'a> Homes<'a> {
    /// Opens what these stacks need; what does not open fails for those alone that need it.
    pub async fn of(workspace: &'a Workspace, stacks: &[&Stack], context: &'a Context) -> Self {
        let place = match stacks.iter().any(|stack| stack.backend == Backend::Embedded) {
            true => workspace.open_place(context).await.map(Some),
            false => Ok(None),
        };
        // Files are opened for those only whose backend needs credentials.
        let is_own =
            |stack: &Stack| stack.backend == Backend::Embedded && workspace.project.state.url.is_none();
        let needs_none = |stack: &Stack| matches!(stack.backend, Backend::None | Backend::Unknown);
        let foreign: Vec<&Stack> =
            stacks.iter().filter(|stack| !is_own(stack) && !needs_none(stack)).copied().collect();
        let secrets = open_each(workspace, &foreign, context).await;
        let sources = AwsSources::new(context.clock, context.interrupts.clone());
        Self { workspace, place, secrets, env: &context.env, sources }
    }

    /// Opens what takes no secrets, so that nothing is asked and nothing is told.
    pub async fn without_secrets(workspace: &'a Workspace, context: &'a Context) -> Self {
        let place = open_place(&workspace.project, &context.env, context.clock).await.map(Some);
        let sources = AwsSources::new(context.clock, context.interrupts.clone());
        Self { workspace, place, secrets: BTreeMap::new(), env: &context.env, sources }
    }

    /// Returns where the state of a stack lies.
    pub fn home_of(&self, stack: &Stack) -> Result<StateHome> {
        let place = match (&self.place, &stack.backend) {
            (Err(error), Backend::Embedded) => return Err(error.clone()),
            (place, _) => place.as_ref().ok().and_then(Option::as_ref),
        };
        let secrets = self.secrets.get(&stack.id).map(Result::as_ref).transpose().map_err(Clone::clone)?;
        let mut env = self.env.clone();
        for (name, value) in secrets.into_iter().flat_map(StackSecrets::backend_variables) {
            env.set(name, value.as_str());
        }
        let project = &self.workspace.project;
        let (dir, own) = (project.root.join(&stack.path), stacks::settings_for(project, &stack.id).env);
        let name = state_name(stack)?;
        let data_dir = data_dir_of(project, stack, &env, &own);
        let workspace = workspace_in_use(stack, &own, &data_dir);
        let env = own.into_iter().fold(env, |env, (name, value)| env.with(&name, value));
        let sources = &self.sources;
        home_of(HomeParts { stack, name, place, dir: &dir, env, data_dir, workspace, sources })
    }

    async fn look(&self, stack: &Stack) -> Result<(StateHome, Option<StateLock>)> {
        let home = self.home_of(stack)?;
        let lock = home.lock_of().await?;
        Ok((home, lock))
    }
}

/// Returns where tofu keeps what `init` resolved for a stack.
pub fn data_dir_of(
    project: &Project,
    stack: &Stack,
    env: &Environment,
    own: &BTreeMap<String, String>,
) -> PathBuf {
    if stack.declared_workspace().is_some() {
        return engine::workspace_folder(project, env, stack);
    }
    let named = own.get("TF_DATA_DIR").map(PathBuf::from).or_else(|| env.path("TF_DATA_DIR"));
    project.root.join(&stack.path).join(named.unwrap_or_else(|| ".terraform".into()))
}

/// Opens the encrypted files of stacks, one stack at a time if not all of them open.
async fn open_each(
    workspace: &Workspace,
    stacks: &[&Stack],
    context: &Context,
) -> BTreeMap<StackId, Result<StackSecrets>> {
    if stacks.is_empty() {
        return BTreeMap::new();
    }
    match workspace.secrets_of(context, stacks, Unopened::Ends).await {
        Ok(all) => return all.into_iter().map(|(id, secrets)| (id, Ok(secrets))).collect(),
        // Whoever said no is not asked again for every stack.
        Err(error) if error.label() == Some(UNTRUSTED) => {
            return stacks.iter().map(|stack| (stack.id.clone(), Err(error.clone()))).collect();
        }
        Err(_) => {}
    }
    let mut opened = BTreeMap::new();
    for stack in stacks {
        // What stays shut may be nothing that its backend asks for.
        match workspace.secrets_of(context, &[stack], Unopened::LeftOut).await {
            Ok(own) => opened.extend(own.into_iter().map(|(id, secrets)| (id, Ok(secrets)))),
            Err(error) => drop(opened.insert(stack.id.clone(), Err(error))),
        }
    }
    opened
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
