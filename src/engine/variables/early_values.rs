//! What a call is given that evaluates variables before anything else: `init`, and whatever opens
//! a state.
//!
//! Only what that evaluation refers to is fetched. What cannot be had there, such as the output of
//! a stack that is not applied, is left out, and tofu judges. Every call has its own pipe.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::given::Given;
use super::inputs::Inputs;
use super::stack_secrets::StackSecrets;
use super::var_files::var_files;
use crate::engine::session::Session;
use crate::error::Result;
use crate::model::{OutputRef, Stack, StackId, StackRun};
use crate::process::Invocation;
use crate::stacks;
use crate::stacks::EarlyVariables;
use crate::syntax;
use crate::syntax::Document;
use crate::tofu::{Assignment, VariableSource, call, to_tfvars};

/// Gives a call, still without a subcommand, the variables that are evaluated early.
pub async fn with_early_values(session: &Session, run: &StackRun, base: Invocation) -> Invocation {
    call::with_early_variables(base, &early_sources(session, run).await)
}

/// Returns where a call takes the variables from that are evaluated early.
pub async fn early_sources(session: &Session, run: &StackRun) -> Vec<VariableSource> {
    let early = session.early_of(&run.stack);
    if early.is_empty() {
        return Vec::new();
    }
    EarlyValues::of(session, run, &early).await.sources()
}

/// Returns where a call takes all of its variables from.
pub fn sources_of(session: &Session, run: &StackRun, inputs: &Inputs) -> Vec<VariableSource> {
    sources_with(session, run, inputs, &session.given)
}

/// Returns where a call takes all of its variables from, where something else is given by hand.
pub fn sources_with(
    session: &Session,
    run: &StackRun,
    inputs: &Inputs,
    given: &Given,
) -> Vec<VariableSource> {
    let none = StackSecrets::none();
    let secrets = session.secrets_of(&run.stack.id).unwrap_or(&none);
    let fed = inputs.text_with(secrets);
    let files = run.var_files.iter().cloned().map(VariableSource::File);
    let fed = fed.map(|text| VariableSource::Text(Zeroizing::new(text)));
    let given = given.sources(&run.stack, &session.early_of(&run.stack), secrets);
    files.chain(fed).chain(given).collect()
}

/// The values of early variables, in rising rank.
pub struct EarlyValues {
    files: Vec<PathBuf>,
    fed: BTreeMap<String, Assignment>,
    given: Vec<VariableSource>,
}

impl EarlyValues {
    /// Collects them.
    pub async fn of(session: &Session, run: &StackRun, early: &EarlyVariables) -> Self {
        let none = StackSecrets::none();
        let secrets = session.secrets_of(&run.stack.id).unwrap_or(&none);
        let mut fed = secrets.variables.clone();
        // A stack may take from another that takes from a third.
        let inputs = Box::pin(early_inputs(session, run, early)).await;
        fed.extend(inputs.into_assignments());
        fed.retain(|name, _| early.has(name));
        let mut given = session.given.sources(&run.stack, early, secrets);
        given.extend(session.passed.sources(&run.stack, early, secrets));
        Self { files: files_of(session, run), fed, given }
    }

    /// Returns where a call takes them from; files are passed whole.
    fn sources(&self) -> Vec<VariableSource> {
        let files = self.files.iter().cloned().map(VariableSource::File);
        let fed = self.fed_text(|_| true).map(VariableSource::Text);
        files.chain(fed).chain(self.given.iter().cloned()).collect()
    }

    fn fed_text(&self, wanted: impl Fn(&str) -> bool) -> Option<Zeroizing<String>> {
        let fed = self.fed.iter().filter(|(name, _)| wanted(name));
        let text = Zeroizing::new(to_tfvars(fed.map(|(name, value)| (name.as_str(), value))));
        (!text.is_empty()).then_some(text)
    }

