//! What this person said yes to, so that a check touches nothing else.

use super::finding::Finding;
use crate::commands::loaded_project::LoadedProject;
use crate::commands::{Context, trust};
use crate::error::Result;
use crate::trust::{TrustItem, TrustItemKind};

/// What a check must not touch, because nobody said yes to it.
pub struct Trusted(Result<Vec<TrustItem>>);

impl Trusted {
    pub async fn of(loaded: &LoadedProject, context: &Context) -> Self {
        let all = trust::items_of_project(&loaded.project, context).await;
        Self(all.and_then(|all| trust::untrusted(&loaded.project.root, all, context)))
    }

    /// Returns whether nothing of this kind is forbidden.
    pub fn with(&self, kind: TrustItemKind) -> bool {
        self.0.as_ref().is_ok_and(|missing| missing.iter().all(|item| item.kind != kind))
    }

    /// Returns whether nothing is forbidden that a look at the states takes.
    pub fn with_states(&self) -> bool {
        let needed = [TrustItemKind::Key, TrustItemKind::PasswordProgram, TrustItemKind::CredentialFile];
        needed.into_iter().all(|kind| self.with(kind))
    }

    pub fn finding(&self) -> Finding {
        match &self.0 {
            Ok(missing) if missing.is_empty() => {
                Finding::pass("trust", "nothing of this project waits for a yes")
            }
            Ok(missing) => {
                let words: Vec<String> = missing.iter().map(TrustItem::words).collect();
                let message = format!("not trusted yet; it {}", words.join("; it "));
                Finding::warn("trust", message, "look at it and say yes once: `infra trust`")
            }
            Err(error) => Finding::fail("trust", error),
        }
    }
}
