//! Which handler answers which path and method, and what every request goes through before it.
//!
//! From the outside in: the request is noted, a page of a foreign site is refused, the caller logs
//! in, the handler answers. The health and the counters need no login. A path without a route is
//! refused after the login, so that the answer tells nothing to an unknown client about the paths that exist.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::{Extension, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::MethodRouter;
use tokio::time::Instant;

use super::access::{LoginRefusal, foreign_origin};
use super::answers;
use super::connections::ClientConnection;
use super::handlers::{
    copy_list_methods, copy_methods, health_methods, list_methods, lock_methods, metrics_methods,
    page_methods, state_methods, status_methods,
};
use super::request_log::RequestLog;
use super::route_path::{COPIES, LOCKS, STATES, STATUS, route_path};
use super::service::Service;

/// Stands for a name that no user has: people type their password there.
const UNKNOWN: &str = "an unknown user";

type Routes = Router<Arc<Service>>;

/// Returns the routes of a server; requests must have gone through [`routed`].
pub(super) fn router(service: &Arc<Service>) -> Router {
    let open = Router::new().route("/health", health_methods()).route("/metrics", metrics_methods());
    let closed = Router::new()
        .route("/", page_methods())
        .route("/states", list_methods())
        .route("/applied", copy_list_methods());
    let closed = named(closed, STATES, state_methods());
    let closed = named(closed, LOCKS, lock_methods());
    let closed = named(closed, COPIES, copy_methods());
    let closed = named(closed, STATUS, status_methods())
        .fallback(async || answers::text(StatusCode::NOT_FOUND, "there is nothing here"))
        .layer(from_fn_with_state(Arc::clone(service), admit));
    open.merge(closed).layer(from_fn_with_state(Arc::clone(service), note)).with_state(Arc::clone(service))
}

/// Adds a route for every name behind a path, and for none, which is refused as a name.
fn named(routes: Routes, path: &str, methods: MethodRouter<Arc<Service>>) -> Routes {
    routes.route(path, methods.clone()).route(&format!("{path}{{*name}}"), methods)
}

/// Gives a request the path of its route.
pub(super) fn routed<B>(mut request: axum::http::Request<B>) -> axum::http::Request<B> {
    let route = route_path(request.uri().path());
    if route == request.uri().path() {
        return request;
    }
    let path = match request.uri().query() {
        Some(query) => format!("{route}?{query}"),
        None => route.into_owned(),
    };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = path.parse().ok();
    *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
    request
}

/// Counts and writes down what a request did.
async fn note(
    State(service): State<Arc<Service>>,
    Extension(connection): Extension<Arc<ClientConnection>>,
    mut request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let log = RequestLog::default();
    request.extensions_mut().insert(log.clone());
    let response = next.run(request).await;
    let (notes, status) = (log.notes(), response.status().as_u16());
    service.metrics.answered(notes.action, status, begun.elapsed());
    tracing::debug!(%method, path, status, user = notes.user.as_deref(), "served");
    if notes.is_audited() {
        let written = service.audit.write(&notes.audit_entry(service.store.now(), connection.peer, status));
        service.metrics.unaudited.fetch_add(u64::from(written.is_err()), Ordering::Relaxed);
    }
    response
}

/// Refuses requests of other sites' pages, for which no credentials count; lets callers in who have a
/// right password, and notes who they are.
async fn admit(
    State(service): State<Arc<Service>>,
    Extension(connection): Extension<Arc<ClientConnection>>,
    Extension(log): Extension<RequestLog>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(words) = foreign_origin(&service.login, request.uri(), request.headers()) {
        let mut notes = log.notes();
        (notes.action, notes.user) = ("login", Some(UNKNOWN.to_owned()));
        return answers::text(StatusCode::FORBIDDEN, words);
    }
    match service.login.check(request.headers().get(AUTHORIZATION), connection.peer).await {
        Ok(caller) => {
            connection.has_logged_in();
            log.notes().user = Some(caller.name.clone());
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(refusal) => refused(&service, refusal, &log),
    }
}

fn refused(service: &Service, refusal: LoginRefusal, log: &RequestLog) -> Response {
    let mut notes = log.notes();
    notes.action = "login";
    let told = |name: Option<String>| name.unwrap_or_else(|| UNKNOWN.to_owned());
    match refusal {
        // A client's first request is often one without credentials; nothing was guessed.
        LoginRefusal::Missing => answers::unauthorized(),
        LoginRefusal::Wrong(name) => {
            let name = told(name);
            service.metrics.failed_logins.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(user = name, "a login failed");
            notes.user = Some(name);
            answers::unauthorized()
        }
        LoginRefusal::LockedOut(name, left) => {
            notes.user = Some(told(name));
            answers::locked_out(left)
        }
    }
}
