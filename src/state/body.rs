//! Receives the body of a request: whole, within a limit, and as its sender hashed it.
//!
//! It is held in memory once, in room that is taken before it is read. What exceeds the
//! limit, or finds no room, is read and dropped, for a while, since a client that is still
//! sending would meet a closed connection instead of the answer.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use md5::{Digest, Md5};
use tokio::time::{Instant, timeout};

use super::answer;
use super::room::{Room, Rooms, SMALL};

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
    /// Others took all the room for too long.
    Busy,
}

/// What is expected of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected<'a> {
    /// The most bytes.
    pub limit: usize,
    /// How long nothing may come.
    pub stall: Duration,
    /// Where it is held.
    pub rooms: &'a Rooms,
    /// How long it may wait for room.
    pub wait: Duration,
}

/// A whole body, and the room that it takes.
#[derive(Debug)]
pub(super) struct Received {
    pub bytes: Bytes,
    /// To be held as long as the bytes are.
    pub room: Room,
}

/// Below so many bytes a second, on the whole, a sender only pretends to send.
const SLOWEST: u64 = 1024;

/// The same for a body that takes room others may wait for.
const SLOWEST_LARGE: u64 = 64 * 1024;

/// When somebody who found no room may try again, in seconds.
const BUSY_FOR: u64 = 10;

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
            Self::Busy => answer::busy(BUSY_FOR),
        }
    }
}

/// Returns the whole body.
pub(super) async fn receive(
    headers: &HeaderMap,
    body: Body,
    expected: Expected<'_>,
) -> Result<Received, Refused> {
    let received = collect(body, expected).await?;
    match headers.get("content-md5") {
        Some(sum) if !is_sum_of(sum, &received.bytes) => Err(Refused::Altered),
        _ => Ok(received),
    }
}

async fn collect(body: Body, expected: Expected<'_>) -> Result<Received, Refused> {
    let Expected { limit, rooms, wait, .. } = expected;
    // One that is sent in chunks does not say how long it will be.
    let announced = body.size_hint().exact().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let mut sending = Sending::of(body, expected);
    if announced.is_some_and(|bytes| bytes > limit) {
        return Err(sending.dropped(Refused::TooLarge(limit)).await);
    }
    let mut size = announced.unwrap_or(SMALL).min(limit);
    let Some(mut room) = rooms.take(size, wait).await else {
        return Err(sending.dropped(Refused::Busy).await);
    };
    sending.begin(size);
    let mut kept = Vec::with_capacity(announced.unwrap_or_default());
    while let Some(chunk) = sending.next().await? {
        if sending.seen > limit {
            drop((kept, room));
            return Err(sending.dropped(Refused::TooLarge(limit)).await);
        }
        if sending.seen > size {
            size = limit;
            // The little that is held already is of the small ones' room, which nobody here waits for.
            room = match rooms.take(size, wait).await {
                Some(room) => room,
                None => return Err(sending.dropped(Refused::Busy).await),
            };
            sending.begin(size);
        }
        kept.extend_from_slice(&chunk);
    }
    room.shrink_to(kept.len());
    Ok(Received { bytes: kept.into(), room })
}

/// A body on its way, and how fast it comes.
struct Sending {
    stream: axum::body::BodyDataStream,
    limit: usize,
    stall: Duration,
    slowest: u64,
    begun: Instant,
    /// How many bytes have come in all.
    seen: usize,
    /// How many had come when the time was last taken.
    before: usize,
}

impl Sending {
    fn of(body: Body, expected: Expected<'_>) -> Self {
        let Expected { limit, stall, .. } = expected;
        let stream = body.into_data_stream();
        Self { stream, limit, stall, slowest: SLOWEST, begun: Instant::now(), seen: 0, before: 0 }
    }

    /// Takes the time anew: its sender could not go on while there was no room.
    fn begin(&mut self, size: usize) {
        self.slowest = if size > SMALL { SLOWEST_LARGE } else { SLOWEST };
        (self.begun, self.before) = (Instant::now(), self.seen);
    }

