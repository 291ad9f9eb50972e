//! What the server does for `/states/<name>`: reads, writes and deletes a state.

use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use serde_json::json;
use std::sync::Arc;

use super::query::{lock_id, query, time_of};
use super::request::StateRequest;
use crate::error::Error;
use crate::state::server::access::Right;
use crate::state::server::answers;
use crate::state::server::answers::EarlyAnswer;
use crate::state::server::request_body::Received;
use crate::state::server::service::Service;

/// Returns the handlers of a state.
pub fn state_methods() -> MethodRouter<Arc<Service>> {
    get(read).post(write).delete(delete).fallback(other)
}

/// Answers with the state, an older version of it, or the list of its versions.
async fn read(request: StateRequest) -> Result<Response, EarlyAnswer> {
    let (version, versions) = (query(&request.uri, "version"), query(&request.uri, "versions"));
    request.log.notes().version = version.as_ref().ok().and_then(|number| number.as_ref()?.parse().ok());
    request.begin("read", Right::Read)?;
    let (store, name) = (&request.service.store, &request.name);
    Ok(match (version, versions) {
        (Ok(Some(number)), _) => match number.parse() {
            Ok(number) => answers::version(name, number, store.stream_version(name, number).await),
            Err(_) => answers::bad_request(&Error::invalid(format!("`{number}` is no number of a version"))),
        },
        (_, Ok(Some(_))) => match (store.versions(name).await, store.current(name).await) {
            (Ok(versions), Ok(current)) => answers::json(&json!({"current": current, "versions": versions})),
            (Err(error), _) | (_, Err(error)) => answers::failed(&error),
        },
        (Ok(None), Ok(None)) => answers::reading(name, store.stream(name).await),
        (Err(error), _) | (_, Err(error)) => answers::bad_request(&error),
    })
}

/// Stores a state.
async fn write(request: StateRequest, body: Body) -> Result<Response, EarlyAnswer> {
    request.begin("write", Right::Write)?;
    let Received { bytes, memory } = request.receive(body, request.service.limits.state).await?;
    if bytes.is_empty() {
        return Err(answers::bad_request(&Error::invalid("the body is empty: DELETE removes a state")).into());
    }
    let (id, at) = match (lock_id(&request.uri), time_of(&request.uri)) {
        (Ok(id), Ok(at)) => (id, at),
        (Err(error), _) | (_, Err(error)) => return Err(answers::bad_request(&error).into()),
    };
    note_write(&request, id.as_deref(), bytes.len());
    let (store, name, claim) = (request.service.store.clone(), request.name.clone(), request.claim(id));
    let change = async move {
        let outcome = match at {
            Some(at) => store.write_version(&name, &claim, bytes, at).await,
            None => store.write_as(&name, &claim, bytes).await,
        };
        drop(memory);
        outcome
    };
    Ok(answers::writing(&request.name, request.service.finish(change).await))
}

fn note_write(request: &StateRequest, lock_id: Option<&str>, bytes: usize) {
    let mut notes = request.log.notes();
    (notes.lock_id, notes.bytes) = (lock_id.map(str::to_owned), Some(bytes));
    request.service.metrics.received.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// Deletes a state; its versions stay.
async fn delete(request: StateRequest) -> Result<Response, EarlyAnswer> {
    request.begin("delete", Right::Write)?;
    let id = lock_id(&request.uri).map_err(|error| answers::bad_request(&error))?;
    request.log.notes().lock_id.clone_from(&id);
    let (store, name, claim) = (request.service.store.clone(), request.name.clone(), request.claim(id));
    let outcome = request.service.finish(async move { store.delete_as(&name, &claim).await }).await;
    Ok(answers::writing(&request.name, outcome))
}

/// Refuses other methods.
async fn other(_request: StateRequest) -> Response {
    answers::not_allowed("GET, HEAD, POST, DELETE")
}
