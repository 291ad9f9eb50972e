//! Making a plan, or taking up a saved one: tofu runs, what it says is masked, and the plan is kept
//! with what it was made from.

use std::path::Path;

use serde_json::Value;

use super::life::{Planned, Reviewed, ShownPlan, StackLife, Upstream};
use super::saved_plans::FoundPlan;
use super::staleness::Staleness;
use super::state_mark::state_mark;
use crate::engine::bundle::BundleUse;
use crate::engine::calls::{
    Stop, TofuOutput, Watched, WhenToShow, explain, listen, says_changes, successful,
};
use crate::engine::plan::{PlanRecord, SavedPlans, complete, details_in, hide_old_values, prove, read_plan};
use crate::engine::session::{PlanHome, source_fingerprint, surroundings};
use crate::engine::variables::{Inputs, sources_of};
use crate::error::{Error, Result};
use crate::model::{Action, ChangeDetail, Step};
use crate::process;
use crate::tofu::call::{Narration, PlanCall, PlanMode};
use crate::tofu::{VariableSource, call};

/// How a plan ended.
enum PlanEnd {
    /// There is one.
    Made {
        output: TofuOutput,
        /// Whether tofu's exit code says that it changes something.
        changes: bool,
        /// The plan as data, where it had to be read.
        plan: Option<Value>,
    },
    /// There is none.
    Failed(Watched),
}

