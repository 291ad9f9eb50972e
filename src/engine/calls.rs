//! One tofu that runs: its lines become events, and why it failed is explained. Begin at
//! [`watch`] for steps of a run, at [`successful`] for calls whose output is captured.

mod captured;
mod failure;
mod folder_turn;
mod left_behind;
mod lock_wait;
mod retry;
mod stop;
mod unsaved_state;
mod watch;
mod working_notes;

pub(super) use captured::{check, hints_about, last_words, stopped, successful};
pub(super) use failure::{explain, kind_of};
pub(super) use left_behind::migration_command;
pub use left_behind::{LeftBehind, left_behind};
pub(super) use retry::{Retries, not_tried_again};
pub(super) use stop::Stop;
pub use unsaved_state::{UnsavedFile, unsaved_file};
pub(super) use unsaved_state::{give_name, unsaved_state, way_to_save};
pub(super) use watch::{TofuOutput, Watched, WhenToShow, listen, says_changes, watch};
pub use working_notes::{HolderLife, life_of_holder};
