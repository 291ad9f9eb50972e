//! What `doctor` says about the states: which only this machine has, and which are not where
//! `infra.lock` says.

use super::super::locks::Homes;
use super::{Finding, Trusted};
use crate::backends::{KeptAt, SafetyCopies, read_infra_lock};
use crate::commands::Context;
use crate::commands::workspace::Workspace;
use crate::model::project::LockFile;
use crate::model::{Backend, Project, Stack, StackId, counted, few, quoted};
use crate::trust::ThingKind;

/// How many stacks are named in one finding.
const NAMED: usize = 5;

/// What the configured place has.
#[derive(Default)]
struct Looked {
    /// Stacks with a state.
    there: Vec<StackId>,
    /// Stacks without one.
    missing: Vec<StackId>,
}

/// Looks at the states of all stacks that leave them to infra.
pub(super) async fn state_findings(
    workspace: &Workspace,
    trust: &Trusted,
    context: &Context,
) -> Vec<Finding> {
    let stacks: Vec<&Stack> =
        workspace.stacks.iter().filter(|stack| stack.backend == Backend::Embedded).collect();
    // Looking may need credentials that only trusted keys open; the locks say so already.
    let closed = !trust.with(ThingKind::Key) || !trust.with(ThingKind::PasswordProgram);
    if stacks.is_empty() || closed {
        return Vec::new();
    }
    let looked = look(workspace, &stacks, context).await;
    let mut findings = only_here(&workspace.project, &looked);
    findings.extend(lock_file(&workspace.project, &looked, context));
    if findings.is_empty() {
        findings.push(Finding::pass("states", "all where they should be"));
    }
    findings
}

/// One that cannot be read is told with its lock.
async fn look(workspace: &Workspace, stacks: &[&Stack], context: &Context) -> Looked {
    let homes = Homes::of(workspace, stacks, context).await;
    let mut looked = Looked::default();
    for stack in stacks {
        let Ok(home) = homes.home_of(stack) else {
            looked.missing.push(stack.id.clone());
            continue;
        };
        match home.facts().await {
            Ok(Some(_)) => looked.there.push(stack.id.clone()),
            Ok(None) => looked.missing.push(stack.id.clone()),
            Err(_) => {}
        }
    }
    looked
}

fn only_here(project: &Project, looked: &Looked) -> Vec<Finding> {
    if project.state.shared() || looked.there.is_empty() {
        return Vec::new();
    }
    let message = format!("only this machine has {}: in .infra/state", counted(looked.there.len(), "state"));
    let fix = "for a second machine name a store in infra.yaml (`state: { store: … }`), then `infra state migrate --all`";
    vec![Finding::warn("states", message, fix)]
}

fn lock_file(project: &Project, looked: &Looked, context: &Context) -> Vec<Finding> {
    if project.state.lock_file == LockFile::Off {
        return Vec::new();
    }
    let lock = match read_infra_lock(project) {
        Ok(lock) => lock,
        Err(error) => return vec![Finding::fail("states", &error)],
    };
    let mut findings = Vec::new();
    let unknown: Vec<StackId> =
        looked.there.iter().filter(|id| !lock.states.contains_key(id)).cloned().collect();
    if !unknown.is_empty() {
        let names = few(&unknown, NAMED);
        let message =
            format!("infra.lock does not know the state of {names}, so no other checkout would miss it");
        findings.push(Finding::warn("states", message, "`infra init --all`, then commit infra.lock"));
    }
    for id in &looked.missing {
        if let Some(known) = lock.states.get(id) {
            let message =
                format!("{id}: infra.lock knows a state, last kept at {}, that is not there", known.kept);
            findings.push(Finding::warn("states", message, way_back(project, id, known, context)));
        }
    }
    findings
}

/// Returns the command that brings a missing state back.
fn way_back(
    project: &Project,
    id: &StackId,
    known: &crate::backends::KnownState,
    context: &Context,
) -> String {
    let same = match (KeptAt::parse(&known.kept, &project.root), KeptAt::of(project)) {
        (Ok(kept), Ok(here)) => kept.is_same(&here),
        _ => true,
    };
    let copies = SafetyCopies::of(&context.env, project.state.copies, context.clock);
    let has_copy = copies.is_some_and(|copies| matches!(copies.find(&known.lineage), Ok(Some(_))));
    let id = quoted(id.as_str());
    match (same, has_copy) {
        (false, _) => "`infra state migrate --all`".to_owned(),
        (true, true) => format!("`infra state recover {id}`"),
        (true, false) => {
            format!("`infra state recover {id} --from DIR`, or `infra state forget {id}` to start over")
        }
    }
}
