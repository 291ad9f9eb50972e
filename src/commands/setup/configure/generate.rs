//! From the project's files to the generated ones, in memory: settings → data → checks →
//! derived values → templates → encrypted secrets.

use std::collections::HashSet;
use std::path::Path;

use super::data_check::CheckedData;
use super::data_files::{DERIVE_FILE, data_files, derive_file};
use super::{data_check, plugins, seal};
use crate::commands::Context;
use crate::error::{Error, Result};
use crate::model::{Project, Values};
use crate::project;
use crate::render;
use crate::render::settings::resolve;
use crate::render::{
    Engine, GeneratedFile, Inputs, Overwrite, RenderSettings, SourceFile, TemplateAccess,
    evaluate_derivations, load_inputs, render_tree,
};
use crate::report::{Tone, Verbosity};

/// How many warnings about the data are shown.
const WARNINGS: usize = 50;

/// Returns whether a project has anything to render.
pub fn has_templates(project: &Project) -> Result<bool> {
    Ok(!resolve(&project.root, &project.configure)?.inputs.is_empty())
}

/// What was rendered, and what from.
pub(super) struct Generated {
    /// The files.
    pub files: Vec<GeneratedFile>,
    /// What was read for them.
    pub inputs: Inputs,
}

/// Reads what a project is rendered from, without rendering it, but for what was read already.
pub(super) fn read_inputs(project: &Project, sources: &[SourceFile]) -> Inputs {
    let settings = resolve(&project.root, &project.configure);
    let data = settings.map(|settings| project::data_names(&project.root, &data_files(&settings)));
    Inputs::read(&project.root, &project.configure, &data.unwrap_or_default(), sources)
}

/// Renders everything and writes nothing.
pub(super) async fn generate(
    project: &Project,
    overwrite: Overwrite,
    context: &Context,
) -> Result<Generated> {
    let settings = resolve(&project.root, &project.configure)?;
    if settings.inputs.is_empty() {
        return Err(nothing_to_render(project));
    }
    let sources = load_inputs(&project.root, &settings)?;
    // Before the data is read: what is edited from here on counts as edited since.
    let inputs = read_inputs(project, &sources);
    let engine = Engine::new(&settings, &template_access(project, context))?;
    let values = load_values(project, &settings, &sources, &engine, context).await?;
    let rendered = render_tree(&engine, &sources, &values, Path::new(&settings.output))?;
    tell_unread(&rendered.unread, context);
    let mut files = rendered.files;
    refuse_inputs(&settings, &sources, &files)?;
    seal::seal_secrets(project, &mut files, overwrite, context).await?;
    Ok(Generated { files, inputs })
}

/// What was rendered for a look, with the values that it was made from.
pub(in crate::commands) struct Look {
    /// The values.
    pub values: Values,
    /// The files; none of them is encrypted.
    pub files: Vec<GeneratedFile>,
}

/// Renders a project for a look: nothing is told, asked, run or encrypted.
pub(in crate::commands) fn look(project: &Project, context: &Context) -> Result<Look> {
    let settings = resolve(&project.root, &project.configure)?;
    if settings.inputs.is_empty() {
        return Ok(Look { values: Values::new(), files: Vec::new() });
    }
    let sources = load_inputs(&project.root, &settings)?;
    let engine = Engine::new(&settings, &template_access(project, context))?;
    let CheckedData { data, outcome, .. } = data_check::check(project, &settings, &sources)?;
    outcome?;
    let mut values = settings.with_data_vars(&data.values);
    render::derive(&mut values);
    let derivations = project::load_derivations(&project.root, &derive_file(&settings))?;
    evaluate_derivations(&derivations, &mut values, &|text, values| engine.evaluate(text, values))?;
    let rendered = render_tree(&engine, &sources, &values, Path::new(&settings.output))?;
    Ok(Look { values, files: rendered.files })
}

/// Refuses files that would take the place of what they are made from.
fn refuse_inputs(settings: &RenderSettings, sources: &[SourceFile], files: &[GeneratedFile]) -> Result<()> {
    let named = settings.data.iter().chain(&settings.derive).map(String::as_str);
    let inputs: HashSet<&Path> = named
        .chain(["infra.yaml", "makejinja.toml", DERIVE_FILE])
        .chain(sources.iter().map(|source| source.origin.as_str()))
        .map(Path::new)
        .collect();
    match files.iter().find(|file| inputs.contains(file.path.as_path())) {
        None => Ok(()),
        Some(file) => Err(Error::invalid(format!(
            "`{}` would be rendered to `{}`, which is an input itself",
            file.origin,
            file.path.display()
        ))
        .hint("rename the template, or set `output` in infra.yaml")),
    }
}

/// Reads, checks and completes the values.
async fn load_values(
    project: &Project,
    settings: &RenderSettings,
    sources: &[SourceFile],
    engine: &Engine,
    context: &Context,
) -> Result<Values> {
    let CheckedData { data, warnings, outcome } = data_check::check(project, settings, sources)?;
    warnings.iter().take(WARNINGS).for_each(|warning| warn(&warning.to_string(), context));
    if warnings.len() > WARNINGS {
        warn(&format!("{} more about the data", warnings.len() - WARNINGS), context);
    }
    outcome?;
    let given = settings.with_data_vars(&data.values);
    let mut values = given.clone();
    render::derive(&mut values);
    values.extend(plugins::run_data(project, settings, &given, context).await?);
    let derivations = project::load_derivations(&project.root, &derive_file(settings))?;
    evaluate_derivations(&derivations, &mut values, &|text, values| engine.evaluate(text, values))?;
    Ok(values)
}

fn template_access(project: &Project, context: &Context) -> TemplateAccess {
    TemplateAccess { root: project.root.clone(), env: context.env.clone() }
}

fn tell_unread(keys: &[String], context: &Context) {
    if context.terminal.verbosity() > Verbosity::Normal && !keys.is_empty() {
        context.terminal.note(&format!("read by no template: {}", keys.join(", ")));
    }
}

fn warn(text: &str, context: &Context) {
    context.terminal.note(&format!("{}: {text}", context.terminal.paint(Tone::Warn, "warning")));
}

fn nothing_to_render(project: &Project) -> Error {
    Error::invalid(format!("`{}` has no templates and no data to render", project.root.display()))
        .hint("templates go into `templates/config`, data into `cluster.yaml` and `nodes.yaml`")
        .hint("begin with an example: `infra new --example proxmox-talos`")
}
