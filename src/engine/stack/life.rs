//! The life of one stack in a run: init → plan → apply, each as its own function.
//!
//! Approval lies between plan and apply and belongs to all stacks of a run, so it is asked
//! in `engine::run`. Here nothing is decided for a person.

use std::path::Path;

use serde_json::Value;

use super::init::init_stack;
use super::tofu_workspaces::wrong_workspace;
use crate::engine::applied::{remember_applied, remember_inputs};
use crate::engine::calls::{Stop, Watched, explain, give_name, unsaved_state, watch, way_to_save};
use crate::engine::plan::{PlanRecord, SavedPlans, hide_old_values, stale};
use crate::engine::run::{RunOptions, WhenToInit};
use crate::engine::session::Session;
use crate::engine::variables::{Inputs, giving_variables, sources_with, with_early_values};
use crate::error::{Error, Result};
use crate::events::RunEvent;
use crate::model::{ChangeDetail, Safe, StackError, StackRun, Step};
use crate::process;
use crate::tofu::call::{ApplyCall, PlanMode};
use crate::tofu::{Flavour, call};

/// One stack with everything its steps need.
#[derive(Clone, Copy, Debug)]
pub struct StackLife<'a> {
    pub session: &'a Session,
    pub run: &'a StackRun,
    pub options: &'a RunOptions,
    /// Where a plan lies that a new one must not take the place of.
    pub beside: Option<&'a SavedPlans>,
}

/// A plan that is ready to be applied.
#[derive(Debug)]
pub struct Planned {
    pub record: PlanRecord,
    /// What changes in each resource, where that is shown.
    pub details: Vec<ChangeDetail>,
    /// Where it lies.
    pub plans: SavedPlans,
    /// Whether it was saved by `plan`, and so has been reviewed.
    pub reviewed: bool,
    /// Whether somebody else made it: only a yes to this very plan counts.
    pub foreign: bool,
    /// What was shown to somebody before this plan took its place.
    pub shown_before: Option<ShownPlan>,
}

/// A plan that somebody was shown, and where it lies.
#[derive(Clone, Debug)]
pub struct ShownPlan {
    pub record: PlanRecord,
    pub plans: SavedPlans,
}

/// Whether a stack that this one takes values from was applied in this run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Upstream {
    Applied,
    Untouched,
}

impl Planned {
    pub fn destroys(&self) -> bool {
        self.record.changes.iter().any(|change| change.action.is_destructive())
    }

    /// Returns it as what is shown.
    pub fn as_shown(&self) -> ShownPlan {
        ShownPlan { record: self.record.clone(), plans: self.plans.clone() }
    }
}

