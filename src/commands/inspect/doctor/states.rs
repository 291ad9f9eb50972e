//! What `doctor` says about the states: which only this machine has, and which are not where
//! they are looked for. It asks what a run asks before its first tofu, so that it never calls
//! fine what a plan would refuse.

use std::collections::BTreeMap;

use super::finding::Finding;
use crate::backends::read_infra_lock;
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::engine;
use crate::engine::{KeptStates, Session, SessionParts, StackSecrets, StateNeed};
use crate::error::{Error, Result};
use crate::events::Events;
use crate::model::{Backend, LockFile, Project, StackError, StackId, counted, few, quoted};
use crate::process::Git;
use crate::tofu::Tofu;

/// How many stacks are named in one finding.
pub(super) const NAMED: usize = 5;

/// Looks at the states of all stacks, with the tofu that is there.
pub(super) async fn state_findings(
    loaded: &LoadedProject,
    secrets: BTreeMap<StackId, StackSecrets>,
    tofu: Option<Tofu>,
    context: &Context,
) -> Vec<Finding> {
    if !loaded.stacks.iter().any(|stack| stack.backend == Backend::Embedded) {
        return Vec::new();
    }
    let Some(tofu) = tofu else {
        let message = "not looked at: that needs a tofu";
        return vec![Finding::warn("states", message, "`infra deps install`")];
    };
    let session = match open(loaded, secrets, tofu, context).await {
        Ok(session) => session,
        Err(error) => return vec![Finding::fail("states", &error)],
    };
    let mut findings = seen(&session).await;
    session.close().await;
    findings.extend(lock_file(&loaded.project, context).await);
    if findings.is_empty() {
        findings.push(Finding::pass("states", "all where they should be"));
    }
    findings
}

/// Opens what a run opens; nobody is asked, nothing is told on the way.
async fn open(
    loaded: &LoadedProject,
    secrets: BTreeMap<StackId, StackSecrets>,
    tofu: Tofu,
    context: &Context,
) -> Result<Session> {
    let (events, _) = Events::channel(context.clock);
    Session::open(SessionParts {
        project: loaded.project.clone(),
        stacks: loaded.stacks.clone(),
        tofu,
        inherited: context.env.clone(),
        events,
        interrupts: context.interrupts.clone(),
        clock: context.clock,
        secrets,
        given: engine::Given::default(),
        passed: engine::Given::default(),
        state: StateNeed::Yes,
        run_id: None,
        processes: 1,
    })
    .await
}

async fn seen(session: &Session) -> Vec<Finding> {
    let all: Vec<StackId> = session.stacks.iter().map(|stack| stack.id.clone()).collect();
    let problems = engine::check_states(session, &all).await.without_open_renames().problems;
    let (misplaced, unread): (BTreeMap<_, _>, BTreeMap<_, _>) =
        problems.into_iter().partition(|(_, error)| is_misplaced(error));
    let mut findings: Vec<Finding> = together(misplaced.iter()).into_iter().map(misplaced_finding).collect();
    findings.extend(together(unread.iter()).into_iter().map(unread_finding));
    let sound: Vec<StackId> =
        all.into_iter().filter(|id| !misplaced.contains_key(id) && !unread.contains_key(id)).collect();
    findings.extend(kept_findings(&session.project, &engine::kept_states(session, &sound).await));
    findings.extend(engine::lost_stacks(session).await.iter().map(|id| {
        let message = format!(
            "`{id}` is gone from the tree, its state has resources, and there is no copy of its files"
        );
        Finding::warn("states", message, engine::hints_for_lost_stack(id).join("; "))
    }));
    findings
}

