//! An object store that is open, and what lies between it and this process.

use std::sync::Arc;

use object_store::ObjectStore;

use super::private_folder::PrivateFolder;

/// One store, reached in two ways.
#[derive(Clone, Debug)]
pub struct OpenedStore {
    /// What it accepts survives a power cut.
    pub flushed: Arc<dyn ObjectStore>,
    /// What it accepts survives this process.
    pub quick: Arc<dyn ObjectStore>,
    /// What lies between it and this process.
    pub reach: Reach,
}

/// What lies between this process and a store.
#[derive(Clone, Debug)]
pub enum Reach {
    /// Nothing: it is this folder, and no answer is lost.
    Local(PrivateFolder),
    /// A network: an entry may be stored although the answer says otherwise, or is lost.
    Remote,
}
