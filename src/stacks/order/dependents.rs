//! Who stands on a stack: those with an edge to it, and those of higher layers. Layers are no
//! edges here: a number says what comes first, not what would break. Begin at [`dependents`].

use std::collections::BTreeSet;

use super::declared::inputs_by;
use super::graph::Graph;
use crate::error::Result;
use crate::model::{Layers, Project, Stack, StackId};
use crate::stacks::settings::SettingsBook;

/// Returns the stacks that depend on chosen ones by an edge, over any number of steps, and are not chosen.
pub fn dependents(stacks: &[Stack], chosen: &[StackId]) -> Result<Vec<StackId>> {
    let graph = Graph::new(stacks)?;
    let chosen: BTreeSet<usize> = chosen.iter().filter_map(|id| graph.index(id)).collect();
    let depends = |index: &usize| !chosen.contains(index) && !graph.upstream(*index).is_disjoint(&chosen);
    Ok((0..stacks.len()).filter(depends).map(|index| stacks[index].id.clone()).collect())
}

/// Returns whether the edges of stacks lead nowhere back.
pub fn acyclic(stacks: &[Stack]) -> bool {
    Graph::new(stacks).is_ok()
}

/// Returns the stacks of higher layers than the lowest of the chosen ones, which are not chosen.
pub fn higher_layers(project: &Project, stacks: &[Stack], chosen: &[StackId]) -> Vec<StackId> {
    let lowest = chosen.iter().filter_map(StackId::layer).min();
    let Some(lowest) = lowest.filter(|_| project.layers == Layers::Strict) else { return Vec::new() };
    let is_higher = |id: &&StackId| id.layer().is_some_and(|layer| layer > lowest) && !chosen.contains(id);
    stacks.iter().map(|stack| &stack.id).filter(is_higher).cloned().collect()
}

/// Says why a stack depends directly on any of the others.
pub fn reasons(project: &Project, stacks: &[Stack], stack: &Stack, on: &BTreeSet<StackId>) -> Vec<String> {
    let settings = SettingsBook::of(project).settings_for(&stack.id);
    let inputs = inputs_by(&settings, stacks, &stack.id).unwrap_or_default();
    let mut words = Vec::new();
    for other in stack.depends_on.iter().filter(|other| on.contains(other)) {
        let fed = inputs.iter().filter(|(_, from)| from.stack == *other);
        let fed: Vec<String> =
            fed.map(|(name, from)| format!("input `{name}` from `{other}.{}`", from.output)).collect();
        let read = stack
            .reads
            .iter()
            .find(|(read, _)| read == other)
            .map(|(_, place)| format!("reads the state of `{other}` at {place}"));
        if fed.is_empty() && read.is_none() {
            words.push(format!("`depends_on` `{other}`"));
        }
        words.extend(fed.into_iter().chain(read));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::sample::{ids, stack, stacks};

    fn names(ids: &[StackId]) -> Vec<&str> {
        ids.iter().map(StackId::as_str).collect()
    }

    #[test]
    fn dependents_are_found_over_any_number_of_steps_and_once_in_a_diamond() {
        let stacks = [
            stack("base", &[]),
            stack("left", &["base"]),
            stack("right", &["base"]),
            stack("top", &["left", "right"]),
            stack("other", &[]),
        ];
        let of = |chosen: &[&str]| {
            let chosen: Vec<StackId> = chosen.iter().map(|id| StackId::new(*id)).collect();
            dependents(&stacks, &chosen).expect("no cycle")
        };

        assert_eq!(names(&of(&["base"])), ["left", "right", "top"]);
        assert_eq!(names(&of(&["base", "top"])), ["left", "right"]);
        assert_eq!(names(&of(&["top", "other"])), [""; 0]);
        assert_eq!(dependents(&stacks, &ids(&stacks)).expect("no cycle"), []);
    }

    #[test]
    fn a_layer_is_no_edge_but_is_named_where_layers_are_strict() {
        let stacks = stacks(&["01-a/x", "01-a/y", "02-b/z", "03-c/w", "tools"]);
        let chosen = [StackId::new("01-a/x")];
        let loose = Project { layers: Layers::Loose, ..Project::default() };

        assert_eq!(dependents(&stacks, &chosen).expect("no cycle"), []);
        assert_eq!(names(&higher_layers(&Project::default(), &stacks, &chosen)), ["02-b/z", "03-c/w"]);
        assert_eq!(higher_layers(&loose, &stacks, &chosen), []);
        assert_eq!(higher_layers(&Project::default(), &stacks, &[StackId::new("tools")]), []);
    }

    #[test]
    fn a_reason_says_what_kind_of_edge_it_is() {
        let mut reader = stack("b", &["a"]);
        let on = BTreeSet::from([StackId::new("a")]);
        let why = |stack: &Stack| reasons(&Project::default(), &[], stack, &on);

        assert_eq!(why(&reader), ["`depends_on` `a`"]);
        reader.reads.push((StackId::new("a"), "b/main.tf:3".to_owned()));
        assert_eq!(why(&reader), ["reads the state of `a` at b/main.tf:3"]);
    }
}
