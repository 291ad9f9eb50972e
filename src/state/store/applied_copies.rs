//! What a state was last applied from: one opaque copy a state, kept beside the states so
//! that everybody who shares them finds it.
//!
//! A copy is overwritten, has no versions and no lock: it is a convenience for the day when
//! the folder of a stack is gone, and the state never depends on it. The store does not look
//! into it. Begin at [`StateStore::keep_copy`].

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};

use super::state_store::StateStore;
use crate::aws::refusal;
use crate::error::{Error, Result};
use crate::state::StateName;

/// All copies lie below it, so that one listing tells which there are.
const COPIES: &str = "@applied";

impl StateStore {
    /// Keeps a copy in the place of an earlier one.
    pub async fn keep_copy(&self, name: &StateName, copy: Bytes) -> Result<()> {
        let kept = self.raw().put(&key(name)?, PutPayload::from_bytes(copy)).await;
        kept.map(drop).map_err(|error| failed("keep", name, error))
    }

    /// Returns the copy for a state, where there is one.
    pub async fn copy_of(&self, name: &StateName) -> Result<Option<Bytes>> {
        let found = match self.raw().get(&key(name)?).await {
            Ok(found) => found.bytes().await,
            Err(error) => Err(error),
        };
        match found {
            Ok(bytes) => Ok(Some(bytes)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed("read", name, error)),
        }
    }

    /// Removes the copy for a state; none is as good as removed.
    pub async fn drop_copy(&self, name: &StateName) -> Result<()> {
        match self.raw().delete(&key(name)?).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed("remove", name, error)),
        }
    }

    /// Returns the names of the states that have a copy, sorted.
    pub async fn copies(&self) -> Result<Vec<StateName>> {
        let listed: Vec<_> =
            self.raw().list(Some(&Path::from(COPIES))).try_collect().await.map_err(|error| {
                Error::unavailable("cannot list the copies of what was applied").because(error)
            })?;
        let mut names: Vec<StateName> = listed.iter().filter_map(|found| name_of(&found.location)).collect();
        names.sort();
        Ok(names)
    }
}

fn key(name: &StateName) -> Result<Path> {
    Path::parse(format!("{COPIES}/{}", name.copy_key()))
        .map_err(|error| Error::bug(format!("`{name}` has no key in a store")).because(error))
}

fn name_of(key: &Path) -> Option<StateName> {
    StateName::from_copy_key(key.as_ref().strip_prefix(COPIES)?.strip_prefix('/')?)
}

fn failed(what: &str, name: &StateName, error: object_store::Error) -> Error {
    let message = format!("cannot {what} the copy of what was applied to `{name}`");
    refusal(&error).unwrap_or_else(|| Error::unavailable(message).because(error))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use object_store::memory::InMemory;

    use super::*;
    use crate::model::Clock;

    fn name(text: &str) -> StateName {
        StateName::parse(text).expect("a valid name")
    }

    #[tokio::test]
    async fn copies_lie_beside_the_states_and_are_no_states() {
        let store = StateStore::new(Arc::new(InMemory::new()), Clock::new(|| Timestamp::UNIX_EPOCH));
        store.write(&name("a"), None, "{}".into()).await.expect("a write");

        for (state, copy) in [("a", "old"), ("a", "one"), ("a/b", "two"), ("ü 1/@log", "three")] {
            store.keep_copy(&name(state), copy.into()).await.expect("kept");
        }
        store.drop_copy(&name("a/b")).await.expect("removed");
        store.drop_copy(&name("never")).await.expect("nothing to remove");

        assert_eq!(store.copies().await.expect("a list"), [name("a"), name("ü 1/@log")]);
        assert_eq!(store.copy_of(&name("a")).await.expect("a copy"), Some("one".into()));
        assert_eq!(store.copy_of(&name("a/b")).await.expect("no copy"), None);
        assert_eq!(store.list().await.expect("states"), [name("a")]);
    }
}
