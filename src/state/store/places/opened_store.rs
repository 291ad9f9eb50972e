//! An object store that is open, and what lies between it and this process.

use std::sync::Arc;

use object_store::ObjectStore;

/// One store, reached in two ways.
#[derive(Clone, Debug)]
pub struct OpenedStore {
    /// What it accepts survives a power cut.
    pub flushed: Arc<dyn ObjectStore>,
    /// What it accepts survives this process.
    pub quick: Arc<dyn ObjectStore>,
    /// Whether its answers can be lost.
    pub reach: Reach,
}

/// What lies between this process and a store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// Nothing: an answer is an answer.
    Local,
    /// A network: an entry may be stored although the answer says otherwise, or is lost.
    Remote,
}