    async fn next(&mut self) -> Result<Option<Bytes>, Refused> {
        let next = timeout(self.stall, self.stream.next()).await.map_err(|_| Refused::Slow)?;
        let Some(chunk) = next else { return Ok(None) };
        let chunk = chunk.map_err(|_| Refused::Broken)?;
        self.seen = self.seen.saturating_add(chunk.len());
        let waited = self.begun.elapsed().saturating_sub(self.stall).as_secs();
        if ((self.seen - self.before) as u64) < waited.saturating_mul(self.slowest) {
            return Err(Refused::Slow);
        }
        Ok(Some(chunk))
    }

    /// Reads what still comes and forgets it, so that the sender hears why.
    async fn dropped(mut self, why: Refused) -> Refused {
        self.begin(0);
        loop {
            match self.next().await {
                Ok(Some(_)) if self.seen <= self.limit.saturating_mul(PATIENCE) => {}
                Ok(_) => return why,
                Err(refused) => return refused,
            }
        }
    }
}

fn is_sum_of(header: &HeaderValue, bytes: &[u8]) -> bool {
    STANDARD.decode(header).is_ok_and(|sum| sum == Md5::digest(bytes).as_slice())
}

#[cfg(test)]
mod tests {
    use super::super::Limits;
    use super::*;

    const STALL: Duration = Duration::from_millis(50);

    fn rooms(large: usize) -> Rooms {
        Rooms::of(Limits { state: large, lock: 0, together: 0 })
    }

    fn expected(limit: usize, rooms: &Rooms) -> Expected<'_> {
        Expected { limit, stall: STALL, rooms, wait: STALL }
    }

    /// A body in chunks, which does not say how long it is.
    fn chunks(count: usize, size: usize) -> Body {
        let chunk = Bytes::from(vec![b'x'; size]);
        Body::from_stream(futures::stream::iter(
            (0..count).map(move |_| Ok::<_, std::io::Error>(chunk.clone())),
        ))
    }

    async fn received(sum: Option<&'static str>, limit: usize) -> Result<Bytes, Refused> {
        let headers =
            sum.map(|sum| ("content-md5".parse().expect("a header name"), HeaderValue::from_static(sum)));
        let rooms = rooms(limit);
        let body = Body::from("hello");
        let received = receive(&headers.into_iter().collect(), body, expected(limit, &rooms)).await;
        received.map(|received| received.bytes)
    }

    #[tokio::test]
    async fn a_sender_that_sends_nothing_more_is_not_waited_for() {
        let begun = futures::stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"x"))]);
        let body = Body::from_stream(begun.chain(futures::stream::pending()));
        let rooms = rooms(1000);

        let refused = receive(&HeaderMap::new(), body, expected(1000, &rooms)).await;

        assert_eq!(refused.err(), Some(Refused::Slow));
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

    #[tokio::test]
    async fn a_body_of_unknown_length_takes_room_as_it_grows() {
        let (limit, headers) = (8 * SMALL, HeaderMap::new());
        let rooms = rooms(limit);

        let grown = receive(&headers, chunks(6, SMALL), expected(limit, &rooms)).await.expect("accepted");
        let large = receive(&headers, chunks(4, SMALL), expected(limit, &rooms)).await;
        let small = receive(&headers, chunks(1, SMALL), expected(limit, &rooms)).await;
        let swollen = receive(&headers, chunks(9, SMALL), expected(2 * SMALL, &rooms)).await;

        assert_eq!(grown.bytes.len(), 6 * SMALL);
        assert_eq!(large.err(), Some(Refused::Busy), "the first still holds its room");
        assert_eq!(small.expect("accepted").bytes.len(), SMALL);
        assert_eq!(swollen.err(), Some(Refused::TooLarge(2 * SMALL)));
    }
}
