//! Stacks whose folder is gone although their resources are not, told to a person.

use std::collections::BTreeSet;

use crate::commands::Context;
use crate::engine;
use crate::engine::Session;
use crate::error::Result;
use crate::model::StackId;

/// Tells of stacks whose folder is gone although their resources are not; one that lives on under
/// another name, or seems to, is not among them.
pub async fn warn_of_removed(session: &Session, renamed: &BTreeSet<StackId>) -> Result<()> {
    // Nothing of the run depends on the copies that others left, so it goes on without them.
    if let Err(error) = engine::fetch_copies(session).await {
        tracing::warn!(%error, "the copies of what others applied cannot be had");
    }
    let lost = engine::lost_stacks(session).await;
    for id in lost.iter().filter(|id| !renamed.contains(id)) {
        session.events.warn(lost_words(id), engine::ways_out_of_loss(id).to_vec());
    }
    let gone = engine::removed_stacks(&session.project, &session.stacks, session.clock).await?;
    let gone: Vec<_> = gone.into_iter().filter(|gone| !renamed.contains(&gone.stack.id)).collect();
    if gone.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = gone.iter().map(|gone| gone.stack.id.as_str()).collect();
    let names = names.join("`, `");
    session.events.warn(
        format!("`{names}`: removed from the tree, but not destroyed"),
        vec![
            "see what they were: `infra stacks --removed`".to_owned(),
            "destroy them as they were last applied: `infra destroy --removed`".to_owned(),
        ],
    );
    Ok(())
}

/// Tells of stacks that cannot be destroyed as they were last applied, because nobody knows how that was.
pub fn tell_lost(lost: &[StackId], context: &Context) {
    for id in lost {
        context.terminal.alert(&format!("warning: {}", lost_words(id)));
        let ways = engine::ways_out_of_loss(id);
        ways.iter().for_each(|way| context.terminal.alert(&format!("  hint: {way}")));
    }
}

/// Says what is left of a stack whose files nobody has.
fn lost_words(id: &StackId) -> String {
    format!("`{id}`: removed from the tree, but not destroyed, and there is no copy of its files")
}
