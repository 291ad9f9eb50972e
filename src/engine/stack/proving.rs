//! Whether the plan of a bundle may be applied here: nothing that it says of itself counts.
//!
//! First what it was made from is compared with this checkout, file by file, and the version of tofu
//! and of the state. Then the stack is planned again, from this checkout and for this run alone, and the two
//! plans are compared: the configuration inside, the backend, the state, the variables, and everything that they
//! do. What is applied is the new plan, so that nothing of the bundle's file reaches a machine: a plan
//! holds more than can be shown, such as a copy of the state and private data of providers.

use serde_json::Value;

use super::life::{Planned, ShownPlan, StackLife};
use super::state_mark::state_mark;
use crate::engine::bundle::{Bundles, OpenedPlan, PlanParts};
use crate::engine::calls::Stop;
use crate::engine::plan::{PlanRecord, SavedPlans, differences, left_out};
use crate::error::{Error, Result};
use crate::model::{PlanDifference, StackError, StackId, without_dots};

const LOCK_FILE: &str = ".terraform.lock.hcl";

/// How many differences are told.
const TOLD: usize = 5;

impl StackLife<'_> {
    /// Returns the plan to apply, which does what the bundle's does.
    pub async fn prove(self, bundles: &Bundles, opened: &OpenedPlan) -> Result<Planned, Stop> {
        self.check_unsaved_state().await?;
        self.check_sources(bundles, opened).await?;
        let shown = self.take_out(opened)?;
        let now = self.plan_privately().await?;
        self.check_parts(opened, &now)?;
        self.check_values(&shown, &now).await?;
        // It is the bundle's plan in all that can be told of it, and that was reviewed.
        Ok(Planned { reviewed: true, ..now })
    }

    /// Plans again in the turn of the stack, because something below it was applied since.
    pub(super) async fn plan_again(self, bundles: &Bundles) -> Result<Planned, Stop> {
        let id = &self.run.stack.id;
        let missing = || Error::bug(format!("`{id}` is in no bundle of this run"));
        let shown = self.take_out(bundles.plan_of(id).ok_or_else(missing)?)?;
        let now = self.plan_privately().await?;
        let record = PlanRecord { file: shown.digest(id)?, ..now.record.clone() };
        Ok(Planned { shown_before: Some(ShownPlan { record, plans: shown }), ..now })
    }

    /// Compares what the plan was made from with what lies here.
    async fn check_sources(self, bundles: &Bundles, opened: &OpenedPlan) -> Result<(), Stop> {
        let plan = &opened.plan;
        self.check_files()?;
        let now = || self.sources(&opened.key, bundles.files());
        // Where no lock file is committed, `init` makes it, there as here.
        let lock = without_dots(&self.run.stack.path.join(LOCK_FILE)).display().to_string();
        let found = now()?;
        let is_locked = found.has(&lock);
        let then = if is_locked { plan.sources.clone() } else { plan.sources.clone().without(&lock) };
        self.refuse_if(then.change_until(&found))?;
        let version = self.session.tofu.version.to_string();
        let other = format!("it was made by tofu {}, this is {version}", plan.tofu);
        self.refuse_if((plan.tofu != version).then_some(other))?;
        self.init(self.options.init, &[]).await?;
        if !is_locked {
            self.refuse_if(plan.sources.change_until(&now()?))?;
        }
        let state = state_mark(self.session, &self.run.stack).await;
        self.refuse_if(moved_on(plan.state.as_deref(), state.as_deref()))?;
        Ok(())
    }

    /// Writes the bundle's plan file as one that was made here, so that tofu can show it.
    fn take_out(self, opened: &OpenedPlan) -> Result<SavedPlans> {
        let (stack, sealed) = (&self.run.stack, opened.plan.file()?);
        let plans = SavedPlans::at(self.options.private_dir.join(".bundle"));
        let file = match opened.key.open(&sealed) {
            Some(plain) => self.session.sealed_plan(&plain)?,
            None => sealed,
        };
        plans.put(&stack.id, &file)?;
        Ok(plans)
    }

    /// Compares what is inside the two plan files beside the changes.
    fn check_parts(self, opened: &OpenedPlan, now: &Planned) -> Result<()> {
        let stack = &self.run.stack;
        let file = now.plans.read(&stack.id)?;
        let Some(new) = self.session.opened_plan(stack, &file) else {
            // The stack's own files say what plans are encrypted with; what is applied is made from them.
            return Ok(());
        };
        let data_dir = self.session.data_dir_of(stack).display().to_string();
        let new = PlanParts::of(&new, &data_dir)
            .ok_or_else(|| Error::unavailable(format!("the plan of `{}` cannot be read", stack.id)))?;
        let theirs = opened.plan.file().map(|sealed| opened.key.open(&sealed))?;
        let theirs = theirs.and_then(|plain| PlanParts::of(&plain, &opened.plan.data_dir));
        let Some(theirs) = theirs else {
            return self.refuse("its plan file is damaged, or no plan file at all");
        };
        theirs.difference(&new).map_or(Ok(()), |difference| self.refuse(&difference))
    }

    /// Compares what the two plans are given, and what they do.
    async fn check_values(self, shown: &SavedPlans, now: &Planned) -> Result<()> {
        let id = &self.run.stack.id;
        let Ok(theirs) = self.read_plan_at(&shown.plan_path(id)).await else {
            return self.refuse("its plan file cannot be read by this tofu");
        };
        let new = self.read_plan_at(&now.plans.plan_path(id)).await?;
        if let Some(names) = other_variables(&theirs, &new) {
            return Err(self
                .refusal(&format!("its variables differ from those of this run: {names}"))
                .hint("what `--var` and `--var-file` gave to the plan is given to `apply` as well"));
        }
        if theirs["configuration"] != new["configuration"] {
            return self.refuse("the configuration inside it differs from this checkout");
        }
        let mask = self.session.mask();
        let missing = left_out(&theirs, &new, &mask);
        let (more, missing) = (differences(&theirs, &new, &mask), shortened(missing));
        if more.is_empty() && missing.is_empty() {
            return Ok(());
        }
        let error = self.refusal("planned again from this checkout, it does not do the same");
        let error = shortened(more.iter().map(worded).collect())
            .into_iter()
            .fold(error, |error, line| error.fact("now", line));
        Err(missing.into_iter().fold(error, |error, line| error.fact("in the bundle only", line)))
    }

    fn refuse_if(self, reason: Option<String>) -> Result<()> {
        reason.map_or(Ok(()), |reason| Err(stale(&self.run.stack.id, &reason).hint(self.way_to_plans(None))))
    }

    fn refuse(self, reason: &str) -> Result<()> {
        Err(self.refusal(reason))
    }

    fn refusal(self, reason: &str) -> Error {
        let id = &self.run.stack.id;
        Error::failed(format!("the plan of `{id}` in the bundle does not fit: {reason}"))
            .code(StackError::STALE_PLAN)
            .hint(self.way_to_plans(None))
    }
}

