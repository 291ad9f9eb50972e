//! `infra deps outdated`: what is newer than what the project uses, and with `--write` the edits that take it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::asking::{Asked, ask};
use super::outdated_args::OutdatedArgs;
use super::outdated_json::{tofu_row, with_edits};
use super::outdated_text::{show, tell_next};
use super::surveyed::OutdatedSurvey;
use super::taking::{Taken, take};
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::error::{Exit, Kind, Result};
use crate::model::{Stack, StackId};
use crate::project;
use crate::tofu::registry::{Freshness, Registries};
use crate::tofu::{Flavour, LocateRequest, search};
use crate::upgrades::Survey;

/// Runs the command.
pub(super) async fn run(
    args: &OutdatedArgs,
    request: &LocateRequest<'_>,
    as_json: bool,
    context: &Context,
) -> Result<Exit> {
    let loaded = load(args, context).await?;
    let chosen = choose(args, loaded.as_ref(), context)?;
    let used = search(request).await?.found;
    let flavour = used.as_ref().map_or(Flavour::OpenTofu, |tofu| tofu.flavour);
    let freshness = if args.fresh { Freshness::Now } else { Freshness::Recent };
    let registries = Registries::new(&context.env, flavour, context.clock, freshness)?;
    let stacks: &[Stack] = loaded.as_ref().map_or(&[], |loaded| &loaded.stacks);
    let survey = Survey::of(request.root, stacks, flavour);
    let look = OutdatedSurvey { survey: &survey, chosen: &chosen, flavour };
    let asked = ask(&look, used.map(|tofu| tofu.version), &registries, request, context).await?;
    let taken = match (&loaded, args.write) {
        (Some(loaded), true) => take(&look, &asked, args.level(), &loaded.project)?,
        _ => Taken::default(),
    };
    if as_json {
        let rows: Vec<Value> =
            std::iter::once(tofu_row(&asked)).chain(with_edits(&look, &asked, &taken)).collect();
        context.terminal.data_line(&serde_json::to_string_pretty(&rows).unwrap_or_default());
    } else {
        show(&look, &asked, &taken, args, context);
    }
    tell_next(&look, &asked, &taken, args, context);
    Ok(exit(&asked, args))
}

/// Outside of a project only tofu itself counts.
async fn load(args: &OutdatedArgs, context: &Context) -> Result<Option<LoadedProject>> {
    let is_project = project::find_root(&context.cwd).is_ok();
    match is_project || !args.stacks.selection().is_empty() {
        true => LoadedProject::load_for(context, &args.stacks).await.map(Some),
        false => Ok(None),
    }
}

/// Returns the chosen stacks without their workspaces, which share their files.
fn choose(
    args: &OutdatedArgs,
    loaded: Option<&LoadedProject>,
    context: &Context,
) -> Result<BTreeSet<StackId>> {
    let Some(loaded) = loaded else { return Ok(BTreeSet::new()) };
    if loaded.stacks.is_empty() && args.stacks.selection().is_empty() {
        return Ok(BTreeSet::new());
    }
    let chosen = loaded.choose_to_read(&args.stacks, context)?;
    chosen.iter().map(|id| loaded.stack(id).map(Stack::base_id)).collect()
}

/// What is not known is never up to date.
fn exit(asked: &Asked, args: &OutdatedArgs) -> Exit {
    match () {
        () if !asked.is_complete() => Kind::Unavailable.exit(),
        () if !args.write && asked.is_outdated() => Kind::Failed.exit(),
        () => Exit::OK,
    }
}
