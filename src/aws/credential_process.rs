//! Credentials that a program prints: `credential_process` of a profile.
//!
//! The program is the person's own: one that a file of the repository names needs a yes first
//! (`infra trust`), which commands ask for before anything is looked for.

use std::time::Duration;

use super::profiles::refused;
use super::query::written;
use super::source::{Found, Inner};
use crate::error::Result;
use crate::process::{Invocation, capture};

/// How long the program may take, as long as the SDK gives it.
const TIMEOUT: Duration = Duration::from_secs(60);

impl Inner {
    /// Runs the program of a profile in a shell, as all tools of Amazon do.
    pub async fn ask_process(&self, profile: &str, command: &str) -> Result<Found> {
        let failed = |why: String| {
            refused(format!("`credential_process` of the AWS profile `{profile}` gives no credentials"))
                .detail(why)
                .hint(format!("try it: `aws configure export-credentials --profile {profile}`"))
        };
        let call =
            Invocation::new("/bin/sh", &self.settings.dir, self.settings.env.clone()).args(["-c", command]);
        let running = tokio::time::timeout(TIMEOUT, capture(call, &self.interrupts));
        let captured = running.await.map_err(|_| failed("it took longer than a minute".to_owned()))??;
        if !captured.status.success() {
            // What it wrote may hold secrets, so only its end is told.
            return Err(failed(format!("it ended with {}", captured.status)));
        }
        written(captured.stdout.unmasked()).map_err(|why| failed(format!("of what it prints: {why}")))
    }
}
