//! The answers of the server, in the status codes OpenTofu's client understands.
//!
//! A refusal always carries words: the client shows the code alone, but a person with
//! `curl` reads the body. No answer contains a password or a state that was refused.

use axum::body::{Body, Bytes};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, RETRY_AFTER,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::access::Right;
use crate::error::{Error, Result};
use crate::model::in_plain_sight;
use crate::state::store::{Locking, Reading, StateStream, Unlocking, Writing};
use crate::state::{HeldLock, Moved, StateName};

/// An answer that ends the handling of a request early.
#[derive(Debug)]
pub(super) struct EarlyAnswer(Box<Response>);

impl From<Response> for EarlyAnswer {
    fn from(response: Response) -> Self {
        Self(Box::new(response))
    }
}

impl IntoResponse for EarlyAnswer {
    fn into_response(self) -> Response {
        *self.0
    }
}

/// Answers with a sentence.
pub(super) fn text(status: StatusCode, sentence: impl Into<String>) -> Response {
    let body = sentence.into() + "\n";
    with(status, CONTENT_TYPE, "text/plain; charset=utf-8", body)
}

/// Answers a request that cannot be understood.
pub(super) fn bad_request(error: &Error) -> Response {
    text(StatusCode::BAD_REQUEST, error.to_string())
}

/// Answers a request without the right credentials.
pub(super) fn unauthorized() -> Response {
    let words = "user name and password are missing or wrong\n";
    with(StatusCode::UNAUTHORIZED, WWW_AUTHENTICATE, "Basic realm=\"infra state\"", words)
}

