//! placeholder
use std::path::Path;
use crate::commands::Context;
use crate::error::Result;
use crate::model::Project;
use crate::process::{Difference, Git};
use crate::stacks::changed::{Change, Remembered};
pub(super) struct Question<'a> {
    pub projects: (&'a Project, &'a Project),
    pub root: &'a Path,
    pub git: &'a Git,
    pub differences: &'a [Difference],
    pub disk: &'a Remembered,
    pub context: &'a Context,
}
#[derive(Default)]
pub(super) struct Rendered { pub changes: Vec<Change>, pub notes: Vec<String> }
impl Question<'_> {
    pub async fn changes(&self, _changes: &mut Vec<Change>) -> Result<Rendered> { Ok(Rendered::default()) }
}
