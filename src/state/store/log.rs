//! The numbered entries of each state in an object store: find the newest, add the next,
//! remove the superseded.
//!
//! The only effect that can be lost or won is the creation of the next number, which the
//! store makes conditional; see the essay in [`super`]. It never overwrites an entry.

use std::cmp::Reverse;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{GetOptions, ObjectMeta, ObjectStore, PutMode, PutOptions};

use super::known_heads::{KnownHead, KnownHeads};
use super::log_entry::{Header, LogEntry, Unreadable, read_header};
use super::places::{OpenedStore, Reach};
use super::retry_policy::{ATTEMPTS, is_final, pause_before, undecided};
use super::state_stream;
use super::state_stream::{FILE_PART, OpenError, StateStream};
use crate::aws::refusal;
use crate::error::{Error, Result};
use crate::model::Clock;
use crate::state::StateName;
use crate::state::name::{LOG, is_apart, is_log};

/// Enough for the header of a state with hundreds of versions, in one request.
const HEADER_GUESS: u64 = 64 * 1024;

/// How often a reader starts again because what it was led to has been pruned meanwhile.
const READ_ATTEMPTS: usize = 10;

/// How many successors of a known head are asked for before a listing is cheaper.
const STEPS: usize = 8;

/// The logs of all states in a store.
#[derive(Clone, Debug)]
pub(super) struct Log {
    stores: OpenedStore,
    clock: Clock,
    known: Arc<KnownHeads>,
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
    /// All entries, the newest included, if they were listed.
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

/// What a listing of all states tells.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub states: Vec<StateName>,
    /// Folders that cannot be read, as if they were states, and why.
    pub hidden: Vec<(StateName, Error)>,
}

/// How an attempt to add an entry ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Creation {
    Created,
    /// Another writer was first.
    Taken,
}

impl Log {
    pub fn new(stores: OpenedStore, clock: Clock) -> Self {
        Self { stores, clock, known: Arc::default() }
    }

    /// Returns the store behind the logs.
    pub fn raw(&self) -> &Arc<dyn ObjectStore> {
        &self.stores.flushed
    }

    /// Returns how things stand with a state.
    pub async fn head(&self, name: &StateName) -> Result<Head> {
        if let Some(known) = self.known.get(name, self.clock.now())
            && let Some(head) = self.follow(name, known).await
        {
            return Ok(head);
        }
        self.listed_head(name).await
    }

    /// Returns how things stood with a state a short while ago, without a look at the store.
    ///
    /// A change may be decided on it: if something happened since, the next number is taken.
    pub fn known_head(&self, name: &StateName) -> Option<Head> {
        let KnownHead { number, header, .. } = self.known.get(name, self.clock.now())?;
        Some(Head { number, header, entries: Vec::new() })
    }

    /// Opens the current state of a local store in one step, if the newest entry is known and no other
    /// followed it; `None` for whatever else there is.
    pub async fn open_known(&self, name: &StateName) -> Option<StateStream> {
        let Reach::Local(folder) = &self.stores.reach else { return None };
        let Head { number, header, .. } = self.known_head(name)?;
        let state = header.state.filter(|_| header.moved.is_none())?;
        let (follower, entry) = (key(name, number + 1).ok()?, key(name, state).ok()?);
        let opened = folder.open_unless(follower, entry, FILE_PART).await.ok()??;
        state_stream::of_file(opened).await.ok()
    }

    /// Returns the newest entry from one that was the newest a while ago; `None` if it is far away.
    async fn follow(&self, name: &StateName, mut known: KnownHead) -> Option<Head> {
        for _ in 0..STEPS {
            let next = known.number + 1;
            match self.bytes(name, next, start_of_entry()).await {
                Ok(None) => {
                    let head =
                        Head { number: known.number, header: known.header.clone(), entries: Vec::new() };
                    self.known.set(name, known);
                    return Some(head);
                }
                // Undone by a power cut, damaged, very long or unreadable: the listing deals with it.
                Err(_) => return None,
                Ok(Some(bytes)) => match read_header(&bytes) {
                    Ok((header, _)) => known = KnownHead { number: next, header, ..known },
                    Err(_) => return None,
                },
            }
        }
        None
    }

    async fn listed_head(&self, name: &StateName) -> Result<Head> {
        for _ in 0..READ_ATTEMPTS {
            let listed = self.clock.now();
            let mut entries = self.entries(name).await?;
            entries.sort_unstable_by_key(|entry| Reverse(entry.number));
            let Some(newest) = entries.first() else { return Ok(Head::default()) };
            // An empty entry is one that a power cut undid; the one before it holds.
            let number = newest.number;
            let Some(telling) = entries.iter().find(|entry| entry.size > 0) else {
                return Ok(Head { number, entries, ..Head::default() });
            };
            if let Some(header) = self.header(name, telling.number).await? {
                self.known.set(name, KnownHead { number, header: header.clone(), listed });
                return Ok(Head { number, header, entries });
            }
        }
        Err(changed_too_often(name))
    }

    /// Forgets what was known about a state, because it turned out to be wrong.
    pub fn forget(&self, name: &StateName) {
        self.known.forget(name);
    }

    /// Returns the entry with this number, where there is one.
    pub async fn entry(&self, name: &StateName, number: u64) -> Result<Option<LogEntry>> {
        match self.bytes(name, number, GetOptions::default()).await? {
            Some(bytes) => {
                LogEntry::from_bytes(&bytes).map(Some).map_err(|flaw| damaged(name, number, &flaw))
            }
            None => Ok(None),
        }
    }

