//! What is seen of a state at a place, without tofu: whether there is one, which it is, and what
//! is marked beside it.

use crate::backends::{StateFacts, StateHome};
use crate::error::Result;
use crate::state::StateStatus;

/// What is seen of a state at a place.
#[derive(Debug, Default)]
pub struct Seen {
    pub facts: Option<StateFacts>,
    pub status: StateStatus,
}

impl Seen {
    /// Looks at a state; one that cannot be read is an error.
    pub async fn at(home: &StateHome) -> Result<Self> {
        let status = home.status().await?.unwrap_or_default();
        // A moved state refuses to be read, and says where it went.
        let facts = if status.moved.is_some() { None } else { home.facts().await? };
        Ok(Self { facts, status })
    }
}

/// Says what a state is, in a few words.
pub fn described(facts: &StateFacts) -> String {
    match facts.resources {
        0 => format!("serial {}", facts.serial),
        1 => format!("serial {}, 1 resource", facts.serial),
        many => format!("serial {}, {many} resources", facts.serial),
    }
}
