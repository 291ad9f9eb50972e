//! Whether the states of stacks are where they are looked for, before tofu starts. Begin at
//! [`check_states`].

mod check;
mod known_states;
mod lost_stacks;
mod misplaced_state;
mod missing_state;
mod renamed_stacks;
mod resources;
mod seen_state;
mod workspace_states;

pub use check::{StateCheck, check_states, require_own, require_states, sound_states, use_former_names};
pub use known_states::{KeptStates, kept_states, note_missing, note_state, tell_noted};
pub(super) use known_states::{keep_safety_copy, note_destroyed, note_lineage};
pub use lost_stacks::{hints_for_lost_stack, lost_stacks};
pub(super) use misplaced_state::{check_project, moved_away, new_name_words};
pub use missing_state::is_missing;
pub use renamed_stacks::{Rename, check_removed};
pub use resources::{may_have_resources, resources_of};
pub(super) use seen_state::Seen;
pub(super) use workspace_states::{move_into_workspace, workspace_of};
