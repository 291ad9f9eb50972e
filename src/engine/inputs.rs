//! Variables of a stack that come from other stacks' outputs.
//!
//! Values are read from the real state, sensitive ones included, and reach tofu through
//! a pipe. A value that does not exist yet defers the stack; it is never made up.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::early_values::with_early_values;
use super::init::init_stack;
use super::inspect::{bare_run, hints_about, last_words};
use super::options::WhenToInit;
use super::session::Session;
use super::stack_secrets::{StackSecrets, variables_text};
use super::state_check::require_states;
use super::state_edit::open_state;
use super::stop::Stop;
use crate::backends::StateHome;
use crate::error::{Error, Result};
use crate::model::project::OutputRef;
use crate::model::{Fingerprint, Stack, StackId, StackRun};
use crate::process;
use crate::stacks;
use crate::tofu::call;
use crate::tofu::variables::{Assignment, collect_literals};

/// The resolved inputs of a stack.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    values: BTreeMap<String, Value>,
    /// Whether one of them must not be shown.
    pub sensitive: bool,
    /// The names of those.
    hidden: BTreeSet<String>,
}

impl Inputs {
    /// Returns them with a stack's secrets as the text of a variables file; nothing if there are none.
    pub fn text_with(&self, secrets: &StackSecrets) -> Option<String> {
        variables_text(secrets, &self.values)
    }

    /// Returns them as what variables are set to.
    pub fn into_assignments(self) -> impl Iterator<Item = (String, Assignment)> {
        self.values.into_iter().map(|(name, value)| (name, Assignment::Value(value)))
    }

    /// Returns those whose output is not sensitive.
    pub fn plain(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.values.iter().filter(|(name, _)| !self.hidden.contains(*name))
    }

    /// Adds one that is remembered, and so is no secret.
    pub fn add_plain(&mut self, variable: &str, value: Value) {
        self.values.insert(variable.to_owned(), value);
    }

    /// Adds the name of the workspace, for the variable that is to have it.
    pub fn add_workspace(&mut self, session: &Session, stack: &Stack) {
        let Some(name) = stack.declared_workspace() else { return };
        if let Some(variable) = stacks::settings_for(&session.project, &stack.id).workspace_variable {
            self.values.insert(variable, Value::from(name));
        }
    }

    /// Reads an output and adds it; returns whether there is one.
    pub async fn add(&mut self, session: &Session, variable: &str, from: &OutputRef) -> Result<bool, Stop> {
        let outputs = outputs_of(session, &from.stack).await?;
        let output = outputs.get(&from.output);
        let Some(value) = output.and_then(|output| output.get("value")) else { return Ok(false) };
        if output.and_then(|output| output.get("sensitive")) == Some(&Value::Bool(true)) {
            let mut literals = Vec::new();
            collect_literals(value, &mut literals);
            for earlier in earlier_values(session, from).await {
                collect_literals(&earlier, &mut literals);
            }
            session.hide(literals)?;
            self.sensitive = true;
            self.hidden.insert(variable.to_owned());
        }
        self.values.insert(variable.to_owned(), value.clone());
        Ok(true)
    }

    /// Returns a digest of names and values, to tell whether a plan was made from the same.
    pub fn fingerprint(&self) -> Fingerprint {
        let text = variables_text(&StackSecrets::default(), &self.values).unwrap_or_default();
        Fingerprint::of([text.as_bytes()])
    }
}

/// Reads the outputs that feed a stack.
pub(super) async fn resolve_inputs(session: &Session, run: &StackRun) -> Result<Inputs, Stop> {
    let mut inputs = Inputs::default();
    for (variable, from) in &run.inputs {
        check_declared(&run.stack, variable, from)?;
        if !inputs.add(session, variable, from).await? {
            return Err(missing(session, from).await?);
        }
    }
    inputs.add_workspace(session, &run.stack);
    Ok(inputs)
}

