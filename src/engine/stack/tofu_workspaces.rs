//! The workspace of tofu that a stack runs in: its data folder, its place in the environment,
//! and whether it exists.
//!
//! tofu makes a workspace that is not there as soon as any command names it, so that a slip of
//! the pen makes an empty state. No call gets a name that was not seen in tofu's own list. Begin
//! at [`make_workspace`], [`look_for_workspace`] and [`require_workspace`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::kept_selection::KeptSelection;
use crate::engine::calls::{Stop, check};
use crate::engine::session::Session;
use crate::engine::state_check::workspace_of;
use crate::engine::variables::with_early_values;
use crate::error::{Error, Result};
use crate::model::{
    Environment, Project, Stack, StackError, StackRun, StackWorkspace, WorkspaceOrigin, nearest, quoted,
};
use crate::process;
use crate::process::Invocation;
use crate::tofu::call;
use crate::trust::UserKey;

/// Returns where tofu keeps what `init` resolved for a stack.
pub fn data_folder(
    project: &Project,
    stack: &Stack,
    env: &Environment,
    own: &BTreeMap<String, String>,
) -> PathBuf {
    if stack.declared_workspace().is_some() {
        return workspace_folder(project, env, stack);
    }
    let named = own.get("TF_DATA_DIR").map(PathBuf::from).or_else(|| env.path("TF_DATA_DIR"));
    project.root.join(&stack.path).join(named.unwrap_or_else(|| ".terraform".into()))
}

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
    pub(in crate::engine) fn workspace_folder(&self, stack: &Stack) -> PathBuf {
        folder(&self.project, self.plan_keys.user().ok(), stack)
    }

    /// Names the workspace of a stack, and its data folder, in an environment.
    pub(in crate::engine) fn put_in_workspace(&self, stack: &Stack, env: &mut Environment) {
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
    pub(in crate::engine) fn former_workspace(&self, stack: &Stack) -> Option<String> {
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

/// Refuses to run where nobody declared the workspace and infra itself can see that it does not exist.
///
/// This comes before `init`, which would select another one. What cannot be seen is left to
/// [`require_workspace`].
pub(super) async fn look_for_workspace(session: &Session, run: &StackRun) -> Result<(), Stop> {
    let stack = &run.stack;
    if let Some(error) = wrong_workspace(session, stack) {
        return Err(error.into());
    }
    let Some((workspace, create)) = undeclared(session, stack) else { return Ok(()) };
    match session.workspaces_of(stack).await {
        Ok(Some(known)) if known.contains(&workspace.name) => {
            see(session, stack);
            Ok(())
        }
        Ok(Some(known)) if !create => Err(unknown(session, stack, workspace, &known).into()),
        _ => Ok(()),
    }
}

/// Refuses to run where nobody declared the workspace and it does not exist; makes it where that is wanted.
pub(super) async fn require_workspace(session: &Session, run: &StackRun) -> Result<(), Stop> {
    let Some((workspace, create)) = undeclared(session, &run.stack) else { return Ok(()) };
    let known = list(session, run).await?;
    if !known.contains(&workspace.name) {
        if !create {
            return Err(unknown(session, &run.stack, workspace, &known).into());
        }
        make(session, run, &workspace.name).await?;
    }
    see(session, &run.stack);
    Ok(())
}

/// Returns the workspace that nobody declared and that was not seen yet, and whether it may be made.
fn undeclared<'a>(session: &Session, stack: &'a Stack) -> Option<(&'a StackWorkspace, bool)> {
    let workspace = asked_of_tofu(stack)?;
    let create = match workspace.origin {
        WorkspaceOrigin::Declared => return None,
        WorkspaceOrigin::Asked { create } => create,
        WorkspaceOrigin::Selected => false,
    };
    let is_seen = session.seen_workspaces.borrow().contains(&stack.id);
    (!is_seen).then_some((workspace, create))
}

fn see(session: &Session, stack: &Stack) {
    session.seen_workspaces.borrow_mut().insert(stack.id.clone());
}

/// Returns the error of a stack whose settings or folder name what can be no workspace of its backend.
pub fn wrong_workspace(session: &Session, stack: &Stack) -> Option<Error> {
    let problem = stack.wrong_workspace.clone()?;
    let error = Error::invalid(format!("nobody can tell in which workspace `{}` is to run", stack.id));
    let error = error.code(StackError::WORKSPACE_UNKNOWN).detail(problem);
    let file = session.data_dir_of(stack).join("environment");
    if !file.exists() {
        return Some(error.hint("letters, digits, `-`, `_` and `.` make a name"));
    }
    let file = quoted(&file.display().to_string());
    Some(match stack.backend.has_workspaces() {
        true => error.hint(way_to_select(stack, StackWorkspace::DEFAULT)),
        false => error.hint(format!("take the selection away: `rm {file}`")),
    })
}

fn way_to_select(stack: &Stack, name: &str) -> String {
    let (base, name) = (quoted(stack.base_id().as_str()), quoted(name));
    format!("select another one: `infra tofu --stack {base} -- workspace select {name}`")
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
    // tofu selects what it makes; what somebody selected by hand stays.
    let selection = KeptSelection::in_folder(&session.data_dir_of(&run.stack));
    let made = successful(session, run, call).await;
    selection.put_back()?;
    match made {
        // Somebody else may have made it meanwhile.
        Err(stop) if list(session, run).await?.iter().all(|known| known != name) => Err(stop),
        _ => Ok(()),
    }
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
fn unknown(session: &Session, stack: &Stack, workspace: &StackWorkspace, known: &[String]) -> Error {
    let (base, name) = (stack.base_id(), &workspace.name);
    let mask = session.mask();
    let known: Vec<String> = known.iter().map(|name| mask.line(name).to_string()).collect();
    let is_selected = workspace.origin == WorkspaceOrigin::Selected;
    let why = if is_selected { ", which is selected in its `.terraform`" } else { "" };
    let error = Error::invalid(format!("`{base}` has no workspace `{name}`{why}"))
        .code(StackError::WORKSPACE_UNKNOWN)
        .fact("workspaces", known.join(", "));
    let near = nearest(name, known.iter().map(String::as_str));
    let error = error.hint_if(near.map(|near| format!("did you mean `{near}`?")));
    let (shown, name) = (quoted(base.as_str()), quoted(name));
    let error = error.hint(format!("make it: `infra plan {shown} --workspace {name} --create`"));
    match is_selected {
        true => error.hint(format!("or {}", way_to_select(stack, near.unwrap_or(StackWorkspace::DEFAULT)))),
        false => error.hint("or declare it in infra.yaml: `workspaces` of the stack"),
    }
}
