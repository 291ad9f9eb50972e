//! What the server does for `/status/<name>`: how things stand with a state, and marks on it.
//!
//! It has an address of its own beside `/states/`, because a server that does not know marks
//! must never take one for a state. Rights are those to the state itself.

use axum::body::Body;
use axum::response::Response;

use super::body::receive;
use super::handlers::Asked;
use super::target::lock_id;
use super::trail::Trail;
use super::{Mark, Right, StateName, Writing, answer};
use crate::error::{Error, Result};

/// Tells the status of a state, or marks it.
pub(super) async fn status(asked: Asked, name: StateName, body: Body, trail: &mut Trail) -> Response {
    trail.state = Some(name.to_string());
    let (right, word) = match asked.parts.method.as_str() {
        "GET" | "HEAD" => (Right::Read, "status"),
        "POST" => (Right::Write, "mark"),
        _ => return answer::not_allowed("GET, HEAD, POST"),
    };
    trail.action = word;
    if !asked.caller.rights.allow(right, &name) {
        return answer::forbidden(&asked.caller.name, right, &name);
    }
    match right {
        Right::Write => mark(asked, name, body, trail).await,
        Right::Read | Right::Lock | Right::Admin => told(&asked, &name).await,
    }
}

async fn told(asked: &Asked, name: &StateName) -> Response {
    match asked.service.store.status(name).await {
        Ok(status) => answer::json(&status),
        Err(error) => answer::failed(&error),
    }
}

async fn mark(asked: Asked, name: StateName, body: Body, trail: &mut Trail) -> Response {
    let expected = asked.expected(asked.service.limits.lock);
    let body = match receive(&asked.parts.headers, body, expected).await {
        Ok(received) => received.bytes,
        Err(refused) => return refused.answer(),
    };
    let (id, mark) = match (lock_id(&asked.parts.uri), mark_in(&body)) {
        (Ok(id), Ok(mark)) => (id, mark),
        (Err(error), _) | (_, Err(error)) => return answer::bad_request(&error),
    };
    trail.lock_id.clone_from(&id);
    let claim = asked.claim(&name, id);
    let (store, state) = (asked.service.store.clone(), name.clone());
    match asked.service.finish(async move { store.mark(&state, &claim, mark).await }).await {
        // Its own words tell this server from one that takes anything.
        Ok(Writing::Accepted) => told(&asked, &name).await,
        outcome => answer::writing(&name, outcome),
    }
}

fn mark_in(body: &[u8]) -> Result<Mark> {
    let broken = |error| Error::invalid("the body is no mark of a state in JSON").because(error);
    let mark: Mark = serde_json::from_slice(body).map_err(broken)?;
    mark.check().map(|()| mark)
}
