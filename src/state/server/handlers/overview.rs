//! What the server does for `/` and `/states`: all states that the caller may read.

use axum::response::Response;
use axum::routing::{MethodRouter, get};
use std::sync::Arc;

use super::page::render;
use super::request::CallerRequest;
use crate::state::StateSummary;
use crate::state::server::access::Right;
use crate::state::server::answers;
use crate::state::server::answers::EarlyAnswer;
use crate::state::server::service::Service;

/// Returns the handlers of the page.
pub fn page_methods() -> MethodRouter<Arc<Service>> {
    get(page).fallback(other)
}

/// Returns the handlers of the list.
pub fn list_methods() -> MethodRouter<Arc<Service>> {
    get(list).fallback(other)
}

/// Answers with a page for people.
async fn page(request: CallerRequest) -> Result<Response, EarlyAnswer> {
    let states = visible_states(&request).await?;
    Ok(answers::page(render(&request.caller.name, &states, request.service.store.now())))
}

/// Answers with JSON.
async fn list(request: CallerRequest) -> Result<Response, EarlyAnswer> {
    let states = visible_states(&request).await?;
    Ok(answers::json(&states.iter().map(StateSummary::to_json).collect::<Vec<_>>()))
}

/// Refuses other methods.
async fn other(request: CallerRequest) -> Response {
    request.log.notes().action = "list";
    answers::not_allowed("GET, HEAD")
}

async fn visible_states(request: &CallerRequest) -> Result<Vec<StateSummary>, EarlyAnswer> {
    request.log.notes().action = "list";
    let states = request.service.store.overview().await.map_err(|error| answers::failed(&error))?;
    let may_read = |state: &StateSummary| request.caller.rights.allow(Right::Read, &state.name);
    Ok(states.into_iter().filter(may_read).collect())
}
