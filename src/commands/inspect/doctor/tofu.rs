//! What `doctor` says about the tofu of the project, and about plans that are saved with it.

use super::finding::Finding;
use super::trusted::Trusted;
use crate::commands::Context;
use crate::commands::loaded_project::{LoadedProject, search_tofu};
use crate::engine;
use crate::tofu::Tofu;
use crate::trust::{TrustItemKind, UserKey};

/// Returns the tofu that is there, and what is to be said about it.
pub async fn tofu_findings(
    loaded: &LoadedProject,
    trust: &Trusted,
    context: &Context,
) -> (Option<Tofu>, Vec<Finding>) {
    if !trust.with(TrustItemKind::TofuBinary) {
        let message = "not looked at: it is a program of this project";
        return (None, vec![Finding::warn("tofu", message, "`infra trust`")]);
    }
    match search_tofu(&loaded.project, context).await.map(|search| search.found) {
        Ok(Some(tofu)) => {
            let found = format!("{} at {}", tofu.version, tofu.path.display());
            let findings = vec![Finding::pass("tofu", found), plans(&tofu, context)];
            (Some(tofu), findings)
        }
        Ok(None) => {
            let fix = "`infra deps install`; any run gets it by itself";
            (None, vec![Finding::warn("tofu", "not installed yet", fix)])
        }
        Err(error) => (None, vec![Finding::fail("tofu", &error)]),
    }
}

/// Tells whether saved plans are bound to this user; makes no key.
fn plans(tofu: &Tofu, context: &Context) -> Finding {
    if !engine::can_bind_plans(tofu) {
        let message = "saved plans are not encrypted with your key: this tofu cannot do that";
        return Finding::warn("plans", message, "OpenTofu can: `infra deps`");
    }
    match UserKey::check_place(&context.env) {
        Ok(()) => Finding::pass("plans", "saved plans are encrypted with a key of yours"),
        Err(error) => {
            let message = format!("plans cannot be saved: {}", error.message());
            Finding::warn("plans", message, error.hints().join("; "))
        }
    }
}
