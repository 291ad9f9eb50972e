//! Turns a project's folders into stacks, and a choice of stacks into an order. Reads
//! OpenTofu files, starts no process, writes nothing. Begin at [`discover`], then
//! [`select`] and [`run_order`].

mod addresses;
mod backend;
mod backend_block;
mod backend_config;
mod declared;
mod dependents;
mod discover;
mod early;
mod facts;
mod files;
mod folder;
mod graph;
mod graph_text;
mod hcl;
mod identity;
mod json;
mod key_programs;
mod misses;
mod modules;
mod names;
mod narrow;
mod order;
mod place;
mod reading;
mod references;
mod relocate;
mod remote_state;
mod renames;
mod roots;
#[cfg(test)]
mod sample;
mod select;
mod settings;
mod source_template;
mod state_key;
mod submodules;
mod terragrunt;
mod unused_modules;
mod walk;
mod workspaces;

pub use backend::{StateRemark, StateRisk, state_remarks, state_risks};
pub use backend_block::NewBackend;
pub use backend_config::{backend_config, backend_files};
pub use declared::{inputs_by, resolve_inputs};
pub use dependents::{acyclic, dependents, higher_layers, reasons};
pub use discover::{Discovery, discover};
pub use early::EarlyVariables;
pub use graph_text::{dot, mermaid};
pub use identity::{SharedState, identity, identity_of, shared_states};
pub use key_programs::names_key_program;
pub use misses::is_plan;
pub use names::shortened;
pub use order::{Direction, RunOrder, cycle, run_order};
pub use place::is_path;
pub use relocate::{Relocation, relocate};
pub use remote_state::{Reader, readers_of};
pub use renames::{Evidence, GoneStack, RenameCandidate, addresses_in_state, rename_candidates};
pub use select::{Selection, narrower, select};
pub use settings::{SettingsBook, settings_for};
pub use submodules::{FETCH_SUBMODULES, missing_submodules};
pub use terragrunt::terragrunt_units;
pub use unused_modules::tells_of_forgotten_module;
pub use workspaces::{ignored_selection, in_workspace, named_one_by_one, named_stack, run_in};
