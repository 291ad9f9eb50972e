//! Receives the body of a request: whole, within a limit, and as its sender hashed it.
//!
//! It is held in memory once, within a share that grows as it arrives. What announces more than
//! the limit is refused before it is read; what grows beyond it, finds no memory or comes too
//! slowly is refused on the way. Nothing more of it is read here then: the connection sees to it
//! that the sender hears why (`connections`).

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use md5::{Digest, Md5};
use tokio::time::{Instant, timeout};

use super::answers;
use super::body_memory::{BodyMemory, MemoryShare, SMALL, UNCHARGED};

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
    /// Others used all the memory for too long.
    Busy,
    /// It came too slowly while others waited for the memory that it uses.
    TooSlowForOthers,
}

/// What is expected of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected<'a> {
    /// The most bytes.
    pub limit: usize,
    /// How long nothing may come.
    pub stall: Duration,
    /// Where it is held.
    pub memory: &'a BodyMemory,
    /// How long it may wait for memory.
    pub wait: Duration,
}

/// A whole body, and its share of the memory.
#[derive(Debug)]
pub(super) struct Received {
    pub bytes: Bytes,
    /// To be held as long as the bytes are.
    pub memory: MemoryShare,
}

/// Below so many bytes a second a sender only pretends to send.
const SLOWEST: usize = 1024;

/// The same for a body that is large, or uses memory that others wait for.
const SLOWEST_LARGE: usize = 64 * 1024;

/// For so long a body may come more slowly although others wait for the memory that it uses.
const GRACE: Duration = Duration::from_secs(2);

/// How often it is looked at how fast a body comes.
const LOOK: Duration = Duration::from_millis(500);

/// When a client that found no memory may try again, in seconds.
const BUSY_FOR: u64 = 10;

