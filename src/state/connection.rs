//! Connections: accepted, encrypted where that is wanted, served, ended.
//!
//! A client that is slow to say what it wants, or to take the answer, is not waited for.
//! Begin at [`accept_until`].

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::handlers::dispatch;
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
}

impl Door {
    /// Makes the door of a server.
    pub fn of(listener: TcpListener) -> Self {
        Self { listener, room: Arc::new(Semaphore::new(MOST_CONNECTIONS)) }
    }
}

/// Accepts connections until told to stop, then waits a while for the requests under way.
pub(super) async fn accept_until(
    stop: watch::Receiver<bool>,
    door: Door,
    service: Arc<Service>,
    tls: Option<Tls>,
) {
    let Door { listener, room } = door;
    let mut open = JoinSet::new();
    let mut stopping = stop.clone();
    loop {
        let place = tokio::select! {
            place = Arc::clone(&room).acquire_owned() => place,
            () = told_to(&mut stopping) => break,
        };
        // A closed semaphore cannot be: nobody closes it.
        let Ok(place) = place else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = told_to(&mut stopping) => break,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(RECOVERY).await;
            continue;
        };
        let (service, tls, stop) = (Arc::clone(&service), tls.clone(), stop.clone());
        open.spawn(async move {
            service.metrics.connections.fetch_add(1, Ordering::Relaxed);
            welcome(stream, peer.ip(), &service, tls, stop).await;
            service.metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
        while open.try_join_next().is_some() {}
    }
    drop(listener);
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
    peer: IpAddr,
    service: &Arc<Service>,
    tls: Option<Tls>,
    stop: watch::Receiver<bool>,
) {
    // A small answer must not wait for the acknowledgement of the one before.
    let _ = stream.set_nodelay(true);
    let Some(Tls(acceptor)) = tls else { return serve(stream, peer, service, stop).await };
    match tokio::time::timeout(service.patience.handshake, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => serve(stream, peer, service, stop).await,
        Ok(Err(error)) => tracing::debug!(%peer, %error, "a handshake failed"),
        Err(_) => tracing::debug!(%peer, "a handshake took too long"),
    }
}

/// Serves the requests of one connection.
pub(super) async fn serve<S>(stream: S, peer: IpAddr, service: &Arc<Service>, mut stop: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let patience = service.patience;
    let stream = TokioIo::new(Unstalled::new(stream, patience.stall));
    let answer = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
        let service = Arc::clone(service);
        async move { Ok::<_, std::convert::Infallible>(dispatch(service, peer, request.map(Body::new)).await) }
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
        tracing::debug!(%peer, %error, "a connection broke off");
    }
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
        let full = Door { listener, room: Arc::new(Semaphore::new(0)) };
        let (_stop, stopped) = watch::channel(true);

        let ending = accept_until(stopped, full, Arc::new(Service::open(store)), None);

        tokio::time::timeout(Duration::from_secs(60), ending).await.expect("it ends");
    }
}
