//! Where the bytes of a state lie, and how they are read and replaced without tofu.
//!
//! tofu gives the first state in an empty place a new lineage, raises the serial of every
//! other and writes JSON of its own, so a state that must stay what it is goes around it:
//! by the protocol of the http backend under its lock, or as a file. Begin at [`place_of`].

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::inspect::bare_run;
use super::resolved_backend::{BackendRecord, resolved_backend};
use super::session::Session;
use super::stack_locks::http_state;
use crate::error::{Error, Result, io};
use crate::model::{Backend, Environment, Stack};
use crate::process;
use crate::state::{HeldLock, RemoteState, lock_of_file, lock_of_s3, read_s3_state};

/// A place that can be read without tofu.
#[derive(Debug)]
pub(super) enum StatePlace {
    /// Behind a server of the http backend's protocol, this process's own included.
    Http(Box<RemoteState>),
    /// In a file.
    File(PathBuf),
    /// In a bucket of tofu's own `s3` backend, which is only read.
    Bucket(Backend, Box<Environment>),
    /// Only tofu knows.
    Hidden,
}

/// What is done under the lock of a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Storing<'a> {
    /// What the lock says is done.
    pub operation: &'a str,
    /// The bytes to store.
    pub bytes: &'a [u8],
}

/// Returns where the state of a stack lies.
pub(super) fn place_of(session: &Session, stack: &Stack) -> Result<StatePlace> {
    place_in(session, stack, &session.dir_of(stack))
}

/// Returns where the state of a stack lies according to what tofu resolved in this folder.
pub(super) fn place_in(session: &Session, stack: &Stack, dir: &Path) -> Result<StatePlace> {
    let own = bare_run(session, stack).env;
    let env = session.environment_of(stack, &own)?;
    let backend = resolved_backend(&stack.backend, BackendRecord { dir, env: &env, own: &own });
    Ok(match backend.kind() {
        "http" => match http_state(&backend, env)? {
            Some(state) => StatePlace::Http(Box::new(state)),
            None => StatePlace::Hidden,
        },
        "local" => StatePlace::File(dir.join(backend.attribute("path").unwrap_or("terraform.tfstate"))),
        "s3" => StatePlace::Bucket(backend, Box::new(env)),
        _ => StatePlace::Hidden,
    })
}

impl StatePlace {
    /// Returns the bytes as they lie there; encrypted ones stay encrypted.
    pub async fn read(&self) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let bytes = match self {
            Self::Http(state) => state.read().await?,
            Self::File(path) => read_file(path)?,
            Self::Bucket(backend, env) => read_s3_state(backend, env).await?.map(|bytes| bytes.to_vec()),
            Self::Hidden => return Err(Error::unavailable("only tofu can read this backend")),
        };
        Ok(bytes.map(Zeroizing::new))
    }

    /// Returns whether what is overwritten here can be had back.
    pub async fn keeps_versions(&self) -> bool {
        match self {
            Self::Http(state) => state.versions().await.is_ok(),
            Self::File(_) | Self::Bucket(..) | Self::Hidden => false,
        }
    }

    /// Returns whether [`Self::store`] works here.
    pub const fn is_writable(&self) -> bool {
        matches!(self, Self::Http(_) | Self::File(_))
    }

    /// Keeps runs from the state as far as the place allows it; a held lock is an error.
    ///
    /// The lock of a file or of a bucket is only looked at: it belongs to tofu.
    pub async fn hold(&self, session: &Session, operation: &str) -> Result<Hold<'_>> {
        let held = match self {
            Self::Http(state) => {
                let who = format!("infra@{}", process::hostname());
                let lock = state.lock(operation, &who, session.clock.now()).await?;
                return Ok(Hold(lock.map(|lock| (state.as_ref(), lock))));
            }
            Self::File(path) => lock_of_file(path).is_some(),
            Self::Bucket(backend, env) => lock_of_s3(backend, env).await?.is_some(),
            Self::Hidden => false,
        };
        if held { Err(Error::locked("somebody is at work on the state")) } else { Ok(Hold(None)) }
    }

    /// Stores bytes, if what is there allows it, and reads them back.
    pub async fn store(
        &self,
        session: &Session,
        storing: Storing<'_>,
        allowed: impl Fn(Option<&[u8]>) -> Result<()>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let stored = match self {
            Self::Http(state) => {
                let hold = self.hold(session, storing.operation).await?;
                let stored = exchange(state, hold.lock(), storing.bytes, allowed).await;
                let released = hold.release().await;
                let stored = stored?;
                released.map(|()| stored)?
            }
            Self::File(path) => {
                self.hold(session, storing.operation).await.map_err(|error| error.at(path.display()))?;
                allowed(read_file(path)?.as_deref())?;
                write_file(path, storing.bytes)?;
                read_file(path)?
            }
            Self::Bucket(..) | Self::Hidden => {
                return Err(Error::bug("a state was to be stored where only tofu can"));
            }
        };
        stored.map(Zeroizing::new).ok_or_else(|| Error::failed("the state that was stored is not there"))
    }
}

/// A state that runs are kept from until it is released.
#[derive(Debug)]
pub(super) struct Hold<'a>(Option<(&'a RemoteState, HeldLock)>);

impl Hold<'_> {
    fn lock(&self) -> Option<&HeldLock> {
        self.0.as_ref().map(|(_, lock)| lock)
    }

    /// Lets runs in again.
    pub async fn release(self) -> Result<()> {
        match self.0 {
            Some((state, lock)) => state.unlock(&lock).await,
            None => Ok(()),
        }
    }
}

async fn exchange(
    state: &RemoteState,
    lock: Option<&HeldLock>,
    bytes: &[u8],
    allowed: impl Fn(Option<&[u8]>) -> Result<()>,
) -> Result<Option<Vec<u8>>> {
    allowed(state.read().await?.as_deref())?;
    state.write(lock, bytes.to_vec()).await?;
    state.read().await
}

fn read_file(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes).filter(|bytes| !bytes.is_empty())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io("read", path)(error)),
    }
}

/// Writes a file that belongs to its owner alone, whole or not at all, and waits for the disk.
fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = io("write", path);
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(&failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(&failed)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(&failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(&failed)
}