/// Returns all outputs of a stack as `tofu output -json` gives them.
pub(super) async fn outputs_of(session: &Session, id: &StackId) -> Result<Value, Stop> {
    if let Some(outputs) = session.outputs.borrow().get(id) {
        return Ok(outputs.clone());
    }
    let stack = session.stack(id)?;
    // Several stacks may want the same outputs at once; the first reads them for all.
    let desk = session.reading_of(id);
    let _reading = desk.lock().await;
    if let Some(outputs) = session.outputs.borrow().get(id) {
        return Ok(outputs.clone());
    }
    require_states(session, std::slice::from_ref(id)).await?;
    let upstream = bare_run(session, stack);
    init_stack(session, &upstream, WhenToInit::Needed, &[]).await?;
    let base = with_early_values(session, &upstream, session.call(stack, &upstream.env)?).await;
    let captured = process::capture(call::outputs(base), &session.interrupts).await?;
    if session.interrupts.any() {
        return Err(Stop::Interrupted);
    }
    if !captured.status.success() {
        let error = Error::failed(format!("cannot read the outputs of `{id}`"));
        let hints = hints_about(session, id, &captured.stderr);
        let said = last_words(session, &captured);
        return Err(hints.into_iter().fold(error.detail(said), Error::hint).into());
    }
    let outputs: Value = serde_json::from_slice(captured.stdout.unmasked())
        .map_err(|e| Error::failed(format!("the outputs of `{id}` are no JSON")).because(e))?;
    session.outputs.borrow_mut().insert(id.clone(), outputs.clone());
    Ok(outputs)
}

/// How many earlier versions of a state are looked at.
const EARLIER: usize = 3;

/// Returns what an output was before: a plan shows the old value beside the new one, and the state
/// of the stack that took it does not know that it is sensitive.
async fn earlier_values(session: &Session, from: &OutputRef) -> Vec<Value> {
    let Ok(stack) = session.stack(&from.stack) else { return Vec::new() };
    let Ok(home @ StateHome::Store { .. }) = session.home_of(stack) else { return Vec::new() };
    let Ok(Some(kept)) = home.versions().await else { return Vec::new() };
    let mut values = Vec::new();
    for version in kept.versions.iter().rev().take(EARLIER) {
        let Ok(Some(bytes)) = home.version(version.number).await else { continue };
        let Ok(bytes) = open_state(session, &from.stack, &bytes).await else { continue };
        let state: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        values.extend(state.pointer(&format!("/outputs/{}/value", from.output)).cloned());
    }
    values
}

pub(super) fn check_declared(stack: &Stack, variable: &str, from: &OutputRef) -> Result<()> {
    if stack.variables.contains(variable) {
        return Ok(());
    }
    let declared = stack.variables.iter().map(String::as_str).collect::<Vec<_>>().join("`, `");
    let hint =
        if declared.is_empty() { "it declares none".to_owned() } else { format!("it declares `{declared}`") };
    Err(Error::invalid(format!("`{}` declares no variable `{variable}`", stack.id))
        .at(format!("infra.yaml: inputs of `{}`, from `{}.{}`", stack.id, from.stack, from.output))
        .hint(hint))
}

/// A stack without any output, or whose files declare this one, has not been applied since; any other
/// has lost or never had it.
async fn missing(session: &Session, from: &OutputRef) -> Result<Stop, Stop> {
    let outputs = outputs_of(session, &from.stack).await?;
    let names: Vec<&str> =
        outputs.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default();
    let declared = session.stack(&from.stack).is_ok_and(|stack| stack.outputs.contains(&from.output));
    if names.is_empty() || declared {
        return Ok(Stop::Deferred(format!("until {} is applied", from.stack)));
    }
    Ok(Error::invalid(format!("`{}` has no output `{}`", from.stack, from.output))
        .at("infra.yaml: inputs")
        .hint(format!(
            "its outputs are `{}`; if `{}` is new, apply `{}` first",
            names.join("`, `"),
            from.output,
            from.stack
        ))
        .into())
}
