//! The beginning of a run: what it needs is opened, and what must not begin is refused.

use std::collections::{BTreeMap, BTreeSet};

use super::dependents::{DependentStates, tell_remaining};
use super::prepared::Prepared;
use super::protected::check_protected;
use super::rename_question::ask_about_renames;
use super::warnings::warn_beforehand;
use crate::commands::Context;
use crate::commands::loaded_project::{Purpose, warn_of_removed};
use crate::commands::run::Request;
use crate::commands::trust::untrusted_stacks;
use crate::engine;
use crate::engine::{Approval, RunOptions, Session, StateCheck, StateNeed};
use crate::error::{Error, Kind, Result};
use crate::events::Events;
use crate::model::{Backend, Project, RunCommand, RunPlan, Stack, StackId};
use crate::stacks;
use crate::stacks::SharedState;

/// What a run neither opens nor runs.
#[derive(Debug)]
pub struct NotOpened {
    /// Whether the states of dependent stacks can be read.
    dependents: DependentStates,
    /// Chosen stacks that bring something untrusted, each with its error.
    untrusted: BTreeMap<StackId, Error>,
}

impl Prepared {
    /// Opens a session over the chosen stacks, and over those whose states tell whether they depend on them.
    pub async fn open(
        &self,
        request: &Request,
        context: &Context,
        (events, options): (Events, &RunOptions),
    ) -> Result<(Session, NotOpened)> {
        // Checking the configuration needs no credentials, so it opens no secrets either.
        let state = if self.plan.command == RunCommand::Validate { StateNeed::No } else { StateNeed::Yes };
        let untrusted = match self.plan.command.is_ordered() {
            // Stacks that are changed together are changed all, or none of them.
            true => BTreeMap::new(),
            false => untrusted_stacks(&self.loaded, &self.chosen, state, context).await?,
        };
        let chosen: Vec<StackId> =
            self.chosen.iter().filter(|id| !untrusted.contains_key(id)).cloned().collect();
        let looked_at = self.dependent_stacks.looked_at(&chosen, request);
        let open = async |stacks: &[StackId]| {
            let (run_id, at_once) = (Some(options.run_id.clone()), Some(options.parallelism));
            let given = &request.run.variables.items;
            let unopened = request.unopened();
            let extra = &request.extra;
            let purpose = Purpose { stacks, state, run_id, at_once, given, unopened, extra };
            self.loaded.open_session(context, events.clone(), purpose).await
        };
        match open(&looked_at).await {
            // Without the secrets of a dependent stack its state cannot be read either.
            Err(error) if error.kind() == Kind::Refused && looked_at.len() > chosen.len() => {
                Ok((open(&chosen).await?, NotOpened { dependents: DependentStates::Closed, untrusted }))
            }
            opened => Ok((opened?, NotOpened { dependents: DependentStates::Open, untrusted })),
        }
    }

    /// Refuses a run that must not begin, and gives the warnings that come before it.
    pub async fn check(
        &self,
        session: &Session,
        (request, context): (&Request, &Context),
        not_opened: NotOpened,
        options: &mut RunOptions,
    ) -> Result<StateCheck> {
        let Self { loaded, plan, dependent_stacks, chosen, .. } = self;
        options.remaining = dependent_stacks.check(session, request, chosen, not_opened.dependents).await?;
        check_protected(session, plan, request, context).await?;
        warn_beforehand(loaded, plan, &session.events);
        if options.approval == Approval::Given {
            tell_remaining(session, &options.remaining);
        }
        let check = check_states(session, plan, &not_opened, (request, context)).await?;
        let mut shared = shared_states(&loaded.stacks, plan);
        shared.extend(unclear_backends(&loaded.project, plan, request));
        shared.extend(not_opened.untrusted);
        Ok(StateCheck { shared, ..check })
    }
}

/// Returns the stacks of a run whose state another stack writes too; empty for commands that touch no state.
pub fn shared_states(stacks: &[Stack], plan: &RunPlan) -> BTreeMap<StackId, Error> {
    let mut shared = BTreeMap::new();
    if matches!(plan.command, RunCommand::Validate | RunCommand::Test) {
        return shared;
    }
    for SharedState { stacks, error } in stacks::shared_states(stacks) {
        let chosen = plan.stacks().map(|run| &run.stack.id).filter(|id| stacks.contains(id));
        shared.extend(chosen.map(|id| (id.clone(), error.clone())));
    }
    shared
}

/// Returns the stacks of a run whose backend configuration cannot be determined, each with its error.
fn unclear_backends(project: &Project, plan: &RunPlan, request: &Request) -> BTreeMap<StackId, Error> {
    let by_hand = request.extra.iter().any(|arg| arg.trim_start_matches('-').starts_with("backend-config"));
    if by_hand || matches!(plan.command, RunCommand::Validate | RunCommand::Test) {
        return BTreeMap::new();
    }
    let unclear = plan.stacks().filter_map(|run| {
        let error = stacks::backend_config(project, &run.stack).err()?;
        Some((run.stack.id.clone(), error))
    });
    unclear.collect()
}

/// Checks where the states are, for commands that need them.
async fn check_states(
    session: &Session,
    plan: &RunPlan,
    not_opened: &NotOpened,
    (request, context): (&Request, &Context),
) -> Result<StateCheck> {
    if matches!(plan.command, RunCommand::Validate | RunCommand::Test) {
        warn_of_removed(session, &BTreeSet::new()).await?;
        return Ok(StateCheck::default());
    }
    let chosen = plan.stacks().map(|run| &run.stack.id);
    let chosen: Vec<StackId> = chosen.filter(|id| !not_opened.untrusted.contains_key(id)).cloned().collect();
    if request.removed && request.stacks.selection().is_empty() {
        engine::check_removed(session, &chosen).await?;
    }
    let mut check = engine::check_states(session, &chosen).await;
    if plan.command == RunCommand::Init {
        // `tofu init` itself moves a state to the backend block of a stack.
        let is_ours = |id: &StackId| session.stack(id).is_ok_and(|stack| stack.backend == Backend::Embedded);
        check.problems.retain(|id, _| is_ours(id));
    }
    let check = ask_about_renames(check, context).await?;
    if !request.removed {
        let open = check.renames.iter().map(|rename| rename.old.clone());
        warn_of_removed(session, &check.former.values().cloned().chain(open).collect()).await?;
    }
    let check = check.without_open_renames();
    engine::use_former_names(session, &check);
    Ok(check)
}
