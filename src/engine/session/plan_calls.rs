//! Calls that write or read a plan: what the plan is encrypted with is the part about plans of the
//! setting that tofu gets.
//!
//! A plan that stays here is bound to this user's key, which tofu gets from this very
//! program; one that is meant to leave is encrypted with the passphrase of its stack, if
//! there is one. What a stack's files or the caller say themselves is left as it is. Only
//! calls that write or read a plan get the part: it costs a process.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use zeroize::Zeroizing;

use super::plan_keys::{PlanHome, can_bind_plans};
use super::shared::Session;
use crate::engine::variables::{SearchedPart, declares};
use crate::error::{Error, Kind, Result};
use crate::events::RunEvent;
use crate::model::{Stack, StackId};
use crate::process::Invocation;
use crate::tofu::{PlanForm, PlanPart, StateKey, plan_key_command, with_plan_part};
use crate::trust::UserKey;

/// The variable by which tofu is told how to encrypt.
const SETTING: &str = "TF_ENCRYPTION";

impl Session {
    /// Tells something about plans, once in a command.
    pub(in crate::engine) fn tell_once(&self, stack: Option<&StackId>, message: String, hints: Vec<String>) {
        let key = format!("{}{message}", stack.map(StackId::as_str).unwrap_or_default());
        if self.plan_keys.is_news(key) {
            self.events.emit(RunEvent::Warning { stack: stack.cloned(), message, hints });
        }
    }

    /// Returns a call that writes a plan, still without a subcommand.
    pub(in crate::engine) fn call_writing_plan(
        &self,
        stack: &Stack,
        own: &BTreeMap<String, String>,
        home: PlanHome,
    ) -> Result<Invocation> {
        let call = self.call(stack, own)?;
        if !self.decides_about_plans(stack, own) {
            return Ok(call);
        }
        if declares(&self.dir_of(stack), SearchedPart::Plans) {
            return Ok(self.with_part(call, stack, PlanPart::Unsaid));
        }
        match (home, self.state_key_of(stack)) {
            (PlanHome::Here, key) => match self.plan_keys.user() {
                Ok(_) => self.with_user_key(call, stack),
                Err(_) => {
                    let key = key.map_or_else(|| self.plan_keys.for_this_run(), Ok)?;
                    self.hide(vec![Zeroizing::new(key.passphrase().to_owned())])?;
                    Ok(self.with_part(call, stack, PlanPart::Passphrase(key)))
                }
            },
            (PlanHome::Leaving, Some(key)) => Ok(self.with_part(call, stack, PlanPart::Passphrase(key))),
            (PlanHome::Leaving, None) => {
                self.tell_plain();
                Ok(call)
            }
        }
    }

    /// Returns a call that reads this plan, still without a subcommand.
    pub(in crate::engine) fn call_reading_plan(
        &self,
        stack: &Stack,
        own: &BTreeMap<String, String>,
        plan: &Path,
    ) -> Result<Invocation> {
        let call = self.call(stack, own)?;
        match plan_form(plan) {
            _ if !self.decides_about_plans(stack, own) => Ok(call),
            PlanForm::UserKey(mark) => {
                self.check_mark(&mark, stack, plan)?;
                self.with_user_key(call, stack)
            }
            PlanForm::Passphrase(name) => {
                let keys = [self.state_key_of(stack), self.plan_keys.used_in_this_run()];
                let key = keys.into_iter().flatten().find(|key| key.name() == name);
                Ok(self.with_part(call, stack, key.map_or(PlanPart::Unsaid, PlanPart::Passphrase)))
            }
            PlanForm::Plain | PlanForm::Other => Ok(self.with_part(call, stack, PlanPart::Unsaid)),
        }
    }

    /// Refuses a plan that tofu could not open, in words that help.
    fn check_mark(&self, mark: &str, stack: &Stack, plan: &Path) -> Result<()> {
        let key = UserKey::existing(&self.plan_keys.env)?;
        if key.is_some_and(|key| key.plan_mark() == mark) {
            return Ok(());
        }
        Err(Error::new(Kind::Refused, "the plan is encrypted with a key that is not yours")
            .at(plan.display())
            .hint(format!("make one of your own: `infra plan {}`", stack.id)))
    }

    fn tell_plain(&self) {
        let message = "the plans in that folder are not encrypted, and may hold secrets in the clear";
        let hint = "put `state_encryption_passphrase` into the secrets of the stacks, and they are";
        self.tell_once(None, message.to_owned(), vec![hint.to_owned()]);
    }

    /// Returns whether it is this program that gives tofu the setting, and not the caller.
    fn decides_about_plans(&self, stack: &Stack, own: &BTreeMap<String, String>) -> bool {
        let by_caller = self.env.get(SETTING).is_some() && self.state_key_of(stack).is_none();
        can_bind_plans(&self.tofu) && !own.contains_key(SETTING) && !by_caller
    }

    pub(super) fn state_key_of(&self, stack: &Stack) -> Option<&StateKey> {
        self.secrets_of(&stack.id).and_then(|secrets| secrets.state_key.as_ref())
    }

    fn with_user_key(&self, call: Invocation, stack: &Stack) -> Result<Invocation> {
        let place = std::path::absolute(UserKey::place(&self.plan_keys.env)?)
            .map_err(|error| Error::unavailable("this user's key has no place").because(error))?;
        let program = self.plan_keys.program()?;
        let command = plan_key_command(program, &place).ok_or_else(|| {
            Error::unavailable("the path of this program or of this user's key is no text")
                .fact("program", program.display().to_string())
                .fact("key", place.display().to_string())
        })?;
        Ok(self.with_part(call, stack, PlanPart::Command(&command)))
    }

    fn with_part(&self, call: Invocation, stack: &Stack, part: PlanPart<'_>) -> Invocation {
        let states = self.state_key_of(stack).map(StateKey::setting);
        match with_plan_part(states.as_ref().map(|text| text.as_str()), part) {
            Some(setting) => call.env(SETTING, &setting),
            None => call,
        }
    }
}

/// Looks at how a file begins; a pipe or a device is never opened.
pub fn plan_form(path: &Path) -> PlanForm {
    let mut head = Vec::new();
    let is_file = std::fs::metadata(path).is_ok_and(|facts| facts.is_file());
    let file = is_file.then(|| std::fs::File::open(path).ok()).flatten();
    match file.map(|file| file.take(PlanForm::HEAD).read_to_end(&mut head)) {
        Some(Ok(_)) => PlanForm::of(&head),
        _ => PlanForm::Other,
    }
}

/// Looks at how a plan in memory begins.
pub(super) fn plan_form_of(plan: &[u8]) -> PlanForm {
    let head = usize::try_from(PlanForm::HEAD).unwrap_or(usize::MAX).min(plan.len());
    PlanForm::of(plan.get(..head).unwrap_or_default())
}
