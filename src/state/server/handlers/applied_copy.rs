//! What the server does for `/applied` and `/applied/<name>`: the copies of what states were
//! applied from.
//!
//! Rights are those to the state itself. Nothing is locked: a copy may be replaced at any time.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use std::sync::Arc;

use super::request::{CallerRequest, StateRequest};
use crate::state::StateName;
use crate::state::server::access::Right;
use crate::state::server::answers;
use crate::state::server::answers::EarlyAnswer;
use crate::state::server::request_body::Received;
use crate::state::server::service::Service;

/// Returns the handlers of the list of copies.
pub fn copy_list_methods() -> MethodRouter<Arc<Service>> {
    get(list).fallback(other_list)
}

/// Returns the handlers of a copy.
pub fn copy_methods() -> MethodRouter<Arc<Service>> {
    get(read).post(replace).delete(remove).fallback(other)
}

/// Answers with the names of the states that have a copy.
async fn list(request: CallerRequest) -> Result<Response, EarlyAnswer> {
    request.log.notes().action = "list-applied";
    let names = request.service.store.copies().await.map_err(|error| answers::failed(&error))?;
    let visible = names.iter().filter(|name| request.caller.rights.allow(Right::Read, name));
    Ok(answers::json(&visible.map(StateName::as_str).collect::<Vec<_>>()))
}

/// Refuses other methods.
async fn other_list(request: CallerRequest) -> Response {
    request.log.notes().action = "list-applied";
    answers::not_allowed("GET, HEAD")
}

/// Answers with a copy.
async fn read(request: StateRequest) -> Result<Response, EarlyAnswer> {
    request.begin("read-applied", Right::Read)?;
    Ok(answers::copy(&request.name, request.service.store.copy_of(&request.name).await))
}

/// Keeps a copy in the place of an earlier one.
async fn replace(request: StateRequest, body: Body) -> Result<Response, EarlyAnswer> {
    request.begin("write-applied", Right::Write)?;
    let Received { bytes, memory } = request.receive(body, request.service.limits.state).await?;
    request.log.notes().bytes = Some(bytes.len());
    let (store, name) = (request.service.store.clone(), request.name.clone());
    let change = async move {
        let outcome = store.keep_copy(&name, bytes).await;
        drop(memory);
        outcome
    };
    done(request.service.finish(change).await)
}

/// Removes a copy.
async fn remove(request: StateRequest) -> Result<Response, EarlyAnswer> {
    request.begin("delete-applied", Right::Write)?;
    let (store, name) = (request.service.store.clone(), request.name.clone());
    done(request.service.finish(async move { store.drop_copy(&name).await }).await)
}

/// Refuses other methods.
async fn other(_request: StateRequest) -> Response {
    answers::not_allowed("GET, HEAD, POST, DELETE")
}

fn done(outcome: crate::error::Result<()>) -> Result<Response, EarlyAnswer> {
    outcome.map(|()| StatusCode::OK.into_response()).map_err(|error| answers::failed(&error).into())
}
