//! OpenTofu's [http backend](https://opentofu.org/docs/language/settings/backends/http/) in front of
//! a [`StateStore`](super::StateStore).
//!
//! `connections` accepts and closes, `router` finds the handler, `access` decides who may, `handlers`
//! ask the store, `answers` says it in the status codes of the protocol. Begin at [`Server::start`].

mod access;
mod answers;
mod audit_log;
mod body_memory;
mod connections;
mod handlers;
mod http_server;
mod limits;
mod metrics;
mod request_body;
mod request_log;
mod route_path;
mod router;
mod service;
mod store_health;

pub use access::{Credentials, Right, Rights, Users, hash_password};
pub use audit_log::{AuditFile, AuditSink};
pub use connections::Tls;
pub use http_server::Server;
pub use limits::{Limits, TimeLimits};
pub use service::Service;
