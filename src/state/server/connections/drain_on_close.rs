//! A connection that stays open for a moment after an answer to a request that was not read
//! to its end.
//!
//! A system that is sent bytes for a closed socket resets the connection, and a reset can
//! overtake the answer: the client would see a broken connection in place of a reason. So
//! only the sending side is closed, and what still comes is read and forgotten until the client
//! closes its side too, for a bounded time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long a client may take to hear the answer.
const LONGEST: Duration = Duration::from_secs(5);

/// How often something is read before others get their turn.
const READS: usize = 32;

/// Whether there may be more of a request than was read.
#[derive(Clone, Debug, Default)]
pub struct UnreadBody(Arc<AtomicBool>);

impl UnreadBody {
    /// Returns whether it is so.
    pub fn is_left(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, is_left: bool) {
        self.0.store(is_left, Ordering::Relaxed);
    }
}

/// The body of a request, which tells whether it was read to its end.
#[derive(Debug)]
pub struct WatchedBody {
    body: Incoming,
    unread: UnreadBody,
}

impl WatchedBody {
    /// Watches a body.
    pub fn new(body: Incoming, unread: &UnreadBody) -> Self {
        unread.set(!body.is_end_stream());
        Self { body, unread: unread.clone() }
    }
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.unread.set(false);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream that is closed in two steps if something of a request is left.
#[derive(Debug)]
pub struct DrainOnClose<S> {
    stream: S,
    unread: UnreadBody,
    end: Option<Pin<Box<Sleep>>>,
}

impl<S> DrainOnClose<S> {
    /// Wraps a stream.
    pub const fn new(stream: S, unread: UnreadBody) -> Self {
        Self { stream, unread, end: None }
    }
}

impl<S: AsyncRead + Unpin> DrainOnClose<S> {
    /// Reads and forgets until the client has closed its side.
    fn poll_forget(&mut self, context: &mut Context<'_>) -> Poll<()> {
        for _ in 0..READS {
            let mut bytes = [0; 16 * 1024];
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for DrainOnClose<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for DrainOnClose<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.end.is_none() {
            std::task::ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            if !self.unread.is_left() {
                return Poll::Ready(Ok(()));
            }
        }
        let end = self.end.get_or_insert_with(|| Box::pin(sleep(LONGEST)));
        if end.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        self.poll_forget(context).map(Ok)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn what_a_client_still_sends_is_taken_until_it_closes() {
        let (here, mut there) = tokio::io::duplex(16);
        let unread = UnreadBody::default();
        unread.set(true);
        let client = tokio::spawn(async move {
            let sent = there.write_all(&[7; 100_000]).await;
            let mut heard = String::new();
            there.read_to_string(&mut heard).await.map(|_| (sent.is_ok(), heard))
        });

        let mut stream = DrainOnClose::new(here, unread);
        stream.write_all(b"too large").await.expect("an open stream");
        stream.shutdown().await.expect("an open stream");
        drop(stream);

        assert_eq!(client.await.expect("a client").expect("an answer"), (true, "too large".to_owned()));
    }

    #[tokio::test]
    async fn a_connection_with_nothing_left_is_closed_at_once() {
        let (here, _there) = tokio::io::duplex(16);

        let mut stream = DrainOnClose::new(here, UnreadBody::default());

        let closed = tokio::time::timeout(LONGEST / 2, stream.shutdown()).await;
        assert!(closed.is_ok_and(|closed| closed.is_ok()));
    }
}
