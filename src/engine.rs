//! The run: takes a [`RunPlan`](crate::model::RunPlan) and makes it happen, telling
//! everything as events.
//!
//! A [`Session`] is what all stacks of a command share: the tofu binary, the environment,
//! the embedded state server, the requests to stop. [`run`] leads the stacks of a
//! plan side by side; the life of one stack is in `stack_life`. The engine never prints and never
//! decides for a person.

mod alone;
mod applied;
mod applying;
mod asking;
mod attribute_diff;
mod backend_edit;
mod changing;
mod checks;
mod conductor;
mod consent;
mod document_mask;
mod early_values;
mod encryption_excerpt;
mod encryption_folder;
mod encryption_origin;
mod failure;
mod fed_attributes;
mod finishing;
mod folder_turn;
mod foreign_plan;
mod former_names;
mod given;
mod given_variables;
mod init;
mod inputs;
mod inspect;
mod kept_selection;
mod known_states;
mod left_behind;
mod lock_wait;
mod lost_inputs;
mod lost_stacks;
mod memorable;
mod migrate;
mod migrate_all;
mod misplaced_state;
mod missing_state;
mod old_values;
mod options;
mod own_encryption;
mod plan_attributes;
mod plan_calls;
mod plan_changes;
mod plan_diff;
mod plan_json;
mod plan_keys;
mod plan_secrets;
mod plan_value;
mod planning;
mod progress;
mod provenance;
mod renamed_stacks;
mod repository;
mod resolve;
mod resources;
mod retry;
mod run;
mod saved_plan;
mod saved_run;
mod schedule;
mod secret_files;
mod secret_names;
mod seen_state;
mod session;
mod shared_copies;
mod showing;
mod shown_plan;
mod side_by_side;
mod source;
mod stack_life;
mod stack_secrets;
mod staleness;
mod state_check;
mod state_copy;
mod state_diff;
mod state_edit;
mod state_encryption;
mod state_forget;
mod state_mark;
mod state_move;
mod state_recover;
mod state_rename;
mod state_secrets;
mod state_serial;
mod state_versions;
mod stop;
mod surroundings;
mod taking;
mod tally;
mod tofu_workspaces;
mod unsaved_state;
mod var_files;
mod variable_flags;
mod watch;
mod working;
mod workspace_states;

pub use applied::{RemovedStack, is_copy, recorded_edges, removed_stacks};
pub use backend_edit::BackendEdit;
pub use given::{Given, GivenItem};
pub use init::is_prepared_by;
pub use inspect::{
    Formatted, format_files, pass_through, read_addresses, read_outputs, read_text, release_foreign_lock,
    unopened_for,
};
pub use known_states::{KeptStates, kept_states, note_missing, note_state, tell_noted};
pub use left_behind::{LeftBehind, left_behind};
pub use lost_stacks::{lost_stacks, ways_out_of_loss};
pub use migrate::{Likeness, Migrated, Migration, migrate_state, take_along};
pub use migrate_all::{Findings, StateToMove, bring_along, states_to_move};
pub use missing_state::is_missing;
pub use options::{Approval, RunOptions, WhenToInit};
pub use plan_keys::can_bind_plans;
pub use provenance::{Provenance, Verdict};
pub use renamed_stacks::{Rename, check_removed};
pub use resolve::{GivenFiles, RunChoice, resolve_run_plan};
pub use resources::{may_have_resources, resources_of};
pub use run::run;
pub use saved_plan::{PlanRecord, SavedPlans};
pub use secret_files::secret_files_of;
pub use session::{Session, SessionParts, StateNeed};
pub use shared_copies::fetch_copies;
pub use showing::{Sensitive, read_document, read_everything};
pub use stack_secrets::{NEXT_PASSPHRASE, PASSPHRASE, StackSecrets, Unopened, load_secrets};
pub use state_check::{
    StateCheck, check_states, require_own, require_states, sound_states, use_former_names,
};
pub use state_copy::WithoutCopy;
pub use state_diff::{ResourceChange, StateDiff, diff_states};
pub use state_edit::{Pushed, as_successor, edit_state, open_state, pull_state, push_state};
pub use state_encryption::{
    NewPassphrase, PassphraseMove, Rewrite, RewriteOutcome, resolve_rewrites, rewrite_state,
};
pub use state_forget::{Adopted, Forgetting, Forgotten, adopt_state, forget_state, known_stacks};
pub use state_move::StateMoved;
pub use state_recover::{FoundCopy, copy_for, has_state, is_known, lives_elsewhere, recover_state};
pub use state_rename::rename_state;
pub use state_secrets::mask_shown;
pub use state_versions::{list_versions, read_version};
pub use tofu_workspaces::workspace_folder;
pub use unsaved_state::{UnsavedFile, unsaved_file};
pub use working::{HolderLife, life_of_holder};
