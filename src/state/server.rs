//! The http server around a [`StateStore`]: what it serves, and its life from a bound
//! socket to the last answer.
//!
//! It runs on the tokio runtime it is started on and ends when told to, after the
//! requests that are under way. It never chooses an address or a password.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{RwLock, watch};
use tokio::task::JoinHandle;

use super::audit::{Audit, AuditSink};
use super::connection::{Door, accept_until, serve};
use super::gate::Gate;
use super::guests::Guests;
use super::health::Doubt;
use super::metrics::Metrics;
use super::room::Rooms;
use super::{Credentials, Patience, StateStore, Tls, Users};
use crate::error::{Error, Result};
use crate::model::Holder;

/// How large bodies may be, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A state.
    pub state: usize,
    /// A LockInfo.
    pub lock: usize,
    /// All states that are on their way into the store together; others wait for their turn.
    pub together: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { state: 256 * 1024 * 1024, lock: 64 * 1024, together: 256 * 1024 * 1024 }
    }
}

/// What a server serves, and to whom.
#[derive(Debug)]
pub struct Service {
    pub(super) store: StateStore,
    pub(super) gate: Gate,
    pub(super) holder: Option<Holder>,
    pub(super) limits: Limits,
    pub(super) rooms: Rooms,
    pub(super) patience: Patience,
    pub(super) audit: Audit,
    pub(super) metrics: Metrics,
    pub(super) doubt: Doubt,
    /// Held for reading by every change under way.
    pub(super) running: Arc<RwLock<()>>,
}

impl Service {
    /// Makes a service for one user.
    pub fn new(store: StateStore, credentials: Credentials) -> Self {
        Self::behind(store, Gate::One(credentials))
    }

    /// Makes a service for several users, whose failed logins are counted.
    pub fn for_users(store: StateStore, users: Users) -> Result<Self> {
        Ok(Self::behind(store, Gate::of(users)?))
    }

    /// Makes a service for everybody who can reach it.
    pub fn open(store: StateStore) -> Self {
        Self::behind(store, Gate::Open)
    }

    fn behind(store: StateStore, gate: Gate) -> Self {
        Self {
            store,
            gate,
            holder: None,
            limits: Limits::default(),
            rooms: Rooms::of(Limits::default()),
            patience: Patience::default(),
            audit: Audit::default(),
            metrics: Metrics::default(),
            doubt: Doubt::default(),
            running: Arc::new(RwLock::new(())),
        }
    }

    /// Returns the service with this process named in every lock it grants.
    #[must_use]
    pub fn with_holder(mut self, holder: Holder) -> Self {
        self.holder = Some(holder);
        self
    }

    /// Returns the service with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        (self.limits, self.rooms) = (limits, Rooms::of(limits));
        self
    }

    /// Returns the service with another patience.
    #[must_use]
    pub const fn with_patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// Returns the service with an audit log.
    #[must_use]
    pub fn with_audit(mut self, sink: AuditSink) -> Self {
        self.audit = Audit::to(sink);
        self
    }
}

impl Service {
    /// Serves one connection to its end, whatever it is made of; without counting or limits on how many.
    pub async fn serve_stream<S>(self: Arc<Self>, stream: S, peer: IpAddr)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (_stop, stopped) = watch::channel(false);
        if let Some(guest) = Guests::new(1).enter(peer) {
            serve(stream, &guest, &self, stopped).await;
        }
    }
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    service: Arc<Service>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts to serve on a bound socket.
    pub fn start(listener: TcpListener, service: Service) -> Result<Self> {
        Self::start_with(listener, service, None)
    }

    /// Starts to serve on a bound socket, encrypted if it is told how.
    pub fn start_with(listener: TcpListener, service: Service, tls: Option<Tls>) -> Result<Self> {
        let address = listener
            .local_addr()
            .map_err(|error| Error::unavailable("the state server has no address").because(error))?;
        let service = Arc::new(service);
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(accept_until(stopped, Door::of(listener), Arc::clone(&service), tls));
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
        self.stop.send_replace(true);
        // It ends by itself, within its time; a panic in it has ended it already.
        let _ = self.task.await;
        self.service.quiesce().await;
    }
}
