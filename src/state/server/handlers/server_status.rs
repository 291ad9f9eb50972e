//! What the server does for `/health` and `/metrics`, which need no login.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{MethodRouter, get};

use crate::state::server::answers;
use crate::state::server::request_log::RequestLog;
use crate::state::server::service::Service;

/// Returns the handlers of the health.
pub fn health_methods() -> MethodRouter<Arc<Service>> {
    get(health).fallback(other_health)
}

/// Returns the handlers of the counters.
pub fn metrics_methods() -> MethodRouter<Arc<Service>> {
    get(metrics).fallback(other_metrics)
}

/// Answers whether changes can be stored.
async fn health(State(service): State<Arc<Service>>, Extension(log): Extension<RequestLog>) -> Response {
    log.notes().action = "health";
    match service.health.is_writable(&service.store).await {
        true => answers::text(StatusCode::OK, "ok"),
        false => answers::text(StatusCode::SERVICE_UNAVAILABLE, "the store cannot be written"),
    }
}

/// Refuses other methods.
async fn other_health(Extension(log): Extension<RequestLog>) -> Response {
    log.notes().action = "health";
    answers::not_allowed("GET, HEAD")
}

/// Answers with all counters.
async fn metrics(State(service): State<Arc<Service>>, Extension(log): Extension<RequestLog>) -> Response {
    log.notes().action = "metrics";
    answers::text(StatusCode::OK, service.metrics.text().trim_end())
}

/// Refuses other methods.
async fn other_metrics(Extension(log): Extension<RequestLog>) -> Response {
    log.notes().action = "metrics";
    answers::not_allowed("GET, HEAD")
}
