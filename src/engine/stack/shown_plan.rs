//! Whether a plan that was made again does only what somebody was shown.
//!
//! The two plans are read as JSON, which stays in memory. Only a plan that is really made
//! again is compared: one that was shown itself costs nothing. What decides is in
//! `plan_diff`.

use serde_json::Value;

use super::life::{Planned, ShownPlan, StackLife};
use crate::engine::plan::differences;
use crate::error::{Error, Result};
use crate::model::PlanDifference;

/// How a plan stands to the one that was shown.
#[derive(Clone, Debug)]
pub enum Comparison {
    /// It does nothing else.
    Same,
    /// It does this, which was not shown.
    Different(Vec<PlanDifference>),
    /// That cannot be said, for this reason; so it counts as different.
    Unclear(String),
}

impl Comparison {
    /// Says in a few words how the plan stands to what was shown; `None` if it does nothing else.
    pub fn note(&self) -> Option<String> {
        match self {
            Self::Same => None,
            Self::Different(_) => Some("not what was shown".to_owned()),
            Self::Unclear(reason) => Some(format!("cannot be compared with what was shown: {reason}")),
        }
    }

    /// Returns what is not as it was shown, where that is known.
    pub fn differences(&self) -> &[PlanDifference] {
        match self {
            Self::Different(differences) => differences,
            Self::Same | Self::Unclear(_) => &[],
        }
    }
}

impl StackLife<'_> {
    /// Compares a plan with one that was shown.
    pub async fn compare(self, shown: &ShownPlan, now: &Planned) -> Comparison {
        if shown.record.file == now.record.file {
            return Comparison::Same;
        }
        match self.read_both(shown, now).await {
            Ok((shown, now)) => {
                let found = differences(&shown, &now, &self.session.mask());
                if found.is_empty() { Comparison::Same } else { Comparison::Different(found) }
            }
            Err(error) => Comparison::Unclear(error.message().to_owned()),
        }
    }

    async fn read_both(self, shown: &ShownPlan, now: &Planned) -> Result<(Value, Value)> {
        Ok((self.read_plan(shown).await?, self.read_plan(&now.as_shown()).await?))
    }

    /// Reads a plan as JSON; it may hold secrets and must not leave the memory.
    async fn read_plan(self, plan: &ShownPlan) -> Result<Value> {
        let id = &self.run.stack.id;
        if plan.plans.flaw(&plan.record).is_some() {
            return Err(Error::failed("a plan file is missing or was changed"));
        }
        let path = plan.plans.plan_path(id);
        self.read_plan_at(&path).await
    }
}
