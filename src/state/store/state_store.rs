//! The state store: reads, writes, locks and versions of named states in any object store.
//!
//! Every change is decided on the newest entry of the state's log and takes effect as the
//! next one, or is decided anew; [`super`] explains why that is enough. Bodies are opaque.
//! Begin at [`StateStore::open_local`] and at `change`.

use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures::StreamExt;
use jiff::{SignedDuration, Timestamp};
use object_store::ObjectStore;

use super::decisions::{
    Claim, Decision, Locking, Unlocking, Writing, arrival_refusal, locking, refusal, unlocking,
};
use super::log::{Creation, Durability, Head, Log, changed_too_often};
use super::log_entry::{Header, LogEntry, Version};
use super::places::{OpenedStore, Reach, StorePlace, open, open_folder, source};
use super::retention::Retention;
use super::state_stream::StateStream;
use super::summary::StateSummary;
use crate::error::{Error, Result};
use crate::model::{Clock, Environment};
use crate::process::random_bytes;
use crate::state::{HeldLock, Moved, StateName};

/// Between two writers without a lock one always wins, so only a crowd needs many.
const ATTEMPTS: usize = 1000;

/// A change that took longer is not acknowledged: see "Numbers are never reused" in [`super`].
const LONGEST_CHANGE: SignedDuration = SignedDuration::from_hours(1);

/// Superseded entries stay at least so long; well above [`LONGEST_CHANGE`].
const GRACE: SignedDuration = SignedDuration::from_hours(3);

/// How many states are looked at together when all are listed.
const LISTED_TOGETHER: usize = 8;

/// States in an object store.
#[derive(Clone, Debug)]
pub struct StateStore {
    log: Log,
    clock: Clock,
    retention: Retention,
    /// The name of the project that is stamped on what is written.
    project: Option<String>,
}

/// What a reader of the current state finds.
pub(in crate::state) enum Reading {
    /// The state, where there is one.
    State(Option<StateStream>),
    /// It is somewhere else now.
    Moved(Moved),
}

/// A state whose lock is held.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LockedState {
    /// The state.
    pub name: StateName,
    /// Its lock.
    pub lock: HeldLock,
}

impl StateStore {
    /// Opens a folder, or a bucket with the credentials in this environment.
    pub fn open(place: &StorePlace, env: &Environment, clock: Clock) -> Result<Self> {
        match place {
            StorePlace::Folder(folder) => Self::open_local(folder, clock),
            StorePlace::Bucket(bucket) => {
                let source = source(bucket, env, clock);
                Ok(Self::over(open(bucket, &source)?, clock))
            }
        }
    }

    /// Opens a local folder, which is made if it is missing and is closed to other users.
    pub fn open_local(folder: &Path, clock: Clock) -> Result<Self> {
        Ok(Self::over(open_folder(folder)?, clock))
    }

    /// Makes a store of any object store with conditional creation.
    pub fn new(store: Arc<dyn ObjectStore>, clock: Clock) -> Self {
        Self::over(OpenedStore { flushed: Arc::clone(&store), quick: store, reach: Reach::Remote }, clock)
    }

    fn over(stores: OpenedStore, clock: Clock) -> Self {
        Self { log: Log::new(stores, clock), clock, retention: Retention::default(), project: None }
    }

    /// Returns the store with other limits for old versions.
    #[must_use]
    pub fn with_retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Returns the store with the name of the project that is stamped on every write.
    #[must_use]
    pub fn of_project(mut self, project: Option<String>) -> Self {
        self.project = project;
        self
    }

    /// Returns the present time by the clock of the store.
    pub(in crate::state) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the object store that everything is kept in.
    pub(super) fn raw(&self) -> &Arc<dyn ObjectStore> {
        self.log.raw()
    }

    /// Returns the current state, where there is one.
    pub async fn read(&self, name: &StateName) -> Result<Option<Bytes>> {
        for _ in 0..ATTEMPTS {
            let Some(number) = self.log.head(name).await?.header.state else { return Ok(None) };
            // It may have been replaced and pruned since; then there is a newer one.
            if let Some(entry) = self.log.entry(name, number).await? {
                return Ok(Some(entry.body));
            }
            self.log.forget(name);
        }
        Err(changed_too_often(name))
    }

    /// Returns the state as it was under a number that [`Self::versions`] lists.
    pub async fn read_version(&self, name: &StateName, number: u64) -> Result<Option<Bytes>> {
        let versions = self.versions(name).await?;
        if !versions.iter().any(|version| version.number == number) {
            return Ok(None);
        }
        Ok(self.log.entry(name, number).await?.map(|entry| entry.body))
    }

