//! The numbered entries of each state in an object store: find the newest, add the next,
//! remove the superseded.
//!
//! The only effect that can be lost or won is the creation of the next number, which the
//! store makes conditional; see the essay in [`super`]. It never overwrites an entry.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::body::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{GetOptions, ObjectMeta, ObjectStore, PutMode, PutOptions};

use super::StateName;
use super::entry::{Entry, Header, Unreadable, read_header};
use super::name::is_log;
use crate::error::{Error, Result};

/// Enough for the header of a state with hundreds of versions, in one request.
const HEADER_GUESS: u64 = 64 * 1024;

/// How often a reader starts again because what it was led to has been pruned meanwhile.
const READ_ATTEMPTS: usize = 10;

/// The logs of all states in a store.
#[derive(Clone, Debug)]
pub(super) struct Log {
    stores: Stores,
}

/// One store, reached in two ways.
#[derive(Clone, Debug)]
pub(super) struct Stores {
    /// What it accepts survives a power cut.
    pub flushed: Arc<dyn ObjectStore>,
    /// What it accepts survives this process.
    pub quick: Arc<dyn ObjectStore>,
}

/// What an entry must survive before it is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Durability {
    /// A power cut.
    Flushed,
    /// The end of this process; a power cut may undo it, or leave an empty entry.
    Quick,
}

/// The newest entry of a log; number 0 stands for a log without entries.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub number: u64,
    pub header: Header,
    /// All entries seen, the newest included.
    pub entries: Vec<Listed>,
}

/// An entry as the store lists it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub number: u64,
    pub size: u64,
    /// When the store received it, in seconds since 1970.
    pub stored_at: i64,
}

/// How an attempt to add an entry ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Creation {
    Created,
    /// Another writer was first.
    Taken,
}

impl Log {
    pub fn new(stores: Stores) -> Self {
        Self { stores }
    }

    /// Returns how things stand with a state.
    pub async fn head(&self, name: &StateName) -> Result<Head> {
        for _ in 0..READ_ATTEMPTS {
            let mut entries = self.entries(name).await?;
            entries.sort_unstable_by_key(|entry| Reverse(entry.number));
            let Some(newest) = entries.first() else { return Ok(Head::default()) };
            // An empty entry is one that a power cut undid; the one before it holds.
            let number = newest.number;
            let Some(telling) = entries.iter().find(|entry| entry.size > 0) else {
                return Ok(Head { number, entries, ..Head::default() });
            };
            if let Some(header) = self.header(name, telling.number).await? {
                return Ok(Head { number, header, entries });
            }
        }
        Err(restless(name))
    }

    /// Returns the entry with this number, where there is one.
    pub async fn entry(&self, name: &StateName, number: u64) -> Result<Option<Entry>> {
        match self.bytes(name, number, GetOptions::default()).await? {
            Some(bytes) => Entry::from_bytes(&bytes).map(Some).map_err(|flaw| damaged(name, number, &flaw)),
            None => Ok(None),
        }
    }

    /// Adds an entry under a number that nobody has taken yet.
    pub async fn create(
        &self,
        name: &StateName,
        number: u64,
        entry: &Entry,
        durability: Durability,
    ) -> Result<Creation> {
        let store = match durability {
            Durability::Flushed => &self.stores.flushed,
            Durability::Quick => &self.stores.quick,
        };
        let payload = entry.to_payload().map_err(|error| {
            Error::bug(format!("the log entry of `{name}` has no JSON form")).because(error)
        })?;
        match store.put_opts(&key(name, number)?, payload, PutOptions::from(PutMode::Create)).await {
            Ok(_) => Ok(Creation::Created),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(Creation::Taken),
            Err(error) => Err(failed("write", name, error)),
        }
    }

    /// Removes entries that something newer has replaced; a failure leaves them for the next time.
    pub async fn remove(&self, name: &StateName, numbers: Vec<u64>) {
        let keys: Vec<_> = numbers.into_iter().filter_map(|number| key(name, number).ok()).map(Ok).collect();
        let mut removed = self.stores.flushed.delete_stream(futures::stream::iter(keys).boxed());
        while let Some(result) = removed.next().await {
            if let Err(error) = result {
                tracing::debug!(state = %name, %error, "a superseded log entry stays");
            }
        }
    }

    /// Returns the names of all states that have a log, sorted.
    pub async fn names(&self) -> Result<Vec<StateName>> {
        let mut names = Vec::new();
        let mut folders = vec![Path::ROOT];
        while let Some(folder) = folders.pop() {
            let listing = self.stores.flushed.list_with_delimiter(Some(&folder)).await.map_err(unlistable)?;
            for below in listing.common_prefixes {
                if below.filename().is_some_and(is_log) {
                    names.extend(StateName::from_log_key(below.as_ref()));
                } else {
                    folders.push(below);
                }
            }
        }
        names.sort();
        Ok(names)
    }

    async fn entries(&self, name: &StateName) -> Result<Vec<Listed>> {
        let folder = folder(name)?;
        let listed = self.stores.flushed.list(Some(&folder)).try_collect::<Vec<_>>().await;
        Ok(listed.map_err(|error| failed("list", name, error))?.iter().filter_map(listed_entry).collect())
    }

    async fn header(&self, name: &StateName, number: u64) -> Result<Option<Header>> {
        let start = GetOptions::new().with_range(Some(0..HEADER_GUESS));
        let Some(bytes) = self.bytes(name, number, start).await? else { return Ok(None) };
        match read_header(&bytes) {
            Ok((header, _)) => Ok(Some(header)),
            Err(Unreadable::Unfinished) if bytes.len() as u64 == HEADER_GUESS => {
                Ok(self.entry(name, number).await?.map(|entry| entry.header))
            }
            Err(flaw) => Err(damaged(name, number, &flaw)),
        }
    }

    async fn bytes(&self, name: &StateName, number: u64, options: GetOptions) -> Result<Option<Bytes>> {
        let found = match self.stores.flushed.get_opts(&key(name, number)?, options).await {
            Ok(found) => found.bytes().await,
            Err(error) => Err(error),
        };
        match found {
            Ok(bytes) => Ok(Some(bytes)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed("read", name, error)),
        }
    }
}

/// Makes the error of a state that changes faster than it can be read.
pub(super) fn restless(name: &StateName) -> Error {
    Error::unavailable(format!("the state `{name}` changes faster than it can be read or written"))
        .hint("try again when fewer runs work on it")
}

fn folder(name: &StateName) -> Result<Path> {
    // The name brings its own encoding; the store's would escape it once more.
    Path::parse(name.log_key())
        .map_err(|error| Error::bug(format!("the state name `{name}` is no key")).because(error))
}

fn key(name: &StateName, number: u64) -> Result<Path> {
    Ok(folder(name)?.join(format!("{number:020}")))
}

fn listed_entry(meta: &ObjectMeta) -> Option<Listed> {
    let number = meta.location.filename()?.parse().ok()?;
    Some(Listed { number, size: meta.size, stored_at: meta.last_modified.timestamp() })
}

fn failed(doing: &str, name: &StateName, error: object_store::Error) -> Error {
    Error::unavailable(format!("cannot {doing} the state `{name}`")).because(error)
}

fn unlistable(error: object_store::Error) -> Error {
    Error::unavailable("cannot list the states of the store").because(error)
}

fn damaged(name: &StateName, number: u64, flaw: &Unreadable) -> Error {
    let what = match flaw {
        Unreadable::Unfinished => "it is cut off",
        Unreadable::Foreign => "it was not written by this version of infra",
    };
    Error::invalid(format!("entry {number} of the state `{name}` cannot be read")).detail(what)
}
