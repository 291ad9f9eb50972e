//! What the server does for each request: who asks, for what, and the store's answer.
//!
//! A change that has begun runs to its end even if the client hangs up, so that whoever
//! waits for [`Service::quiesce`] knows what is in the store. Begin at [`dispatch`].

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::Response;
use serde_json::json;
use tokio::time::Instant;

use super::body::{Expected, Received, receive};
use super::foreign_page::{foreign_host, foreign_page};
use super::gate::{Caller, Gate, Refusal};
use super::guests::Guest;
use super::held_lock::id_of;
use super::target::{Target, lock_id, query, time_of};
use super::trail::Trail;
use super::{Claim, HeldLock, Right, Service, StateName, answer, copy_handlers, page, status_handlers};
use crate::error::{Error, Result};

/// Stands for a name that no user has: people type their password there.
const UNKNOWN: &str = "an unknown user";

/// A request on its way through the handlers.
pub(super) struct Asked {
    pub(super) service: Arc<Service>,
    pub(super) parts: Parts,
    pub(super) caller: Caller,
}

/// Answers any request.
pub(super) async fn dispatch(service: Arc<Service>, guest: &Guest, request: Request) -> Response {
    let begun = Instant::now();
    let (parts, body) = request.into_parts();
    let (method, path) = (parts.method.clone(), parts.uri.path().to_owned());
    let mut trail = Trail::new();
    let response = answer_to(Arc::clone(&service), guest, parts, body, &mut trail).await;
    let status = response.status().as_u16();
    service.metrics.answered(trail.action, status, begun.elapsed());
    tracing::debug!(%method, path, status, user = trail.user.as_deref(), "served");
    if trail.is_worth_keeping() {
        let written = service.audit.write(&trail.entry(service.store.now(), guest.peer, status));
        service.metrics.unaudited.fetch_add(u64::from(written.is_err()), Ordering::Relaxed);
    }
    response
}

async fn answer_to(
    service: Arc<Service>,
    guest: &Guest,
    parts: Parts,
    body: Body,
    trail: &mut Trail,
) -> Response {
    let target = Target::of(parts.uri.path());
    match target {
        Ok(Target::Health) => {
            let health = service.health().await;
            return readable(&parts, trail, "health", || health);
        }
        Ok(Target::Metrics) => {
            let text = || answer::text(StatusCode::OK, service.metrics.text().trim_end());
            return readable(&parts, trail, "metrics", text);
        }
        _ => {}
    }
    if let Some(words) = strangeness(&service, &parts) {
        (trail.action, trail.user) = ("login", Some(UNKNOWN.to_owned()));
        return answer::text(StatusCode::FORBIDDEN, words);
    }
    let admitted = service.gate.admit(parts.headers.get(header::AUTHORIZATION), guest.peer).await;
    let caller = match admitted {
        Ok(caller) => caller,
        Err(refusal) => return refuse(&service, refusal, trail),
    };
    guest.has_logged_in();
    trail.user = Some(caller.name.clone());
    let asked = Asked { service, parts, caller };
    match target {
        Ok(Target::State(name)) => state(asked, name, body, trail).await,
        Ok(Target::Lock(name)) => lock(asked, name, body, trail).await,
        Ok(Target::Copy(name)) => copy_handlers::copy(asked, name, body, trail).await,
        Ok(Target::Status(name)) => status_handlers::status(asked, name, body, trail).await,
        Ok(Target::Copies) => copy_handlers::list(&asked, trail).await,
        Ok(Target::Page) => overview(asked, trail, Form::Page).await,
        Ok(Target::All) => overview(asked, trail, Form::Json).await,
        Ok(Target::Health | Target::Metrics | Target::Nothing) => {
            answer::text(StatusCode::NOT_FOUND, "there is nothing here")
        }
        Err(error) => answer::bad_request(&error),
    }
}

/// Returns why nobody's credentials count for a request, if so.
fn strangeness(service: &Service, parts: &Parts) -> Option<String> {
    match service.gate {
        Gate::Open => foreign_host(parts).or_else(|| foreign_page(parts)),
        Gate::One(_) | Gate::Users(_) => foreign_page(parts),
    }
}

fn refuse(service: &Service, refusal: Refusal, trail: &mut Trail) -> Response {
    trail.action = "login";
    let told = |name: Option<String>| name.unwrap_or_else(|| UNKNOWN.to_owned());
    match refusal {
        // A client's first request is often one without credentials; nothing was guessed.
        Refusal::Missing => answer::unauthorized(),
        Refusal::Wrong(name) => {
            let name = told(name);
            service.metrics.failed_logins.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(user = name, "a login failed");
            trail.user = Some(name);
            answer::unauthorized()
        }
        Refusal::LockedOut(name, left) => {
            trail.user = Some(told(name));
            answer::locked_out(left)
        }
    }
}

