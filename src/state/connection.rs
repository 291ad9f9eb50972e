//! Connections: accepted, encrypted where that is wanted, served, ended.
//!
//! A client that is slow to say what it wants, or to take the answer, is not waited for, and
//! one that has not logged in gives way to others ([`super::guests`]). Begin at [`accept_until`].

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use super::guests::{Guest, Guests};
use super::handlers::dispatch;
use super::lingering::{Lingering, Unread, Watched};
use super::stalled::Unstalled;
use super::{Service, Tls};

/// How long clients may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// To send a whole head, and between two requests; `None` is for ever.
    pub head: Option<Duration>,
    /// To send or take anything at all, in the middle of a body.
    pub stall: Duration,
    /// To agree on encryption.
    pub handshake: Duration,
    /// To wait until others have left room for a body; then they are told to come again.
    pub room: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            head: None,
            stall: Duration::from_secs(60),
            handshake: Duration::from_secs(10),
            room: Duration::from_secs(120),
        }
    }
}

impl Patience {
    /// Returns the patience with clients that nobody started.
    pub const fn with_strangers() -> Self {
        Self {
            head: Some(Duration::from_secs(15)),
            stall: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            room: Duration::from_secs(120),
        }
    }
}

/// The most connections that are open at once; others wait to be accepted.
const MOST_CONNECTIONS: usize = 2048;

/// The most of them that one address may have before it logs in.
const MOST_GUESTS: usize = MOST_CONNECTIONS / 4;

/// How long a full house is waited for before somebody is sent away once more.
const FULL: Duration = Duration::from_secs(1);

/// The most bytes that a head may have.
const LONGEST_HEAD: usize = 64 * 1024;

/// How long requests under way may take to end once the server is told to stop.
const ENDING: Duration = Duration::from_secs(5);

/// A pause after a failed accept: too many open files do not go away at once.
const RECOVERY: Duration = Duration::from_millis(50);

/// Where connections come in, and the room for them.
#[derive(Debug)]
pub(super) struct Door {
    listener: TcpListener,
    room: Arc<Semaphore>,
    guests: Arc<Guests>,
}

impl Door {
    /// Makes the door of a server.
    pub fn of(listener: TcpListener) -> Self {
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        Self { listener, room, guests: Guests::new(MOST_GUESTS) }
    }

    /// Waits for a place; while there is none, guests have to leave.
    async fn place(&self) -> OwnedSemaphorePermit {
        loop {
            if let Ok(place) = Arc::clone(&self.room).try_acquire_owned() {
                return place;
            }
            self.guests.send_one_away();
            let freed = tokio::time::timeout(FULL, Arc::clone(&self.room).acquire_owned()).await;
            if let Ok(Ok(place)) = freed {
                return place;
            }
        }
    }

    /// Waits for a connection that is let in.
    async fn next(&self) -> (TcpStream, Guest) {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => match self.guests.enter(peer.ip()) {
                    Some(guest) => return (stream, guest),
                    None => tracing::debug!(%peer, "too many connections of one address"),
                },
                // Too many open files, most likely.
                Err(_) => {
                    self.guests.send_one_away();
                    tokio::time::sleep(RECOVERY).await;
                }
            }
        }
    }
}

/// Accepts connections until told to stop, then waits a while for the requests under way.
pub(super) async fn accept_until(
    stop: watch::Receiver<bool>,
    door: Door,
    service: Arc<Service>,
    tls: Option<Tls>,
) {
    let mut open = JoinSet::new();
    let mut stopping = stop.clone();
    loop {
        let accepted = tokio::select! {
            accepted = async { (door.place().await, door.next().await) } => accepted,
            () = told_to(&mut stopping) => break,
        };
        let (place, (stream, guest)) = accepted;
        let (service, tls, stop) = (Arc::clone(&service), tls.clone(), stop.clone());
        open.spawn(async move {
            service.metrics.connections.fetch_add(1, Ordering::Relaxed);
            tokio::select! {
                () = welcome(stream, &guest, &service, tls, stop) => {}
                () = guest.told_to_leave() => {}
            }
            service.metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
        while open.try_join_next().is_some() {}
    }
    drop(door);
    let ended = async { while open.join_next().await.is_some() {} };
    if tokio::time::timeout(ENDING, ended).await.is_err() {
        open.shutdown().await;
    }
}

/// Waits until the server is told to stop; a sender that is gone means the same.
async fn told_to(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn welcome(
    stream: TcpStream,
    guest: &Guest,
    service: &Arc<Service>,
    tls: Option<Tls>,
    stop: watch::Receiver<bool>,
) {
    // A small answer must not wait for the acknowledgement of the one before.
    let _ = stream.set_nodelay(true);
    let Some(Tls(acceptor)) = tls else { return serve(stream, guest, service, stop).await };
    let peer = guest.peer;
    match tokio::time::timeout(service.patience.handshake, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => serve(stream, guest, service, stop).await,
        Ok(Err(error)) => tracing::debug!(%peer, %error, "a handshake failed"),
        Err(_) => tracing::debug!(%peer, "a handshake took too long"),
    }
}

/// Serves the requests of one connection.
pub(super) async fn serve<S>(
    stream: S,
    guest: &Guest,
    service: &Arc<Service>,
    mut stop: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (patience, unread) = (service.patience, Unread::default());
    let stream = TokioIo::new(Unstalled::new(Lingering::new(stream, unread.clone()), patience.stall));
    let answer = service_fn(|request: hyper::Request<Incoming>| {
        let (service, unread) = (Arc::clone(service), &unread);
        async move { Ok::<_, std::convert::Infallible>(answer_one(service, guest, request, unread).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience.head)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(stream, answer);
    let mut connection = std::pin::pin!(connection);
    let early = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = told_to(&mut stop) => None,
    };
    let ended = match early {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(peer = %guest.peer, %error, "a connection broke off");
    }
}

/// Answers a request; one that was not read to its end is the last of its connection.
async fn answer_one(
    service: Arc<Service>,
    guest: &Guest,
    request: hyper::Request<Incoming>,
    unread: &Unread,
) -> Response {
    let request = request.map(|body| Body::new(Watched::new(body, unread)));
    guest.is_asking(true);
    let mut response = dispatch(service, guest, request).await;
    guest.is_asking(false);
    if unread.is_left() {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use jiff::Timestamp;
    use object_store::memory::InMemory;

    use super::*;
    use crate::model::Clock;
    use crate::state::StateStore;

    #[tokio::test]
    async fn a_full_house_does_not_keep_the_server_from_ending() {
        let store = StateStore::new(Arc::new(InMemory::new()), Clock::new(|| Timestamp::UNIX_EPOCH));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let full = Door { listener, room: Arc::new(Semaphore::new(0)), guests: Guests::new(1) };
        let (_stop, stopped) = watch::channel(true);

        let ending = accept_until(stopped, full, Arc::new(Service::open(store)), None);

        tokio::time::timeout(Duration::from_secs(60), ending).await.expect("it ends");
    }
}
