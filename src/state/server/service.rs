//! What a server serves, to whom, and within which limits.
//!
//! A change that has begun runs to its end even if the client hangs up, so that whoever
//! waits for [`Service::wait_for_changes`] knows what is in the store.

use std::sync::Arc;

use tokio::sync::RwLock;

use super::access::{Credentials, Login, Users};
use super::audit_log::{AuditLog, AuditSink};
use super::body_memory::BodyMemory;
use super::limits::{Limits, TimeLimits};
use super::metrics::Metrics;
use super::store_health::StoreHealth;
use crate::error::{Error, Result};
use crate::model::Holder;
use crate::state::StateStore;

/// What a server serves, and to whom.
#[derive(Debug)]
pub struct Service {
    pub(super) store: StateStore,
    pub(super) login: Login,
    pub(super) holder: Option<Holder>,
    pub(super) limits: Limits,
    pub(super) body_memory: BodyMemory,
    pub(super) time_limits: TimeLimits,
    pub(super) audit: AuditLog,
    pub(super) metrics: Metrics,
    pub(super) health: StoreHealth,
    /// Held for reading by every change under way.
    running: Arc<RwLock<()>>,
}

impl Service {
    /// Makes a service for one user.
    pub fn new(store: StateStore, credentials: Credentials) -> Self {
        Self::with_login(store, Login::One(credentials))
    }

    /// Makes a service for several users, whose failed logins are counted.
    pub fn for_users(store: StateStore, users: Users) -> Result<Self> {
        Ok(Self::with_login(store, Login::for_users(users)?))
    }

    /// Makes a service for everybody who can reach it.
    pub fn open(store: StateStore) -> Self {
        Self::with_login(store, Login::Open)
    }

    fn with_login(store: StateStore, login: Login) -> Self {
        Self {
            store,
            login,
            holder: None,
            limits: Limits::default(),
            body_memory: BodyMemory::new(Limits::default()),
            time_limits: TimeLimits::default(),
            audit: AuditLog::default(),
            metrics: Metrics::default(),
            health: StoreHealth::default(),
            running: Arc::new(RwLock::new(())),
        }
    }

    /// Returns the service with this process named in every lock it grants.
    #[must_use]
    pub fn with_holder(mut self, holder: Holder) -> Self {
        self.holder = Some(holder);
        self
    }

    /// Returns the service with other limits for bodies.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        (self.limits, self.body_memory) = (limits, BodyMemory::new(limits));
        self
    }

    /// Returns the service with other limits for the time that clients take.
    #[must_use]
    pub const fn with_time_limits(mut self, limits: TimeLimits) -> Self {
        self.time_limits = limits;
        self
    }

    /// Returns the service with an audit log.
    #[must_use]
    pub fn with_audit(mut self, sink: AuditSink) -> Self {
        self.audit = AuditLog::to(sink);
        self
    }

    /// Runs a change to its end, whatever becomes of the request that asked for it.
    pub(super) async fn finish<T, F>(&self, change: F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let running = Arc::clone(&self.running).read_owned().await;
        // In a box, since the runtime moves what it is given several times.
        let change = Box::pin(change);
        let task = tokio::spawn(async move {
            let outcome = change.await;
            drop(running);
            outcome
        });
        let broken = |error| Err(Error::bug("a change of a state broke off").because(error));
        let outcome = task.await.unwrap_or_else(broken);
        self.health.note(&outcome);
        outcome
    }

    /// Waits until no change is under way.
    pub(super) async fn wait_for_changes(&self) {
        drop(self.running.write().await);
    }
}
