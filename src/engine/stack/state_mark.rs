//! Which version of its state a plan was made from, told without tofu.
//!
//! tofu itself refuses a plan of another version, but only when it applies it; by then other
//! stacks of the run may be applied.

use std::time::Duration;

use crate::backends::StateFacts;
use crate::engine::session::Session;
use crate::engine::state_content::open_with_passphrase;
use crate::model::{Fingerprint, Stack};

/// How long a plan waits for it at most: a store that answers tofu alone must not hold plans up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns what tells a state from every later one; `None` where only tofu can read it.
pub(super) async fn state_mark(session: &Session, stack: &Stack) -> Option<String> {
    let home = session.home_of(stack).ok()?;
    let bytes = tokio::time::timeout(PATIENCE, home.read()).await.ok()?.ok()?;
    let Some(bytes) = bytes else { return Some("none".to_owned()) };
    let opened = open_with_passphrase(session, &stack.id, &bytes).ok();
    Some(match opened.and_then(|state| StateFacts::of(&state)) {
        Some(facts) => format!("{} {}", facts.lineage, facts.serial),
        None => Fingerprint::of([bytes.as_slice()]).to_string(),
    })
}