fn readable(
    parts: &Parts,
    trail: &mut Trail,
    action: &'static str,
    text: impl FnOnce() -> Response,
) -> Response {
    trail.action = action;
    match parts.method.as_str() {
        "GET" | "HEAD" => text(),
        _ => answer::not_allowed("GET, HEAD"),
    }
}

enum Form {
    Page,
    Json,
}

async fn overview(asked: Asked, trail: &mut Trail, form: Form) -> Response {
    trail.action = "list";
    if !matches!(asked.parts.method.as_str(), "GET" | "HEAD") {
        return answer::not_allowed("GET, HEAD");
    }
    let states = match asked.service.store.overview().await {
        Ok(states) => states,
        Err(error) => return answer::failed(&error),
    };
    let visible: Vec<_> =
        states.into_iter().filter(|state| asked.caller.rights.allow(Right::Read, &state.name)).collect();
    match form {
        Form::Page => answer::page(page::render(&asked.caller.name, &visible, asked.service.store.now())),
        Form::Json => answer::json(&visible.iter().map(super::StateSummary::to_json).collect::<Vec<_>>()),
    }
}

enum StateAction {
    Read,
    Write,
    Delete,
}

impl StateAction {
    const fn needs(&self) -> (Right, &'static str) {
        match self {
            Self::Read => (Right::Read, "read"),
            Self::Write => (Right::Write, "write"),
            Self::Delete => (Right::Write, "delete"),
        }
    }
}

async fn state(asked: Asked, name: StateName, body: Body, trail: &mut Trail) -> Response {
    trail.state = Some(name.to_string());
    let action = match asked.parts.method.as_str() {
        "GET" | "HEAD" => StateAction::Read,
        "POST" => StateAction::Write,
        "DELETE" => StateAction::Delete,
        _ => return answer::not_allowed("GET, HEAD, POST, DELETE"),
    };
    let (right, word) = action.needs();
    trail.action = word;
    trail.version = query(&asked.parts.uri, "version").ok().flatten().and_then(|number| number.parse().ok());
    if !asked.caller.rights.allow(right, &name) {
        return answer::forbidden(&asked.caller.name, right, &name);
    }
    match action {
        StateAction::Read => read(&asked, &name).await,
        StateAction::Delete => delete(asked, name, trail).await,
        StateAction::Write => {
            let limit = asked.service.limits.state;
            match receive(&asked.parts.headers, body, asked.expected(limit)).await {
                Ok(received) => write(asked, name, received, trail).await,
                Err(refused) => refused.answer(),
            }
        }
    }
}

/// Answers with the state, an older version of it, or the list of its versions.
async fn read(asked: &Asked, name: &StateName) -> Response {
    let store = &asked.service.store;
    let uri = &asked.parts.uri;
    match (query(uri, "version"), query(uri, "versions")) {
        (Ok(Some(number)), _) => match number.parse() {
            Ok(number) => answer::version(name, number, store.stream_version(name, number).await),
            Err(_) => answer::bad_request(&Error::invalid(format!("`{number}` is no number of a version"))),
        },
        (_, Ok(Some(_))) => match (store.versions(name).await, store.current(name).await) {
            (Ok(versions), Ok(current)) => answer::json(&json!({"current": current, "versions": versions})),
            (Err(error), _) | (_, Err(error)) => answer::failed(&error),
        },
        (Ok(None), Ok(None)) => answer::reading(name, store.stream(name).await),
        (Err(error), _) | (_, Err(error)) => answer::bad_request(&error),
    }
}

#[derive(Clone, Copy)]
enum LockAction {
    Look,
    Take,
    GiveBack,
    Force,
}

impl LockAction {
    const fn needs(self) -> (Right, &'static str) {
        match self {
            Self::Look => (Right::Read, "holder"),
            Self::Take => (Right::Lock, "lock"),
            Self::GiveBack => (Right::Lock, "unlock"),
            Self::Force => (Right::Admin, "force-unlock"),
        }
    }
}

