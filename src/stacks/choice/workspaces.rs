//! One folder in several workspaces: a stack for each that `infra.yaml` declares.
//!
//! A backend that has no workspaces gets a place of its own for each: a name where infra keeps
//! the states, an address of a foreign server. Begin at [`in_workspaces`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::names;
use super::select::{Selection, select};
use crate::error::{Error, Result};
use crate::model::{Backend, Project, Stack, StackId, StackSettings, StackWorkspace, WorkspaceOrigin};

/// Returns the stacks of a folder, one for each of its workspaces.
pub fn in_workspaces(stack: &Stack, settings: &StackSettings) -> Result<Vec<Stack>> {
    check_variable(stack, settings)?;
    if settings.env.contains_key("TF_WORKSPACE") {
        return Err(Error::invalid(format!(
            "`{}` has `workspaces`, and `env` sets `TF_WORKSPACE`",
            stack.id
        ))
        .at("infra.yaml")
        .hint("take `TF_WORKSPACE` away: infra sets it for each of the workspaces"));
    }
    let names = settings.workspaces.keys();
    Ok(names.map(|name| in_workspace(stack, name, WorkspaceOrigin::Declared)).collect())
}

/// Returns a stack as it is in a workspace.
pub fn in_workspace(stack: &Stack, name: &str, origin: WorkspaceOrigin) -> Stack {
    let base = stack.base_id();
    // What every backend begins with is no workspace, unless it is declared to be one of several.
    let is_none = name == StackWorkspace::DEFAULT && origin != WorkspaceOrigin::Declared;
    let mut stack = Stack {
        id: if is_none { base } else { base.in_workspace(name) },
        workspace: Some(StackWorkspace { name: name.to_owned(), origin }),
        ..stack.clone()
    };
    if let Backend::Configured { kind, attributes } = &mut stack.backend
        && kind == "http"
    {
        give_own_address(attributes, name);
    }
    stack
}

/// Puts `@` and the name of a workspace behind the addresses of a state, where they are known.
fn give_own_address(attributes: &mut BTreeMap<String, Option<String>>, name: &str) {
    let Some(Some(address)) = attributes.get("address").cloned() else { return };
    let own = format!("{}@{name}", address.trim_end_matches('/'));
    for attribute in ["lock_address", "unlock_address"] {
        if let Some(Some(text)) = attributes.get_mut(attribute)
            && let Some(rest) = text.strip_prefix(address.trim_end_matches('/'))
        {
            *text = format!("{own}{rest}");
        }
    }
    attributes.insert("address".to_owned(), Some(own));
}

/// Refuses a variable for the name that the stack does not have.
fn check_variable(stack: &Stack, settings: &StackSettings) -> Result<()> {
    let Some(variable) = &settings.workspace_variable else { return Ok(()) };
    // What does not parse may declare it.
    if stack.variables.contains(variable) || !stack.is_known() {
        return Ok(());
    }
    let known = stack.variables.iter().map(String::as_str).collect::<Vec<_>>().join("`, `");
    let hint = match known.is_empty() {
        true => format!("declare it: `variable \"{variable}\" {{}}`"),
        false => format!("it declares `{known}`"),
    };
    Err(Error::invalid(format!("`{}` declares no variable `{variable}`", stack.id))
        .at("infra.yaml")
        .fact("key", format!("stacks: workspace_variable of `{}`", stack.id))
        .hint(hint))
}

/// Returns the remark about a workspace that was selected by hand in a folder whose workspaces are declared.
pub fn ignored_selection(root: &Path, stack: &Stack) -> Option<String> {
    let file = root.join(&stack.path).join(".terraform/environment");
    let selected = std::fs::read_to_string(file).ok()?.trim().to_owned();
    let is_one = !selected.is_empty() && selected != StackWorkspace::DEFAULT;
    is_one.then(|| {
        format!(
            "`{}`: the workspace `{selected}` that is selected in its `.terraform` is ignored: infra.yaml declares `workspaces`",
            stack.base_id()
        )
    })
}

/// Returns the stacks that were named one by one: by id, last part of it or folder, or because they are
/// where somebody stands; not by a glob, a layer or a tag.
pub fn named_one_by_one(
    project: &Project,
    stacks: &[Stack],
    asked: &Selection,
    cwd: &Path,
) -> BTreeSet<StackId> {
    let mut found = BTreeSet::new();
    let mut add = |selection: Selection, is_one: &dyn Fn(&Stack) -> bool| {
        let ids = select(project, stacks, &selection, cwd).unwrap_or_default();
        let meant: Vec<&Stack> = stacks.iter().filter(|stack| ids.contains(&stack.id)).collect();
        let same = meant.iter().all(|stack| stack.path == meant[0].path && is_one(stack));
        found.extend(meant.into_iter().filter(|_| same).map(|stack| stack.id.clone()));
    };
    for name in &asked.names {
        let is_kind = |stack: &Stack| stack.tags.contains(name) || names::is_in_layer(&stack.base_id(), name);
        let only = Selection { names: vec![name.clone()], ..Selection::default() };
        add(only, &|stack| stack.base_id().short_name() == name || !is_kind(stack));
    }
    let is_only = stacks.iter().all(|stack| stack.path == stacks[0].path);
    if asked.is_empty() || is_only {
        add(Selection::default(), &|_| true);
    }
    found
}

/// Lets a stack run in a workspace that `infra.yaml` does not declare; whoever depends on it follows.
pub fn run_in(
    project: &mut Project,
    stacks: &mut [Stack],
    id: &StackId,
    (name, origin): (&str, WorkspaceOrigin),
) -> Result<()> {
    let Some(stack) = stacks.iter_mut().find(|stack| stack.id == *id) else { return Ok(()) };
    let base = stack.base_id();
    let moved = in_workspace(stack, name, origin);
    let new = moved.id.clone();
    if new == *id {
        *stack = moved;
        return Ok(());
    }
    *stack = moved;
    if stacks.iter().filter(|stack| stack.id == new).count() > 1 {
        return Err(Error::invalid(format!("`{new}` is a folder, and `{base}` in the workspace `{name}`"))
            .hint("rename the folder, or the workspace"));
    }
    for other in stacks.iter_mut() {
        if other.depends_on.remove(id) {
            other.depends_on.insert(new.clone());
        }
        other.reads.iter_mut().filter(|(owner, _)| owner == id).for_each(|(owner, _)| *owner = new.clone());
    }
    project.undeclared.insert(new, base);
    Ok(())
}

/// Returns the one stack that a name means.
pub fn named_stack(name: &str, stacks: &[Stack]) -> Option<StackId> {
    names::find_one(name, stacks).ok().flatten()
}
