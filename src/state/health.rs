//! Whether a server can do its work: after a change that the store did not take, it says no
//! until the store takes something again.

use std::sync::atomic::Ordering;

use axum::http::StatusCode;
use axum::response::Response;

use super::{Service, answer};
use crate::error::{Kind, Result};

impl Service {
    /// Remembers a change that failed for a reason of the store.
    pub(super) fn note<T>(&self, outcome: &Result<T>) {
        if matches!(outcome, Err(error) if error.kind() == Kind::Unavailable) {
            self.is_doubtful.store(true, Ordering::Relaxed);
        }
    }

    /// Answers whether changes can be stored; asks the store only if there is a doubt.
    pub(super) async fn health(&self) -> Response {
        if !self.is_doubtful.load(Ordering::Relaxed) {
            return answer::text(StatusCode::OK, "ok");
        }
        match self.store.check_writable().await {
            Ok(()) => {
                self.is_doubtful.store(false, Ordering::Relaxed);
                answer::text(StatusCode::OK, "ok")
            }
            // Who asks needs no credentials, so that the reason stays in the log.
            Err(error) => {
                tracing::error!(%error, "the store cannot be written");
                answer::text(StatusCode::SERVICE_UNAVAILABLE, "the store cannot be written")
            }
        }
    }
}
