//! What `infra.yaml` adds to the stacks: tags, declared dependencies, inputs from other
//! stacks. A name that means no stack is an error; a pattern that matches none is a remark.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::model::{OutputRef, Project, Stack, StackId, StackSettings};
use crate::stacks::choice::{Miss, find, find_one, near};
use crate::stacks::settings::{Pattern, SettingsBook, is_glob, settings_for};

/// Adds tags and dependencies to the stacks and returns remarks about patterns that match nothing.
pub fn declare(project: &Project, stacks: &mut [Stack]) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for (text, settings) in &project.stack_settings {
        let pattern = Pattern::new(text);
        let matches = |stack: &Stack| {
            pattern.matches(&stack.base_id()) || text.contains('@') && pattern.matches(&stack.id)
        };
        let matching = (0..stacks.len()).filter(|index| matches(&stacks[*index])).collect::<Vec<_>>();
        if matching.is_empty() {
            notes.push(unmatched(text, stacks));
        }
        let before = dependencies(text, settings, stacks, &mut notes)?;
        depend(stacks, &matching, &before, &pattern);
        for (name, entry) in &settings.workspaces {
            let before = dependencies(&format!("{text}@{name}"), entry, stacks, &mut notes)?;
            let is_in = |index: &&usize| stacks[**index].declared_workspace() == Some(name);
            let own = matching.iter().filter(is_in).copied().collect::<Vec<_>>();
            depend(stacks, &own, &before, &pattern);
        }
    }
    let book = SettingsBook::of(project);
    let merged = stacks.iter().map(|stack| book.settings_for(&stack.id)).collect::<Vec<_>>();
    check_former_ids(&merged, stacks)?;
    for (index, settings) in merged.into_iter().enumerate() {
        let feeding = feeding(&settings, &stacks[index].id, stacks)?;
        stacks[index].depends_on.extend(feeding.into_values().map(|output| output.stack));
        stacks[index].tags = settings.tags;
    }
    Ok(notes)
}

/// Adds dependencies to the stacks of a pattern.
fn depend(stacks: &mut [Stack], matching: &[usize], before: &BTreeSet<StackId>, pattern: &Pattern) {
    let folders: BTreeMap<StackId, StackId> =
        stacks.iter().map(|stack| (stack.id.clone(), stack.base_id())).collect();
    for &index in matching {
        let own = stacks[index].base_id();
        // A pattern may hold for the very stack it names as a dependency of the others.
        let others = before.iter().filter(|id| !pattern.is_glob() || folders.get(*id) != Some(&own));
        stacks[index].depends_on.extend(others.cloned());
    }
}

/// A state has one stack: a former id is nobody's id today, and nobody else's former one.
fn check_former_ids(settings: &[StackSettings], stacks: &[Stack]) -> Result<()> {
    let mut taken: BTreeMap<&StackId, &StackId> = BTreeMap::new();
    for (settings, stack) in settings.iter().zip(stacks) {
        let Some(was) = &settings.was else { continue };
        let wrong = |message: String| {
            Error::invalid(message).at("infra.yaml").fact("key", format!("stacks: was of `{}`", stack.id))
        };
        if stacks.iter().any(|other| other.id == *was) {
            return Err(wrong(format!("`{was}` is a stack, so its state cannot be that of `{}`", stack.id))
                .hint("take `was` away, or the folder of the old stack"));
        }
        if let Some(other) = taken.insert(was, &stack.id) {
            return Err(wrong(format!("`{other}` and `{}` cannot both have been `{was}`", stack.id))
                .hint("keep `was` at the one whose resources it had"));
        }
    }
    Ok(())
}

/// Returns the inputs of a stack with the ids of the stacks that feed them, resolved from short names.
pub fn resolve_inputs(
    project: &Project,
    stacks: &[Stack],
    id: &StackId,
) -> Result<BTreeMap<String, OutputRef>> {
    feeding(&settings_for(project, id), id, stacks)
}

/// Returns the inputs that settings name, with the ids of the stacks that feed them.
pub fn inputs_by(
    settings: &StackSettings,
    stacks: &[Stack],
    id: &StackId,
) -> Result<BTreeMap<String, OutputRef>> {
    feeding(settings, id, stacks)
}

/// Resolves the stacks that `depends_on` of a pattern names.
fn dependencies(
    pattern: &str,
    settings: &StackSettings,
    stacks: &[Stack],
    notes: &mut Vec<String>,
) -> Result<BTreeSet<StackId>> {
    let mut found = BTreeSet::new();
    for name in &settings.depends_on {
        match find(name, stacks) {
            Ok(ids) => found.extend(ids),
            Err(Miss::Unknown(_)) if is_glob(name) => {
                notes.push(format!("infra.yaml: `depends_on` of `{pattern}`: no stack matches `{name}`"));
            }
            Err(miss) => return Err(unresolved(&miss, name, &format!("depends_on of `{pattern}`"))),
        }
    }
    Ok(found)
}

/// Resolves the stacks that feed inputs; a stack is never fed by itself.
fn feeding(settings: &StackSettings, id: &StackId, stacks: &[Stack]) -> Result<BTreeMap<String, OutputRef>> {
    let mut found = BTreeMap::new();
    for (variable, output) in &settings.inputs {
        let name = output.stack.as_str();
        let key = || format!("inputs of `{id}`, `{variable}`");
        let stack = find_one(name, stacks).map_err(|miss| unresolved(&miss, name, &key()))?;
        let stack = stack.ok_or_else(|| unresolved(&Miss::Unknown(near(name, stacks)), name, &key()))?;
        if stack != *id {
            found.insert(variable.clone(), OutputRef { stack, output: output.output.clone() });
        }
    }
    Ok(found)
}

fn unresolved(miss: &Miss, name: &str, key: &str) -> Error {
    Error::invalid(miss.message(name))
        .at("infra.yaml")
        .fact("key", format!("stacks: {key}"))
        .hint_if(miss.hint())
}

fn unmatched(pattern: &str, stacks: &[Stack]) -> String {
    let hint = Miss::Unknown(near(pattern, stacks)).hint();
    let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("infra.yaml: no stack matches the pattern `{pattern}`{hint}")
}
