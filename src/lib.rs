//! `infra` runs OpenTofu over layered stacks. This is the map of the house.
//!
//! Data flows one way: project files → [`project`] → [`stacks`] → [`state`] and the
//! [`tofu`] environment → [`engine`] → [`events`] → [`report`]. The narrow waist is two
//! types: [`model::RunPlan`] (choice ends there) and [`events::RunEvent`] (effects begin
//! there). `tests/architecture.rs` checks who may import whom.

pub mod error;
pub mod events;
pub mod model;
pub mod process;
pub mod project;
pub mod stacks;
pub mod state;
pub mod tofu;
