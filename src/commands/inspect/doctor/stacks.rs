//! What `doctor` says about the stacks: whether they can be read, and ordered, and where their states are kept.

use std::collections::BTreeMap;

use super::finding::Finding;
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::engine;
use crate::error::Error;
use crate::model::{Stack, counted, quoted};
use crate::stacks;
use crate::stacks::StateRisk;

/// How many stacks with one finding are told one by one.
const FEW: usize = 3;

pub fn stack_findings(loaded: &LoadedProject, context: &Context) -> Vec<Finding> {
    if loaded.stacks.is_empty() {
        return vec![Finding::warn("stacks", "none found", loaded.how_to_get_stacks(context))];
    }
    let mut findings: Vec<Finding> =
        loaded.stacks.iter().flat_map(|stack| findings_of(loaded, stack)).collect();
    findings.extend(forgotten_modules(loaded));
    findings.extend(risky_states(loaded));
    for note in &loaded.notes {
        findings.push(Finding::warn(
            "layout",
            note.clone(),
            "move it, or name the roots in infra.yaml: `stacks: { roots: […] }`",
        ));
    }
    if findings.is_empty() {
        findings.push(Finding::pass(
            "stacks",
            format!("{}, all readable", counted(loaded.stacks.len(), "stack")),
        ));
    }
    findings
}

fn findings_of(loaded: &LoadedProject, stack: &Stack) -> Vec<Finding> {
    let unusable =
        |problem: &String| Finding::fail("stacks", &Error::invalid(format!("{}: {problem}", stack.id)));
    let unread = |note: &String| {
        let fix = format!("tofu judges it: `infra validate {}`", quoted(stack.id.as_str()));
        Finding::warn("stacks", format!("{}: {note}", stack.id), fix)
    };
    let odd =
        |warning: &String| Finding::warn("stacks", format!("{}: {warning}", stack.id), "see `infra stacks`");
    let mut findings: Vec<Finding> = stack.problems.iter().map(unusable).collect();
    findings.extend(stack.unread.iter().map(unread));
    let is_forgotten = |warning: &&String| stacks::tells_of_forgotten_module(warning);
    findings.extend(stack.warnings.iter().filter(|warning| !is_forgotten(warning)).map(odd));
    if let Some(errored) = engine::unsaved_file(&loaded.project, stack) {
        let message = format!("{}: a run could not save its state: {}", stack.id, errored.path.display());
        let fix = format!("`infra state push {} --errored`, which removes the file", stack.id);
        findings.push(Finding::fail("state", &Error::failed(message).hint(fix)));
    }
    findings
}

/// Tells what is listed as a stack and waits for a caller; many are told together.
fn forgotten_modules(loaded: &LoadedProject) -> Vec<Finding> {
    let told = loaded.stacks.iter().filter_map(|stack| {
        let warning = stack.warnings.iter().find(|warning| stacks::tells_of_forgotten_module(warning))?;
        Some((stack.id.to_string(), warning.clone()))
    });
    let (names, warnings): (Vec<String>, Vec<String>) = told.unzip();
    let all = match names.len() {
        ..=FEW => warnings,
        _ => vec![format!("{} may be modules that nothing uses", stacks::shortened(&names))],
    };
    all.into_iter().map(|message| Finding::warn("stacks", message, "see `infra stacks`")).collect()
}

/// Tells what is risky about where states are kept; what many stacks share is told once.
fn risky_states(loaded: &LoadedProject) -> Vec<Finding> {
    let mut shared: BTreeMap<&str, (StateRisk, Vec<&Stack>)> = BTreeMap::new();
    for stack in &loaded.stacks {
        for risk in stacks::state_risks(stack) {
            let words = match risk {
                StateRisk::LocalFile if !has_local_state(loaded, stack) => {
                    "state in a local file, which is not here: never applied, or on another machine"
                }
                _ => risk.words(),
            };
            shared.entry(words).or_insert((risk, Vec::new())).1.push(stack);
        }
    }
    let told = shared.into_iter().flat_map(|(words, (risk, stacks))| {
        let size = if stacks.len() > FEW { stacks.len() } else { 1 };
        let group = |stacks: &[&Stack]| {
            let names: Vec<String> = stacks.iter().map(|stack| stack.id.to_string()).collect();
            let names = if names.len() > 1 { stacks::shortened(&names) } else { names.concat() };
            Finding::warn("state", format!("{names}: {words}"), risk.fix(stacks))
        };
        stacks.chunks(size).map(group).collect::<Vec<_>>()
    });
    told.collect()
}

/// Returns whether this machine has the file that a local backend keeps a state in.
fn has_local_state(loaded: &LoadedProject, stack: &Stack) -> bool {
    let identity = stacks::identity_of(stack);
    let file = identity.as_deref().and_then(|identity| identity.strip_prefix("local:"));
    file.is_none_or(|file| loaded.project.root.join(file).exists())
}

/// Tells whether the stacks can be brought into an order.
pub fn order(loaded: &LoadedProject) -> Option<Finding> {
    let cycle = stacks::cycle(&loaded.project, &loaded.stacks);
    let sound = || Finding::pass("order", "no stack waits for itself");
    let finding = cycle.map_or_else(sound, |error| Finding::fail("order", &error));
    (!loaded.stacks.is_empty()).then_some(finding)
}

pub fn isolation(loaded: &LoadedProject) -> Vec<Finding> {
    match stacks::shared_states(&loaded.stacks).as_slice() {
        [] => vec![Finding::pass("isolation", "no two stacks share a state")],
        all => all.iter().map(|shared| Finding::fail("isolation", &shared.error)).collect(),
    }
}
