//! Stacks whose folder is gone although their resources are not, told to a person.

use std::collections::BTreeSet;

use super::load::LoadedProject;
use super::session::Purpose;
use crate::commands::Context;
use crate::engine::{RemovedStack, Session, StateNeed};
use crate::error::Result;
use crate::model::StackId;
use crate::{backends, engine, stacks};

/// Tells of stacks whose folder is gone although their resources are not; one that lives on under
/// another name, or seems to, is not among them.
pub async fn warn_of_removed(session: &Session, renamed: &BTreeSet<StackId>) -> Result<()> {
    // Nothing of the run depends on the copies that others left, so it goes on without them.
    if let Err(error) = engine::fetch_copies(session).await {
        tracing::warn!(%error, "the copies of what others applied cannot be had");
    }
    let lost = engine::lost_stacks(session).await;
    for id in lost.iter().filter(|id| !renamed.contains(id)) {
        session.events.warn(lost_words(id), engine::hints_for_lost_stack(id).to_vec());
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

/// Tells of stacks that cannot be destroyed as they were last applied, because no copy of their files exists.
pub fn tell_lost(lost: &[StackId], context: &Context) {
    for id in lost {
        context.terminal.alert(&format!("warning: {}", lost_words(id)));
        let ways = engine::hints_for_lost_stack(id);
        ways.iter().for_each(|way| context.terminal.alert(&format!("  hint: {way}")));
    }
}

/// Returns the words for a stack of which only the state is left.
fn lost_words(id: &StackId) -> String {
    format!("`{id}`: removed from the tree, but not destroyed, and there is no copy of its files")
}

impl LoadedProject {
    /// Returns the stacks that are gone from the tree, those that somebody else applied included.
    pub async fn removed_stacks(&self, context: &Context) -> Result<Vec<RemovedStack>> {
        if self.project.state.shared() {
            let all: Vec<StackId> = self.stacks.iter().map(|stack| stack.id.clone()).collect();
            let purpose = Purpose { state: StateNeed::Served, ..Purpose::states_of(&all) };
            self.with_session(context, purpose, engine::fetch_copies).await?;
        }
        engine::removed_stacks(&self.project, &self.stacks, context.clock).await
    }

    /// Returns the stacks that `infra.lock` knows and of which only the state is left.
    pub async fn lost_stacks(&self, context: &Context) -> Result<Vec<StackId>> {
        let lock = backends::read_infra_lock(&self.project).unwrap_or_default();
        let is_there = |id: &StackId| self.stacks.iter().any(|stack| stack.id == *id);
        if lock.states.keys().all(is_there) {
            return Ok(Vec::new());
        }
        let all: Vec<StackId> = self.stacks.iter().map(|stack| stack.id.clone()).collect();
        let purpose = Purpose { state: StateNeed::Served, ..Purpose::states_of(&all) };
        self.with_session(context, purpose, async |session| Ok(engine::lost_stacks(session).await)).await
    }

    /// Adds stacks that are gone from the tree, as they were last applied.
    pub fn include(&mut self, removed: Vec<RemovedStack>) {
        if removed.is_empty() {
            return;
        }
        let gone: Vec<StackId> = removed.iter().map(|removed| removed.stack.id.clone()).collect();
        let known: Vec<StackId> =
            self.stacks.iter().map(|stack| stack.id.clone()).chain(gone.clone()).collect();
        for RemovedStack { stack, mut settings, .. } in removed {
            // What came from stacks that are gone for good can only be remembered.
            settings.inputs.retain(|_, from| known.contains(&from.stack));
            self.project.stack_settings.push((stack.id.to_string(), settings));
            self.stacks.push(stack);
        }
        self.connect_to(&gone);
    }

    /// Adds the dependencies on stacks that are gone now, as they were when a stack was last applied: its files
    /// no longer name them.
    fn connect_to(&mut self, gone: &[StackId]) {
        let before = self.stacks.clone();
        for stack in self.stacks.iter_mut().filter(|stack| !gone.contains(&stack.id)) {
            let edges = engine::recorded_edges(&self.project, &stack.id);
            stack.depends_on.extend(edges.into_iter().filter(|id| gone.contains(id)));
        }
        // Old dependencies may contradict those of today, which count.
        if !stacks::acyclic(&self.stacks) {
            self.stacks = before;
        }
    }
}
