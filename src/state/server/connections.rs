//! Connections: accepted, encrypted where that is wanted, served, closed.

mod accept;
mod client_connections;
mod drain_on_close;
mod tls;
mod write_timeout;

pub(super) use accept::{Listener, accept_until, serve};
pub(super) use client_connections::{ClientConnection, ClientConnections};
pub use tls::Tls;
