//! Stacks that `infra.lock` knows, that are gone from the tree, and of which nothing but the
//! state is left: nobody has a copy of their files. Begin at [`lost_stacks`].

use futures::StreamExt as _;

use super::seen_state::Seen;
use crate::backends::StateFacts;
use crate::engine::applied::{is_remembered, is_renamed};
use crate::engine::session::Session;
use crate::engine::state_content::open_with_passphrase;
use crate::model::{StackId, quoted};
use crate::state::StateName;

/// How many states are looked at together.
const TOGETHER: usize = 8;

/// Returns the stacks whose state still has resources, or may have, while their files are gone for all.
pub async fn lost_stacks(session: &Session) -> Vec<StackId> {
    let Ok(lock) = &session.infra_lock else { return Vec::new() };
    let (project, present) = (&session.project, &session.stacks);
    let is_gone = |id: &&StackId| {
        !present.iter().any(|stack| stack.id == **id)
            && !is_renamed(project, present, id)
            && !is_remembered(project, id)
    };
    let gone: Vec<&StackId> = lock.states.keys().filter(is_gone).collect();
    let looks = futures::stream::iter(gone).map(async |id| (id, has_resources(session, id).await));
    let found: Vec<(&StackId, bool)> = looks.buffered(TOGETHER).collect().await;
    found.into_iter().filter(|(_, has)| *has).map(|(id, _)| id.clone()).collect()
}

/// What was moved or left behind on purpose is not asked about, and what cannot be read is told elsewhere.
async fn has_resources(session: &Session, id: &StackId) -> bool {
    let home = StateName::parse(&id.state_name()).and_then(|name| session.home_named(&name)).ok().flatten();
    let Some(home) = home else { return false };
    let Ok(Seen { facts: Some(_), status }) = Seen::at(&home).await else { return false };
    let Ok(Some(bytes)) = home.read().await else { return false };
    // Its own secrets are gone with its folder; what does not open may have anything in it.
    let opened = open_with_passphrase(session, id, &bytes).ok().and_then(|state| StateFacts::of(&state));
    !status.left_behind && opened.is_none_or(|facts| facts.resources > 0 || is_sealed(&bytes))
}

fn is_sealed(bytes: &[u8]) -> bool {
    let state: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    !state["resources"].is_array()
}

/// Returns what can be done about a stack of which only the state is left.
pub fn hints_for_lost_stack(id: &StackId) -> [String; 2] {
    let id = quoted(id.as_str());
    [
        format!("bring its folder back from git, then `infra destroy {id}`"),
        format!("or keep what it made and end the question: `infra state forget {id}`"),
    ]
}
