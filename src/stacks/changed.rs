//! Which stacks a change touches: the tree as it was and as it is, side by side.
//!
//! A changed file belongs to the deepest stack or module around it, on the side on which it is
//! there; a stack is affected through what it is made from, directly or through modules, links and
//! files that its settings name. Starts no process and renders nothing: what git and the templates
//! say is handed in as a list of [`PathChange`]s. Begin at [`Affected::find`].

mod affected;
mod change;
mod earlier;
mod layout;
mod links;
mod named_files;
mod remembered;
mod removed;
mod settings_changes;
mod side;
mod sources;

pub use super::files::{EntryKind, Tree};
pub use affected::{Affected, Comparison, Reason, Way};
pub use change::{Before, Now, PathChange};
pub use earlier::Earlier;
pub use layout::{Layout, Survey};
pub use remembered::Remembered;
pub use removed::Renamed;
pub use side::{Side, SideParts};
pub use sources::{StackSources, sources_of};