impl StackLife<'_> {
    /// Takes up a saved plan that still fits, or makes one that only this run knows.
    pub async fn plan_or_take_saved(self, upstream: Upstream) -> Result<Planned, Stop> {
        self.check_unsaved_state().await?;
        if let BundleUse::Apply(bundles) = &self.options.bundle {
            return self.plan_again(bundles).await;
        }
        let saved = SavedPlans::at(&self.options.plans_dir);
        let (record, foreign) = match self.find_saved(&saved)? {
            FoundPlan::Own(record) => (*record, false),
            FoundPlan::Foreign(record) => (*record, true),
            FoundPlan::Nothing(_) if self.is_strict() => {
                let error = Error::failed(format!("`{}` has no saved plan any more", self.run.stack.id));
                return Err(error.hint(self.way_to_plans(None)).into());
            }
            FoundPlan::Nothing(why) => {
                why.into_iter().for_each(|why| self.tell_ignored(why));
                return self.plan_privately().await;
            }
        };
        self.init(self.options.init, &[]).await?;
        match self.staleness(&saved, &record).await? {
            Staleness::Fresh if foreign => self.show_foreign(saved, record).await,
            Staleness::Fresh => self.take(saved, record).await,
            // What was reviewed said that this value would change.
            Staleness::Inputs if upstream == Upstream::Applied => {
                let shown_before = Some(ShownPlan { record, plans: saved });
                Ok(Planned { shown_before, ..self.plan_privately().await? })
            }
            stale => self.replace(&record, &stale.words()).await,
        }
    }

    /// Makes a plan and saves it for review.
    pub async fn plan(self) -> Result<Planned, Stop> {
        self.warn_of_unsaved_state().await;
        if let BundleUse::Make(maker) = &self.options.bundle {
            return self.plan_for_bundle(maker).await;
        }
        let plans = SavedPlans::at(&self.options.plans_dir);
        match self.session.plan_keys.user() {
            Err(error) if plans.is_at(&self.session.project.plans_dir()) => {
                self.tell_no_key(&error);
                plans.remove(&self.run.stack.id)?;
                self.plan_privately().await
            }
            _ => self.plan_into(plans).await,
        }
    }

    /// A plan that nothing binds to its user is not kept.
    fn tell_no_key(self, error: &Error) {
        let message = format!("no plan is saved, it lives for this run only: {}", error.message());
        self.session.tell_once(None, message, error.hints().to_vec());
    }

    /// Makes a plan that only this run knows.
    pub async fn plan_privately(self) -> Result<Planned, Stop> {
        self.plan_into(self.private_plans()).await
    }

    /// Returns where a plan can lie that only this run knows, beside one that is still needed.
    fn private_plans(self) -> SavedPlans {
        let usual = SavedPlans::at(&self.options.private_dir);
        match self.beside {
            // No stack has a name that begins with a dot.
            Some(taken) if *taken == usual => SavedPlans::at(self.options.private_dir.join(".again")),
            _ => usual,
        }
    }

    async fn plan_into(self, plans: SavedPlans) -> Result<Planned, Stop> {
        self.init(self.options.init, &[]).await?;
        let inputs = self.inputs().await?;
        self.step(Step::Plan);
        let source = source_fingerprint(self.session, self.run)?;
        let out = plans.prepare(&self.run.stack.id)?;
        let base = self.session.call_writing_plan(&self.run.stack, &self.run.env, self.home_of(&plans))?;
        let variables = sources_of(self.session, self.run, &inputs);
        let call = call::plan(base, self.plan_call(&out, &variables), self.session.narration());
        let planning = self.run_plan(call, &out, self.is_secretive(&inputs));
        let (planning, around, state) =
            tokio::join!(planning, surroundings(self.session), self.mark_of_state(&plans));
        let (output, says_changes, plan) = match planning? {
            PlanEnd::Made { output, changes, plan } => (output, changes, plan),
            PlanEnd::Failed(watched) => {
                plans.remove(&self.run.stack.id)?;
                return Err(explain(self.session, &self.run.stack, &watched).await);
            }
        };
        let refresh_only = self.options.mode == PlanMode::RefreshOnly;
        let changes = if refresh_only { output.drift } else { output.changes };
        let mut record = PlanRecord {
            stack: self.run.stack.id.clone(),
            made_at: self.session.clock.now(),
            tofu: self.session.tofu.version.to_string(),
            source,
            inputs: inputs.fingerprint(),
            settings: self.settings(&self.options.extra, &self.session.given)?,
            around: around.cloned(),
            file: plans.digest(&self.run.stack.id)?,
            mode: self.options.mode,
            extra: self.options.extra.clone(),
            given: self.sealed_given(),
            unnamed: says_changes && changes.is_empty() && output.outputs_changed == 0,
            changes,
            outputs_changed: output.outputs_changed,
            state,
            proof: None,
        };
        let details = self.look_into(&mut record, plan, &out).await;
        // Where no key can be kept nothing can be proven, and `apply` will say so.
        if let Ok(key) = self.session.plan_keys.user() {
            prove(key, &self.session.project, &self.run.stack, &mut record)?;
        }
        plans.save(&record)?;
        self.tell_planned(&record, (output.text, &details), Reviewed::No);
        Ok(Planned { record, details, plans, reviewed: false, foreign: false, shown_before: None })
    }

    /// Returns which state a plan is made from, where that will be asked again.
    ///
    /// A change while the plan is made is found by tofu itself.
    async fn mark_of_state(self, plans: &SavedPlans) -> Option<String> {
        if !plans.is_at(&self.options.plans_dir) {
            return None;
        }
        state_mark(self.session, &self.run.stack).await
    }

    /// Returns where plans in a folder will live.
    fn home_of(self, plans: &SavedPlans) -> PlanHome {
        let leaving = plans.is_at(&self.options.plans_dir) && !plans.is_at(&self.session.project.plans_dir());
        if leaving { PlanHome::Leaving } else { PlanHome::Here }
    }

    /// Runs the plan; where secrets are in play, nothing of it is told before those are known that it
    /// replaces.
    async fn run_plan(self, call: process::Invocation, out: &Path, secretive: bool) -> Result<PlanEnd, Stop> {
        let id = &self.run.stack.id;
        let telling = if secretive { WhenToShow::AtTheEnd } else { WhenToShow::AtOnce };
        let listened = listen(self.session, (id, Step::Plan), call, telling).await?;
        // A crash of Go has the same exit code, but leaves no plan; a plan that failed may leave one.
        let (changes, made) = (says_changes(Step::Plan, listened.status), out.exists());
        let changes = changes && made;
        let mut plan = None;
        if secretive && made && !listened.status.success() {
            match hide_old_values(self.session, id, self.call_reading(out).await?, out).await {
                Err(error) if changes => return Err(error.into()),
                Err(_) => listened.forget_text(),
                Ok(read) => plan = Some(read),
            }
        }
        let watched = listened.tell();
        if !watched.status.success() && !changes {
            return Ok(PlanEnd::Failed(watched));
        }
        Ok(PlanEnd::Made { output: self.with_text(watched.output, out).await?, changes, plan })
    }

    /// Completes a record by what only the plan itself knows, and returns what changes in each resource.
    ///
    /// Reading a plan costs as much as making one, so it is done only where somebody gets to see it:
    /// where attributes are shown, and for the causes of a replacement. Without it there is less to see.
    pub(super) async fn look_into(
        self,
        record: &mut PlanRecord,
        plan: Option<Value>,
        path: &Path,
    ) -> Vec<ChangeDetail> {
        let replaces = record.changes.iter().any(|change| change.action == Action::Replace);
        let wanted = !record.is_empty() && (self.options.attributes || replaces);
        let plan = match plan {
            None if wanted => self.read_plan_at(path).await.ok(),
            plan => plan.filter(|_| wanted),
        };
        let Some(plan) = plan else { return Vec::new() };
        let mask = self.session.mask();
        complete(&mut record.changes, &plan, &mask);
        if self.options.attributes { details_in(&plan, record.mode, &mask) } else { Vec::new() }
    }

    /// Reads a plan as data; it may hold secrets and must not leave the memory.
    pub(super) async fn read_plan_at(self, path: &Path) -> Result<Value> {
        read_plan(self.session, &self.run.stack.id, self.call_reading(path).await?, path).await
    }

    /// Returns whether the stack is given anything that must not be shown.
    pub(super) fn is_secretive(self, inputs: &Inputs) -> bool {
        inputs.sensitive || self.session.has_secrets(&self.run.stack.id)
    }

    fn plan_call<'b>(&'b self, out: &'b Path, variables: &'b [VariableSource]) -> PlanCall<'b> {
        PlanCall {
            out,
            mode: self.options.mode,
            variables,
            lock_timeout: self.options.lock_timeout.as_deref(),
            extra: &self.options.extra,
        }
    }

    /// Fetches the text of a plan from a tofu that told it in messages only.
    async fn with_text(self, mut output: TofuOutput, plan: &Path) -> Result<TofuOutput> {
        if self.session.narration() == Narration::MessagesOnly {
            let call = call::show(self.call_reading(plan).await?, Some(plan));
            let shown = successful(self.session, &self.run.stack.id, call).await?;
            output.text = shown.stdout.safe_lines(&self.session.mask());
        }
        Ok(output)
    }
}
