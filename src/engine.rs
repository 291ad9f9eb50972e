//! The run: takes a [`RunPlan`](crate::model::RunPlan) and makes it happen, telling
//! everything as events.
//!
//! A [`Session`] is what all stacks of a command share: the tofu binary, the environment,
//! the embedded state server, the requests to stop. [`run_in_order`] and [`run_independently`] lead the stacks of
//! a plan side by side; the life of one stack is in `stack`. The engine never prints and never
//! decides for a person.

mod applied;
mod bundle;
mod calls;
mod plan;
mod run;
mod session;
mod single_calls;
mod stack;
mod stack_locks;
mod state_check;
mod state_content;
mod state_work;
mod variables;

pub use applied::{RemovedStack, fetch_copies, is_copy, recorded_edges, removed_stacks};
pub use bundle::{Bundle, BundleMaker, BundleUse, Bundles};
pub use calls::{HolderLife, LeftBehind, UnsavedFile, left_behind, life_of_holder, unsaved_file};
pub use plan::{PlanRecord, Provenance, SavedPlans, Verdict};
pub use run::{
    Approval, GivenFiles, RunChoice, RunOptions, WhenToInit, resolve_run_plan, run_in_order,
    run_independently,
};
pub use session::{Session, SessionParts, StateNeed, can_bind_plans};
pub use single_calls::{
    Formatted, Sensitive, format_files, pass_through, read_addresses, read_document, read_everything,
    read_outputs, read_states, read_text, release_foreign_lock, unopened_for,
};
pub use stack::{data_folder, is_prepared_by, workspace_folder};
pub use stack_locks::{StackLock, StackLocks, StateHomes};
pub use state_check::{
    KeptStates, Rename, StateCheck, check_removed, check_states, hints_for_lost_stack, is_missing,
    kept_states, lost_stacks, may_have_resources, note_missing, note_state, require_own, require_states,
    resources_of, sound_states, tell_noted, use_former_names,
};
pub use state_content::{mask_shown, open_state, pull_state};
pub use state_work::{
    Adopted, BackendEdit, Forgetting, Forgotten, FoundCopy, FoundStates, Likeness, Migrated, Migration,
    NewPassphrase, PassphraseMove, Pushed, ResourceChange, Rewrite, RewriteOutcome, StateDiff, StateMoved,
    StateToMove, WithoutCopy, adopt_state, as_successor, bring_along, copy_for, diff_states, edit_state,
    forget_state, has_state, is_known, known_stacks, list_versions, lives_elsewhere, migrate_state,
    push_state, read_version, recover_state, rename_state, resolve_rewrites, rewrite_state, states_to_move,
    take_along,
};
pub use variables::{
    Given, GivenItem, NEXT_PASSPHRASE, PASSPHRASE, StackSecrets, Unopened, load_secrets, secret_files_of,
};
