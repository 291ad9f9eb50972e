//! Turns a project's folders into stacks, and a choice of stacks into an order. Reads
//! OpenTofu files, starts no process, writes nothing. Begin at [`discover`], then
//! [`select`] and [`run_order`].

mod backend;
mod changed;
mod choice;
mod discover;
mod files;
mod order;
mod renames;
mod roots;
#[cfg(test)]
mod sample;
mod settings;
mod submodules;
mod terragrunt;
mod unused_modules;

pub use backend::{
    NewBackend, Reader, Relocation, SharedState, StateRemark, StateRisk, backend_config, backend_files,
    identity, identity_of, names_key_program, readers_of, relocate, shared_states, state_remarks,
    state_risks,
};
pub use changed::{
    Affected, Before, Comparison, Earlier, EntryKind, Layout, Now, PathChange, Reason, Remembered, Renamed,
    Side, SideParts, StackSources, Survey, Tree, Way, sources_of,
};
pub use choice::{
    Selection, ignored_selection, in_workspace, is_path, is_plan, named_one_by_one, named_stack, narrower,
    run_in, select, select_among, shortened,
};
pub use discover::{Discovery, discover};
pub use files::{EarlyVariables, Folder, in_reading_order, is_override};
pub use order::{
    Direction, RunOrder, acyclic, cycle, dependents, dot, higher_layers, inputs_by, mermaid, reasons,
    resolve_inputs, run_order,
};
pub use renames::{Evidence, GoneStack, RenameCandidate, addresses_in_state, rename_candidates};
pub use settings::{SettingsBook, settings_for};
pub use submodules::{FETCH_SUBMODULES, missing_submodules};
pub use terragrunt::terragrunt_units;
pub use unused_modules::tells_of_forgotten_module;
