//! Where one state lies, and what can be done with it there without tofu.
//!
//! tofu gives the first state in an empty place a new lineage, raises the serial of every
//! other and writes JSON of its own, so a state that must stay what it is goes around it:
//! in the store, by the protocol of the http backend, or as a file, under the lock that
//! there is. Begin at [`StateHome::read`].

use std::path::PathBuf;

use jiff::Timestamp;
use zeroize::Zeroizing;

use super::hold::{Hold, lock_in_store, lock_info, written};
use super::state_facts::StateFacts;
use super::tofu_backends::{lock_of_file, lock_of_s3, read_s3_state, read_state_file, write_state_file};
use crate::aws::AwsSource;
use crate::error::{Error, Result};
use crate::model::{Backend, Holder, StateLock};
use crate::process;
use crate::state::{
    CopySupport, HeldLock, Mark, MarkOutcome, RemoteState, StateName, StateStatus, StateStore, Unlocking,
    Version,
};

/// Where the state of one stack lies.
#[derive(Debug)]
pub enum StateHome {
    /// In a store that this process opens itself.
    Store {
        /// The store.
        store: StateStore,
        /// Its name there.
        name: StateName,
    },
    /// Behind a server of the http backend's protocol.
    Server(Box<RemoteState>),
    /// In a file.
    File(PathBuf),
    /// In a bucket of tofu's own `s3` backend, which is only read.
    Bucket {
        /// The backend as `init` resolved it.
        backend: Backend,
        /// Who asks for it.
        source: AwsSource,
    },
    /// Where only tofu reaches it: in a backend of this kind.
    OnlyTofu(String),
}

/// What is stored under the lock of a state.
#[derive(Clone, Copy, Debug)]
pub struct Storing<'a> {
    /// What the lock says is done.
    pub operation: &'a str,
    /// The bytes to store.
    pub bytes: &'a [u8],
    /// The present time.
    pub at: Timestamp,
}

/// The versions of a state, oldest first, and which of them is current.
#[derive(Clone, Debug)]
pub struct StateVersions {
    /// The number of the current one; none if the state is deleted.
    pub current: Option<u64>,
    /// All that are kept.
    pub versions: Vec<Version>,
}

/// How a lock was released against its holder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Release {
    /// It is free now.
    Released,
    /// It was free already.
    Meanwhile,
    /// Somebody else took it since.
    LockedAnew,
    /// It marks a state that was moved, and no force lifts that.
    Moved,
    /// Only tofu can release it.
    ByTofu,
}

impl StateHome {
    /// Returns the type of the backend, as users write it.
    pub fn kind(&self) -> &str {
        match self {
            Self::Store { .. } | Self::Server(_) => "http",
            Self::File(_) => "local",
            Self::Bucket { .. } => "s3",
            Self::OnlyTofu(kind) => kind,
        }
    }

