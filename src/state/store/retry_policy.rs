//! The retry policy of a remote store: which answers leave open whether an entry was stored, how long
//! to wait before the next attempt, and when to give up.

use std::time::Duration;

use crate::aws::refusal;
use crate::error::Error;
use crate::state::StateName;

/// How often an entry is sent while a remote store does not tell what became of it.
pub(super) const ATTEMPTS: u32 = 4;

/// The pause before the second attempt; it doubles, and is made random.
const PAUSE: Duration = Duration::from_millis(100);

/// Waits a random time before an attempt that is not the first.
pub(super) async fn pause_before(attempt: u32) {
    if attempt == 0 {
        return;
    }
    let mut chance = [0];
    // Without a random number all wait equally long, which is merely less polite.
    let _ = getrandom::fill(&mut chance);
    let longest = PAUSE * 2_u32.saturating_pow(attempt);
    tokio::time::sleep(longest.mul_f64(0.5 + f64::from(chance[0]) / 512.0)).await;
}

/// Returns whether a store has refused for good, so that nothing can have been stored.
pub(super) fn is_final(error: &object_store::Error) -> bool {
    use object_store::Error::{
        InvalidPath, NotFound, NotImplemented, NotSupported, PermissionDenied, Unauthenticated,
        UnknownConfigurationKey,
    };
    matches!(
        error,
        InvalidPath { .. }
            | NotFound { .. }
            | NotImplemented { .. }
            | NotSupported { .. }
            | PermissionDenied { .. }
            | Unauthenticated { .. }
            | UnknownConfigurationKey { .. }
    ) || refusal(error).is_some()
}

/// Makes the error of a change whose outcome is unknown.
pub(super) fn undecided(name: &StateName, doubt: Option<Error>) -> Error {
    let error =
        Error::unavailable(format!("the store does not say whether the change of `{name}` was stored"));
    let error = match doubt {
        Some(doubt) => error.because(doubt),
        None => error,
    };
    error.hint("nothing is lost: look at the state when the store answers again, then repeat the command")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_final_and_a_broken_connection_is_not() {
        let path = || "a".to_owned();
        let denied = object_store::Error::PermissionDenied { path: path(), source: "no".into() };
        let broken = object_store::Error::Generic { store: "S3", source: "reset".into() };
        let conflict = object_store::Error::AlreadyExists { path: path(), source: "409".into() };

        assert!(is_final(&denied));
        assert!(!is_final(&broken));
        assert!(!is_final(&conflict));
    }
}
