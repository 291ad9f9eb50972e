//! Stacks that were renamed, in a run: a person is asked whether one is the other.

use crate::commands::Context;
use crate::engine::{Rename, StateCheck};
use crate::error::Result;
use crate::report::Asking;

/// Asks about each rename that is clear. Without a yes the rename stays open, and the stack does not run.
pub async fn ask_about_renames(mut check: StateCheck, context: &Context) -> Result<StateCheck> {
    let Asking::Person(terminal) = context.asking() else { return Ok(check) };
    let renames = std::mem::take(&mut check.renames);
    for rename in &renames {
        if !is_clear(rename, &renames) {
            check.renames.push(rename.clone());
            continue;
        }
        let Rename { old, new, .. } = rename;
        context.terminal.note(&format!("`{old}` is gone, `{new}` has no state, and {}", rename.reason()));
        let question = format!("Is `{new}` the former `{old}`?");
        match context.ask(&terminal, &question, "nothing was done").await? {
            true => drop(check.former.insert(new.clone(), old.clone())),
            // Enter alone must not create everything a second time: the error names the way to say no.
            false => check.renames.push(rename.clone()),
        }
    }
    Ok(check)
}

/// Several candidates are listed and none is proposed; one whose state is not here cannot go on with it yet.
fn is_clear(rename: &Rename, all: &[Rename]) -> bool {
    let same = |other: &&Rename| other.old == rename.old || other.new == rename.new;
    rename.facts.is_some() && all.iter().filter(same).count() == 1
}
