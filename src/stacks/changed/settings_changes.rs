//! What a change of `infra.yaml` means for a stack.
//!
//! Whatever is said of a stack itself counts, as its patterns merged say it. Of the rest counts
//! what decides how tofu runs or where a state is: `tofu`, and for states that infra keeps `state`.
//! Names, pools, layers and the number of runs at once change no stack; `configure` is seen by
//! what it renders, and files of secrets as files.

use super::side::Side;
use crate::model::{Backend, Project, StackId};
use crate::model::{StateSettings, TofuSettings};
use crate::stacks::discover::backend_of;

/// Returns whether `infra.yaml` says something else of a stack than it did.
pub fn says_otherwise(before: &Side<'_>, now: &Side<'_>, id: &StackId) -> bool {
    let (old, new) = (before.book.settings_for(id), now.book.settings_for(id));
    if old != new {
        return true;
    }
    let Some(folder) = now.folder_of(id) else { return false };
    before.shared_by(folder, &old) != now.shared_by(folder, &new)
        && before.project.secrets.files != now.project.secrets.files
}

/// Returns whether what concerns every stack is said otherwise.
pub fn concerns_all(before: &Project, now: &Project) -> bool {
    before.tofu != now.tofu || before.state.encryption != now.state.encryption
}

/// Returns whether the states that infra keeps are kept elsewhere.
pub fn moves_states(before: &Project, now: &Project) -> bool {
    let place = |state: &StateSettings| (state.store.clone(), state.url.clone());
    place(&before.state) != place(&now.state)
}

/// Returns whether infra keeps the state of a stack.
pub fn is_kept(side: &Side<'_>, id: &StackId) -> bool {
    side.facts_of(id).is_some_and(|facts| backend_of(Some(&facts)) == Backend::Embedded)
}

/// Returns whether two projects could differ for any stack at all.
pub fn is_same(before: &Project, now: &Project) -> bool {
    let tofu = |project: &Project| -> TofuSettings { project.tofu.clone() };
    tofu(before) == tofu(now)
        && !moves_states(before, now)
        && before.state.encryption == now.state.encryption
        && before.stack_settings == now.stack_settings
        && before.secrets.files == now.secrets.files
}
