//! What a name means among the stacks: an id, a unique last segment, a glob, a layer or a
//! tag, tried in that order. Begin at [`find`].

use std::collections::BTreeSet;

use crate::model::{Stack, StackId, distance, leading_number, nearest, tolerance};
use crate::stacks::settings::{Pattern, is_glob};

/// Why a name means nothing, or too much.
#[derive(Debug, PartialEq)]
pub enum Miss {
    /// Nothing has this name; these are close.
    Unknown(Vec<String>),
    /// More than one stack has this last segment.
    Ambiguous(Vec<StackId>),
}

impl Miss {
    /// Returns the sentence for the message, with the name in it.
    pub fn message(&self, name: &str) -> String {
        match self {
            Self::Unknown(_) if is_glob(name) => format!("no stack matches `{name}`"),
            Self::Unknown(_) => format!("no stack is called `{name}`"),
            Self::Ambiguous(_) => format!("`{name}` is the name of several stacks"),
        }
    }

    /// Returns the line that says what was probably meant.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown(near) if near.is_empty() => None,
            Self::Unknown(near) => Some(format!("did you mean {}?", quoted(near.iter().map(String::as_str)))),
            Self::Ambiguous(ids) => Some(format!("say which: {}", quoted(ids.iter().map(StackId::as_str)))),
        }
    }
}

/// Writes names in back-ticks.
pub fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Writes the first names in back-ticks and counts the others; an empty one is the folder itself.
pub fn shortened(names: &[String]) -> String {
    let shown = quoted(names.iter().take(5).map(|name| if name.is_empty() { "." } else { name.as_str() }));
    match names.len().checked_sub(5) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

/// Returns the stacks that a name means.
pub fn find(name: &str, stacks: &[Stack]) -> Result<Vec<StackId>, Miss> {
    let called = called(name, stacks)?;
    if !called.is_empty() {
        return Ok(called);
    }
    let pattern = Pattern::new(name);
    let is_meant = |stack: &Stack| pattern.matches(&stack.id) || pattern.matches(&stack.base_id());
    let by_glob = ids(stacks, |stack| pattern.is_glob() && is_meant(stack));
    let workspace = name.strip_prefix('@');
    let by_workspace = ids(stacks, |stack| workspace.is_some() && stack.workspace_name() == workspace);
    let by_layer = ids(stacks, |stack| is_in_layer(&stack.base_id(), name));
    let by_tag = ids(stacks, |stack| stack.tags.iter().any(|tag| tag == name));
    let found = [by_glob, by_workspace, by_layer, by_tag].into_iter().find(|found| !found.is_empty());
    found.ok_or_else(|| Miss::Unknown(near(name, stacks)))
}

/// Returns the one stack with this id or this last segment.
pub fn find_one(name: &str, stacks: &[Stack]) -> Result<Option<StackId>, Miss> {
    let mut called = called(name, stacks)?;
    match called.len() {
        0 | 1 => Ok(called.pop()),
        _ => Err(Miss::Ambiguous(called)),
    }
}

/// Returns the stack with this id or this last segment, or those of one folder in their workspaces.
fn called(name: &str, stacks: &[Stack]) -> Result<Vec<StackId>, Miss> {
    let full = |stack: &Stack| stack.workspace_name().map(|own| stack.base_id().in_workspace(own));
    let is_it =
        |stack: &&Stack| stack.id.as_str() == name || full(stack).is_some_and(|id| id.as_str() == name);
    if let Some(stack) = stacks.iter().find(is_it) {
        return Ok(vec![stack.id.clone()]);
    }
    let by_id = ids(stacks, |stack| stack.workspace.is_some() && stack.base_id().as_str() == name);
    if !by_id.is_empty() {
        return Ok(by_id);
    }
    let is_called = |stack: &&Stack| stack.id.short_name() == name || stack.base_id().short_name() == name;
    let called: Vec<&Stack> = stacks.iter().filter(is_called).collect();
    let folders: BTreeSet<StackId> = called.iter().map(|stack| stack.base_id()).collect();
    match folders.len() {
        0 | 1 => Ok(called.into_iter().map(|stack| stack.id.clone()).collect()),
        _ if name.contains('@') => {
            Err(Miss::Ambiguous(called.iter().map(|stack| stack.id.clone()).collect()))
        }
        _ => Err(Miss::Ambiguous(folders.into_iter().collect())),
    }
}

/// Returns whether an id is in the layer `2`, `platforms` or `02-platforms`.
pub fn is_in_layer(id: &StackId, name: &str) -> bool {
    let Some(segment) = layer_segment(id) else { return false };
    let label = segment.split_once(['-', '_']).map_or("", |(_, label)| label);
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    segment == name
        || (!name.is_empty() && label == name)
        || is_number && name.parse().ok() == leading_number(segment)
}

/// Returns the segment that gives an id its layer: `02-platforms`.
pub fn layer_segment(id: &StackId) -> Option<&str> {
    id.as_str().split('/').find(|segment| leading_number(segment).is_some())
}

/// Returns up to three stacks whose id or last segment is close to a name, else a layer or tag that is.
pub fn near(name: &str, stacks: &[Stack]) -> Vec<String> {
    let close = stacks.iter().filter_map(|stack| Some((closeness(name, &stack.id)?, stack.id.as_str())));
    let mut ranked = close.collect::<Vec<_>>();
    ranked.sort_unstable();
    if ranked.is_empty() {
        let layers = stacks.iter().filter_map(|stack| layer_segment(&stack.id)).flat_map(|segment| {
            [segment, segment.split_once(['-', '_']).map_or(segment, |(_, label)| label)]
        });
        let tags = stacks.iter().flat_map(|stack| stack.tags.iter().map(String::as_str));
        return nearest(name, layers.chain(tags)).map(str::to_owned).into_iter().collect();
    }
    ranked.into_iter().take(3).map(|(_, id)| id.to_owned()).collect()
}

fn closeness(name: &str, id: &StackId) -> Option<usize> {
    let typed_last = name.rsplit('/').next().unwrap_or(name);
    let pairs = [(name, id.as_str()), (name, id.short_name()), (typed_last, id.short_name())];
    let close = pairs.into_iter().map(|(one, other)| (distance(one, other), tolerance(one, other)));
    close.filter(|(distance, tolerance)| distance <= tolerance).map(|(distance, _)| distance).min()
}

fn ids(stacks: &[Stack], is_meant: impl Fn(&Stack) -> bool) -> Vec<StackId> {
    stacks.iter().filter(|stack| is_meant(stack)).map(|stack| stack.id.clone()).collect()
}
