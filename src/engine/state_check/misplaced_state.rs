//! The errors about a state that is not where it is looked for, each with the way to it.

use super::seen_state::described;
use crate::backends::{KeptAt, StateFacts};
use crate::engine::session::Session;
use crate::error::{Error, Result};
use crate::model::{Project, StackError, StackId, in_plain_sight, quoted};
use crate::state::{Moved, StateStatus};

/// What stands before the new name where the state was.
const RENAMED: &str = "the stack ";

/// Says where a state went that has another name now.
pub fn new_name_words(new: &StackId) -> String {
    format!("{RENAMED}{new}")
}

/// Returns the new name of a state that was moved by a rename.
pub(super) fn new_name_in(words: &str) -> Option<&str> {
    words.strip_prefix(RENAMED)
}

/// Makes the error of a state that a place of before still has.
pub(super) fn not_moved(session: &Session, id: &StackId, from: &KeptAt, facts: Option<&StateFacts>) -> Error {
    let to = KeptAt::of(&session.project).map(|to| to.text().to_owned()).unwrap_or_default();
    let error =
        Error::invalid(format!("the state of `{id}` was not moved: it is kept at `{from}`, not at `{to}`"))
            .code(StackError::STATE_NOT_MOVED);
    let (error, all) = match facts {
        Some(facts) => (error.detail(described(facts)), "`infra state migrate --all`".to_owned()),
        None => {
            let words = format!("`{from}` was not asked: only `infra.lock` names it");
            (error.detail(words), format!("`infra state migrate --all --from {}`", quoted(from.text())))
        }
    };
    error
        .hint(format!("move all states there: {all}"))
        .hint(format!("or start over on purpose: `infra state forget {}`", quoted(id.as_str())))
}

/// Makes the error of a state that went somewhere else.
pub fn moved_away(id: &StackId, moved: &Moved) -> Error {
    let error = Error::invalid(format!("the state of `{id}` was moved to `{}`", moved.to))
        .code(StackError::STATE_ELSEWHERE)
        .fact("since", moved.at.strftime("%Y-%m-%d %H:%M UTC").to_string())
        .detail("what is left here is history: nothing can go on with it")
        .hint("if this checkout is older than that move: `git pull`");
    if let Some(new) = new_name_in(&moved.to) {
        let (old, new) = (quoted(id.as_str()), quoted(new));
        return error
            .hint(format!("if the folder got its old name back: `infra state rename {new} {old}`"))
            .hint(format!("if this is a new stack of that name: `infra state forget {old}`"));
    }
    // A block in the files of the stack names the place; how it gets there is tofu's business.
    if moved.to.starts_with("the ") {
        return error.hint(format!("to start over on purpose: `infra state forget {}`", quoted(id.as_str())));
    }
    error.hint(format!(
        "or move it back: `infra state migrate {} --from {}`",
        quoted(id.as_str()),
        quoted(&moved.to)
    ))
}

/// Refuses a state that a project of another name wrote.
pub fn check_project(project: &Project, id: &StackId, status: &StateStatus) -> Result<()> {
    match status.other_project(project) {
        Some(other) => Err(of_another_project(id, other, project)),
        None => Ok(()),
    }
}

fn of_another_project(id: &StackId, other: &str, project: &Project) -> Error {
    let place = KeptAt::of(project).map(|place| place.text().to_owned()).unwrap_or_default();
    let other = in_plain_sight(other);
    Error::invalid(format!("the state of `{id}` belongs to the project `{other}`"))
        .code(StackError::STATE_SHARED)
        .fact("place", place)
        .detail(format!("this is `{}`: with that state it would destroy what the other made", project.name))
        .hint("give this project a prefix of its own in `state.store`")
        .hint(format!("if it was renamed: `infra state adopt {}`", quoted(id.as_str())))
}

/// Makes the error of a state that is only partly there.
pub(super) fn half_moved(id: &StackId, command: &str) -> Error {
    Error::invalid(format!("the state of `{id}` is not here yet: a move broke off"))
        .code(StackError::STATE_NOT_MOVED)
        .detail("nothing is lost; what is there of it is closed until the rest came")
        .hint(format!("finish it: `infra {command}`"))
}

/// Makes the error of a state that lies here although `infra.lock` says that it is kept elsewhere.
pub(super) fn copy_here(id: &StackId, kept: &KeptAt, facts: &StateFacts) -> Error {
    Error::invalid(format!(
        "what lies here of the state of `{id}` is a copy: `infra.lock` says that it is kept at `{kept}`"
    ))
    .code(StackError::STATE_NOT_MOVED)
    .detail(described(facts))
    .hint("if infra.yaml is older than infra.lock: `git pull`, or name that place in `state.store`")
    .hint(format!(
        "to bring it here: `infra state migrate {} --from {}`",
        quoted(id.as_str()),
        quoted(kept.text())
    ))
    .hint(format!("to go on with what lies here: `infra state forget {}`", quoted(id.as_str())))
}