fn stale(id: &StackId, reason: &str) -> Error {
    Error::failed(format!("the plan of `{id}` in the bundle is stale: {reason}")).code(StackError::STALE_PLAN)
}

/// Says how a state is another one than a plan was made from; nothing where only tofu can tell.
fn moved_on(then: Option<&str>, now: Option<&str>) -> Option<String> {
    let (then, now) = then.zip(now).filter(|(then, now)| then != now)?;
    let serial =
        |mark: &str| mark.rsplit_once(' ').map(|(lineage, serial)| (lineage.to_owned(), serial.to_owned()));
    Some(match (serial(then), serial(now)) {
        (Some((then, _)), Some((now, _))) if then != now => {
            format!("its state has another lineage, {now}, not {then}")
        }
        (Some((_, then)), Some((_, now))) => {
            format!("its state changed since: planned at serial {then}, now at {now}")
        }
        (None, Some((_, now))) if then == NO_STATE => {
            format!("its state changed since: there was none, now it is at serial {now}")
        }
        _ => "its state changed since the plan was made".to_owned(),
    })
}

/// The mark of a state that is not there.
const NO_STATE: &str = "none";

/// Returns the variables that have other values in another plan.
fn other_variables(theirs: &Value, new: &Value) -> Option<String> {
    let empty = serde_json::Map::new();
    let of = |plan: &Value| plan["variables"].as_object().unwrap_or(&empty).clone();
    let (theirs, new) = (of(theirs), of(new));
    let mut names: Vec<&String> = theirs.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let names: Vec<String> = names
        .into_iter()
        .filter(|name| theirs.get(*name) != new.get(*name))
        .map(|name| format!("`{name}`"))
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Says what a plan does that was not in the bundle.
fn worded(difference: &PlanDifference) -> String {
    let values = difference.values.iter().map(|value| match value.before {
        true => format!("{} was {}, is {}", value.path, value.shown, value.now),
        false => format!("{}: {} in the bundle, {} now", value.path, value.shown, value.now),
    });
    let values = shortened(values.collect()).join("; ");
    let what = format!("{} `{}`", difference.action.sign(), difference.address);
    if values.is_empty() { what } else { format!("{what}: {values}") }
}

fn shortened(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(TOLD);
    lines.truncate(TOLD);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}
