//! What handlers take out of a request: who asks, and about which state.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};

use crate::state::server::access::{Caller, Right};
use crate::state::server::answers;
use crate::state::server::answers::EarlyAnswer;
use crate::state::server::request_body::{Expected, Received, receive};
use crate::state::server::request_log::RequestLog;
use crate::state::server::route_path::encoded_name;
use crate::state::server::service::Service;
use crate::state::{Claim, StateName};

/// A request of a caller who has logged in.
pub(super) struct CallerRequest {
    pub service: Arc<Service>,
    pub caller: Caller,
    pub log: RequestLog,
}

/// A request of a caller who has logged in, about one state.
pub(super) struct StateRequest {
    pub service: Arc<Service>,
    pub caller: Caller,
    pub log: RequestLog,
    pub name: StateName,
    pub uri: Uri,
    headers: HeaderMap,
}

impl FromRequestParts<Arc<Service>> for CallerRequest {
    type Rejection = EarlyAnswer;

    async fn from_request_parts(parts: &mut Parts, service: &Arc<Service>) -> Result<Self, EarlyAnswer> {
        // The layers around the handlers put both in.
        let caller = parts.extensions.remove::<Caller>().ok_or_else(answers::unauthorized)?;
        let log = parts.extensions.remove::<RequestLog>().unwrap_or_default();
        Ok(Self { service: Arc::clone(service), caller, log })
    }
}

impl FromRequestParts<Arc<Service>> for StateRequest {
    type Rejection = EarlyAnswer;

    async fn from_request_parts(parts: &mut Parts, service: &Arc<Service>) -> Result<Self, EarlyAnswer> {
        let CallerRequest { service, caller, log } =
            CallerRequest::from_request_parts(parts, service).await?;
        let name = StateName::from_url_path(encoded_name(parts.uri.path()))
            .map_err(|error| answers::bad_request(&error))?;
        log.notes().state = Some(name.to_string());
        let (uri, headers) = (parts.uri.clone(), std::mem::take(&mut parts.headers));
        Ok(Self { service, caller, log, name, uri, headers })
    }
}

impl StateRequest {
    /// Notes what is done, and refuses a caller without the right to it.
    pub fn begin(&self, action: &'static str, right: Right) -> Result<(), EarlyAnswer> {
        self.log.notes().action = action;
        match self.caller.rights.allow(right, &self.name) {
            true => Ok(()),
            false => Err(answers::forbidden(&self.caller.name, right, &self.name).into()),
        }
    }

    /// Returns the whole body, if it has at most so many bytes.
    pub async fn receive(&self, body: Body, limit: usize) -> Result<Received, EarlyAnswer> {
        let limits = self.service.time_limits;
        let memory = &self.service.body_memory;
        let expected = Expected { limit, stall: limits.stall, memory, wait: limits.memory };
        receive(&self.headers, body, expected).await.map_err(|refused| refused.answer().into())
    }

    /// Returns what the caller claims; an administrator may use the locks of other users.
    pub fn claim(&self, lock_id: Option<String>) -> Claim {
        let is_admin = self.caller.rights.allow(Right::Admin, &self.name);
        Claim { lock_id, user: self.caller.user.clone().filter(|_| !is_admin) }
    }
}
