//! A makejinja plugin that a repository already has: its `data()` runs only when this person
//! trusts the project with the code as it is.

use crate::commands::{Context, trust};
use crate::error::Result;
use crate::model::{Project, PythonPlugins, Values};
use crate::render::plugin::{Permission, PluginCall, Plugins};
use crate::render::{RenderSettings, plugin};
use crate::report::{Asking, Tone};
use crate::trust::UNTRUSTED;

/// Returns what the plugins add to the values.
pub(super) async fn run_data(
    project: &Project,
    settings: &RenderSettings,
    given: &Values,
    context: &Context,
) -> Result<Values> {
    let Some(plugins) = plugin::find(&project.root, settings)? else { return Ok(Values::new()) };
    let Some(permission) = permission(project, &plugins, context).await? else {
        tell_not_run(project, &plugins, context);
        return Ok(Values::new());
    };
    let call = PluginCall { root: &project.root, env: &context.env, values: given };
    plugin::run(&plugins, &permission, call, &context.interrupts).await
}

/// Returns whether the plugins may run. A project that counts on them is refused without a yes;
/// one that does not say so is rendered without.
async fn permission(project: &Project, plugins: &Plugins, context: &Context) -> Result<Option<Permission>> {
    if project.configure.python_plugins == Some(PythonPlugins::Deny) {
        return Ok(None);
    }
    let item = vec![trust::plugin_item(plugins)];
    let counts_on_it = project.configure.python_plugins == Some(PythonPlugins::Allow);
    let nobody = matches!(context.asking(), Asking::Nobody);
    if !counts_on_it && nobody && !trust::untrusted(&project.root, item.clone(), context)?.is_empty() {
        return Ok(None);
    }
    match trust::require(project, item, context).await {
        Ok(()) => Ok(Some(Permission::for_hash(plugins.plugin_hash()))),
        Err(error) if error.label() == Some(UNTRUSTED) && !counts_on_it => Ok(None),
        Err(error) => Err(error),
    }
}

fn tell_not_run(project: &Project, plugins: &Plugins, context: &Context) {
    let (files, warning) = (plugins.files().join("`, `"), context.terminal.paint(Tone::Warn, "warning"));
    context.terminal.note(&format!("{warning}: the Python plugin `{files}` is not run"));
    context.terminal.note(match project.configure.python_plugins {
        Some(PythonPlugins::Deny) => "  infra.yaml denies it: `python_plugins: deny`",
        _ => "hint: look at it and say yes once: `infra trust`",
    });
}
