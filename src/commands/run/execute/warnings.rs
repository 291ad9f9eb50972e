//! What to know before a run begins: runs that died, states without locks, data that was edited.

use std::collections::BTreeSet;

use crate::commands::loaded_project::LoadedProject;
use crate::commands::setup::edited_since;
use crate::events::Events;
use crate::model::{RunCommand, RunPlan, Stack};
use crate::process::may_live;
use crate::report::Unfinished;
use crate::stacks;
use crate::stacks::StateRisk;

/// Tells what to know before a run begins.
pub fn warn_beforehand(loaded: &LoadedProject, plan: &RunPlan, events: &Events) {
    warn_of_dead_runs(loaded, events);
    warn_of_missing_locks(plan, events);
    warn_of_edits(loaded, events);
    warn_of_bare_address(loaded, events);
    warn_of_selections(loaded, plan, events);
}

/// Tells of runs that died, once.
fn warn_of_dead_runs(loaded: &LoadedProject, events: &Events) {
    for run in Unfinished::take_all(&loaded.project.runs_dir(), may_live) {
        let command = run.command.name();
        events.warn(
            format!("run {} ({command}, process {}) ended without finishing", run.run_id, run.process.pid),
            vec![
                "it may have left a lock behind: `infra locks`".to_owned(),
                format!("what it did: `.infra/runs/{}`", run.run_id),
            ],
        );
    }
}

/// Tells what was edited and not rendered, so that "no changes" is not taken for more than it says.
fn warn_of_edits(loaded: &LoadedProject, events: &Events) {
    const SHOWN: usize = 3;
    let edited = edited_since(&loaded.project);
    let names = edited.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let changed = match edited.len() {
        0 => return,
        count if count > SHOWN => format!("{names} and {} more", count - SHOWN),
        _ => names,
    };
    let hint = "render it: `infra configure`".to_owned();
    events.warn(format!("{changed} changed since the last `infra configure`"), vec![hint]);
}

/// Warns of a server address without a path: such a server would answer that there is no state.
fn warn_of_bare_address(loaded: &LoadedProject, events: &Events) {
    let url = loaded.project.state.url.as_deref().unwrap_or_default().trim_end_matches('/');
    let is_bare = url.split_once("://").is_some_and(|(_, host)| !host.contains('/'));
    if is_bare {
        let hint = format!("a server of `infra state serve` has its states at `{url}/states`");
        events.warn(format!("`state.url` in infra.yaml has no path: `{url}`"), vec![hint]);
    }
}

/// Tells of workspaces that somebody selected by hand where `infra.yaml` declares which ones there are.
fn warn_of_selections(loaded: &LoadedProject, plan: &RunPlan, events: &Events) {
    let declared = plan.stacks().map(|run| &run.stack).filter(|stack| stack.declared_workspace().is_some());
    let root = &loaded.project.root;
    let told: BTreeSet<String> =
        declared.filter_map(|stack| stacks::ignored_selection(root, stack)).collect();
    told.into_iter().for_each(|words| events.warn(words, Vec::new()));
}

/// Warns once of states that two runs could write at the same time, because their backend has no locks.
fn warn_of_missing_locks(plan: &RunPlan, events: &Events) {
    if !matches!(plan.command, RunCommand::Plan | RunCommand::Apply | RunCommand::Destroy) {
        return;
    }
    let stacks: Vec<&Stack> = plan.stacks().map(|run| &run.stack).collect();
    for remark in stacks::state_remarks(&stacks) {
        if remark.risk == StateRisk::NoLock {
            events.warn(remark.text, vec![remark.fix]);
        }
    }
}