impl Refused {
    /// Returns the answer to the client.
    pub fn answer(&self) -> Response {
        match self {
            Self::TooLarge(limit) => {
                let words = format!("the body is larger than the limit of {limit} bytes");
                answers::text(StatusCode::PAYLOAD_TOO_LARGE, words)
            }
            Self::Slow => answers::text(StatusCode::REQUEST_TIMEOUT, "the body came too slowly"),
            Self::Broken => answers::text(StatusCode::BAD_REQUEST, "the body did not arrive whole"),
            Self::Altered => answers::text(
                StatusCode::BAD_REQUEST,
                "the body does not have the MD5 sum that Content-MD5 says",
            ),
            Self::Busy => answers::busy("too many large states are being stored", BUSY_FOR),
            Self::TooSlowForOthers => answers::busy("the body came too slowly while others waited", BUSY_FOR),
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
    let Expected { limit, stall, memory, wait } = expected;
    // One that is sent in chunks does not say how long it will be.
    let announced = body.size_hint().exact().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    if announced.is_some_and(|bytes| bytes > limit) {
        return Err(Refused::TooLarge(limit));
    }
    let mut most = announced.unwrap_or(SMALL).min(limit);
    let mut share = memory.announce(most);
    let mut sending = Sending::of(body, stall);
    let mut kept = Vec::new();
    while let Some(chunk) = sending.next(&share, most).await? {
        let size = kept.len() + chunk.len();
        if size > limit {
            return Err(Refused::TooLarge(limit));
        }
        if size > most {
            (most, share) = (limit, moved(memory, limit, size, wait).await?);
            sending.begin();
        } else if !share.try_hold(size) {
            if !share.hold(size, wait).await {
                return Err(Refused::Busy);
            }
            // Its sender could not go on while there was no memory.
            sending.begin();
        }
        append(&mut kept, &chunk, announced)?;
    }
    share.shrink_to(kept.len());
    Ok(Received { bytes: kept.into(), memory: share })
}

/// Returns a share of the memory for large bodies, for one that turned out to be no small one.
///
/// It does not wait long: what it has so far uses the memory for small ones.
async fn moved(
    memory: &BodyMemory,
    limit: usize,
    size: usize,
    wait: Duration,
) -> Result<MemoryShare, Refused> {
    let share = memory.announce(limit);
    if share.hold(size, wait.min(GRACE)).await { Ok(share) } else { Err(Refused::Busy) }
}

/// Adds a chunk; memory for the whole is asked for at once where that is little, else when a body is more
/// than a beginning: pages that were never written to cost nothing, but a promise of many might be refused.
fn append(kept: &mut Vec<u8>, chunk: &[u8], announced: Option<usize>) -> Result<(), Refused> {
    let size = kept.len() + chunk.len();
    if size > kept.capacity() {
        let whole = announced.filter(|whole| *whole >= size && (size > UNCHARGED || *whole <= UNCHARGED));
        let wanted = whole.unwrap_or_else(|| size.max(2 * kept.len()));
        kept.try_reserve_exact(wanted - kept.len()).map_err(|_| Refused::Busy)?;
    }
    kept.extend_from_slice(chunk);
    Ok(())
}

/// A body on its way, and how fast it comes.
struct Sending {
    stream: axum::body::BodyDataStream,
    stall: Duration,
    /// When something came last.
    last: Instant,
    /// What came in the time in which a slow body is found out.
    long: Span,
    /// What came in the time for which a body may be in the way.
    short: Span,
}

/// How much came since when.
#[derive(Clone, Copy)]
struct Span {
    since: Instant,
    bytes: usize,
}

impl Sending {
    fn of(body: Body, stall: Duration) -> Self {
        let now = Instant::now();
        let span = Span { since: now, bytes: 0 };
        Self { stream: body.into_data_stream(), stall, last: now, long: span, short: span }
    }

    /// Takes the time anew.
    fn begin(&mut self) {
        self.last = Instant::now();
        self.long = Span { since: self.last, bytes: 0 };
        self.short = self.long;
    }

    /// Waits for the next chunk of a body of at most so many bytes.
    async fn next(&mut self, share: &MemoryShare, most: usize) -> Result<Option<Bytes>, Refused> {
        loop {
            let came = timeout(LOOK.min(self.stall), self.stream.next()).await;
            let now = Instant::now();
            if let Ok(Some(Ok(chunk))) = &came {
                self.last = now;
                self.long.bytes += chunk.len();
                self.short.bytes += chunk.len();
            }
            match came {
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return Err(Refused::Broken),
                Ok(Some(Ok(chunk))) => {
                    self.judge(now, share, most)?;
                    return Ok(Some(chunk));
                }
                Err(_) => self.judge(now, share, most)?,
            }
        }
    }

    /// Refuses a body that comes too slowly.
    fn judge(&mut self, now: Instant, share: &MemoryShare, most: usize) -> Result<(), Refused> {
        let slowest = if most > SMALL { SLOWEST_LARGE } else { SLOWEST };
        if now.duration_since(self.last) >= self.stall || self.long.is_slow(now, self.stall, slowest) {
            return Err(Refused::Slow);
        }
        if self.short.is_slow(now, GRACE, SLOWEST_LARGE) && share.is_wanted() {
            return Err(Refused::TooSlowForOthers);
        }
        self.long.renew(now, self.stall);
        self.short.renew(now, GRACE);
        Ok(())
    }
}

impl Span {
    /// Returns whether less came in the time than should come in it, once it is over.
    fn is_slow(self, now: Instant, time: Duration, slowest: usize) -> bool {
        let passed = now.duration_since(self.since);
        passed >= time && (self.bytes as f64) < passed.as_secs_f64() * slowest as f64
    }

    fn renew(&mut self, now: Instant, time: Duration) {
        if now.duration_since(self.since) >= time {
            *self = Self { since: now, bytes: 0 };
        }
    }
}

fn is_sum_of(header: &HeaderValue, bytes: &[u8]) -> bool {
    STANDARD.decode(header).is_ok_and(|sum| sum == Md5::digest(bytes).as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::server::limits::Limits;

    const STALL: Duration = Duration::from_millis(50);

    fn memory(large: usize) -> BodyMemory {
        BodyMemory::new(Limits { state: large, lock: 0, together: 0 })
    }

    fn expected(limit: usize, memory: &BodyMemory) -> Expected<'_> {
        Expected { limit, stall: STALL, memory, wait: STALL }
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
        let memory = memory(limit);
        let body = Body::from("hello");
        let received = receive(&headers.into_iter().collect(), body, expected(limit, &memory)).await;
        received.map(|received| received.bytes)
    }

    #[tokio::test]
    async fn a_sender_that_sends_nothing_more_is_not_waited_for() {
        let begun = futures::stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"x"))]);
        let body = Body::from_stream(begun.chain(futures::stream::pending()));
        let memory = memory(1000);

        let refused = receive(&HeaderMap::new(), body, expected(1000, &memory)).await;

        assert_eq!(refused.err(), Some(Refused::Slow));
    }

    #[tokio::test]
    async fn a_body_that_announces_too_much_is_refused_before_it_is_read() {
        let stream = futures::stream::pending::<Result<Bytes, std::io::Error>>();
        let body = Body::new(Announced(Body::from_stream(stream), 1001));

        let refused = receive(&HeaderMap::new(), body, expected(1000, &memory(1000))).await;

        assert_eq!(refused.err(), Some(Refused::TooLarge(1000)));
    }

    #[tokio::test]
    async fn who_sends_nothing_leaves_the_memory_that_others_wait_for() {
        let (limit, headers) = (4 * SMALL, HeaderMap::new());
        let memory = memory(limit);
        let begun = Bytes::from(vec![b'x'; limit - 1]);
        let begun = futures::stream::iter([Ok::<_, std::io::Error>(begun)]).chain(futures::stream::pending());
        let slow = Body::new(Announced(Body::from_stream(begun), limit as u64));
        let long = Duration::from_secs(600);
        let patient = Expected { limit, stall: long, memory: &memory, wait: long };

        let (slow, quick) = tokio::join!(receive(&headers, slow, patient), async {
            tokio::task::yield_now().await;
            receive(&headers, Body::from(vec![b'y'; limit]), patient).await
        });

        assert_eq!(slow.err(), Some(Refused::TooSlowForOthers));
        assert_eq!(quick.expect("accepted").bytes.len(), limit);
    }

    /// A body that says how long it is.
    struct Announced(Body, u64);

    impl axum::body::HttpBody for Announced {
        type Data = Bytes;
        type Error = axum::Error;

        fn poll_frame(
            mut self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, axum::Error>>> {
            std::pin::Pin::new(&mut self.0).poll_frame(context)
        }

        fn size_hint(&self) -> hyper::body::SizeHint {
            hyper::body::SizeHint::with_exact(self.1)
        }
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
    async fn a_body_of_unknown_length_takes_memory_as_it_grows() {
        let (limit, headers) = (8 * SMALL, HeaderMap::new());
        let memory = memory(limit);

        let grown = receive(&headers, chunks(6, SMALL), expected(limit, &memory)).await.expect("accepted");
        let large = receive(&headers, chunks(4, SMALL), expected(limit, &memory)).await;
        let small = receive(&headers, chunks(1, SMALL), expected(limit, &memory)).await;
        let swollen = receive(&headers, chunks(9, SMALL), expected(2 * SMALL, &memory)).await;

        assert_eq!(grown.bytes.len(), 6 * SMALL);
        assert_eq!(large.err(), Some(Refused::Busy), "the first still holds its share");
        assert_eq!(small.expect("accepted").bytes.len(), SMALL);
        assert_eq!(swollen.err(), Some(Refused::TooLarge(2 * SMALL)));
    }
}
