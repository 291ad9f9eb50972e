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
mod changing;
mod checks;
mod consent;
mod failure;
mod fed_attributes;
mod finishing;
mod foreign_plan;
mod init;
mod inputs;
mod inspect;
mod migrate;
mod old_values;
mod options;
mod own_encryption;
mod plan_changes;
mod plan_diff;
mod plan_json;
mod plan_keys;
mod plan_secrets;
mod plan_value;
mod planning;
mod provenance;
mod reached;
mod resolve;
mod resolved_backend;
mod retry;
mod run;
mod saved_plan;
mod saved_run;
mod schedule;
mod secret_files;
mod session;
mod shared_copies;
mod shelf;
mod shown_plan;
mod side_by_side;
mod source;
mod stack_life;
mod stack_locks;
mod stack_secrets;
mod staleness;
mod state_copy;
mod state_diff;
mod state_edit;
mod state_encryption;
mod state_mark;
mod state_place;
mod state_secrets;
mod state_serial;
mod state_versions;
mod store;
mod surroundings;
mod taking;
mod tally;
mod var_files;
mod watch;
mod working;

pub use applied::{RemovedStack, removed_stacks};
pub use init::is_prepared_by;
pub use inspect::{
    Formatted, format_files, pass_through, read_addresses, read_outputs, read_text, release_foreign_lock,
};
pub use migrate::{Likeness, Migrated, Migration, migrate_state};
pub use options::{Approval, RunOptions, WhenToInit};
pub use plan_keys::can_bind_plans;
pub use provenance::{Provenance, Verdict};
pub use resolve::resolve_run_plan;
pub use run::run;
pub use saved_plan::{PlanRecord, SavedPlans};
pub use secret_files::secret_files_of;
pub use session::{Session, SessionParts, StateNeed, state_name};
pub use shared_copies::fetch_copies;
pub use stack_locks::{LockSources, backend_environment, lock_of_stack, remote_state};
pub use stack_secrets::{NEXT_PASSPHRASE, PASSPHRASE, StackSecrets, load_secrets};
pub use state_copy::WithoutCopy;
pub use state_diff::{ResourceChange, StateDiff, diff_states};
pub use state_edit::{Pushed, StateFacts, as_successor, edit_state, open_state, pull_state, push_state};
pub use state_encryption::{
    NewPassphrase, PassphraseMove, Rewrite, RewriteOutcome, resolve_rewrites, rewrite_state,
};
pub use state_secrets::mask_shown;
pub use state_versions::{StateVersions, list_versions, read_version};
pub use store::{
    hide_from_git, open_store, open_store_untried, remember_probe, store_environment, store_place,
};
pub use working::{HolderLife, life_of_holder};
