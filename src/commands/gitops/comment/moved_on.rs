//! Which states are not the ones any more that the plans were made from.
//!
//! Only what can be read without a key, a question and a network is looked at: states in folders.
//! Of all others nothing is said.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream;

use super::gathered::Gathered;
use crate::backends::{StateFacts, open_place, store_place};
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::engine::StateHomes;
use crate::model::{Backend, Stack, StackId};
use crate::state::AwsSources;

/// How long a look may take, and how many are taken at once.
const PATIENCE: Duration = Duration::from_secs(5);
const AT_ONCE: usize = 8;

/// Looks at the states of the planned stacks.
pub(super) async fn find(gathered: &Gathered, context: &Context) -> BTreeSet<StackId> {
    let Ok(loaded) = LoadedProject::load(context) else { return BTreeSet::new() };
    // Another project may have stacks of the same names.
    if loaded.project.name != gathered.project {
        return BTreeSet::new();
    }
    let marks = gathered.stacks().into_iter().filter_map(|(run, id)| {
        let report = gathered.runs.get(run)?.report.stacks.iter().find(|stack| stack.id == *id)?;
        let stack = loaded.stacks.iter().find(|stack| stack.id == *id)?;
        Some((stack, report.state.as_deref()?)).filter(|(stack, _)| is_near(&loaded, stack))
    });
    let marks: Vec<(&Stack, &str)> = marks.collect();
    if marks.is_empty() {
        return BTreeSet::new();
    }
    let homes = homes_without_secrets(&loaded, context).await;
    let looks = marks.into_iter().map(async |(stack, mark)| {
        let now = tokio::time::timeout(PATIENCE, mark_now(&homes, stack)).await.ok().flatten();
        now.filter(|now| is_known(mark) && is_known(now) && now != mark).map(|_| stack.id.clone())
    });
    stream::iter(looks).buffered(AT_ONCE).filter_map(async |id| id).collect().await
}

/// Opens what takes no secrets, so that nothing is asked and nothing is told.
async fn homes_without_secrets<'a>(loaded: &'a LoadedProject, context: &'a Context) -> StateHomes<'a> {
    StateHomes {
        project: &loaded.project,
        place: open_place(&loaded.project, &context.env, context.clock).await.map(Some),
        secrets: BTreeMap::new(),
        env: &context.env,
        sources: AwsSources::new(context.clock, context.interrupts.clone()),
    }
}

/// Returns whether the state of a stack lies in a folder.
fn is_near(loaded: &LoadedProject, stack: &Stack) -> bool {
    let project = &loaded.project;
    match &stack.backend {
        Backend::Embedded => {
            project.state.url.is_none() && store_place(project).is_ok_and(|place| !place.is_remote())
        }
        Backend::None => true,
        Backend::Configured { kind, .. } => kind == "local",
        Backend::Unknown => false,
    }
}

async fn mark_now(homes: &StateHomes<'_>, stack: &Stack) -> Option<String> {
    let bytes = homes.home_of(stack).ok()?.read().await.ok()?;
    let Some(bytes) = bytes else { return Some("none".to_owned()) };
    let facts = StateFacts::of(&bytes)?;
    Some(format!("{} {}", facts.lineage, facts.serial))
}

/// A state that only its key opens is marked by its digest, which tells nothing here.
fn is_known(mark: &str) -> bool {
    mark == "none" || mark.split_once(' ').is_some_and(|(_, serial)| serial.parse::<u64>().is_ok())
}
