//! One folder in several workspaces: a stack for each that `infra.yaml` declares.
//!
//! A backend that has no workspaces gets a place of its own for each: a name where infra keeps
//! the states, an address of a foreign server. Begin at [`in_workspaces`].

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::model::{Backend, Stack, StackSettings, StackWorkspace, WorkspaceOrigin};

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
    let mut stack = Stack {
        id: stack.id.in_workspace(name),
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
            stack.id
        )
    })
}
