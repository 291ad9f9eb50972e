//! A makejinja plugin that a repository already has: its `data()` runs only when the user
//! has allowed it, in `infra.yaml` or by a yes on the terminal.
//!
//! A yes holds for the code as it is: it is remembered by a hash of it, below `.infra`.

use std::path::PathBuf;

use crate::commands::Context;
use crate::error::{Error, Result};
use crate::model::project::PythonPlugins;
use crate::model::{Project, Values};
use crate::render::RenderSettings;
use crate::render::plugin::{self, Permission, PluginCall, Plugins};
use crate::report::{Asking, Tone, confirm};

/// Returns what the plugins add to the values.
pub(super) async fn run_data(
    project: &Project,
    settings: &RenderSettings,
    given: &Values,
    context: &Context,
) -> Result<Values> {
    let Some(plugins) = plugin::find(&project.root, settings)? else { return Ok(Values::new()) };
    let Some(permission) = permission(project, &plugins, context).await? else {
        tell_not_run(&plugins, context);
        return Ok(Values::new());
    };
    let call = PluginCall { root: &project.root, env: &context.env, values: given };
    plugin::run(&plugins, &permission, call, &context.interrupts).await
}

/// Returns whether the plugins may run: `infra.yaml`, an earlier yes, or one that is given now.
async fn permission(project: &Project, plugins: &Plugins, context: &Context) -> Result<Option<Permission>> {
    let permission = Permission::for_hash(plugins.plugin_hash());
    let remembered = memory_of(project, plugins);
    if project.configure.python_plugins == PythonPlugins::Allow || remembered.exists() {
        return Ok(Some(permission));
    }
    let Asking::Person(terminal) = context.asking() else { return Ok(None) };
    let question =
        format!("`{}` is Python code of this project. Run its data()?", plugins.files().join("`, `"));
    let mut interrupts = context.interrupts.clone();
    let before = interrupts.count();
    let yes = tokio::select! {
        yes = confirm(&terminal, &question) => yes,
        _ = interrupts.beyond(before) => return Err(Error::interrupted("stopped at a question; nothing was written")),
    };
    if yes {
        crate::engine::hide_from_git(&project.infra_dir())?;
        crate::atomic_file::write(&remembered, b"")?;
    }
    Ok(yes.then_some(permission))
}

/// Returns the file whose existence is the yes.
fn memory_of(project: &Project, plugins: &Plugins) -> PathBuf {
    project.infra_dir().join("allowed-plugins").join(plugins.plugin_hash())
}

fn tell_not_run(plugins: &Plugins, context: &Context) {
    let (files, warning) = (plugins.files().join("`, `"), context.terminal.paint(Tone::Warn, "warning"));
    context.terminal.note(&format!("{warning}: the Python plugin `{files}` is not run"));
    context.terminal.note("hint: allow it in infra.yaml: `configure: {python_plugins: allow}`");
}
