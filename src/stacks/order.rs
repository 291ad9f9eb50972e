//! Which stack comes after which: edges, layers, dependents, and the graph as text.

mod declared;
mod dependents;
mod graph;
mod graph_text;
mod run_order;

pub use declared::{declare, inputs_by, resolve_inputs};
pub use dependents::{acyclic, dependents, higher_layers, reasons};
pub use graph::{Graph, closure};
pub use graph_text::{dot, mermaid};
pub use run_order::{Direction, Order, RunOrder, cycle, run_order};
