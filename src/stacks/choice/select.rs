//! Turns what was asked for into the ids of the chosen stacks. Names that mean nothing or
//! too much are errors that say what was probably meant. Begin at [`select`].

use std::collections::BTreeSet;
use std::path::Path;

use super::misses::{listed, nowhere, or_unknown, outside, unresolved, without_stacks};
use super::names;
use super::names::Miss;
use super::narrow::narrow;
use super::typed_path::{PathContext, PathTarget, is_path};
use crate::error::{Error, Result};
use crate::model::{Project, Stack, StackId};
use crate::stacks::order::{Direction, Graph, Order, closure};

/// What was asked for, as typed. Everything named adds to the choice.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Stacks by name: id, unique last segment, glob, layer, tag or path.
    pub names: Vec<String>,
    /// Layers by name or number.
    pub layers: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Every stack.
    pub all: bool,
    /// Those only that a change affects; with nothing else, all of these.
    pub changed: bool,
    /// Names that are taken out at the end.
    pub exclude: Vec<String>,
    /// Leaves those only that run in this workspace.
    pub workspace: Option<String>,
    /// Adds everything the chosen ones depend on.
    pub with_dependencies: bool,
    /// Adds everything that depends on the chosen ones.
    pub with_dependents: bool,
    /// Whether they are only looked at, so that nothing asked for may mean several.
    pub reads: bool,
    /// Whether one is wanted and no more.
    pub one: bool,
}

impl Selection {
    /// Returns whether nothing was asked for, so that the working directory decides.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.layers.is_empty() && self.tags.is_empty() && !self.all && !self.changed
    }
}

/// Returns the chosen stacks, sorted by id; `cwd` is the absolute working directory.
pub fn select(
    project: &Project,
    stacks: &[Stack],
    selection: &Selection,
    cwd: &Path,
) -> Result<Vec<StackId>> {
    if stacks.is_empty() {
        return Err(no_stacks(project));
    }
    select_among(project, stacks, selection, (cwd, &|_| true))
}

/// Returns the chosen ones among stacks of which some changed; there may be none.
pub fn select_among(
    project: &Project,
    stacks: &[Stack],
    selection: &Selection,
    (cwd, has_changed): (&Path, &dyn Fn(&Stack) -> bool),
) -> Result<Vec<StackId>> {
    let place = PathContext::new(project, cwd, stacks);
    let mut chosen = named(stacks, selection, &place)?;
    if selection.changed {
        let is_one = |id: &StackId| stacks.iter().any(|stack| stack.id == *id && has_changed(stack));
        chosen.retain(is_one);
    }
    if let Some(workspace) = selection.workspace.as_ref().filter(|_| !chosen.is_empty()) {
        match narrow(stacks, workspace, &mut chosen) {
            // That nothing changed there is no mistake.
            Err(_) if selection.changed => chosen.clear(),
            outcome => outcome?,
        }
    }
    widen(project, stacks, selection, &mut chosen)?;
    if let Some(workspace) = selection.workspace.as_deref() {
        // What is not run in several workspaces may be needed by those that are.
        let fits = |stack: &Stack| stack.declared_workspace().is_none_or(|name| name == workspace);
        chosen.retain(|id| stacks.iter().any(|stack| stack.id == *id && fits(stack)));
    }
    for name in &selection.exclude {
        for id in resolve(name, stacks, &place)? {
            chosen.remove(&id);
        }
    }
    if chosen.is_empty() && !selection.changed {
        return Err(Error::usage("no stack is left after `--exclude`"));
    }
    Ok(chosen.into_iter().collect())
}

fn no_stacks(project: &Project) -> Error {
    Error::invalid(format!("project `{}` has no stacks", project.name))
        .at(project.root.display())
        .detail("a stack is a folder with `*.tf` or `*.tofu` files that is not a module")
        .hint("name the folder that holds them in infra.yaml: `stacks: { roots: [FOLDER] }`")
}

/// Returns how many stacks `.` would choose, in a folder that holds several but not all of them.
pub fn narrower(project: &Project, stacks: &[Stack], cwd: &Path) -> Option<usize> {
    let place = PathContext::new(project, cwd, stacks);
    let below = place.below().len();
    match place.look_at(".") {
        PathTarget::Stacks(found) if below > 1 && below < stacks.len() => Some(found.len()),
        _ => None,
    }
}

/// Returns the stacks that were named, or those that the working directory means.
fn named(stacks: &[Stack], selection: &Selection, place: &PathContext<'_>) -> Result<BTreeSet<StackId>> {
    let is_plain = selection.names.is_empty() && selection.layers.is_empty() && selection.tags.is_empty();
    if selection.all || (selection.changed && is_plain) {
        return Ok(stacks.iter().map(|stack| stack.id.clone()).collect());
    }
    if selection.is_empty() {
        return implied(stacks, selection, place).map(BTreeSet::from_iter);
    }
    let mut chosen = BTreeSet::new();
    for name in &selection.names {
        chosen.extend(resolve(name, stacks, place)?);
    }
    for layer in &selection.layers {
        chosen.extend(in_layer(layer, stacks)?);
    }
    for tag in &selection.tags {
        chosen.extend(tagged(tag, stacks)?);
    }
    Ok(chosen)
}

