//! What the server does for `/status/<name>`: how things stand with a state, and marks on it.
//!
//! It has an address of its own beside `/states/`, because a server that does not know marks
//! must never take one for a state. Rights are those to the state itself.

use axum::body::Body;
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use std::sync::Arc;

use super::query::lock_id;
use super::request::StateRequest;
use crate::error::Error;
use crate::state::server::access::Right;
use crate::state::server::answers;
use crate::state::server::answers::EarlyAnswer;
use crate::state::server::service::Service;
use crate::state::{Mark, Writing};

/// Returns the handlers of a state's status.
pub fn status_methods() -> MethodRouter<Arc<Service>> {
    get(read).post(mark).fallback(other)
}

/// Answers how things stand with a state.
async fn read(request: StateRequest) -> Result<Response, EarlyAnswer> {
    request.begin("status", Right::Read)?;
    Ok(status_of(&request).await)
}

/// Marks a state.
async fn mark(request: StateRequest, body: Body) -> Result<Response, EarlyAnswer> {
    request.begin("mark", Right::Write)?;
    let body = request.receive(body, request.service.limits.lock).await?.bytes;
    let (id, mark) = match (lock_id(&request.uri), mark_in(&body)) {
        (Ok(id), Ok(mark)) => (id, mark),
        (Err(error), _) | (_, Err(error)) => return Err(answers::bad_request(&error).into()),
    };
    request.log.notes().lock_id.clone_from(&id);
    let (store, name, claim) = (request.service.store.clone(), request.name.clone(), request.claim(id));
    match request.service.finish(async move { store.mark(&name, &claim, mark).await }).await {
        // A body of its own tells this server from one that accepts anything.
        Ok(Writing::Accepted) => Ok(status_of(&request).await),
        outcome => Ok(answers::writing(&request.name, outcome)),
    }
}

/// Refuses other methods.
async fn other(_request: StateRequest) -> Response {
    answers::not_allowed("GET, HEAD, POST")
}

async fn status_of(request: &StateRequest) -> Response {
    match request.service.store.status(&request.name).await {
        Ok(status) => answers::json(&status),
        Err(error) => answers::failed(&error),
    }
}

fn mark_in(body: &[u8]) -> crate::error::Result<Mark> {
    let broken = |error| Error::invalid("the body is no mark of a state in JSON").because(error);
    let mark: Mark = serde_json::from_slice(body).map_err(broken)?;
    mark.check().map(|()| mark)
}
