//! What the server does for `/states/<name>/lock`: tells, takes and releases the lock of a state.

use axum::body::{Body, Bytes};
use axum::http::Method;
use axum::response::Response;
use axum::routing::{MethodRouter, any};
use std::sync::Arc;

use super::query::query;
use super::request::StateRequest;
use crate::state::HeldLock;
use crate::state::held_lock::id_of;
use crate::state::server::access::Right;
use crate::state::server::answers;
use crate::state::server::answers::EarlyAnswer;
use crate::state::server::service::Service;

/// Returns the handler of a lock, for all methods: the router knows neither LOCK nor UNLOCK.
pub fn lock_methods() -> MethodRouter<Arc<Service>> {
    any(by_method)
}

/// Answers who holds the lock.
async fn holder(request: StateRequest, body: Body) -> Result<Response, EarlyAnswer> {
    request.begin("holder", Right::Read)?;
    receive(&request, body).await?;
    Ok(answers::holder(&request.name, request.service.store.lock_of(&request.name).await))
}

/// Takes the lock.
async fn take(request: StateRequest, body: Body) -> Result<Response, EarlyAnswer> {
    request.begin("lock", Right::Lock)?;
    let info = receive(&request, body).await?;
    let wanted = HeldLock::from_client(&info, request.service.holder.clone())
        .map_err(|error| answers::bad_request(&error))?
        .owned_by(request.caller.user.clone());
    request.log.notes().lock_id = Some(wanted.id().to_owned());
    let (store, name) = (request.service.store.clone(), request.name.clone());
    Ok(answers::locking(request.service.finish(async move { store.lock(&name, &wanted).await }).await))
}

/// Releases the lock: for its holder, or with `?force` against it.
async fn release(request: StateRequest, body: Body) -> Result<Response, EarlyAnswer> {
    let is_forced = matches!(query(&request.uri, "force"), Ok(Some(_)));
    match is_forced {
        true => request.begin("force-unlock", Right::Admin)?,
        false => request.begin("unlock", Right::Lock)?,
    }
    let info = receive(&request, body).await?;
    let id = id_of(&info).map_err(|error| answers::bad_request(&error))?;
    request.log.notes().lock_id = Some(id.clone());
    let claim = request.claim(Some(id.clone()));
    let (store, name) = (request.service.store.clone(), request.name.clone());
    let change = async move {
        match is_forced {
            true => store.force_unlock(&name, &id).await,
            false => store.unlock_as(&name, &claim).await,
        }
    };
    Ok(answers::unlocking(&request.name, request.service.finish(change).await))
}

async fn by_method(method: Method, request: StateRequest, body: Body) -> Result<Response, EarlyAnswer> {
    match method.as_str() {
        "GET" | "HEAD" => holder(request, body).await,
        "LOCK" | "PUT" => take(request, body).await,
        "UNLOCK" | "DELETE" => release(request, body).await,
        _ => Ok(answers::not_allowed("GET, HEAD, LOCK, PUT, UNLOCK, DELETE")),
    }
}

async fn receive(request: &StateRequest, body: Body) -> Result<Bytes, EarlyAnswer> {
    request.receive(body, request.service.limits.lock).await.map(|received| received.bytes)
}
