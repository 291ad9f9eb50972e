//! The life of a server, from a bound socket to the last answer.
//!
//! It runs on the tokio runtime it is started on and ends when told to, after the
//! requests that are under way. It never chooses an address or a password.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::connections::{ClientConnections, Listener, Tls, accept_until, serve};
use super::router::router;
use super::service::Service;
use crate::error::{Error, Result};
use crate::process::keep_freed_memory;

/// How large a buffer may be whose memory is kept for the next request.
const KEPT_MEMORY: usize = 1024 * 1024;

impl Service {
    /// Serves one connection to its end, whatever it is made of; without counting or limits on how many.
    pub async fn serve_stream<S>(self: Arc<Self>, stream: S, peer: IpAddr)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (_stop, stopped) = watch::channel(false);
        if let Some(connection) = ClientConnections::new(1).admit(peer) {
            serve(stream, Arc::new(connection), router(&self), self.time_limits, stopped).await;
        }
    }
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    service: Arc<Service>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts to serve on a bound socket.
    pub fn start(listener: TcpListener, service: Service) -> Result<Self> {
        Self::start_with(listener, service, None)
    }

    /// Starts to serve on a bound socket, encrypted if a certificate is given.
    pub fn start_with(listener: TcpListener, service: Service, tls: Option<Tls>) -> Result<Self> {
        let address = listener
            .local_addr()
            .map_err(|error| Error::unavailable("the state server has no address").because(error))?;
        keep_freed_memory(KEPT_MEMORY);
        let service = Arc::new(service);
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(accept_until(stopped, Listener::new(listener), Arc::clone(&service), tls));
        Ok(Self { address, service, stop, task })
    }

    /// Returns where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until no change is under way.
    pub(in crate::state) async fn wait_for_changes(&self) {
        self.service.wait_for_changes().await;
    }

    /// Accepts nothing more and ends once the requests under way are answered, or have
    /// had their time; a change that has begun always ends.
    pub async fn shutdown(self) {
        self.stop.send_replace(true);
        // It ends by itself, within its time; a panic in it has ended it already.
        let _ = self.task.await;
        self.service.wait_for_changes().await;
    }
}
