//! What the server does for each request: who asks, for what, and the store's answer.
//!
//! A change that has begun runs to its end even if the client hangs up, so that whoever
//! waits for [`Service::quiesce`] knows what is in the store. Begin at [`dispatch`].

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::response::Response;

use super::body::receive;
use super::held_lock::id_of;
use super::target::{Target, lock_id};
use super::{HeldLock, Service, StateName, answer};
use crate::error::{Error, Result};

/// Answers any request.
pub(super) async fn dispatch(service: State<Arc<Service>>, request: Request) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = answer_to(service, request).await;
    tracing::debug!(%method, path, status = response.status().as_u16(), "served");
    response
}

async fn answer_to(State(service): State<Arc<Service>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let target = Target::of(parts.uri.path());
    if let Ok(Target::Health) = target {
        return health(&parts.method);
    }
    if !service.credentials.admit(parts.headers.get(header::AUTHORIZATION)) {
        return answer::unauthorized();
    }
    match target {
        Ok(Target::State(name)) => state(service, name, parts, body).await,
        Ok(Target::Lock(name)) => lock(service, name, parts, body).await,
        Ok(Target::Health | Target::Nothing) => answer::text(StatusCode::NOT_FOUND, "there is nothing here"),
        Err(error) => answer::bad_request(&error),
    }
}

fn health(method: &Method) -> Response {
    match method.as_str() {
        "GET" | "HEAD" => answer::text(StatusCode::OK, "ok"),
        _ => answer::not_allowed("GET, HEAD"),
    }
}

async fn state(service: Arc<Service>, name: StateName, parts: Parts, body: Body) -> Response {
    match parts.method.as_str() {
        "GET" | "HEAD" => answer::state(&name, service.store.read(&name).await),
        "POST" => match receive(&parts.headers, body, service.limits.state).await {
            Ok(body) => write(service, name, &parts, body).await,
            Err(refused) => refused.answer(),
        },
        "DELETE" => delete(service, name, &parts).await,
        _ => answer::not_allowed("GET, HEAD, POST, DELETE"),
    }
}

async fn lock(service: Arc<Service>, name: StateName, parts: Parts, body: Body) -> Response {
    let action = match parts.method.as_str() {
        "GET" | "HEAD" => return answer::holder(&name, service.store.lock_of(&name).await),
        "LOCK" | "PUT" => LockAction::Take,
        "UNLOCK" | "DELETE" => LockAction::Release,
        _ => return answer::not_allowed("GET, HEAD, LOCK, PUT, UNLOCK, DELETE"),
    };
    let body = match receive(&parts.headers, body, service.limits.lock).await {
        Ok(body) => body,
        Err(refused) => return refused.answer(),
    };
    match action {
        LockAction::Take => take(service, name, &body).await,
        LockAction::Release => release(service, name, &body).await,
    }
}

enum LockAction {
    Take,
    Release,
}

async fn write(service: Arc<Service>, name: StateName, parts: &Parts, body: Bytes) -> Response {
    if body.is_empty() {
        return answer::bad_request(&Error::invalid("the body is empty: DELETE removes a state"));
    }
    let id = match lock_id(&parts.uri) {
        Ok(id) => id,
        Err(error) => return answer::bad_request(&error),
    };
    let store = service.store.clone();
    let state = name.clone();
    let outcome = service.finish(async move { store.write(&state, id.as_deref(), body).await }).await;
    answer::writing(&name, outcome)
}

async fn delete(service: Arc<Service>, name: StateName, parts: &Parts) -> Response {
    let id = match lock_id(&parts.uri) {
        Ok(id) => id,
        Err(error) => return answer::bad_request(&error),
    };
    let store = service.store.clone();
    let state = name.clone();
    let outcome = service.finish(async move { store.delete(&state, id.as_deref()).await }).await;
    answer::writing(&name, outcome)
}

async fn take(service: Arc<Service>, name: StateName, body: &[u8]) -> Response {
    let wanted = match HeldLock::from_client(body, service.holder.clone()) {
        Ok(wanted) => wanted,
        Err(error) => return answer::bad_request(&error),
    };
    let store = service.store.clone();
    answer::locking(service.finish(async move { store.lock(&name, &wanted).await }).await)
}

async fn release(service: Arc<Service>, name: StateName, body: &[u8]) -> Response {
    let id = match id_of(body) {
        Ok(id) => id,
        Err(error) => return answer::bad_request(&error),
    };
    let store = service.store.clone();
    let state = name.clone();
    let outcome = service.finish(async move { store.unlock(&state, &id).await }).await;
    answer::unlocking(&name, outcome)
}

impl Service {
    /// Runs a change to its end, whatever becomes of the request that asked for it.
    async fn finish<T, F>(&self, change: F) -> Result<T>
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
        task.await.unwrap_or_else(|error| Err(Error::bug("a change of a state broke off").because(error)))
    }

    /// Waits until no change is under way.
    pub(super) async fn quiesce(&self) {
        drop(self.running.write().await);
    }
}
