//! `--changed[=BASE]` of every command that chooses stacks: the same stacks as `infra changed` lists.

use super::{look, removed_notes};
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::error::Result;

impl LoadedProject {
    /// Leaves those stacks to be chosen that changed since a base; an empty one is the usual.
    pub(in crate::commands) async fn keep_changed(&mut self, base: &str, context: &Context) -> Result<()> {
        let base = Some(base).filter(|base| !base.is_empty());
        let looked = look(&self.project, base, context).await?;
        let (count, all) = (looked.affected.stacks.len(), looked.all.len());
        let commit = looked.base.commit.get(..12).unwrap_or_default();
        context
            .terminal
            .note(&format!("{count} of {all} stacks changed since {commit} ({})", looked.base.name));
        removed_notes(&looked).iter().chain(&looked.notes).for_each(|note| context.terminal.note(note));
        self.changed = Some(looked.affected.stacks.into_keys().collect());
        Ok(())
    }
}
