//! What is said where a choice fits no stack: what is there instead, and what was probably meant.
//! Pure. Used by `select`.

use std::collections::BTreeSet;
use std::path::Path;

use super::names;
use super::names::{Miss, quoted};
use super::typed_path::{PathContext, StacklessPart};
use crate::error::{Error, Result};
use crate::model::{Stack, StackId};

/// What is said of a file that `tofu plan -out` would have written.
const SAVED_PLANS: &str =
    "saved plans belong to their stacks: `infra apply --saved`, `infra show STACK --plan`";

/// Says why a part of the project chooses nothing, and what it is a part of.
pub fn without_stacks(name: &str, part: &StacklessPart, stacks: &[Stack]) -> Error {
    let called = |ids: &[StackId]| quoted(ids.iter().map(StackId::as_str));
    let error = match part {
        StacklessPart { is_folder: false, .. } => {
            Error::usage(format!("`{name}` is a file; a stack is a folder"))
                .hint_if(name.contains("plan").then_some(SAVED_PLANS))
        }
        StacklessPart { users, .. } if !users.is_empty() => {
            Error::usage(format!("no stack is in `{name}` or below it, only modules"))
        }
        StacklessPart { .. } => Error::usage(format!("no stack is in `{name}` or below it")),
    };
    match part {
        StacklessPart { users, .. } if !users.is_empty() => error.hint(format!("used by {}", called(users))),
        StacklessPart { around, .. } if !around.is_empty() => {
            error.hint(format!("it is a part of {}", called(around)))
        }
        StacklessPart { .. } => error.hint(format!("the stacks are {}", listed(stacks))),
    }
}

/// Says that a path leads out of the project.
pub fn outside(name: &str, path: &Path, place: &PathContext<'_>) -> Error {
    let root = place.root();
    let hint = match root.starts_with(path) {
        true => "`--all` chooses every stack of the project",
        false => "a project in another folder is worked on with `-C DIR`",
    };
    Error::usage(format!("`{name}` is outside of the project `{}`", root.display())).hint(hint)
}

/// Says that there is no such folder.
pub fn nowhere(name: &str, stacks: &[Stack]) -> Error {
    let near = names::near(name.trim_end_matches('/'), stacks);
    let error = Error::usage(format!("there is no folder `{name}`"));
    match Miss::Unknown(near).hint() {
        Some(hint) => error.hint(hint),
        None => error.hint(format!("the stacks are {}", listed(stacks))),
    }
}

/// Returns whether a name is one that people give to files of saved plans.
pub fn is_plan(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    ["plan", ".tfplan", ".plan", "plan.out", "planfile"].iter().any(|end| name.ends_with(end))
}

/// Says what was probably meant by a name.
pub fn unresolved(miss: &Miss, name: &str, stacks: &[Stack]) -> Error {
    let error = Error::usage(miss.message(name)).hint_if(is_plan(name).then_some(SAVED_PLANS));
    match folder_of(name, stacks).or_else(|| miss.hint()) {
        Some(hint) => error.hint(hint),
        None => error.hint(format!("the stacks are {}", listed(stacks))),
    }
}

/// Names the folder whose stacks have ids that begin with a name.
fn folder_of(name: &str, stacks: &[Stack]) -> Option<String> {
    let below = |stack: &Stack| stack.id.as_str().strip_prefix(name)?.strip_prefix('/').map(str::to_owned);
    let (stack, rest) = stacks.iter().find_map(|stack| Some((stack, below(stack)?)))?;
    let folder = stack.path.ancestors().nth(rest.split('/').count())?;
    Some(format!("did you mean the folder `{}`?", folder.display()))
}

/// Lists the first stacks; a long list would hide the message.
pub fn listed(stacks: &[Stack]) -> String {
    let shown = quoted(stacks.iter().take(10).map(|stack| stack.id.as_str()));
    match stacks.len().checked_sub(10) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more: `infra stacks`"),
    }
}

/// Returns what was found, or the error that lists what could have been.
pub fn or_unknown(
    found: Vec<StackId>,
    what: &str,
    name: &str,
    known: BTreeSet<&str>,
) -> Result<Vec<StackId>> {
    if !found.is_empty() {
        return Ok(found);
    }
    let known = quoted(known);
    let hint = if known.is_empty() {
        "there are none in this project".to_owned()
    } else {
        format!("there are {known}")
    };
    Err(Error::usage(format!("{what} `{name}`")).hint(hint))
}
