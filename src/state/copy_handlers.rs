//! What the server does for `/applied` and `/applied/<name>`: the copies of what states were
//! applied from.
//!
//! Rights are those to the state itself. Nothing is locked: see [`super::copies`].

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::body::{Received, receive};
use super::handlers::Asked;
use super::trail::Trail;
use super::{Right, StateName, answer};
use crate::error::Result;

enum CopyAction {
    Read,
    Replace,
    Remove,
}

impl CopyAction {
    const fn needs(&self) -> (Right, &'static str) {
        match self {
            Self::Read => (Right::Read, "read-applied"),
            Self::Replace => (Right::Write, "write-applied"),
            Self::Remove => (Right::Write, "delete-applied"),
        }
    }
}

/// Answers with the names of the states that have a copy.
pub(super) async fn list(asked: &Asked, trail: &mut Trail) -> Response {
    trail.action = "list-applied";
    if !matches!(asked.parts.method.as_str(), "GET" | "HEAD") {
        return answer::not_allowed("GET, HEAD");
    }
    match asked.service.store.copies().await {
        Ok(names) => {
            let visible = names.iter().filter(|name| asked.caller.rights.allow(Right::Read, name));
            answer::json(&visible.map(StateName::as_str).collect::<Vec<_>>())
        }
        Err(error) => answer::failed(&error),
    }
}

/// Reads, replaces or removes a copy.
pub(super) async fn copy(asked: Asked, name: StateName, body: Body, trail: &mut Trail) -> Response {
    trail.state = Some(name.to_string());
    let action = match asked.parts.method.as_str() {
        "GET" | "HEAD" => CopyAction::Read,
        "POST" => CopyAction::Replace,
        "DELETE" => CopyAction::Remove,
        _ => return answer::not_allowed("GET, HEAD, POST, DELETE"),
    };
    let (right, word) = action.needs();
    trail.action = word;
    if !asked.caller.rights.allow(right, &name) {
        return answer::forbidden(&asked.caller.name, right, &name);
    }
    match action {
        CopyAction::Read => answer::copy(&name, asked.service.store.copy_of(&name).await),
        CopyAction::Replace => replace(asked, name, body, trail).await,
        CopyAction::Remove => remove(asked, name).await,
    }
}

async fn replace(asked: Asked, name: StateName, body: Body, trail: &mut Trail) -> Response {
    let expected = asked.expected(asked.service.limits.state);
    let Received { bytes, room } = match receive(&asked.parts.headers, body, expected).await {
        Ok(received) => received,
        Err(refused) => return refused.answer(),
    };
    trail.bytes = Some(bytes.len());
    let store = asked.service.store.clone();
    let change = async move {
        let outcome = store.keep_copy(&name, bytes).await;
        drop(room);
        outcome
    };
    done(asked.service.finish(change).await)
}

async fn remove(asked: Asked, name: StateName) -> Response {
    let store = asked.service.store.clone();
    done(asked.service.finish(async move { store.drop_copy(&name).await }).await)
}

fn done(outcome: Result<()>) -> Response {
    match outcome {
        Ok(()) => StatusCode::OK.into_response(),
        Err(error) => answer::failed(&error),
    }
}
