//! The http server around a [`StateStore`]: what it serves, and its life from a bound
//! socket to the last answer.
//!
//! It runs on the tokio runtime it is started on and ends when told to, after the
//! requests that are under way. It never chooses an address or a password.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::{RwLock, oneshot};
use tokio::task::JoinHandle;

use super::handlers::dispatch;
use super::{Credentials, StateStore};
use crate::error::{Error, Result};
use crate::model::Holder;

/// How long requests under way may take to end once the server is told to stop.
const PATIENCE: Duration = Duration::from_secs(5);

/// How large bodies may be, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A state.
    pub state: usize,
    /// A LockInfo.
    pub lock: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { state: 256 * 1024 * 1024, lock: 64 * 1024 }
    }
}

/// What a server serves, and to whom.
#[derive(Debug)]
pub struct Service {
    pub(super) store: StateStore,
    pub(super) credentials: Credentials,
    pub(super) holder: Option<Holder>,
    pub(super) limits: Limits,
    /// Held for reading by every change under way.
    pub(super) running: Arc<RwLock<()>>,
}

impl Service {
    /// Makes a service for one user.
    pub fn new(store: StateStore, credentials: Credentials) -> Self {
        let running = Arc::new(RwLock::new(()));
        Self { store, credentials, holder: None, limits: Limits::default(), running }
    }

    /// Returns the service with this process named in every lock it grants.
    #[must_use]
    pub fn with_holder(mut self, holder: Holder) -> Self {
        self.holder = Some(holder);
        self
    }

    /// Returns the service with other limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    service: Arc<Service>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Server {
    /// Starts to serve on a bound socket.
    pub fn start(listener: TcpListener, service: Service) -> Result<Self> {
        let address = listener
            .local_addr()
            .map_err(|error| Error::unavailable("the state server has no address").because(error))?;
        let service = Arc::new(service);
        let router = Router::new().fallback(dispatch).with_state(Arc::clone(&service));
        let (stop, stopped) = oneshot::channel::<()>();
        let until = async move {
            // A sender that was dropped means the same as one that was used.
            let _ = stopped.await;
        };
        let serving = axum::serve(listener, router).with_graceful_shutdown(until);
        let task = tokio::spawn(serving.into_future());
        Ok(Self { address, service, stop, task })
    }

    /// Returns where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns what it serves.
    pub(super) fn service(&self) -> &Service {
        &self.service
    }

    /// Accepts nothing more and ends once the requests under way are answered, or have
    /// had their time; a change that has begun always ends.
    pub async fn shutdown(self) {
        // The receiver is gone only if the server has ended by itself.
        let _ = self.stop.send(());
        let abort = self.task.abort_handle();
        if tokio::time::timeout(PATIENCE, self.task).await.is_err() {
            abort.abort();
        }
        self.service.quiesce().await;
    }
}
