//! Taking up a saved plan: as it is, or what is made in its place.
//!
//! Where the saved plans themselves were reviewed and nothing else is wanted (`--saved`), one
//! that does not fit is refused; in every other run that is told, and the stack is planned again.

use serde_json::Value;

use super::failure::Stop;
use super::inspect::successful;
use super::options::Approval;
use super::provenance::{Verdict, untrusted};
use super::saved_plan::{PlanRecord, SavedPlans, stale};
use super::stack_life::{Planned, Reviewed, ShownPlan, StackLife, Upstream};
use super::staleness::Staleness;
use crate::error::{Error, Result};
use crate::model::{ChangeDetail, Safe, quoted};
use crate::tofu::call::{self, PlanMode};

/// What there is of a stack in the folder of saved plans.
pub(super) enum Found {
    /// A plan that this user made, or trusts.
    Own(Box<PlanRecord>),
    /// A plan of somebody else, about whom a person is to be asked.
    Foreign(Box<PlanRecord>),
    /// None, or one that does not count, for this reason.
    Nothing(Option<&'static str>),
}

impl StackLife<'_> {
    /// Returns whether nothing but saved plans is applied.
    pub fn is_strict(self) -> bool {
        self.options.approval == Approval::Saved
    }

    /// Takes up a saved plan that still fits, or makes one that only this run knows.
    pub async fn plan_or_take_saved(self, upstream: Upstream) -> Result<Planned, Stop> {
        self.check_unsaved_state().await?;
        let saved = SavedPlans::at(&self.options.plans_dir);
        let (record, foreign) = match self.find_saved(&saved)? {
            Found::Own(record) => (*record, false),
            Found::Foreign(record) => (*record, true),
            Found::Nothing(_) if self.is_strict() => {
                let error = Error::failed(format!("`{}` has no saved plan any more", self.run.stack.id));
                return Err(error.hint(self.way_to_plans(None)).into());
            }
            Found::Nothing(why) => {
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

    /// Finds the plan of the stack and says whether it counts.
    pub fn find_saved(self, saved: &SavedPlans) -> Result<Found> {
        let id = &self.run.stack.id;
        let record = match saved.load(id) {
            Err(error) if self.is_strict() => return Err(error.hint(self.way_to_plans(None))),
            Err(error) => {
                self.tell_stale(error.message());
                None
            }
            Ok(record) => record,
        };
        let Some(record) = record else { return Ok(Found::Nothing(None)) };
        match self.provenance(saved).verdict(&record, &self.run.stack) {
            Verdict::Take => Ok(Found::Own(Box::new(record))),
            Verdict::Ask if self.options.has_person => Ok(Found::Foreign(Box::new(record))),
            Verdict::Ask | Verdict::Refuse => {
                Err(untrusted(id, saved).hint(self.way_to_plans(Some(&record))))
            }
            Verdict::Ignore(why) => Ok(Found::Nothing(Some(why))),
        }
    }

    /// Takes a plan that still fits exactly as it is.
    async fn take(self, saved: SavedPlans, mut record: PlanRecord) -> Result<Planned, Stop> {
        // One that was asked for a part of the stack says nothing about the rest.
        if record.is_empty() && self.asks_for_more_than(&record) && !self.is_strict() {
            return self.plan_privately().await;
        }
        let plan = self.hide_old_values_of(&saved, &record).await?;
        let details = self.look_into_saved(&saved, &mut record, plan).await;
        let text = match self.options.whole_plans && !record.is_empty() {
            true => self.text_of(&saved).await?,
            false => Vec::new(),
        };
        self.tell_planned(&record, (text, &details), Reviewed::Yes);
        Ok(Planned { record, details, plans: saved, reviewed: true, foreign: false, shown_before: None })
    }

    /// Returns what a saved plan changes in each resource, where that is shown; the causes of a
    /// replacement were recorded when it was made.
    async fn look_into_saved(
        self,
        saved: &SavedPlans,
        record: &mut PlanRecord,
        plan: Option<Value>,
    ) -> Vec<ChangeDetail> {
        match self.options.attributes {
            true => self.look_into(record, plan, &saved.plan_path(&self.run.stack.id)).await,
            false => Vec::new(),
        }
    }

    /// Refuses a plan that does not fit any more, or tells that and plans again.
    async fn replace(self, record: &PlanRecord, reason: &str) -> Result<Planned, Stop> {
        if self.is_strict() {
            let error = stale(&self.run.stack.id, reason);
            return Err(error.hint(self.way_to_plans(Some(record))).into());
        }
        // One that said nothing promised nothing; one for another purpose is no matter of `destroy`.
        let other_purpose = self.options.mode == PlanMode::Destroy && !self.is_of_the_kind(record);
        if !record.is_empty() && !other_purpose {
            self.tell_stale(reason);
        }
        self.plan_privately().await
    }

    fn tell_stale(self, reason: &str) {
        let message = format!("its saved plan is not taken, and it is planned again: {reason}");
        self.session.tell_once(Some(&self.run.stack.id), message, Vec::new());
    }

    /// Says how to come by a plan that can be applied: in the folder that was named, with what it was
    /// made with.
    pub fn way_to_plans(self, record: Option<&PlanRecord>) -> String {
        let (id, plans) = (quoted(self.run.stack.id.as_str()), &self.options.plans_dir);
        let dir = (*plans != self.session.project.plans_dir())
            .then(|| format!(" --out-dir {}", quoted(&plans.display().to_string())));
        let extra = record.map_or(&[][..], |record| &record.extra);
        // Values of variables may be secret; whoever gave them gives them again.
        let told = !extra.is_empty() && given_variables(extra).is_empty();
        let extra =
            told.then(|| extra.iter().fold(" --".to_owned(), |all, arg| format!("{all} {}", quoted(arg))));
        format!("plan again: `infra plan {id}{}{}`", dir.unwrap_or_default(), extra.unwrap_or_default())
    }

    /// Returns a plan as tofu writes it for people.
    pub async fn text_of(self, plans: &SavedPlans) -> Result<Vec<Safe>> {
        let (id, path) = (&self.run.stack.id, plans.plan_path(&self.run.stack.id));
        let call = call::show(self.call_reading(&path).await?, Some(&path));
        let shown = successful(self.session, id, call).await?;
        Ok(shown.stdout.safe_lines(&self.session.mask()))
    }
}

/// An argument of a plan that gives values to variables.
struct Given<'a> {
    /// As it was written: one word, or two.
    words: Vec<&'a str>,
    /// The file that has the values, if it names one.
    file: Option<&'a str>,
}

fn given_in(extra: &[String]) -> Vec<Given<'_>> {
    let mut found = Vec::new();
    let mut rest = extra.iter().map(String::as_str);
    while let Some(arg) = rest.next() {
        let (name, value) = arg.split_once('=').map_or((arg, None), |(name, value)| (name, Some(value)));
        let is_file = matches!(name, "-var-file" | "--var-file");
        if !is_file && !matches!(name, "-var" | "--var") {
            continue;
        }
        let next = if value.is_none() { rest.next() } else { None };
        let words = std::iter::once(arg).chain(next).collect();
        found.push(Given { words, file: value.or(next).filter(|_| is_file) });
    }
    found
}

/// Returns those arguments of a plan that give values to variables.
pub(super) fn given_variables(extra: &[String]) -> Vec<&str> {
    given_in(extra).into_iter().flat_map(|given| given.words).collect()
}

/// Returns the variable files among the arguments of a plan.
pub(super) fn given_var_files(extra: &[String]) -> Vec<&str> {
    given_in(extra).into_iter().filter_map(|given| given.file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_told_from_other_arguments() {
        let extra = ["-target=a.b", "-var", "x=1", "-replace=c", "-var-file=f", "--var=y=2", "-variety=3"];
        let extra = extra.map(str::to_owned);

        assert_eq!(given_variables(&extra), ["-var", "x=1", "-var-file=f", "--var=y=2"]);
        assert_eq!(given_var_files(&extra), ["f"]);
        assert!(given_variables(&["-target=a".to_owned()]).is_empty());
    }
}
