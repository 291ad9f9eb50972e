//! Whether a store keeps the one promise that locks rest on: *create this key unless it
//! exists*, for everybody and at once.
//!
//! Writes a few small objects below `@probe/`, races two writers for some of them, looks
//! at them in every way that matters, and removes them. Begin at [`StateStore::probe`].

use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions};

use super::state_store::{StateStore, random_text};
use crate::aws::refusal;
use crate::error::{Error, Result};

/// How many times two writers race.
const ROUNDS: usize = 8;

/// What was found out about a store.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The questions in the order they were asked.
    pub checks: Vec<ProbeCheck>,
}

/// A question to a store and its answer.
#[derive(Clone, Debug)]
pub struct ProbeCheck {
    /// What the store must do.
    pub what: &'static str,
    /// What it did instead, if it did not.
    pub flaw: Option<String>,
}

impl Probe {
    /// Returns whether locks are safe in this store.
    pub fn is_safe(&self) -> bool {
        self.checks.iter().all(|check| check.flaw.is_none())
    }

    /// Returns the error of a store that cannot be trusted with locks.
    pub fn refusal(&self, place: impl std::fmt::Display) -> Option<Error> {
        let flaws: Vec<&ProbeCheck> = self.checks.iter().filter(|check| check.flaw.is_some()).collect();
        let first = flaws.first()?;
        let error = Error::unavailable(format!("`{place}` is no place for locked states: {}", first.what))
            .code("unsafe-store");
        let told = flaws.iter().filter_map(|check| check.flaw.clone()).fold(error, Error::detail);
        Some(told.hint("look at all of it: `infra state probe`").hint(
            "use a store that honours `If-None-Match: *` (S3, R2, MinIO, Garage), or a folder, or `state.url`",
        ))
    }
}

impl StateStore {
    /// Asks the store for everything that locks need; an error means that it cannot be reached.
    pub async fn probe(&self) -> Result<Probe> {
        let trial = Trial { store: Arc::clone(self.raw()), folder: format!("@probe/{}", random_text()?) };
        let checks = trial.run().await;
        trial.clean_up().await;
        checks.map(|checks| Probe { checks }).map_err(|error| {
            refusal(&error).unwrap_or_else(|| {
                Error::unavailable("cannot try out the store")
                    .because(error)
                    .hint("check its address, the bucket and the credentials")
            })
        })
    }

    /// Makes sure that the store takes something, by storing and removing it.
    pub async fn check_writable(&self) -> Result<()> {
        let trial = Trial { store: Arc::clone(self.raw()), folder: format!("@probe/{}", random_text()?) };
        let stored = trial.create(&trial.key("writable"), "here").await;
        trial.clean_up().await;
        let failed = |error| Error::unavailable("the store cannot be written").because(error);
        stored.map(drop).map_err(|error| refusal(&error).unwrap_or_else(|| failed(error)))
    }
}

struct Trial {
    store: Arc<dyn ObjectStore>,
    folder: String,
}

type Answer<T> = object_store::Result<T>;

impl Trial {
    async fn run(&self) -> Answer<Vec<ProbeCheck>> {
        Ok(vec![
            check("it must refuse to create what exists", self.second_creation().await?),
            check("of two racing writers exactly one must win", self.races().await?),
            check("it must read what it has just stored", self.read_after_write().await?),
            check("it must list what it has just stored", self.list_after_write().await?),
            check("it must forget what was deleted", self.deletion().await?),
        ])
    }

    async fn second_creation(&self) -> Answer<Option<String>> {
        let key = self.key("twice");
        self.create(&key, "first").await?;
        if self.create(&key, "second").await? == Won::Yes {
            return Ok(Some("it ignores `If-None-Match`: a second creation overwrote the first".to_owned()));
        }
        let found = self.read(&key).await?;
        Ok((found != "first").then(|| "a refused creation changed the object all the same".to_owned()))
    }