fn kept_findings(project: &Project, kept: &KeptStates) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !project.state.shared() && !kept.there.is_empty() {
        let count = counted(kept.there.len(), "state");
        let fix = "for a second machine name a store in infra.yaml (`state: { store: … }`), then `infra state migrate --all`";
        findings.push(Finding::warn(
            "states",
            format!("only this machine has {count}: in .infra/state"),
            fix,
        ));
    }
    if !kept.unknown.is_empty() && project.state.lock_file != LockFile::Off {
        let names = few(&kept.unknown, NAMED);
        let message =
            format!("infra.lock does not know the state of {names}, so no other checkout would miss it");
        findings.push(Finding::warn("states", message, "`infra init --all`, then commit infra.lock"));
    }
    findings
}

/// Returns whether an error is about where a state is, and not about what keeps it.
pub(super) fn is_misplaced(error: &Error) -> bool {
    let codes = [
        StackError::STATE_ELSEWHERE,
        StackError::STATE_NOT_MOVED,
        StackError::STATE_SHARED,
        StackError::STACK_RENAMED,
    ];
    error.label().is_some_and(|code| codes.contains(&code))
}

/// Stacks with one and the same problem.
pub(super) struct SharedProblem<'a> {
    pub stacks: Vec<StackId>,
    pub error: &'a Error,
}

/// Puts stacks together whose errors differ in nothing but their names.
pub(super) fn together<'a>(errors: impl Iterator<Item = (&'a StackId, &'a Error)>) -> Vec<SharedProblem<'a>> {
    let mut groups: Vec<(String, SharedProblem<'a>)> = Vec::new();
    for (id, error) in errors {
        let hints = error.hints().iter().map(String::as_str);
        let text = std::iter::once(error.message()).chain(hints).collect::<Vec<_>>().join("\n");
        let key = text.replace(&quoted(id.as_str()), "").replace(id.as_str(), "");
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.stacks.push(id.clone()),
            None => groups.push((key, SharedProblem { stacks: vec![id.clone()], error })),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

impl SharedProblem<'_> {
    /// Returns what is wrong, with all names in the place of one.
    pub fn message(&self) -> String {
        let Some(first) = self.stacks.first() else { return String::new() };
        let (name, names) = (format!("`{first}`"), few(&self.stacks, NAMED));
        match self.error.message().contains(&name) {
            true => self.error.message().replacen(&name, &names, 1),
            false => format!("{names}: {}", self.error.message()),
        }
    }
}

/// What starts over is no fix; a command for one stack of several becomes the one for all.
fn misplaced_finding(group: SharedProblem<'_>) -> Finding {
    let first = group.stacks.first().map(|id| quoted(id.as_str())).unwrap_or_default();
    let for_all = |hint: &String| match group.stacks.len() {
        0 | 1 => hint.clone(),
        _ => ["recover", "adopt"].iter().fold(hint.clone(), |hint, command| {
            hint.replace(&format!("infra state {command} {first}"), &format!("infra state {command} --all"))
        }),
    };
    let hints = group.error.hints().iter().filter(|hint| !hint.contains("infra state forget"));
    let fix: Vec<String> = hints.map(for_all).collect();
    Finding::warn("states", group.message(), fix.join("; "))
}

fn unread_finding(group: SharedProblem<'_>) -> Finding {
    let names = few(&group.stacks, NAMED);
    let message = format!("nobody can tell where the state of {names} is: {}", group.error.message());
    let fix = match group.error.hints() {
        [] => "make the place reachable".to_owned(),
        hints => hints.join("; "),
    };
    Finding::warn("states", message, fix)
}

/// What is wrong with the file by which other checkouts miss a state.
async fn lock_file(project: &Project, context: &Context) -> Option<Finding> {
    if project.state.lock_file == LockFile::Off {
        return None;
    }
    if let Err(error) = read_infra_lock(project) {
        return Some(Finding::fail("states", &error));
    }
    let file = std::path::Path::new("infra.lock");
    let git = Git::around(&project.root, &context.env, &context.interrupts)?;
    if !git.lacks(file).await {
        return None;
    }
    let message = "infra.lock is not in git, so no other checkout would miss a state";
    Some(Finding::warn("states", message, "`git add infra.lock`, and commit it"))
}