    /// Opens the state in the entry with this number, where there is one.
    pub async fn open(&self, name: &StateName, number: u64) -> Result<Option<StateStream>> {
        match state_stream::open(&self.stores.flushed, &key(name, number)?).await {
            Ok(stream) => Ok(Some(stream)),
            Err(OpenError::Store(object_store::Error::NotFound { .. })) => Ok(None),
            Err(OpenError::Store(error)) => Err(failed("read", name, error)),
            Err(OpenError::Entry(flaw)) => Err(damaged(name, number, &flaw)),
        }
    }

    /// Adds an entry under a number that nobody has taken yet.
    pub async fn create(
        &self,
        name: &StateName,
        number: u64,
        entry: &LogEntry,
        durability: Durability,
    ) -> Result<Creation> {
        let store = match durability {
            Durability::Flushed => &self.stores.flushed,
            Durability::Quick => &self.stores.quick,
        };
        let payload = entry.to_payload().map_err(|error| {
            Error::bug(format!("the log entry of `{name}` has no JSON form")).because(error)
        })?;
        let key = key(name, number)?;
        let mut doubt = None;
        for attempt in 0..ATTEMPTS {
            pause_before(attempt).await;
            let answer = store.put_opts(&key, payload.clone(), PutOptions::from(PutMode::Create)).await;
            let error = match (answer, &self.stores.reach) {
                (Ok(_), _) => return Ok(self.created(name, number, entry)),
                (Err(object_store::Error::AlreadyExists { .. }), Reach::Local(_)) => {
                    return Ok(Creation::Taken);
                }
                (Err(error), Reach::Local(_)) => return Err(failed("write", name, error)),
                (Err(error), Reach::Remote) if is_final(&error) => return Err(failed("write", name, error)),
                (Err(error), Reach::Remote) => error,
            };
            match self.header(name, number).await {
                // A request that was repeated meets its own entry: only its writer tells.
                Ok(Some(found)) if found.writer == entry.header.writer => {
                    return Ok(self.created(name, number, entry));
                }
                Ok(Some(_)) => return Ok(Creation::Taken),
                Ok(None) => doubt = Some(failed("write", name, error)),
                Err(unread) => doubt = Some(unread),
            }
        }
        Err(undecided(name, doubt))
    }

    /// Remembers an entry of this process as the newest.
    fn created(&self, name: &StateName, number: u64, entry: &LogEntry) -> Creation {
        if let Some(known) = self.known.get(name, self.clock.now()) {
            self.known.set(name, KnownHead { number, header: entry.header.clone(), ..known });
        }
        Creation::Created
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
    pub async fn names(&self) -> Result<Names> {
        let mut names = Names::default();
        let mut folders = vec![Path::ROOT];
        while let Some(folder) = folders.pop() {
            let listing = match self.stores.flushed.list_with_delimiter(Some(&folder)).await {
                Ok(listing) => listing,
                // One folder that is closed to us hides what is in it, and nothing else.
                Err(error) if matches!(self.stores.reach, Reach::Local(_)) && folder != Path::ROOT => {
                    let name = StateName::from_log_key(folder.join(LOG).as_ref());
                    names.hidden.extend(name.map(|name| (name, unlistable(error))));
                    continue;
                }
                Err(error) => return Err(unlistable(error)),
            };
            for below in listing.common_prefixes {
                if below.filename().is_some_and(is_log) {
                    names.states.extend(StateName::from_log_key(below.as_ref()));
                } else if !below.filename().is_some_and(is_apart) {
                    folders.push(below);
                }
            }
        }
        names.states.sort();
        Ok(names)
    }

    async fn entries(&self, name: &StateName) -> Result<Vec<Listed>> {
        let folder = folder(name)?;
        let listed = self.stores.flushed.list(Some(&folder)).try_collect::<Vec<_>>().await;
        Ok(listed.map_err(|error| failed("list", name, error))?.iter().filter_map(listed_entry).collect())
    }

    async fn header(&self, name: &StateName, number: u64) -> Result<Option<Header>> {
        let Some(bytes) = self.bytes(name, number, start_of_entry()).await? else { return Ok(None) };
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
pub(super) fn changed_too_often(name: &StateName) -> Error {
    Error::unavailable(format!("the state `{name}` changes faster than it can be read or written"))
        .hint("try again when fewer runs work on it")
}

fn start_of_entry() -> GetOptions {
    GetOptions::new().with_range(Some(0..HEADER_GUESS))
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
    refusal(&error)
        .unwrap_or_else(|| Error::unavailable(format!("cannot {doing} the state `{name}`")).because(error))
}

fn unlistable(error: object_store::Error) -> Error {
    refusal(&error)
        .unwrap_or_else(|| Error::unavailable("cannot list the states of the store").because(error))
}

fn damaged(name: &StateName, number: u64, flaw: &Unreadable) -> Error {
    let what = match flaw {
        Unreadable::Unfinished => "it is cut off",
        Unreadable::Foreign => "it was not written by this version of infra",
    };
    let error = Error::invalid(format!("entry {number} of the state `{name}` cannot be read")).detail(what);
    let error = match key(name, number) {
        Ok(key) => error.at(format!("`{key}` in the store")),
        Err(_) => error,
    };
    // Nobody but a person can know what it was: a lock, or a newer state.
    error.hint("move that entry out of the store: the one before it counts again").hint(
        "then look with `infra locks` and `infra state history`, and choose with `infra state rollback`",
    )
}
