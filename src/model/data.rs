//! The values that templates are rendered with: what the data files say, merged.

use serde_json::{Map, Value};

/// The merged values of a project's data files, in the order in which they were read.
pub type Values = Map<String, Value>;