impl StackLife<'_> {
    /// Prepares the working folder.
    pub async fn init(self, when: WhenToInit, extra: &[String]) -> Result<(), Stop> {
        self.check_files()?;
        init_stack(self.session, self.run, when, extra).await
    }

    /// Applies exactly this plan and removes it; one that fails is out of use.
    pub async fn apply(self, planned: &Planned) -> Result<(), Stop> {
        let (id, plans) = (&self.run.stack.id, &planned.plans);
        if let Some(flaw) = plans.flaw(&planned.record) {
            return Err(stale(id, &flaw).hint(self.way_to_plans(Some(&planned.record))).into());
        }
        self.step(Step::Apply);
        let inputs = self.inputs().await?;
        let path = plans.plan_path(id);
        // Terraform refuses variables beside a plan (https://github.com/hashicorp/terraform/issues/36181), and
        // has none that the plan lacks.
        let takes_variables = self.session.tofu.flavour == Flavour::OpenTofu;
        let variables = match takes_variables {
            true => sources_with(self.session, self.run, &inputs, &self.given_for(&planned.record)),
            false => Vec::new(),
        };
        let call = ApplyCall {
            plan: &path,
            variables: &variables,
            given: if takes_variables { giving_variables(&planned.record.extra) } else { Vec::new() },
            lock_timeout: self.options.lock_timeout.as_deref(),
        };
        let base = self.session.call_reading_plan(&self.run.stack, &self.run.env, &path)?;
        let call = call::apply(base, call, self.session.narration());
        self.remember_what_is_applied(&inputs).await;
        self.session.outputs.borrow_mut().remove(id);
        let watched = self.apply_in_progress(call).await?;
        if !watched.status.success() {
            let stop = explain(self.session, &self.run.stack, &watched).await;
            // Half applied, a plan can never be applied again; one that met a lock still can.
            let met_a_lock = matches!(&stop, Stop::Failed(error) if error.is_lock());
            if !met_a_lock {
                plans.retire(id)?;
            }
            return Err(match stop {
                Stop::Failed(error) if error.code.as_deref() == Some(StackError::STALE_PLAN) => {
                    Stop::Failed(error.with_first_hint(&self.way_to_plans(Some(&planned.record))))
                }
                stop => stop,
            });
        }
        if !plans.is_at(&self.options.plans_dir) {
            plans.remove(id)?;
        }
        // What was reviewed is done, even if it was planned again.
        Ok(self.forget_plan()?)
    }

    /// Runs an apply; stacks that share a folder take turns.
    async fn apply_in_progress(self, call: process::Invocation) -> Result<Watched, Stop> {
        let stack = &self.run.stack;
        let _turn = match stack.workspace {
            Some(_) => Some(self.session.turn_in_folder(stack).await?),
            None => None,
        };
        let watched = watch(self.session, &stack.id, Step::Apply, call).await;
        if let Err(error) = give_name(self.session, stack) {
            self.session.tell_once(Some(&stack.id), error.message().to_owned(), error.hints().to_vec());
        }
        watched
    }

    /// Keeps a copy from which the stack can be destroyed even if its folder is gone.
    async fn remember_what_is_applied(self, inputs: &Inputs) {
        if self.options.mode != PlanMode::Destroy {
            self.tell_forgotten(remember_applied(self.session, self.run, inputs).await);
        }
    }

    /// Keeps what the stack takes from others up to date, although nothing had to be applied.
    pub async fn remember_inputs(self) {
        if self.options.mode == PlanMode::Normal
            && let Ok(inputs) = self.inputs().await
        {
            self.tell_forgotten(remember_inputs(self.session, self.run, &inputs).await);
        }
    }

    fn tell_forgotten(self, remembered: Result<()>) {
        if let Err(error) = remembered {
            let message = format!("what is applied could not be remembered: {}", error.message());
            let stack = Some(self.run.stack.id.clone());
            self.session.events.emit(RunEvent::Warning { stack, message, hints: Vec::new() });
        }
    }

    /// Removes the saved plan of a stack in which nothing is left to be done.
    fn forget_plan(self) -> Result<()> {
        let (saved, id) = (SavedPlans::at(&self.options.plans_dir), &self.run.stack.id);
        if self.is_strict() { saved.settle(id) } else { saved.remove(id) }
    }

    /// Removes the saved plan of a stack in which nothing was to be done.
    ///
    /// The sign that it was there stays: a later run of saved plans alone must not miss it.
    pub fn forget_empty_plan(self, planned: &Planned) -> Result<()> {
        let (saved, id) = (SavedPlans::at(&self.options.plans_dir), &self.run.stack.id);
        if planned.reviewed || self.is_strict() {
            return saved.settle(id);
        }
        saved.retire(id)?;
        saved.remove_retired(id)
    }

    /// What applies a saved plan may print the old values that it replaces, as showing it does.
    ///
    /// Returns the plan as data where it was read for that.
    pub async fn hide_old_values_of(
        self,
        saved: &SavedPlans,
        record: &PlanRecord,
    ) -> Result<Option<Value>, Stop> {
        let inputs = self.inputs().await?;
        if record.is_empty() || !self.is_secretive(&inputs) {
            return Ok(None);
        }
        let plan = saved.plan_path(&record.stack);
        Ok(Some(hide_old_values(self.session, &record.stack, self.call_reading(&plan).await?, &plan).await?))
    }

    /// Refuses a stack whose files cannot be used, in the words of discovery.
    pub fn check_files(self) -> Result<()> {
        if let Some(error) = wrong_workspace(self.session, &self.run.stack) {
            return Err(error);
        }
        let Some(first) = self.run.stack.problems.first() else { return Ok(()) };
        let error = Error::invalid(format!("`{}` cannot be run with the files it has", self.run.stack.id))
            .detail(first.clone());
        Err(self.run.stack.problems.iter().skip(1).cloned().fold(error, Error::detail))
    }

    /// Refuses to change anything while a state that could not be saved lies in the folder.
    pub async fn check_unsaved_state(self) -> Result<()> {
        let id = &self.run.stack.id;
        let Some(path) = unsaved_state(self.session, &self.run.stack).await else { return Ok(()) };
        Err(Error::failed(format!("an earlier run of `{id}` could not save its state"))
            .code(StackError::UNSAVED_STATE)
            .at(path.display())
            .detail("applying now would make what that run made once more")
            .hint(way_to_save(id)))
    }

    /// Tells that a plan is made without what an earlier run did.
    pub(super) async fn warn_of_unsaved_state(self) {
        let id = &self.run.stack.id;
        if let Some(path) = unsaved_state(self.session, &self.run.stack).await {
            let path = path.display();
            let message = format!(
                "an earlier run could not save its state, which lies in `{path}`: this plan does not know what it made"
            );
            let stack = Some(id.clone());
            self.session.events.emit(RunEvent::Warning { stack, message, hints: vec![way_to_save(id)] });
        }
    }

    pub fn step(self, step: Step) {
        self.session.events.emit(RunEvent::StepStarted { stack: self.run.stack.id.clone(), step });
    }

    /// Returns a call that reads a plan, still without a subcommand.
    pub async fn call_reading(self, plan: &Path) -> Result<process::Invocation> {
        let base = self.session.call_reading_plan(&self.run.stack, &self.run.env, plan)?;
        Ok(with_early_values(self.session, self.run, base).await)
    }

    pub fn tell_planned(
        self,
        record: &PlanRecord,
        (text, details): (Vec<Safe>, &[ChangeDetail]),
        reviewed: Reviewed,
    ) {
        self.session.events.emit(RunEvent::Planned {
            stack: record.stack.clone(),
            changes: record.shown_changes(),
            outputs_changed: record.outputs_changed,
            text,
            details: details.to_vec(),
            saved_at: (reviewed == Reviewed::Yes).then_some(record.made_at),
        });
    }
}

/// Whether a plan was shown by an earlier command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reviewed {
    Yes,
    No,
}