    /// Opens the current state, where there is one, to be read in parts; not one that was moved.
    pub(in crate::state) async fn stream(&self, name: &StateName) -> Result<Reading> {
        if let Some(stream) = self.log.open_known(name).await {
            return Ok(Reading::State(Some(stream)));
        }
        for _ in 0..ATTEMPTS {
            let header = self.log.head(name).await?.header;
            if let Some(moved) = header.moved {
                return Ok(Reading::Moved(moved));
            }
            let Some(number) = header.state else { return Ok(Reading::State(None)) };
            if let Some(outgoing) = self.log.open(name, number).await? {
                return Ok(Reading::State(Some(outgoing)));
            }
            self.log.forget(name);
        }
        Err(changed_too_often(name))
    }

    /// Opens the state as it was under a number that [`Self::versions`] lists, to be read in parts.
    pub(in crate::state) async fn stream_version(
        &self,
        name: &StateName,
        number: u64,
    ) -> Result<Option<StateStream>> {
        match self.versions(name).await?.iter().any(|version| version.number == number) {
            true => self.log.open(name, number).await,
            false => Ok(None),
        }
    }

    /// Returns the kept versions, oldest first, those of a deleted state included.
    pub async fn versions(&self, name: &StateName) -> Result<Vec<Version>> {
        Ok(self.log.head(name).await?.header.versions)
    }

    /// Returns the names of the states that exist now, sorted.
    pub async fn list(&self) -> Result<Vec<StateName>> {
        let mut names = Vec::new();
        for (name, header) in self.headers().await? {
            names.extend(header?.state.map(|_| name));
        }
        Ok(names)
    }

    /// Returns what there is to see of every state that has a log, sorted by name; a damaged one says so.
    pub async fn overview(&self) -> Result<Vec<StateSummary>> {
        let all = self.headers().await?;
        Ok(all.into_iter().map(|(name, header)| StateSummary::of(name, header)).collect())
    }

    /// Returns how things stand with a state.
    pub(super) async fn header(&self, name: &StateName) -> Result<Header> {
        Ok(self.log.head(name).await?.header)
    }

    /// Returns the number of the current version, where there is a state.
    pub async fn current(&self, name: &StateName) -> Result<Option<u64>> {
        Ok(self.log.head(name).await?.header.state)
    }

    /// Returns the lock of a state, where it is held.
    pub async fn lock_of(&self, name: &StateName) -> Result<Option<HeldLock>> {
        Ok(self.log.head(name).await?.header.lock)
    }

    /// Returns every held lock, sorted by state; a moved state is not one that somebody holds.
    pub async fn locks(&self) -> Result<Vec<LockedState>> {
        let mut locked = Vec::new();
        for (name, header) in self.headers().await? {
            locked.extend(header?.brought_back().lock.map(|lock| LockedState { name, lock }));
        }
        Ok(locked)
    }

    /// Takes the lock, unless somebody else holds it.
    pub async fn lock(&self, name: &StateName, wanted: &HeldLock) -> Result<Locking> {
        self.change(name, |head| locking(&head.header, wanted)).await
    }

    /// Releases the lock for its holder.
    pub async fn unlock(&self, name: &StateName, id: &str) -> Result<Unlocking> {
        self.unlock_as(name, &Claim::of(Some(id))).await
    }

    /// Releases the lock for its holder, if it is the holder's own user who asks.
    pub async fn unlock_as(&self, name: &StateName, claim: &Claim) -> Result<Unlocking> {
        self.release(name, claim, claim.lock_id.clone()).await
    }

    /// Releases the lock against its holder, whose later writes and unlock are refused.
    pub async fn force_unlock(&self, name: &StateName, id: &str) -> Result<Unlocking> {
        self.release(name, &Claim::of(Some(id)), None).await
    }

    /// Stores a new state for a writer that holds this lock, or none while nobody does.
    pub async fn write(&self, name: &StateName, lock_id: Option<&str>, body: Bytes) -> Result<Writing> {
        self.write_as(name, &Claim::of(lock_id), body).await
    }

    /// Stores a new state for a user of a server.
    pub async fn write_as(&self, name: &StateName, claim: &Claim, body: Bytes) -> Result<Writing> {
        self.add_state(name, claim, body, None).await
    }

    /// Stores a version of another store, which keeps the time at which it was written there.
    pub async fn write_version(
        &self,
        name: &StateName,
        claim: &Claim,
        body: Bytes,
        at: Timestamp,
    ) -> Result<Writing> {
        self.add_state(name, claim, body, Some(at)).await
    }

    async fn add_state(
        &self,
        name: &StateName,
        claim: &Claim,
        body: Bytes,
        at: Option<Timestamp>,
    ) -> Result<Writing> {
        let refused = |header: &Header| match at {
            Some(_) => arrival_refusal(header, claim),
            None => refusal(header, claim),
        };
        self.change(name, |head| match refused(&head.header) {
            Some(refusal) => Decision::Answer(refusal),
            None => {
                let entry = self.next_state(head, body.clone(), at);
                Decision::append(entry, Durability::Flushed, Writing::Accepted)
            }
        })
        .await
    }

