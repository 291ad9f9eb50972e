//! The calls that read or change a state as a whole, resource by resource, or release its lock.

use crate::process::Invocation;

/// Returns the call that lists the resources of a state.
pub fn state_list(base: Invocation, extra: &[String]) -> Invocation {
    base.args(["state", "list", "-no-color"]).args(extra)
}

/// Returns the call that writes a whole state, decrypted, to stdout.
pub fn state_pull(base: Invocation) -> Invocation {
    base.args(["state", "pull", "-no-color"])
}

/// Returns the call that stores a whole state; it comes through a pipe.
pub fn state_push(base: Invocation, state: Vec<u8>) -> Invocation {
    base.args(["state", "push", "-no-color"]).feed("", state)
}

/// What a push may overwrite.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PushMode {
    /// Only an older state of the same lineage.
    Careful,
    /// Anything.
    Forced,
}

/// Returns the call that stores a whole state, whatever was there if that is wanted.
pub fn state_push_with(base: Invocation, state: Vec<u8>, mode: PushMode) -> Invocation {
    let call = base.args(["state", "push", "-no-color"]);
    let call = if mode == PushMode::Forced { call.arg("-force") } else { call };
    call.feed("", state)
}

/// A look at one resource of a state, or a change of where resources stand in it.
#[derive(Clone, Copy, Debug)]
pub enum StateEdit<'a> {
    /// Shows a resource.
    Show(&'a str),
    /// Forgets resources.
    Remove(&'a [String]),
    /// Gives a resource another address.
    Move(&'a str, &'a str),
}

impl StateEdit<'_> {
    /// Returns whether the state is different afterwards.
    pub const fn changes(&self) -> bool {
        !matches!(self, Self::Show(_))
    }
}

/// Returns the call of an edit.
pub fn state_edit(base: Invocation, edit: StateEdit<'_>) -> Invocation {
    match edit {
        StateEdit::Show(address) => base.args(["state", "show", "-no-color", address]),
        StateEdit::Remove(addresses) => base.args(["state", "rm", "-no-color"]).args(addresses),
        StateEdit::Move(from, to) => base.args(["state", "mv", "-no-color", from, to]),
    }
}

/// Returns the call that releases a lock in a backend this program does not serve.
pub fn force_unlock(base: Invocation, id: &str) -> Invocation {
    base.args(["force-unlock", "-no-color", "-force", id])
}
