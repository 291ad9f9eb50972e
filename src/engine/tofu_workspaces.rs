//! The workspace of tofu that a stack runs in: its data folder, its place in the environment,
//! and whether it exists.
//!
//! tofu makes a workspace that is not there as soon as any command names it, so that a slip of
//! the pen makes an empty state. No call gets a name that was not seen in tofu's own list. Begin
//! at [`make_workspace`] and [`require_workspace`].

use std::path::{Path, PathBuf};

use super::early_values::with_early_values;
use super::inspect::check;
use super::session::Session;
use super::stop::Stop;
use super::workspace_states::workspace_of;
use crate::error::{Error, Result, io};
use crate::model::{
    Environment, Project, Stack, StackError, StackRun, StackWorkspace, WorkspaceOrigin, nearest, quoted,
};
use crate::process::{self, Invocation};
use crate::tofu::call;
use crate::trust::UserKey;

/// Returns the folder in which tofu keeps what belongs to one declared workspace of a stack.
///
/// tofu runs the providers that it finds there, and a repository may bring a `.infra`: so only this
/// person can know its name, where this person has a key.
pub fn workspace_folder(project: &Project, env: &Environment, stack: &Stack) -> PathBuf {
    folder(project, UserKey::load(env).ok().as_ref(), stack)
}

fn folder(project: &Project, key: Option<&UserKey>, stack: &Stack) -> PathBuf {
    let parts = [project.root.as_os_str().as_encoded_bytes(), stack.id.as_str().as_bytes()];
    let name = key.map(|key| key.proof("folder of a workspace", parts));
    let name = name.and_then(|name| name.get(..32).map(str::to_owned));
    project.infra_dir().join("workspaces").join(name.unwrap_or_else(|| stack.id.file_name()))
}

impl Session {
    /// Returns the data folder of one declared workspace of a stack.
    pub(super) fn workspace_folder(&self, stack: &Stack) -> PathBuf {
        folder(&self.project, self.plan_keys.user().ok(), stack)
    }

    /// Names the workspace of a stack, and its data folder, in an environment.
    pub(super) fn put_in_workspace(&self, stack: &Stack, env: &mut Environment) {
        let former = self.former_workspace(stack);
        let Some(workspace) = &stack.workspace else {
            return former.into_iter().for_each(|name| env.set("TF_WORKSPACE", name.as_str()));
        };
        if workspace.origin == WorkspaceOrigin::Declared {
            env.set("TF_DATA_DIR", self.workspace_folder(stack));
        }
        let is_named = workspace.origin != WorkspaceOrigin::Selected && stack.backend.has_workspaces();
        let name = former.or_else(|| is_named.then(|| workspace.name.clone()));
        match name {
            Some(name) => env.set("TF_WORKSPACE", name.as_str()),
            None => env.remove_where(|name| name == "TF_WORKSPACE"),
        }
    }

    /// Returns the workspace in which the state of a stack still is that goes on in another one.
    pub(super) fn former_workspace(&self, stack: &Stack) -> Option<String> {
        let former = self.former_names.borrow();
        let was = former.get(&stack.id).filter(|_| stack.backend.has_workspaces());
        was.map(|was| workspace_of(was).to_owned())
    }
}

/// Makes the workspace of a stack that was just initialised, where it is missing.
pub(super) async fn make_workspace(session: &Session, run: &StackRun) -> Result<(), Stop> {
    let Some(workspace) = asked_of_tofu(&run.stack) else { return Ok(()) };
    if !list(session, run).await?.contains(&workspace.name) {
        make(session, run, &workspace.name).await?;
    }
    Ok(())
}

/// Refuses to run where nobody declared the workspace and it does not exist; makes it where that is wanted.
pub(super) async fn require_workspace(session: &Session, run: &StackRun) -> Result<(), Stop> {
    let Some(workspace) = asked_of_tofu(&run.stack) else { return Ok(()) };
    let WorkspaceOrigin::Asked { create } = workspace.origin else { return Ok(()) };
    if session.seen_workspaces.borrow().contains(&run.stack.id) {
        return Ok(());
    }
    let known = list(session, run).await?;
    if !known.contains(&workspace.name) {
        if !create {
            let shown = known.iter().map(|name| session.mask().line(name).to_string()).collect::<Vec<_>>();
            return Err(unknown(&run.stack, &workspace.name, &shown).into());
        }
        make(session, run, &workspace.name).await?;
    }
    session.seen_workspaces.borrow_mut().insert(run.stack.id.clone());
    Ok(())
}

/// Returns the workspace that tofu is to be told of.
fn asked_of_tofu(stack: &Stack) -> Option<&StackWorkspace> {
    stack.workspace.as_ref().filter(|_| stack.backend.has_workspaces())
}

async fn list(session: &Session, run: &StackRun) -> Result<Vec<String>, Stop> {
    let call = call::workspace_list(base(session, run).await?.without_env("TF_WORKSPACE"));
    let captured = successful(session, run, call).await?;
    Ok(call::listed_workspaces(&String::from_utf8_lossy(captured.stdout.unmasked())))
}

async fn make(session: &Session, run: &StackRun, name: &str) -> Result<(), Stop> {
    let call = call::workspace_new(base(session, run).await?.env("TF_WORKSPACE", name), name);
    let selection = session.data_dir_of(&run.stack).join("environment");
    let before = std::fs::read(&selection).ok();
    let made = successful(session, run, call).await;
    // tofu selects what it makes; what somebody selected by hand stays.
    restore(&selection, before)?;
    match made {
        // Somebody else may have made it meanwhile.
        Err(stop) if list(session, run).await?.iter().all(|known| known != name) => Err(stop),
        _ => Ok(()),
    }
}

fn restore(file: &Path, before: Option<Vec<u8>>) -> Result<()> {
    let restored = match before {
        Some(bytes) => std::fs::write(file, bytes),
        None => match std::fs::remove_file(file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        },
    };
    restored.map_err(io("write", file))
}

async fn base(session: &Session, run: &StackRun) -> Result<Invocation> {
    Ok(with_early_values(session, run, session.call(&run.stack, &run.env)?).await)
}

async fn successful(session: &Session, run: &StackRun, call: Invocation) -> Result<process::Captured, Stop> {
    let captured = process::capture(call, &session.interrupts).await?;
    if session.interrupts.any() {
        return Err(Stop::Interrupted);
    }
    check(session, &run.stack.id, &captured)?;
    Ok(captured)
}

/// Makes the error of a workspace that is not there.
fn unknown(stack: &Stack, name: &str, known: &[String]) -> Error {
    let base = stack.base_id();
    let error = Error::invalid(format!("`{base}` has no workspace `{name}`"))
        .code(StackError::WORKSPACE_UNKNOWN)
        .fact("workspaces", known.join(", "));
    let near = nearest(name, known.iter().map(String::as_str));
    let error = error.hint_if(near.map(|near| format!("did you mean `{near}`?")));
    let (base, name) = (quoted(base.as_str()), quoted(name));
    error
        .hint(format!("make it: `infra plan {base} --workspace {name} --create`"))
        .hint("or declare it in infra.yaml: `workspaces` of the stack")
}
