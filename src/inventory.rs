//! Turns the states of stacks into the machines that they made, and those into an inventory.
//!
//! Pure: states in, hosts out, text out; who reads the states and where the text goes is a matter of
//! the command. `readers` knows the types of resources, one file a family of providers; what it does
//! not know is found by the rules of `infra.yaml`. Whatever a state, a person or a provider calls
//! sensitive is cut out before any of them looks. Begin at [`Inventory::of`].

mod addresses;
mod attached;
mod confidential;
mod formats;
mod groups;
mod host;
mod inventory_of;
mod lookup;
mod machine;
mod mapping;
mod names;
mod readers;
mod resources;
mod wrapper;

pub use formats::{Written, ini, script, ssh_config, yaml};
pub use host::{Host, Inventory, StateOfStack};
pub use wrapper::{Wrapper, wrapper};
