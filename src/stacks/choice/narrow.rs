//! A choice of stacks, narrowed to those that run in one workspace.

use std::collections::BTreeSet;

use super::names::quoted;
use crate::error::{Error, Result};
use crate::model::{Stack, StackId, StackWorkspace, nearest};

/// Leaves those of the chosen stacks that run in a workspace.
pub fn narrow(stacks: &[Stack], workspace: &str, chosen: &mut BTreeSet<StackId>) -> Result<()> {
    let before = chosen.clone();
    let is_in = |stack: &Stack| match stack.workspace_name() {
        Some(name) => name == workspace,
        None => workspace == StackWorkspace::DEFAULT,
    };
    chosen.retain(|id| stacks.iter().any(|stack| stack.id == *id && is_in(stack)));
    if chosen.is_empty() { Err(nowhere(stacks, workspace, &before)) } else { Ok(()) }
}

/// Makes the error of a choice that has nothing in a workspace.
fn nowhere(stacks: &[Stack], workspace: &str, chosen: &BTreeSet<StackId>) -> Error {
    let chosen: Vec<&Stack> = stacks.iter().filter(|stack| chosen.contains(&stack.id)).collect();
    let error = match chosen.as_slice() {
        [one] => Error::usage(format!("`{}` has no workspace `{workspace}`", one.base_id())),
        _ => Error::usage(format!("no chosen stack has the workspace `{workspace}`")),
    };
    let known: BTreeSet<&str> = chosen.iter().filter_map(|stack| stack.declared_workspace()).collect();
    let guess = nearest(workspace, known.iter().copied()).map(|name| format!("did you mean `{name}`?"));
    let error = match known.is_empty() {
        true => error,
        false => error.hint(guess.unwrap_or_else(|| format!("there are {}", quoted(known)))),
    };
    let plain = chosen.iter().find(|stack| stack.declared_workspace().is_none());
    match plain {
        Some(stack) if !stack.backend.has_workspaces() => {
            let why =
                format!("the {} backend of `{}` has no workspaces", stack.backend.kind(), stack.base_id());
            error.detail(why).hint(
                "declare them in infra.yaml, and each gets a state of its own: `workspaces` of the stack",
            )
        }
        Some(_) => {
            error.hint("a stack without `workspaces` in infra.yaml runs in another one only when it is named")
        }
        None => error,
    }
}
