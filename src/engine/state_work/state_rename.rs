//! The state of a stack under the name of another: a folder was renamed, and what belongs to
//! it goes along.

use super::migrate_all::bring_copy;
use super::state_move::{StateMove, StateMoved};
use crate::backends::StateHome;
use crate::engine::applied::rename_copy;
use crate::engine::plan::SavedPlans;
use crate::engine::session::Session;
use crate::engine::state_check::{keep_safety_copy, new_name_words, note_lineage};
use crate::error::{Error, Result};
use crate::model::{Backend, StackId, quoted};
use crate::state::StateName;

/// Gives the state of a stack, with its versions and all that belongs to it, another name.
pub async fn rename_state(session: &Session, old: &StackId, new: &StackId) -> Result<StateMoved> {
    check_names(session, old, new)?;
    let (from, to) = (home(session, old)?, home(session, new)?);
    let (destination, operation) = (new_name_words(new), "state rename_copy");
    let command = format!("state rename_copy {} {}", quoted(old.as_str()), quoted(new.as_str()));
    let moving = StateMove { id: new, from: &from, to: &to, destination, command, operation };
    let Some(moved) = moving.run(session).await? else { return Err(without_state(session, old, new)) };
    bring_copy(&from, &to).await;
    // It lies beside the new name now; one that stays does no harm there.
    let _ = from.drop_copy().await;
    session.former_names.borrow_mut().remove(new);
    note_lineage(session, new, Some(moved.facts.lineage.clone()))?;
    keep_safety_copy(session, new).await;
    note_lineage(session, old, None)?;
    rename_copy(&session.project, &session.stacks, old, new)?;
    SavedPlans::at(session.project.plans_dir()).remove(old)?;
    Ok(moved)
}

fn check_names(session: &Session, old: &StackId, new: &StackId) -> Result<()> {
    if session.stacks.iter().any(|stack| stack.id == *old) {
        return Err(Error::usage(format!("`{old}` is a stack of this project, so its state stays with it"))
            .hint("rename_copy its folder first"));
    }
    let stack = session.stack(new)?;
    if stack.backend != Backend::Embedded {
        return Err(Error::usage(format!(
            "`{new}` keeps its state where its backend block says, whatever it is called"
        )));
    }
    Ok(())
}

fn home(session: &Session, id: &StackId) -> Result<StateHome> {
    let found = session.home_named(&StateName::parse(&id.state_name())?)?;
    found.ok_or_else(|| Error::bug("there is no place for states"))
}

fn without_state(session: &Session, old: &StackId, new: &StackId) -> Error {
    let known = session.known_state(old).is_some();
    let error =
        Error::invalid(format!("there is no state of `{old}` where the states of this project are kept"));
    match known {
        true => error.hint(format!("`infra.lock` knows one: `infra state recover {}`", quoted(old.as_str()))),
        false => {
            error.hint(format!("`{new}` needs none to begin with: `infra plan {}`", quoted(new.as_str())))
        }
    }
}