    /// Deletes the state under the rules of a write; its lock and its versions stay.
    pub async fn delete(&self, name: &StateName, lock_id: Option<&str>) -> Result<Writing> {
        self.delete_as(name, &Claim::of(lock_id)).await
    }

    /// Deletes the state for a user of a server.
    pub async fn delete_as(&self, name: &StateName, claim: &Claim) -> Result<Writing> {
        self.change(name, |head| match refusal(&head.header, claim) {
            Some(refusal) => Decision::Answer(refusal),
            None if head.header.state.is_none() => Decision::Answer(Writing::Accepted),
            None => {
                let header = Header { state: None, ..head.header.clone() };
                Decision::append(LogEntry::marker(header), Durability::Flushed, Writing::Accepted)
            }
        })
        .await
    }

    async fn release(&self, name: &StateName, claim: &Claim, released: Option<String>) -> Result<Unlocking> {
        self.change(name, |head| unlocking(&head.header, claim, released.as_ref())).await
    }

    /// Decides on the newest entry and adds the next, and again if another writer was first.
    ///
    /// The first decision is made on what this process knows, which saves a look at the store: an entry
    /// under the next number proves that it was right. A refusal is proved by nothing, and needs the look.
    pub(super) async fn change<T>(
        &self,
        name: &StateName,
        decide: impl Fn(&Head) -> Decision<T>,
    ) -> Result<T> {
        let mut known = self.log.known_head(name);
        for _ in 0..ATTEMPTS {
            let began = self.clock.now();
            let (head, is_fresh) = match known.take() {
                Some(head) => (head, false),
                None => (self.log.head(name).await?, true),
            };
            let (mut entry, durability, answer) = match decide(&head) {
                Decision::Answer(answer) if is_fresh => return Ok(answer),
                Decision::Answer(_) => continue,
                Decision::Append(entry, durability, answer) => (entry, durability, answer),
            };
            entry.header.writer = random_text()?;
            match self.log.create(name, head.number + 1, &entry, durability).await? {
                Creation::Taken => {}
                Creation::Created => {
                    self.refuse_if_late(name, began)?;
                    self.log.remove(name, self.superseded(&head, &entry.header)).await;
                    return Ok(answer);
                }
            }
        }
        Err(changed_too_often(name))
    }

    fn next_state(&self, head: &Head, body: Bytes, at: Option<Timestamp>) -> LogEntry {
        let number = head.number + 1;
        let now = self.clock.now();
        let mut header = Header { state: Some(number), left_behind: false, ..head.header.clone() };
        header.project = self.project.clone().or(header.project);
        header.versions.push(Version { number, at: at.unwrap_or(now), size: body.len() as u64 });
        header.versions = self.retention.keep(&header.versions, now);
        LogEntry { header, body }
    }

    fn refuse_if_late(&self, name: &StateName, began: Timestamp) -> Result<()> {
        if self.clock.now().duration_since(began) < LONGEST_CHANGE {
            return Ok(());
        }
        Err(Error::unavailable(format!("the change of the state `{name}` took too long to be trusted"))
            .hint("read the state again before anything else is done with it"))
    }

    /// Returns the entries that are neither a kept version nor young enough to fence off a slow writer.
    fn superseded(&self, head: &Head, now_valid: &Header) -> Vec<u64> {
        let oldest = (self.clock.now() - GRACE).as_second();
        let kept =
            |number| now_valid.versions.binary_search_by_key(&number, |version| version.number).is_ok();
        let gone = head.entries.iter().filter(|entry| entry.stored_at < oldest && !kept(entry.number));
        gone.map(|entry| entry.number).collect()
    }

    /// Returns how things stand with each state, as far as that can be read.
    async fn headers(&self) -> Result<Vec<(StateName, Result<Header>)>> {
        let look = |name: StateName| async move {
            let header = self.log.head(&name).await.map(|head| head.header);
            (name, header)
        };
        let names = self.log.names().await?;
        let looks = futures::stream::iter(names.states).map(look).buffered(LISTED_TOGETHER);
        let mut found: Vec<_> = looks.collect().await;
        found.extend(names.hidden.into_iter().map(|(name, error)| (name, Err(error))));
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(found)
    }
}

/// Returns a unique id for a new lock.
pub fn new_lock_id() -> Result<String> {
    random_text()
}

/// Returns a random text, long enough to be unique.
pub(super) fn random_text() -> Result<String> {
    Ok(URL_SAFE_NO_PAD.encode(random_bytes::<12>()?))
}
