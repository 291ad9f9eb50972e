//! Stacks that were renamed, in a run: a person is asked, and what was said yes to goes along
//! before anything is changed.

use super::Context;
use crate::engine::{self, Rename, Session, StateCheck};
use crate::error::{Error, Result};
use crate::model::RunPlan;
use crate::report::{Asking, confirm, rename_in_runs};

/// Asks about each rename that is clear; without a terminal nothing is decided.
pub(super) async fn ask_about(mut check: StateCheck, context: &Context) -> Result<StateCheck> {
    let Asking::Person(terminal) = context.asking() else { return Ok(check) };
    let renames = std::mem::take(&mut check.renames);
    for rename in &renames {
        if !is_clear(rename, &renames) {
            check.renames.push(rename.clone());
            continue;
        }
        let Rename { old, new, .. } = rename;
        context.terminal.note(&format!("`{old}` is gone, `{new}` has no state, and {}", rename.reason()));
        let mut interrupts = context.interrupts.clone();
        let question = format!("Is `{new}` the former `{old}`?");
        let yes = tokio::select! {
            yes = confirm(&terminal, &question) => yes,
            _ = interrupts.beyond(0) => return Err(Error::interrupted("nothing was done")),
        };
        if yes {
            check.former.insert(new.clone(), old.clone());
        }
    }
    Ok(check)
}

/// Several candidates are listed, none is proposed.
fn is_clear(rename: &Rename, all: &[Rename]) -> bool {
    let same = |other: &&Rename| other.old == rename.old || other.new == rename.new;
    all.iter().filter(same).count() == 1
}

/// Gives states their new names if the run changes anything; else they are only looked at under the old ones.
pub(super) async fn bring_along(session: &Session, plan: &RunPlan, check: &StateCheck) -> Result<()> {
    if !plan.command.is_ordered() || !check.problems.is_empty() {
        engine::use_former_names(session, check);
        return Ok(());
    }
    for (new, old) in &check.former {
        engine::rename_state(session, old, new).await?;
        rename_in_runs(&session.project.runs_dir(), old, new);
        session.events.warn(format!("`{new}` has the state of `{old}` now"), Vec::new());
    }
    Ok(())
}
