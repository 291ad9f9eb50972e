//! A makejinja plugin that a repository already has: its `data()` runs only when the user
//! has allowed it.

use crate::commands::Context;
use crate::error::Result;
use crate::model::{Project, Values};
use crate::render::RenderSettings;

/// Returns what the plugins add to the values.
pub(super) async fn run_data(
    _project: &Project,
    settings: &RenderSettings,
    _data: &Values,
    context: &Context,
) -> Result<Values> {
    for plugin in &settings.plugins {
        context.terminal.note(&format!("the plugin `{plugin}` is not run"));
    }
    Ok(Values::new())
}