    async fn races(&self) -> Answer<Option<String>> {
        for round in 0..ROUNDS {
            let key = self.key(&format!("race-{round}"));
            let (one, other) = futures::join!(self.create(&key, "one"), self.create(&key, "other"));
            let (one, other) = (one?, other?);
            if one == Won::Yes && other == Won::Yes {
                return Ok(Some("both of two racing writers were told that they had won".to_owned()));
            }
            // Neither won: a lost answer was repeated and met its own object. The log finds that out.
            let winner = if one == Won::Yes { "one" } else { "other" };
            if (one == Won::Yes || other == Won::Yes) && self.read(&key).await? != winner {
                return Ok(Some("the object is not the one of the writer that won".to_owned()));
            }
        }
        Ok(None)
    }

    async fn read_after_write(&self) -> Answer<Option<String>> {
        let key = self.key("read");
        match self.store.get(&key).await {
            Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
            Ok(_) => return Ok(Some("it returns something that was never stored".to_owned())),
        }
        self.create(&key, "here").await?;
        match self.read(&key).await {
            Ok(text) if text == "here" => Ok(None),
            Ok(_) => Ok(Some("it returned something else".to_owned())),
            Err(object_store::Error::NotFound { .. }) => Ok(Some("it did not find it".to_owned())),
            Err(error) => Err(error),
        }
    }

    async fn list_after_write(&self) -> Answer<Option<String>> {
        let key = self.key("read");
        let listed: Vec<_> = self.store.list(Some(&self.folder())).try_collect().await?;
        let is_listed = listed.iter().any(|object| object.location == key);
        Ok((!is_listed).then(|| "the listing does not show it".to_owned()))
    }

    async fn deletion(&self) -> Answer<Option<String>> {
        let key = self.key("read");
        self.store.delete(&key).await?;
        match self.store.get(&key).await {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
            Ok(_) => Ok(Some("it is still there".to_owned())),
        }
    }

    async fn create(&self, key: &Path, text: &'static str) -> Answer<Won> {
        let payload = Bytes::from_static(text.as_bytes()).into();
        match self.store.put_opts(key, payload, PutOptions::from(PutMode::Create)).await {
            Ok(_) => Ok(Won::Yes),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(Won::No),
            Err(error) => Err(error),
        }
    }

    async fn read(&self, key: &Path) -> Answer<String> {
        let bytes = self.store.get(key).await?.bytes().await?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Removes what the trial left; a failure leaves a few bytes that nobody reads.
    async fn clean_up(&self) {
        let Ok(left) = self.store.list(Some(&self.folder())).try_collect::<Vec<_>>().await else { return };
        for object in left {
            if let Err(error) = self.store.delete(&object.location).await {
                tracing::debug!(%error, "an object of the trial stays");
            }
        }
    }

    fn folder(&self) -> Path {
        Path::from(self.folder.as_str())
    }

    fn key(&self, name: &str) -> Path {
        self.folder().join(name)
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Won {
    Yes,
    No,
}

fn check(what: &'static str, flaw: Option<String>) -> ProbeCheck {
    ProbeCheck { what, flaw }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use object_store::memory::InMemory;

    use super::*;
    use crate::model::Clock;

    #[tokio::test]
    async fn a_store_with_conditional_creation_is_safe_and_left_clean() {
        let memory = Arc::new(InMemory::new());
        let store = StateStore::new(Arc::clone(&memory) as _, Clock::new(|| Timestamp::UNIX_EPOCH));

        let probe = store.probe().await.expect("a store that answers");

        assert!(probe.is_safe(), "{probe:?}");
        assert_eq!(probe.checks.len(), 5);
        assert!(memory.list(None).try_collect::<Vec<_>>().await.expect("a listing").is_empty());
    }

    #[tokio::test]
    async fn a_folder_is_safe() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = StateStore::open_local(folder.path(), Clock::new(|| Timestamp::UNIX_EPOCH));

        let probe = store.expect("a store").probe().await.expect("a store that answers");

        assert!(probe.is_safe() && probe.refusal("here").is_none(), "{probe:?}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
