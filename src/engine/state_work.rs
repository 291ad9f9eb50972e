//! One function a state command: migrate, move, rename, recover, diff, edit, encrypt.

mod backend_edit;
mod migrate;
mod migrate_all;
mod state_copy;
mod state_diff;
mod state_edit;
mod state_encryption;
mod state_forget;
mod state_move;
mod state_recover;
mod state_rename;
mod state_versions;
mod trial_folder;

pub use backend_edit::BackendEdit;
pub use migrate::{Migrated, Migration, migrate_state, take_along};
pub use migrate_all::{FoundStates, StateToMove, bring_along, states_to_move};
pub use state_copy::WithoutCopy;
pub use state_diff::{ResourceChange, StateDiff, diff_states};
pub use state_edit::{Pushed, as_successor, edit_state, push_state};
pub use state_encryption::{
    NewPassphrase, PassphraseMove, Rewrite, RewriteOutcome, resolve_rewrites, rewrite_state,
};
pub use state_forget::{Adopted, Forgetting, Forgotten, adopt_state, forget_state, known_stacks};
pub use state_move::StateMoved;
pub(super) use state_move::{broken_off, release_left_behind};
pub(super) use state_recover::copies_of_this_checkout;
pub use state_recover::{FoundCopy, copy_for, has_state, is_known, lives_elsewhere, recover_state};
pub use state_rename::rename_state;
pub use state_versions::{list_versions, read_version};
pub use trial_folder::Likeness;
