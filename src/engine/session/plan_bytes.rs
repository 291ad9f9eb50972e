//! Plan files opened in memory, and put under the key that they have here.

use zeroize::Zeroizing;

use super::plan_calls::plan_form_of;
use super::plan_keys::can_bind_plans;
use super::shared::Session;
use crate::error::Result;
use crate::model::Stack;
use crate::tofu::{PlanForm, open_state};
use crate::tofu::{PlanKey, seal_plan_with};

impl Session {
    /// Opens a plan that a call of this session wrote; nothing where its files or the caller say what it
    /// is encrypted with.
    pub(in crate::engine) fn opened_plan(&self, stack: &Stack, plan: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        match plan_form_of(plan) {
            PlanForm::Plain => Some(Zeroizing::new(plan.to_vec())),
            PlanForm::UserKey(mark) => {
                let key = self.plan_keys.user().ok().filter(|key| key.plan_mark() == mark)?;
                PlanKey::of(key.plan_key(), mark).open(plan)
            }
            PlanForm::Passphrase(name) => {
                let keys = [self.plan_keys.used_in_this_run(), self.state_key_of(stack)];
                let key = keys.into_iter().flatten().find(|key| key.name() == name)?;
                open_state(plan, Some(key.passphrase())).ok()
            }
            PlanForm::Other => None,
        }
    }

    /// Encrypts a plan as one that was made here.
    pub(in crate::engine) fn sealed_plan(&self, plan: &[u8]) -> Result<Vec<u8>> {
        if !can_bind_plans(&self.tofu) {
            return Ok(plan.to_vec());
        }
        match self.plan_keys.user() {
            Ok(key) => PlanKey::of(key.plan_key(), key.plan_mark()).seal(plan),
            Err(_) => seal_plan_with(plan, self.plan_keys.for_this_run()?),
        }
    }
}
