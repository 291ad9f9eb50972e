//! Accepts connections, encrypts them where that is wanted, serves and closes them.
//!
//! A client that is slow to send its request, or to read the answer, is not waited for, and the
//! connection of one that has not logged in is closed when others need its place
//! ([`super::client_connections`]). Begin at [`accept_until`].

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use super::client_connections::{ClientConnection, ClientConnections};
use super::drain_on_close::{DrainOnClose, UnreadBody, WatchedBody};
use super::tls::Tls;
use super::write_timeout::WriteTimeout;
use crate::state::server::limits::TimeLimits;
use crate::state::server::router::{routed, router};
use crate::state::server::service::Service;

/// The most connections that are open at once; others wait to be accepted.
const MOST_CONNECTIONS: usize = 2048;

/// The most of them that one address may have before it logs in.
const MOST_ANONYMOUS: usize = MOST_CONNECTIONS / 4;

/// How long a full server waits before it closes one more connection.
const FULL: Duration = Duration::from_secs(1);

/// The most bytes that a head may have.
const LONGEST_HEAD: usize = 64 * 1024;

/// How long requests under way may take to end once the server is told to stop.
const ENDING: Duration = Duration::from_secs(5);

/// A pause after a failed accept: too many open files do not go away at once.
const RECOVERY: Duration = Duration::from_millis(50);

/// Where connections come in, and the places for them.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    places: Arc<Semaphore>,
    connections: Arc<ClientConnections>,
}

impl Listener {
    /// Makes the listener of a server.
    pub fn new(socket: TcpListener) -> Self {
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        Self { socket, places, connections: ClientConnections::new(MOST_ANONYMOUS) }
    }

    /// Waits for a place; while there is none, connections without a login are closed.
    async fn place(&self) -> OwnedSemaphorePermit {
        loop {
            if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
                return place;
            }
            self.connections.close_one();
            let freed = tokio::time::timeout(FULL, Arc::clone(&self.places).acquire_owned()).await;
            if let Ok(Ok(place)) = freed {
                return place;
            }
        }
    }

    /// Waits for a connection that is admitted.
    async fn next(&self) -> (TcpStream, ClientConnection) {
        loop {
            match self.socket.accept().await {
                Ok((stream, peer)) => match self.connections.admit(peer.ip()) {
                    Some(connection) => return (stream, connection),
                    None => tracing::debug!(%peer, "too many connections of one address"),
                },
                // Too many open files, most likely.
                Err(_) => {
                    self.connections.close_one();
                    tokio::time::sleep(RECOVERY).await;
                }
            }
        }
    }
}

/// Accepts connections until told to stop, then waits a while for the requests under way.
pub async fn accept_until(
    stop: watch::Receiver<bool>,
    listener: Listener,
    service: Arc<Service>,
    tls: Option<Tls>,
) {
    let (mut open, router) = (JoinSet::new(), router(&service));
    let mut stopping = stop.clone();
    loop {
        let accepted = tokio::select! {
            accepted = async { (listener.place().await, listener.next().await) } => accepted,
            () = told_to(&mut stopping) => break,
        };
        let (place, (stream, connection)) = accepted;
        let (service, tls, stop) = (Arc::clone(&service), tls.clone(), stop.clone());
        let (connection, router) = (Arc::new(connection), router.clone());
        open.spawn(async move {
            service.metrics.connections.fetch_add(1, Ordering::Relaxed);
            tokio::select! {
                () = encrypt_and_serve(stream, &connection, router, (service.time_limits, tls), stop) => {}
                () = connection.closed() => {}
            }
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

async fn encrypt_and_serve(
    stream: TcpStream,
    connection: &Arc<ClientConnection>,
    router: Router,
    (limits, tls): (TimeLimits, Option<Tls>),
    stop: watch::Receiver<bool>,
) {
    // A small answer must not wait for the acknowledgement of the one before.
    let _ = stream.set_nodelay(true);
    let (peer, connection) = (connection.peer, Arc::clone(connection));
    let Some(Tls(acceptor)) = tls else { return serve(stream, connection, router, limits, stop).await };
    match tokio::time::timeout(limits.handshake, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => serve(stream, connection, router, limits, stop).await,
        Ok(Err(error)) => tracing::debug!(%peer, %error, "a handshake failed"),
        Err(_) => tracing::debug!(%peer, "a handshake took too long"),
    }
}

/// Serves the requests of one connection.
pub async fn serve<S>(
    stream: S,
    client: Arc<ClientConnection>,
    router: Router,
    limits: TimeLimits,
    mut stop: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (unread, router) = (UnreadBody::default(), TowerToHyperService::new(router));
    let stream = TokioIo::new(WriteTimeout::new(DrainOnClose::new(stream, unread.clone()), limits.stall));
    let answer = service_fn(|request| answer_one(&router, &client, request, &unread));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
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
        tracing::debug!(peer = %client.peer, %error, "a connection broke off");
    }
}

/// Answers a request; one that was not read to its end is the last of its connection.
async fn answer_one(
    router: &TowerToHyperService<Router>,
    client: &Arc<ClientConnection>,
    request: hyper::Request<Incoming>,
    unread: &UnreadBody,
) -> Result<Response, Infallible> {
    let mut request = routed(request.map(|body| WatchedBody::new(body, unread)));
    request.extensions_mut().insert(Arc::clone(client));
    client.is_asking(true);
    let mut response = router.call(request).await?;
    client.is_asking(false);
    if unread.is_left() {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
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
    async fn a_full_server_does_not_keep_the_server_from_ending() {
        let store = StateStore::new(Arc::new(InMemory::new()), Clock::new(|| Timestamp::UNIX_EPOCH));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let full = Listener {
            socket: listener,
            places: Arc::new(Semaphore::new(0)),
            connections: ClientConnections::new(1),
        };
        let (_stop, stopped) = watch::channel(true);

        let ending = accept_until(stopped, full, Arc::new(Service::open(store)), None);

        tokio::time::timeout(Duration::from_secs(60), ending).await.expect("it ends");
    }
}
