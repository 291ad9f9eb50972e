//! Where a state went that is no longer here.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Where a state went, and when.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Moved {
    /// The new place, as a person reads it.
    pub to: String,
    /// When it was moved.
    pub at: Timestamp,
}
