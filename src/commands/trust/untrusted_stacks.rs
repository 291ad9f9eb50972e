//! Stacks that bring something untrusted: where no person can be asked, only they fail, and all other
//! stacks run.
//!
//! What the whole project brings is not decided here: it is asked about, or refused, in `require`.

use std::collections::BTreeMap;

use super::items::{items_of_run, key_programs, owners};
use super::require::{refused, untrusted, with_ways_to_trust};
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::engine::StateNeed;
use crate::error::{Error, Kind, Result};
use crate::model::{Stack, StackId};
use crate::report::Asking;
use crate::trust::{TrustItem, UNTRUSTED};

/// Returns why stacks must not run, while others may: they bring something untrusted, or take values from a
/// stack that does.
///
/// Empty where a person can be asked, or where no stack would be left: then one answer holds for all.
pub async fn untrusted_stacks(
    loaded: &LoadedProject,
    chosen: &[StackId],
    state: StateNeed,
    context: &Context,
) -> Result<BTreeMap<StackId, Error>> {
    let none = BTreeMap::new();
    if chosen.len() < 2 || context.asking() != Asking::Nobody {
        return Ok(none);
    }
    let feeding = loaded.feeding(chosen)?;
    let stacks: Vec<&Stack> = loaded
        .stacks
        .iter()
        .filter(|stack| chosen.contains(&stack.id) || feeding.contains(&stack.id))
        .collect();
    let brought = brought_by(loaded, &stacks, state, context).await?;
    if brought.is_empty() {
        return Ok(none);
    }
    let mut untrusted = BTreeMap::new();
    for id in chosen {
        if let Some(error) = why_untrusted(loaded, id, &brought, context)? {
            untrusted.insert(id.clone(), error);
        }
    }
    Ok(if untrusted.len() < chosen.len() { untrusted } else { none })
}

/// Returns the untrusted items of each stack that has some.
async fn brought_by<'a>(
    loaded: &LoadedProject,
    stacks: &[&'a Stack],
    state: StateNeed,
    context: &Context,
) -> Result<BTreeMap<&'a StackId, Vec<TrustItem>>> {
    let project = &loaded.project;
    let mut all = items_of_run(project, stacks, context).await?;
    if state != StateNeed::No {
        all.extend(key_programs(project, stacks)?);
    }
    let open = untrusted(&project.root, all, context)?;
    let mut brought: BTreeMap<&StackId, Vec<TrustItem>> = BTreeMap::new();
    for item in &open {
        for stack in owners(project, stacks, item, &context.env)? {
            brought.entry(&stack.id).or_default().push(item.clone());
        }
    }
    Ok(brought)
}

fn why_untrusted(
    loaded: &LoadedProject,
    id: &StackId,
    brought: &BTreeMap<&StackId, Vec<TrustItem>>,
    context: &Context,
) -> Result<Option<Error>> {
    let project = &loaded.project;
    if let Some(items) = brought.get(id) {
        return Ok(Some(refused(project, items, context)));
    }
    let feeding = loaded.feeding(std::slice::from_ref(id))?;
    let Some(from) = feeding.iter().find(|from| brought.contains_key(from)) else { return Ok(None) };
    let message = format!("`{id}` takes values from `{from}`, which brings something that is not trusted");
    let error = Error::new(Kind::Refused, message).code(UNTRUSTED);
    Ok(Some(with_ways_to_trust(error, project, context)))
}