    /// Returns the bytes as they lie there; encrypted ones stay encrypted.
    pub async fn read(&self) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let bytes = match self {
            Self::Store { store, name } => store.read(name).await?.map(|bytes| bytes.to_vec()),
            Self::Server(state) => state.read().await?,
            Self::File(path) => read_state_file(path)?,
            Self::Bucket { backend, source } => {
                read_s3_state(backend, source).await?.map(|bytes| bytes.to_vec())
            }
            Self::OnlyTofu(_) => return Err(Error::unavailable("only tofu can read this backend")),
        };
        Ok(bytes.map(Zeroizing::new))
    }

    /// Returns the bytes as they lie there even if the state is closed: it was moved, or is on its way.
    pub async fn kept_bytes(&self) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let Self::Server(state) = self else { return self.read().await };
        match state.status().await? {
            Some(status) if status.moved.is_some() => match status.current {
                Some(number) => self.version(number).await,
                None => Ok(None),
            },
            _ => self.read().await,
        }
    }

    /// Returns what identifies the state, where there is one.
    pub async fn facts(&self) -> Result<Option<StateFacts>> {
        match self.read().await? {
            Some(bytes) => known_facts(&bytes),
            None => Ok(None),
        }
    }

    /// Returns whether infra can read it without tofu.
    pub const fn is_readable(&self) -> bool {
        !matches!(self, Self::OnlyTofu(_))
    }

    /// Returns whether [`Self::store`] works here.
    pub const fn is_writable(&self) -> bool {
        matches!(self, Self::Store { .. } | Self::Server(_) | Self::File(_))
    }

    /// Returns whether what is overwritten here can be had back.
    pub async fn keeps_versions(&self) -> bool {
        match self {
            Self::Store { .. } => true,
            Self::Server(state) => state.versions().await.is_ok(),
            Self::File(_) | Self::Bucket { .. } | Self::OnlyTofu(_) => false,
        }
    }

    /// Returns whether its home may keep marks beside it.
    pub const fn knows_marks(&self) -> bool {
        matches!(self, Self::Store { .. } | Self::Server(_))
    }

    /// Returns whether infra can list versions here.
    pub const fn lists_versions(&self) -> bool {
        matches!(self, Self::Store { .. } | Self::Server(_))
    }

    /// Returns the versions that are kept; `None` if infra knows of none.
    pub async fn versions(&self) -> Result<Option<StateVersions>> {
        match self {
            Self::Store { store, name } => {
                let (versions, current) = (store.versions(name).await?, store.current(name).await?);
                Ok(Some(StateVersions { current, versions }))
            }
            Self::Server(state) => {
                let all = state.versions().await?;
                Ok(Some(StateVersions { current: all.current, versions: all.versions }))
            }
            Self::File(_) | Self::Bucket { .. } | Self::OnlyTofu(_) => Ok(None),
        }
    }

    /// Returns the versions that are kept; `None` if none are, or where a server tells of none.
    pub async fn versions_if_any(&self) -> Result<Option<StateVersions>> {
        match self {
            // A server of another kind may answer a question for versions with anything.
            Self::Server(state) if state.status().await?.is_none() => Ok(None),
            _ => self.versions().await,
        }
    }

    /// Returns an old version as it lies there.
    pub async fn version(&self, number: u64) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let bytes = match self {
            Self::Store { store, name } => {
                store.read_version(name, number).await?.map(|bytes| bytes.to_vec())
            }
            Self::Server(state) => state.version(number).await?,
            Self::File(_) | Self::Bucket { .. } | Self::OnlyTofu(_) => None,
        };
        Ok(bytes.map(Zeroizing::new))
    }

    /// Returns who holds the state; `None` if the backend cannot be asked.
    pub async fn lock_of(&self) -> Result<Option<StateLock>> {
        let held = match self {
            Self::Store { store, name } => store.lock_of(name).await?,
            Self::Server(state) => state.lock_of().await?,
            Self::Bucket { backend, source } => lock_of_s3(backend, source).await?,
            Self::File(path) => return Ok(lock_of_file(path)),
            Self::OnlyTofu(_) => None,
        };
        let held = held.as_ref().map(HeldLock::to_state_lock);
        let told = |lock: &StateLock| serde_json::from_str::<Holder>(&lock.info.info).ok();
        Ok(held.map(|lock| StateLock { holder: lock.holder.clone().or_else(|| told(&lock)), ..lock }))
    }

    /// Returns whether [`Self::lock_of`] can tell.
    pub const fn tells_its_lock(&self) -> bool {
        !matches!(self, Self::OnlyTofu(_))
    }

    /// Releases a lock against its holder.
    pub async fn force_unlock(&self, lock: &StateLock) -> Result<Release> {
        match self {
            Self::Store { store, name } => Ok(match store.force_unlock(name, &lock.info.id).await? {
                Unlocking::Released(_) => Release::Released,
                Unlocking::NotLocked | Unlocking::Repeated => Release::Meanwhile,
                Unlocking::Held(_) | Unlocking::OfAnother(_) => Release::LockedAnew,
                Unlocking::Moved(_) => Release::Moved,
            }),
            Self::Server(state) => {
                let info = serde_json::to_vec(&lock.info)
                    .map_err(|error| Error::bug("a lock has no JSON form").because(error))?;
                state.force_unlock(&HeldLock::from_client(&info, None)?).await?;
                Ok(Release::Released)
            }
            Self::File(_) | Self::Bucket { .. } | Self::OnlyTofu(_) => Ok(Release::ByTofu),
        }
    }

    /// Keeps runs from the state as far as its home allows it; a held lock is an error.
    ///
    /// The lock of a file or of a bucket is only looked at: it belongs to tofu.
    pub async fn hold(&self, operation: &str, at: Timestamp) -> Result<Hold> {
        self.hold_for(operation, "", at).await
    }

    /// Holds the state, with a text in the lock for those who find it.
    pub async fn hold_for(&self, operation: &str, info: &str, at: Timestamp) -> Result<Hold> {
        let held = match self {
            Self::Store { store, name } => {
                let lock = lock_in_store(store, name, &lock_info(operation, info, at)?).await?;
                return Ok(Hold { lock: Some(lock) });
            }
            Self::Server(state) => {
                // Another server keeps no holder beside the lock, so the lock itself tells it.
                let holder = serde_json::to_string(&process::this_holder(None)).unwrap_or_default();
                let info = if info.is_empty() { holder.as_str() } else { info };
                return Ok(Hold { lock: state.lock(&lock_info(operation, info, at)?).await? });
            }
            Self::File(path) => lock_of_file(path).is_some(),
            Self::Bucket { backend, source } => lock_of_s3(backend, source).await?.is_some(),
            Self::OnlyTofu(_) => false,
        };
        match held {
            true => Err(Error::locked("somebody is at work on the state")),
            false => Ok(Hold { lock: None }),
        }
    }

    /// Closes the state to everybody until it is lifted, or takes over what closes it already.
    ///
    /// What is written under it becomes visible when it is lifted; `None` if the home knows no marks.
    pub async fn close(&self, words: &str) -> Result<Option<Hold>> {
        let Some(status) = self.status().await? else { return Ok(None) };
        if status.moved.is_none() {
            self.mark(None, Mark::Moved { to: words.to_owned() }).await?;
        }
        let lock =
            self.status().await?.filter(|status| status.moved.is_some()).and_then(|status| status.lock);
        lock.map(|lock| Some(Hold { lock: Some(lock) }))
            .ok_or_else(|| Error::locked("somebody else opened the state meanwhile").hint("`infra locks`"))
    }

    /// Lets runs in again.
    pub async fn release(&self, hold: Hold) -> Result<()> {
        match (self, hold.lock) {
            (Self::Store { store, name }, Some(lock)) => store.unlock(name, lock.id()).await.map(drop),
            (Self::Server(state), Some(lock)) => state.unlock(&lock).await,
            _ => Ok(()),
        }
    }

    /// Stores bytes, if what is there allows it, and reads them back.
    pub async fn store(
        &self,
        storing: Storing<'_>,
        allowed: impl Fn(Option<&[u8]>) -> Result<()>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let hold = self.hold(storing.operation, storing.at).await?;
        let stored = self.exchange(&hold, storing.bytes, allowed).await;
        let released = self.release(hold).await;
        let stored = stored?;
        released?;
        stored.ok_or_else(|| Error::failed("the state that was stored is not there"))
    }

    async fn exchange(
        &self,
        hold: &Hold,
        bytes: &[u8],
        allowed: impl Fn(Option<&[u8]>) -> Result<()>,
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        allowed(self.read().await?.as_ref().map(|there| there.as_slice()))?;
        self.write(hold, bytes).await?;
        self.read().await
    }

    /// Stores bytes under the lock that is held.
    pub async fn write(&self, hold: &Hold, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Store { store, name } => {
                written(store.write_as(name, &hold.claim(), bytes.to_vec().into()).await?)
            }
            Self::Server(state) => state.write(hold.lock.as_ref(), bytes.to_vec()).await,
            Self::File(path) => write_state_file(path, bytes),
            Self::Bucket { .. } | Self::OnlyTofu(_) => {
                Err(Error::bug("a state was to be stored where only tofu can"))
            }
        }
    }

    /// Stores bytes that were written elsewhere at this time, under the lock that is held.
    pub async fn write_version(&self, hold: &Hold, bytes: &[u8], at: Timestamp) -> Result<()> {
        match self {
            Self::Store { store, name } => {
                written(store.write_version(name, &hold.claim(), bytes.to_vec().into(), at).await?)
            }
            Self::Server(state) => state.write_version(hold.lock.as_ref(), bytes.to_vec(), at).await,
            Self::File(_) | Self::Bucket { .. } | Self::OnlyTofu(_) => self.write(hold, bytes).await,
        }
    }

    /// Returns how things stand with the state; `None` if the backend cannot be asked.
    pub async fn status(&self) -> Result<Option<StateStatus>> {
        match self {
            Self::Store { store, name } => store.status(name).await.map(Some),
            Self::Server(state) => state.status().await,
            Self::File(_) | Self::Bucket { .. } | Self::OnlyTofu(_) => Ok(None),
        }
    }

    /// Marks the state, under the lock that is held; returns whether its home knows marks.
    pub async fn mark(&self, hold: Option<&Hold>, mark: Mark) -> Result<bool> {
        match self {
            Self::Store { store, name } => {
                let claim = hold.map(Hold::claim).unwrap_or_default();
                written(store.mark(name, &claim, mark).await?).map(|()| true)
            }
            Self::Server(state) => {
                let lock = hold.and_then(|hold| hold.lock.as_ref());
                Ok(state.mark(lock, &mark).await? == MarkOutcome::Done)
            }
            Self::File(_) | Self::Bucket { .. } | Self::OnlyTofu(_) => Ok(false),
        }
    }

    /// Keeps a copy of what was applied beside the state; returns whether it lies there now.
    pub async fn keep_copy(&self, copy: Vec<u8>) -> Result<bool> {
        match self {
            Self::Store { store, name } => store.keep_copy(name, copy.into()).await.map(|()| true),
            Self::Server(state) => Ok(state.keep_copy(copy).await? == CopySupport::Kept),
            Self::File(_) | Self::Bucket { .. } | Self::OnlyTofu(_) => Ok(false),
        }
    }

    /// Returns the copy of what was applied, where there is one.
    pub async fn copy(&self) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Store { store, name } => Ok(store.copy_of(name).await?.map(Vec::from)),
            Self::Server(state) => state.copy().await,
            Self::File(_) | Self::Bucket { .. } | Self::OnlyTofu(_) => Ok(None),
        }
    }

    /// Removes the copy of what was applied.
    pub async fn drop_copy(&self) -> Result<()> {
        match self {
            Self::Store { store, name } => store.drop_copy(name).await,
            Self::Server(state) => state.drop_copy().await,
            Self::File(_) | Self::Bucket { .. } | Self::OnlyTofu(_) => Ok(()),
        }
    }
}

/// Returns what identifies the bytes of a state; what is no state at all is an error, never "none".
fn known_facts(bytes: &[u8]) -> Result<Option<StateFacts>> {
    match StateFacts::read(bytes) {
        Some(facts) => Ok(Some(facts).filter(|facts| !facts.lineage.is_empty())),
        None if bytes.iter().all(u8::is_ascii_whitespace) => Ok(None),
        None => Err(Error::invalid("what lies there is no state: it has no lineage and no serial")
            .hint("an earlier version may be one: `infra state history`")),
    }
}