/// Returns the stack around the working directory, or the only one, or all below it that are only looked at.
fn implied(stacks: &[Stack], selection: &Selection, place: &PathContext<'_>) -> Result<Vec<StackId>> {
    let around = place.around();
    if !around.is_empty() {
        return Ok(around);
    }
    // The only one may have several workspaces.
    if stacks.iter().all(|stack| stack.path == stacks[0].path) {
        return Ok(stacks.iter().map(|stack| stack.id.clone()).collect());
    }
    let below = place.below();
    if selection.reads && !below.is_empty() {
        return Ok(below);
    }
    let error = Error::usage("no stack is chosen, and the working directory is in none");
    let error = stacks.iter().fold(error, |error, stack| error.detail(stack.id.as_str()));
    if selection.one {
        return Err(error.hint("name one of them"));
    }
    Err(error
        .hint("name one or more of them, or choose with `--all`, `--layer` or `--tag`")
        .hint_if((!below.is_empty()).then_some("`.` chooses all below this folder")))
}

fn resolve(name: &str, stacks: &[Stack], place: &PathContext<'_>) -> Result<Vec<StackId>> {
    // An unset variable in a script must not mean the folder that the script runs in.
    if name.trim().is_empty() {
        return Err(Error::usage("a stack name is empty").hint(format!("the stacks are {}", listed(stacks))));
    }
    if let Some(found) = in_workspace(name, stacks, place) {
        return Ok(found);
    }
    let miss = match is_path(name) {
        true => None,
        false => match names::find(name.trim_end_matches('/'), stacks) {
            Ok(found) => return Ok(found),
            Err(miss) => Some(miss),
        },
    };
    match (place.look_at(name), miss) {
        (PathTarget::Stacks(found), _) => Ok(found),
        // That several stacks are called so says more than that a file is.
        (_, Some(miss @ Miss::Ambiguous(_))) => Err(unresolved(&miss, name, stacks)),
        (PathTarget::Without(part), _) => Err(without_stacks(name, &part, stacks)),
        (PathTarget::Outside(path), _) => Err(outside(name, &path, place)),
        (PathTarget::Nowhere, Some(miss)) => Err(unresolved(&miss, name, stacks)),
        (PathTarget::Nowhere, None) => Err(nowhere(name, stacks)),
    }
}

/// Returns the stacks of a folder in one workspace, for a path with `@` and the name of one behind it.
fn in_workspace(name: &str, stacks: &[Stack], place: &PathContext<'_>) -> Option<Vec<StackId>> {
    let (path, workspace) = name.rsplit_once('@').filter(|(path, _)| !path.is_empty())?;
    if stacks.iter().any(|stack| stack.id.as_str() == name) || place.look_at(name) != PathTarget::Nowhere {
        return None;
    }
    let PathTarget::Stacks(found) = place.look_at(path) else { return None };
    let is_meant = |stack: &&Stack| found.contains(&stack.id) && stack.workspace_name() == Some(workspace);
    let found: Vec<StackId> = stacks.iter().filter(is_meant).map(|stack| stack.id.clone()).collect();
    (!found.is_empty()).then_some(found)
}

fn in_layer(layer: &str, stacks: &[Stack]) -> Result<Vec<StackId>> {
    let is_in = |stack: &&Stack| names::is_in_layer(&stack.base_id(), layer);
    let found = stacks.iter().filter(is_in).map(|stack| stack.id.clone()).collect::<Vec<_>>();
    let known = stacks.iter().filter_map(|stack| names::layer_segment(&stack.id));
    or_unknown(found, "no stack is in a layer", layer, known.collect())
}

fn tagged(tag: &str, stacks: &[Stack]) -> Result<Vec<StackId>> {
    let is_tagged = |stack: &&Stack| stack.tags.iter().any(|own| own == tag);
    let found = stacks.iter().filter(is_tagged).map(|stack| stack.id.clone()).collect::<Vec<_>>();
    let known = stacks.iter().flat_map(|stack| stack.tags.iter().map(String::as_str));
    or_unknown(found, "no stack has the tag", tag, known.collect())
}

/// Adds what the chosen stacks depend on, or what depends on them, over any number of steps.
fn widen(
    project: &Project,
    stacks: &[Stack],
    selection: &Selection,
    chosen: &mut BTreeSet<StackId>,
) -> Result<()> {
    if !selection.with_dependencies && !selection.with_dependents {
        return Ok(());
    }
    let graph = Graph::new(stacks)?;
    let all = stacks.iter().map(|stack| stack.id.clone()).collect::<Vec<_>>();
    let order = Order::new(project, &graph, &all)?;
    let starts = chosen.iter().filter_map(|id| graph.index(id)).collect::<Vec<_>>();
    let ways = [(selection.with_dependencies, Direction::Up), (selection.with_dependents, Direction::Down)];
    for (_, direction) in ways.into_iter().filter(|(is_asked, _)| *is_asked) {
        let edges = order.edges(direction);
        for &start in &starts {
            let more = closure(start, |next| &edges[next]);
            chosen.extend(more.into_iter().map(|index| stacks[index].id.clone()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
