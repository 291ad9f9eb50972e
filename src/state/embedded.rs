//! The server inside a run: on 127.0.0.1, on a free port, with a password of its own.
//!
//! Turns a state name into the environment that makes `backend "http" {}` use it; the
//! password exists only in memory and in that environment. Begin at [`Embedded::start`].

use std::collections::BTreeSet;
use std::fmt;
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tokio::net::TcpListener;

use zeroize::Zeroizing;

use super::name::StateName;
use super::server::{Credentials, Server, Service};
use super::store::{StateStore, Unlocking};
use crate::error::{Error, Result};
use crate::model::Holder;
use crate::process;

const USERNAME: &str = "infra";

/// A state server that lives as long as a run.
pub struct Embedded {
    server: Server,
    store: StateStore,
    holder: Holder,
    credentials: Credentials,
    abandoned: Mutex<BTreeSet<StateName>>,
}

impl Embedded {
    /// Starts a server on the current runtime; its locks name this process and the run, and what it writes
    /// the project.
    pub async fn start(store: StateStore, run_id: Option<String>, project: Option<String>) -> Result<Self> {
        let store = store.of_project(project);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(|error| {
            Error::unavailable("cannot listen on 127.0.0.1 for the states of this run").because(error)
        })?;
        let holder = process::this_holder(run_id);
        let credentials = Credentials::new(USERNAME, random_password()?);
        let service = Service::new(store.clone(), credentials.clone()).with_holder(holder.clone());
        let server = Server::start(listener, service)?;
        Ok(Self { server, store, holder, credentials, abandoned: Mutex::default() })
    }

    /// Returns the variables that make OpenTofu's http backend use this state.
    ///
    /// Everything the backend reads is set, so that nothing inherited can change it; an
    /// empty value counts as unset there.
    pub fn environment_for(&self, name: &StateName) -> Vec<(&'static str, String)> {
        let root = format!("http://{}", self.server.address());
        let lock = format!("{root}{}", name.lock_url_path());
        vec![
            ("TF_HTTP_ADDRESS", format!("{root}{}", name.url_path())),
            ("TF_HTTP_LOCK_ADDRESS", lock.clone()),
            ("TF_HTTP_UNLOCK_ADDRESS", lock),
            ("TF_HTTP_USERNAME", self.credentials.username().to_owned()),
            ("TF_HTTP_PASSWORD", self.credentials.password().to_owned()),
            ("TF_HTTP_UPDATE_METHOD", "POST".to_owned()),
            ("TF_HTTP_LOCK_METHOD", "LOCK".to_owned()),
            ("TF_HTTP_UNLOCK_METHOD", "UNLOCK".to_owned()),
            ("TF_HTTP_RETRY_MAX", "2".to_owned()),
            ("TF_HTTP_RETRY_WAIT_MIN", "1".to_owned()),
            ("TF_HTTP_RETRY_WAIT_MAX", "5".to_owned()),
            ("TF_HTTP_CLIENT_CA_CERTIFICATE_PEM", String::new()),
            ("TF_HTTP_CLIENT_CERTIFICATE_PEM", String::new()),
            ("TF_HTTP_CLIENT_PRIVATE_KEY_PEM", String::new()),
        ]
    }

    /// Returns the password of this run, for the one who must hide it.
    pub fn password(&self) -> Zeroizing<String> {
        Zeroizing::new(self.credentials.password().to_owned())
    }

    /// Returns the store behind the server.
    pub const fn store(&self) -> &StateStore {
        &self.store
    }

    /// Releases the lock of a state whose client is certainly dead, if this process took it.
    ///
    /// Returns whether there was one. A request the client sent just before its death may
    /// still be on its way; [`Self::shutdown`] looks again when nothing can arrive any more.
    pub async fn release_locks_of_this_process(&self, name: &StateName) -> Result<bool> {
        self.abandoned.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
        self.server.wait_for_changes().await;
        release_own(&self.store, &self.holder, name).await
    }

    /// Ends the server after the requests under way.
    pub async fn shutdown(self) -> Result<()> {
        self.server.shutdown().await;
        for name in self.abandoned.into_inner().unwrap_or_else(PoisonError::into_inner) {
            release_own(&self.store, &self.holder, &name).await?;
        }
        Ok(())
    }
}

/// Shows the address only.
impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded").field("address", &self.server.address()).finish_non_exhaustive()
    }
}

async fn release_own(store: &StateStore, holder: &Holder, name: &StateName) -> Result<bool> {
    let Some(lock) = store.lock_of(name).await? else { return Ok(false) };
    if lock.holder() != Some(holder) {
        return Ok(false);
    }
    match store.force_unlock(name, lock.id()).await? {
        Unlocking::Released(_) => Ok(true),
        Unlocking::Repeated
        | Unlocking::NotLocked
        | Unlocking::Held(_)
        | Unlocking::OfAnother(_)
        | Unlocking::Moved(_) => Ok(false),
    }
}

fn random_password() -> Result<String> {
    Ok(URL_SAFE_NO_PAD.encode(process::random_bytes::<32>()?))
}