async fn lock(asked: Asked, name: StateName, body: Body, trail: &mut Trail) -> Response {
    trail.state = Some(name.to_string());
    let forced = matches!(query(&asked.parts.uri, "force"), Ok(Some(_)));
    let action = match asked.parts.method.as_str() {
        "GET" | "HEAD" => LockAction::Look,
        "LOCK" | "PUT" => LockAction::Take,
        "UNLOCK" | "DELETE" if forced => LockAction::Force,
        "UNLOCK" | "DELETE" => LockAction::GiveBack,
        _ => return answer::not_allowed("GET, HEAD, LOCK, PUT, UNLOCK, DELETE"),
    };
    let (right, word) = action.needs();
    trail.action = word;
    if !asked.caller.rights.allow(right, &name) {
        return answer::forbidden(&asked.caller.name, right, &name);
    }
    let limit = asked.service.limits.lock;
    let body = match receive(&asked.parts.headers, body, asked.expected(limit)).await {
        Ok(received) => received.bytes,
        Err(refused) => return refused.answer(),
    };
    match action {
        LockAction::Look => answer::holder(&name, asked.service.store.lock_of(&name).await),
        LockAction::Take => take(asked, name, &body, trail).await,
        LockAction::GiveBack | LockAction::Force => release(asked, name, &body, action, trail).await,
    }
}

async fn write(asked: Asked, name: StateName, received: Received, trail: &mut Trail) -> Response {
    let Received { bytes: body, room } = received;
    if body.is_empty() {
        return answer::bad_request(&Error::invalid("the body is empty: DELETE removes a state"));
    }
    let (id, at) = match (lock_id(&asked.parts.uri), time_of(&asked.parts.uri)) {
        (Ok(id), Ok(at)) => (id, at),
        (Err(error), _) | (_, Err(error)) => return answer::bad_request(&error),
    };
    (trail.lock_id, trail.bytes) = (id.clone(), Some(body.len()));
    let claim = asked.claim(&name, id);
    let service = asked.service;
    service.metrics.received.fetch_add(body.len() as u64, Ordering::Relaxed);
    let (store, state) = (service.store.clone(), name.clone());
    let change = async move {
        let outcome = match at {
            Some(at) => store.write_version(&state, &claim, body, at).await,
            None => store.write_as(&state, &claim, body).await,
        };
        drop(room);
        outcome
    };
    answer::writing(&name, service.finish(change).await)
}

async fn delete(asked: Asked, name: StateName, trail: &mut Trail) -> Response {
    let id = match lock_id(&asked.parts.uri) {
        Ok(id) => id,
        Err(error) => return answer::bad_request(&error),
    };
    trail.lock_id.clone_from(&id);
    let claim = asked.claim(&name, id);
    let (store, state) = (asked.service.store.clone(), name.clone());
    let outcome = asked.service.finish(async move { store.delete_as(&state, &claim).await }).await;
    answer::writing(&name, outcome)
}

async fn take(asked: Asked, name: StateName, body: &[u8], trail: &mut Trail) -> Response {
    let service = asked.service;
    let wanted = match HeldLock::from_client(body, service.holder.clone()) {
        Ok(wanted) => wanted.owned_by(asked.caller.user),
        Err(error) => return answer::bad_request(&error),
    };
    trail.lock_id = Some(wanted.id().to_owned());
    let store = service.store.clone();
    answer::locking(service.finish(async move { store.lock(&name, &wanted).await }).await)
}

async fn release(
    asked: Asked,
    name: StateName,
    body: &[u8],
    action: LockAction,
    trail: &mut Trail,
) -> Response {
    let id = match id_of(body) {
        Ok(id) => id,
        Err(error) => return answer::bad_request(&error),
    };
    trail.lock_id = Some(id.clone());
    let claim = asked.claim(&name, Some(id.clone()));
    let (store, state) = (asked.service.store.clone(), name.clone());
    let change = async move {
        match action {
            LockAction::Force => store.force_unlock(&state, &id).await,
            LockAction::Look | LockAction::Take | LockAction::GiveBack => {
                store.unlock_as(&state, &claim).await
            }
        }
    };
    answer::unlocking(&name, asked.service.finish(change).await)
}

impl Asked {
    /// Returns what the caller claims; an administrator may use the locks of other users.
    pub(super) fn claim(&self, name: &StateName, lock_id: Option<String>) -> Claim {
        let is_admin = self.caller.rights.allow(Right::Admin, name);
        Claim { lock_id, user: self.caller.user.clone().filter(|_| !is_admin) }
    }

    pub(super) fn expected(&self, limit: usize) -> Expected<'_> {
        let patience = self.service.patience;
        Expected { limit, stall: patience.stall, rooms: &self.service.rooms, wait: patience.room }
    }
}

impl Service {
    /// Runs a change to its end, whatever becomes of the request that asked for it.
    pub(super) async fn finish<T, F>(&self, change: F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let running = Arc::clone(&self.running).read_owned().await;
        let task = tokio::spawn(async move {
            let outcome = change.await;
            drop(running);
            outcome
        });
        let broken = |error| Err(Error::bug("a change of a state broke off").because(error));
        let outcome = task.await.unwrap_or_else(broken);
        self.note(&outcome);
        outcome
    }

    /// Waits until no change is under way.
    pub(super) async fn quiesce(&self) {
        drop(self.running.write().await);
    }
}
