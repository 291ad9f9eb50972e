//! Inputs of a stack that is to be destroyed although whoever gave them is gone: what was last
//! applied takes their place, or what somebody gives by hand.
//!
//! Nothing that was sensitive is remembered, so that only a hand can give it again.

use std::collections::BTreeMap;

use super::given_variables::GivenVariables;
use super::inputs::{Inputs, check_declared, resolve_inputs};
use crate::engine::applied::{Record, is_copy, last_record, recorded};
use crate::engine::calls::Stop;
use crate::engine::plan::SavedPlans;
use crate::engine::session::Session;
use crate::engine::stack::StackLife;
use crate::error::{Error, Result};
use crate::model::{OutputRef, PlanMode, StackRun, quoted};

impl StackLife<'_> {
    /// Returns the values that the stack takes from others.
    pub(in crate::engine) async fn inputs(self) -> Result<Inputs, Stop> {
        match self.options.mode {
            PlanMode::Destroy => {
                let (inputs, lost) = self.inputs_to_destroy().await?;
                match lost.into_values().next() {
                    Some(from) => Err(Stop::Deferred(format!("until {} is applied", from.stack))),
                    None => Ok(inputs),
                }
            }
            PlanMode::Normal | PlanMode::RefreshOnly => resolve_inputs(self.session, self.run).await,
        }
    }

    /// Returns the error of a stack that has resources and cannot be planned without what is lost.
    pub(in crate::engine) async fn without_inputs(self) -> Error {
        let id = &self.run.stack.id;
        let lost = self.inputs_to_destroy().await.map(|(_, lost)| lost).unwrap_or_default();
        let error = Error::failed(format!("`{id}` cannot be destroyed without its inputs"));
        let detail = |from: &OutputRef| {
            format!("{}, and its last value was sensitive or is not known", gone(self.session, from))
        };
        let error =
            lost.iter().fold(error, |error, (name, from)| error.fact(format!("`{name}`"), detail(from)));
        let removed = if is_copy(self.session, &self.run.stack) { "--removed " } else { "" };
        let again = format!("infra destroy {removed}{} --", quoted(id.as_str()));
        let by_hand: Vec<String> = lost.keys().map(|name| format!(" -var '{name}=…'")).collect();
        error
            .hint(format!("give them by hand: `{again}{}`", by_hand.concat()))
            .hint(format!("or, unseen by others, in a file: `{again} -var-file=FILE`"))
            .hint("or apply the stacks it takes values from again, and destroy it before them")
    }

    /// Returns what was written after `--`; a saved plan to destroy holds what it was made with.
    fn arguments(self) -> Vec<String> {
        if !self.options.extra.is_empty() {
            return self.options.extra.clone();
        }
        let saved = SavedPlans::at(&self.options.plans_dir).load(&self.run.stack.id).ok().flatten();
        saved.filter(|record| record.mode == PlanMode::Destroy).map(|record| record.extra).unwrap_or_default()
    }

    /// Returns what can be had, and what cannot.
    async fn inputs_to_destroy(self) -> Result<(Inputs, BTreeMap<String, OutputRef>), Stop> {
        let (session, run) = (self.session, self.run);
        let (mut inputs, mut lost) = (Inputs::default(), BTreeMap::new());
        let mut wanted = run.inputs.clone();
        wanted.extend(of_copy(session, run));
        for (variable, from) in wanted {
            check_declared(&run.stack, &variable, &from)?;
            let is_there = session.stack(&from.stack).is_ok();
            let found = if is_there { inputs.add(session, &variable, &from).await } else { Ok(false) };
            match found {
                Ok(true) => {}
                Err(Stop::Interrupted) => return Err(Stop::Interrupted),
                _ if GivenVariables::of(session, run, &self.arguments())?.has(&variable) => {}
                Err(stop) => return Err(stop),
                Ok(false) => match last_value(session, run, &variable).await {
                    Some(value) => {
                        tell_remembered(session, run, &variable, &from);
                        inputs.add_plain(&variable, value);
                    }
                    None => _ = lost.insert(variable, from),
                },
            }
        }
        inputs.add_workspace(session, &run.stack);
        Ok((inputs, lost))
    }
}

/// Returns the inputs of a removed stack that came from stacks which are gone too.
fn of_copy(session: &Session, run: &StackRun) -> BTreeMap<String, OutputRef> {
    if !is_copy(session, &run.stack) {
        return BTreeMap::new();
    }
    let recorded = recorded(&session.project, &run.stack.id).map(Record::into_inputs).unwrap_or_default();
    recorded.into_iter().filter(|(_, from)| session.stack(&from.stack).is_err()).collect()
}

async fn last_value(session: &Session, run: &StackRun, variable: &str) -> Option<serde_json::Value> {
    last_record(session, &run.stack).await?.take_value(variable)
}

fn tell_remembered(session: &Session, run: &StackRun, variable: &str, from: &OutputRef) {
    let id = &run.stack.id;
    let message = format!("`{variable}` of `{id}` comes from the last apply: {}", gone(session, from));
    session.tell_once(None, message, Vec::new());
}

/// Says in which way an output is gone.
fn gone(session: &Session, from: &OutputRef) -> String {
    let OutputRef { stack, output } = from;
    let outputs = session.outputs.borrow();
    let others = outputs.get(stack).and_then(serde_json::Value::as_object).is_some_and(|map| !map.is_empty());
    match (session.stack(stack).is_ok(), others) {
        (false, _) => format!("{stack} is gone"),
        (true, true) => format!("{stack} has no output `{output}` any more"),
        (true, false) => format!("{stack} has no outputs any more"),
    }
}
