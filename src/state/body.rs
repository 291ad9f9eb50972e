//! Receives the body of a request: whole, within a limit, and as its sender hashed it.
//!
//! What exceeds the limit is read and dropped, for a while, since a client that is still
//! sending would meet a closed connection instead of the answer.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use md5::{Digest, Md5};
use tokio::time::{Instant, timeout};

use super::answer;

/// The most room that is made because a sender announces it.
const MOST_ANNOUNCED: usize = 16 * 1024 * 1024;

/// How many times the limit is read and dropped before the connection is given up.
const PATIENCE: usize = 4;

/// Why a body was not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It has more bytes than the limit.
    TooLarge(usize),
    /// The connection broke before its end.
    Broken,
    /// Its `Content-MD5` is another.
    Altered,
    /// It came too slowly.
    Slow,
}

/// What is expected of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// The most bytes.
    pub limit: usize,
    /// How long nothing may come.
    pub stall: Duration,
}

/// Below so many bytes a second, on the whole, a sender only pretends to send.
const SLOWEST: u64 = 1024;

impl Refused {
    /// Returns the answer to the client.
    pub fn answer(&self) -> Response {
        match self {
            Self::TooLarge(limit) => {
                let words = format!("the body is larger than the limit of {limit} bytes");
                answer::text(StatusCode::PAYLOAD_TOO_LARGE, words)
            }
            Self::Slow => answer::text(StatusCode::REQUEST_TIMEOUT, "the body came too slowly"),
            Self::Broken => answer::text(StatusCode::BAD_REQUEST, "the body did not arrive whole"),
            Self::Altered => answer::text(
                StatusCode::BAD_REQUEST,
                "the body does not have the MD5 sum that Content-MD5 says",
            ),
        }
    }
}

/// Returns the whole body.
pub(super) async fn receive(headers: &HeaderMap, body: Body, expected: Expected) -> Result<Bytes, Refused> {
    let bytes = collect(body, announced(headers).min(expected.limit), expected).await?;
    match headers.get("content-md5") {
        Some(sum) if !is_sum_of(sum, &bytes) => Err(Refused::Altered),
        _ => Ok(bytes),
    }
}

/// Returns how many bytes the sender says will come, so that they need room once only.
fn announced(headers: &HeaderMap) -> usize {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    // Room for much is made as it comes: saying so is cheap for a sender.
    length.unwrap_or(0).min(MOST_ANNOUNCED)
}

async fn collect(body: Body, room: usize, expected: Expected) -> Result<Bytes, Refused> {
    let Expected { limit, stall } = expected;
    let begun = Instant::now();
    let mut stream = body.into_data_stream();
    let mut kept = Vec::with_capacity(room);
    let mut seen = 0_usize;
    while let Some(chunk) = timeout(stall, stream.next()).await.map_err(|_| Refused::Slow)? {
        let chunk = chunk.map_err(|_| Refused::Broken)?;
        seen = seen.saturating_add(chunk.len());
        if seen <= limit {
            kept.extend_from_slice(&chunk);
        } else if seen > limit.saturating_mul(PATIENCE) {
            break;
        }
        let waited = begun.elapsed().saturating_sub(stall).as_secs();
        if (seen as u64) < waited.saturating_mul(SLOWEST) {
            return Err(Refused::Slow);
        }
    }
    if seen > limit { Err(Refused::TooLarge(limit)) } else { Ok(kept.into()) }
}

fn is_sum_of(header: &HeaderValue, bytes: &[u8]) -> bool {
    STANDARD.decode(header).is_ok_and(|sum| sum == Md5::digest(bytes).as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn received(sum: Option<&'static str>, limit: usize) -> Result<Bytes, Refused> {
        let headers =
            sum.map(|sum| ("content-md5".parse().expect("a header name"), HeaderValue::from_static(sum)));
        let expected = Expected { limit, stall: Duration::from_secs(30) };
        receive(&headers.into_iter().collect(), Body::from("hello"), expected).await
    }

    #[tokio::test]
    async fn a_sender_that_sends_nothing_more_is_not_waited_for() {
        let begun = futures::stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"x"))]);
        let body = Body::from_stream(begun.chain(futures::stream::pending()));
        let expected = Expected { limit: 1000, stall: Duration::from_millis(20) };

        let refused = receive(&HeaderMap::new(), body, expected).await;

        assert_eq!(refused, Err(Refused::Slow));
    }

    #[tokio::test]
    async fn a_body_within_the_limit_arrives_whole() {
        assert_eq!(received(None, 5).await.expect("accepted"), "hello");
        assert_eq!(received(Some("XUFAKrxLKna5cZ2REBfFkg=="), 5).await.expect("accepted"), "hello");
    }

    #[tokio::test]
    async fn a_body_above_the_limit_or_with_another_sum_is_refused() {
        assert_eq!(received(None, 4).await, Err(Refused::TooLarge(4)));
        assert_eq!(received(None, 0).await, Err(Refused::TooLarge(0)));
        assert_eq!(received(Some("XUFAKrxLKna5cZ2REBfFkQ=="), 5).await, Err(Refused::Altered));
        assert_eq!(received(Some("not base64"), 5).await, Err(Refused::Altered));
    }
}
