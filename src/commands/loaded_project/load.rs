//! The project around the working folder, loaded, with its stacks.

use super::project_root::root_of;
use crate::commands::Context;
use crate::error::{Error, Result};
use crate::model::{Project, Stack, StackId};
use crate::{project, stacks};
use std::collections::BTreeSet;

/// A loaded project.
#[derive(Debug)]
pub struct LoadedProject {
    /// The project.
    pub project: Project,
    /// Its stacks, sorted by id.
    pub stacks: Vec<Stack>,
    /// What is worth telling about the layout.
    pub notes: Vec<String>,
    /// The stacks that changed, where only those are chosen.
    pub(in crate::commands) changed: Option<BTreeSet<StackId>>,
}

impl LoadedProject {
    /// Finds and reads the project around the working folder.
    pub fn load(context: &Context) -> Result<Self> {
        let root = root_of(context)?;
        let project = project::load(&root)?;
        let discovery = stacks::discover(&project)?;
        let mut loaded = Self { project, stacks: discovery.stacks, notes: discovery.notes, changed: None };
        loaded.enter_configured(context)?;
        Ok(loaded)
    }

    /// Returns a stack by its id.
    pub fn stack(&self, id: &StackId) -> Result<&Stack> {
        let found = self.stacks.iter().find(|stack| stack.id == *id);
        found.ok_or_else(|| Error::bug(format!("`{id}` was chosen but not found")))
    }
}