    /// Returns everything that gives a value to one of these variables, wherever tofu looks.
    ///
    /// For a proof that only this user can make; never to be kept as it is.
    pub fn digests(
        &self,
        session: &Session,
        run: &StackRun,
        early: &EarlyVariables,
    ) -> Result<Vec<Zeroizing<String>>> {
        let dir = session.dir_of(&run.stack);
        let env = session.environment_of(&run.stack, &run.env)?;
        let wanted = |name: &str| early.of_init().contains(name);
        let mut found = Vec::new();
        for (name, value) in env.iter() {
            let name = name.to_string_lossy();
            if name.strip_prefix("TF_VAR_").is_some_and(wanted) {
                found.push(Zeroizing::new(format!("{name}={}", value.to_string_lossy())));
            }
        }
        found.sort_by(|one, other| one.as_str().cmp(other));
        let own = super::given_variables::tofus_own(&dir).into_iter().map(PathBuf::from);
        let files = own.chain(self.files.iter().cloned());
        files.for_each(|file| found.extend(values_in_file(&dir.join(file), wanted)));
        found.extend(self.fed_text(wanted));
        for source in &self.given {
            match source {
                VariableSource::File(path) => found.extend(values_in_file(&dir.join(path), wanted)),
                VariableSource::Text(text) => found.extend(values_in_text(text, wanted)),
            }
        }
        Ok(found)
    }
}

/// Returns the plain variable files of a run; of one that names none, those that a plan would take.
pub fn files_of(session: &Session, run: &StackRun) -> Vec<PathBuf> {
    let named = stacks::settings_for(&session.project, &run.stack.id).var_files;
    let gives_files = session.given.has_files() || session.passed.has_files();
    if !run.var_files.is_empty() || (named.is_empty() && gives_files) {
        return run.var_files.clone();
    }
    var_files(&run.stack.id, &session.dir_of(&run.stack), &named).unwrap_or_default()
}

/// Returns what other stacks give to the early variables of a stack.
async fn early_inputs(session: &Session, run: &StackRun, early: &EarlyVariables) -> Inputs {
    let mut inputs = Inputs::default();
    inputs.add_workspace(session, &run.stack);
    for (variable, from) in inputs_of(session, &run.stack) {
        if early.has(&variable) && !leads_back(session, &from.stack, &run.stack.id) {
            // What is not there, or cannot be read, is tofu's to miss.
            let _ = inputs.add(session, &variable, &from).await;
        }
    }
    inputs.add_workspace(session, &run.stack);
    inputs
}

fn inputs_of(session: &Session, stack: &Stack) -> BTreeMap<String, OutputRef> {
    stacks::resolve_inputs(&session.project, &session.stacks, &stack.id).unwrap_or_default()
}

/// Returns whether a stack takes values from another, however far: reading would never end.
fn leads_back(session: &Session, from: &StackId, to: &StackId) -> bool {
    let (mut open, mut seen) = (vec![from.clone()], vec![from.clone()]);
    while let Some(id) = open.pop() {
        if id == *to {
            return true;
        }
        let Ok(stack) = session.stack(&id) else { continue };
        for next in inputs_of(session, stack).into_values().map(|from| from.stack) {
            if !seen.contains(&next) {
                seen.push(next.clone());
                open.push(next);
            }
        }
    }
    false
}

/// Returns the lines of a variables file that set one of these; the whole text where it does not parse.
pub(super) fn values_in_file(path: &Path, wanted: impl Fn(&str) -> bool) -> Vec<Zeroizing<String>> {
    let is_file = std::fs::metadata(path).is_ok_and(|facts| facts.is_file());
    let bytes = is_file.then(|| std::fs::read(path).ok()).flatten().map(Zeroizing::new);
    let Some(bytes) = bytes else { return Vec::new() };
    let text = Zeroizing::new(syntax::decoded(&bytes).into_owned());
    if path.extension().is_some_and(|ending| ending == "json") {
        let Ok(map) = serde_json::from_str::<Map<String, Value>>(&text) else { return vec![text] };
        let values = map.iter().filter(|(name, _)| wanted(name));
        return values.map(|(name, value)| Zeroizing::new(format!("{name}={value}"))).collect();
    }
    values_in_text(&text, wanted)
}

/// Returns what the text of a variables file sets these to; the whole text where it does not parse.
fn values_in_text(text: &Zeroizing<String>, wanted: impl Fn(&str) -> bool) -> Vec<Zeroizing<String>> {
    let Document { body, fault } = syntax::read(text);
    if fault.is_some() {
        return vec![text.clone()];
    }
    let values = body.attributes.iter().filter(|attribute| wanted(attribute.name)).map(|attribute| {
        let value = text.get(attribute.value.clone()).unwrap_or_default();
        Zeroizing::new(format!("{}={value}", attribute.name))
    });
    values.collect()
}
