//! Variables of a stack that come from other stacks' outputs.
//!
//! Values are read from the real state, sensitive ones included, and reach tofu through
//! a pipe. A value that does not exist yet defers the stack; it is never made up.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::outputs::{earlier_values, outputs_of};
use super::stack_secrets::{StackSecrets, variables_text};
use crate::engine::calls::Stop;
use crate::engine::session::Session;
use crate::error::{Error, Result};
use crate::model::{Fingerprint, OutputRef, Stack, StackRun};
use crate::stacks;
use crate::tofu::{Assignment, collect_literals};

/// The resolved inputs of a stack.
#[derive(Debug, Default)]
pub struct Inputs {
    values: BTreeMap<String, Value>,
    /// Whether one of them must not be shown.
    pub sensitive: bool,
    /// The names of those.
    hidden: BTreeSet<String>,
}

impl Inputs {
    /// Returns them with a stack's secrets as the text of a variables file; `None` if there are none.
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
pub async fn resolve_inputs(session: &Session, run: &StackRun) -> Result<Inputs, Stop> {
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