/// Answers a caller that failed too often.
pub(super) fn locked_out(left: std::time::Duration) -> Response {
    let seconds = left.as_secs() + 1;
    let words = format!("too many failed logins: try again in {seconds} seconds");
    let mut response = text(StatusCode::TOO_MANY_REQUESTS, words);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Answers a body for which there is no memory, or not enough.
pub(super) fn busy(why: &str, seconds: u64) -> Response {
    let words = format!("{why}: try again in {seconds} seconds");
    let mut response = text(StatusCode::SERVICE_UNAVAILABLE, words);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Answers a caller without the right to what it asks for.
pub(super) fn forbidden(user: &str, right: Right, name: &StateName) -> Response {
    text(StatusCode::FORBIDDEN, format!("`{user}` may not {} the state `{name}`", right.verb()))
}

/// Answers with JSON.
pub(super) fn json(value: &impl serde::Serialize) -> Response {
    match serde_json::to_string_pretty(value) {
        Ok(text) => with(StatusCode::OK, CONTENT_TYPE, "application/json", text + "\n"),
        Err(error) => failed(&Error::bug("an answer has no JSON form").because(error)),
    }
}

/// Answers with a page that may load nothing and run nothing.
pub(super) fn page(html: String) -> Response {
    let mut response = with(StatusCode::OK, CONTENT_TYPE, "text/html; charset=utf-8", html);
    let headers = response.headers_mut();
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Answers a method that makes no sense on a path.
pub(super) fn not_allowed(allow: &'static str) -> Response {
    with(StatusCode::METHOD_NOT_ALLOWED, ALLOW, allow, format!("the methods here are {allow}\n"))
}

/// Answers a read of the current state, unless it was moved.
pub(super) fn reading(name: &StateName, read: Result<Reading>) -> Response {
    match read {
        Ok(Reading::State(read)) => state(name, Ok(read)),
        Ok(Reading::Moved(place)) => moved(name, &place),
        Err(error) => failed(&error),
    }
}

/// Answers with a state.
///
/// The length is told, so that an answer which breaks off is not taken for a whole state.
pub(super) fn state(name: &StateName, read: Result<Option<StateStream>>) -> Response {
    match read {
        Ok(Some(StateStream { size, parts })) => {
            let body = Body::from_stream(parts);
            let mut response = with(StatusCode::OK, CONTENT_TYPE, "application/octet-stream", body);
            response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(size));
            response
        }
        Ok(None) => text(StatusCode::NOT_FOUND, format!("there is no state `{name}`")),
        Err(error) => failed(&error),
    }
}

/// Answers with the copy of what a state was applied from.
pub(super) fn copy(name: &StateName, read: Result<Option<Bytes>>) -> Response {
    match read {
        Ok(Some(bytes)) => with(StatusCode::OK, CONTENT_TYPE, "application/octet-stream", bytes),
        Ok(None) => text(StatusCode::NOT_FOUND, format!("there is no copy for the state `{name}`")),
        Err(error) => failed(&error),
    }
}

/// Answers a read of an old version.
pub(super) fn version(name: &StateName, number: u64, read: Result<Option<StateStream>>) -> Response {
    match read {
        Ok(None) => {
            let words = format!("the state `{name}` has no version {number}; `?versions` lists those it has");
            text(StatusCode::NOT_FOUND, words)
        }
        read => state(name, read),
    }
}

/// Answers the question who holds a lock.
pub(super) fn holder(name: &StateName, lock: Result<Option<HeldLock>>) -> Response {
    match lock {
        Ok(Some(lock)) => lock_info(StatusCode::OK, &lock),
        Ok(None) => text(StatusCode::NOT_FOUND, format!("the state `{name}` is not locked")),
        Err(error) => failed(&error),
    }
}

/// Answers a write or a deletion.
pub(super) fn writing(name: &StateName, outcome: Result<Writing>) -> Response {
    match outcome {
        Ok(Writing::Accepted) => StatusCode::OK.into_response(),
        Ok(Writing::Locked(lock)) => lock_info(StatusCode::LOCKED, &lock),
        Ok(Writing::Stale) => {
            let words =
                format!("the lock this write names no longer holds the state `{name}`: it was released");
            text(StatusCode::CONFLICT, words)
        }
        Ok(Writing::OfAnother(lock)) => of_another(name, &lock),
        Ok(Writing::Moved(_, place)) => moved(name, &place),
        Err(error) => failed(&error),
    }
}

/// Answers a lock request.
pub(super) fn locking(outcome: Result<Locking>) -> Response {
    match outcome {
        Ok(Locking::Granted) => StatusCode::OK.into_response(),
        Ok(Locking::Held(lock)) => lock_info(StatusCode::LOCKED, &lock),
        Ok(Locking::Moved(lock)) => lock_info(StatusCode::CONFLICT, &lock),
        Err(error) => failed(&error),
    }
}

/// Answers an unlock request; the client takes nothing but 200 for a success.
pub(super) fn unlocking(name: &StateName, outcome: Result<Unlocking>) -> Response {
    match outcome {
        Ok(Unlocking::Released(_) | Unlocking::Repeated) => StatusCode::OK.into_response(),
        Ok(Unlocking::Held(lock) | Unlocking::Moved(lock)) => lock_info(StatusCode::CONFLICT, &lock),
        Ok(Unlocking::OfAnother(lock)) => of_another(name, &lock),
        Ok(Unlocking::NotLocked) => text(StatusCode::CONFLICT, format!("the state `{name}` is not locked")),
        Err(error) => failed(&error),
    }
}

/// Answers a caller that names the lock of another user without being an administrator.
fn of_another(name: &StateName, lock: &HeldLock) -> Response {
    let owner = lock.owner().unwrap_or("another user");
    let words =
        format!("`{owner}` holds the lock of the state `{name}`: only that user or an `admin` may use it");
    text(StatusCode::FORBIDDEN, words)
}

/// Answers a request for a state that was moved.
fn moved(name: &StateName, moved: &Moved) -> Response {
    let words = format!("the state `{name}` was moved to {}", in_plain_sight(&moved.to));
    text(StatusCode::CONFLICT, words)
}

fn lock_info(status: StatusCode, lock: &HeldLock) -> Response {
    with(status, CONTENT_TYPE, "application/json", lock.info().to_owned())
}

pub(super) fn failed(error: &Error) -> Response {
    text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

fn with(status: StatusCode, name: HeaderName, value: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}
