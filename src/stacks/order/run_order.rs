//! Which stack comes after which: declared edges, and numeric prefixes where layers are
//! strict. Begin at [`run_order`].
//!
//! A declared edge is stronger than a number. A stack that one of a lower layer declares
//! as its dependency is ordered with that lower layer, so that `02-a` may depend on
//! `03-dns` without a contradiction; among themselves only declared edges count then.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::Graph;
use crate::error::{Error, Result};
use crate::model::{Layers, Project, Stack, StackId, leading_number};

/// Whether stacks are built up or taken down.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// Dependencies first.
    Up,
    /// Dependents first.
    Down,
}

/// The order of the chosen stacks.
#[derive(Debug)]
pub struct RunOrder {
    /// The stacks in groups; every stack comes in a later group than what it waits for.
    pub waves: Vec<Vec<StackId>>,
    /// For each stack, the chosen ones that must have succeeded before it starts.
    pub after: BTreeMap<StackId, BTreeSet<StackId>>,
}

/// Orders the chosen stacks.
pub fn run_order(
    project: &Project,
    stacks: &[Stack],
    chosen: &[StackId],
    direction: Direction,
) -> Result<RunOrder> {
    let graph = Graph::new(stacks)?;
    let order = Order::new(project, &graph, chosen)?;
    let edges = order.edges(direction);
    let waves = order.levels(&edges).into_iter().map(|level| order.ids(level)).collect();
    let entry = |index: &usize| {
        (stacks[*index].id.clone(), order.ids(edges[*index].iter().copied()).into_iter().collect())
    };
    Ok(RunOrder { waves, after: order.chosen.iter().map(entry).collect() })
}

/// Returns the error for stacks that wait for each other, if there are any.
pub fn cycle(project: &Project, stacks: &[Stack]) -> Option<Error> {
    let all = stacks.iter().map(|stack| stack.id.clone()).collect::<Vec<_>>();
    run_order(project, stacks, &all, Direction::Up).err()
}

/// The edges among chosen stacks, by index into all stacks.
pub struct Order<'a> {
    stacks: &'a [Stack],
    chosen: BTreeSet<usize>,
    /// What each stack waits for on the way up; empty for those not chosen.
    before: Vec<BTreeSet<usize>>,
}

impl<'a> Order<'a> {
    /// Orders the chosen stacks; ids that are not there are left out.
    pub fn new(project: &Project, graph: &Graph<'a>, chosen: &[StackId]) -> Result<Self> {
        let stacks = graph.stacks();
        let chosen = chosen.iter().filter_map(|id| graph.index(id)).collect::<BTreeSet<_>>();
        let mut before = vec![BTreeSet::new(); stacks.len()];
        for &index in &chosen {
            before[index] = graph.chosen_before(index, &chosen);
        }
        if project.layers == Layers::Strict {
            add_layers(graph, &chosen, &mut before);
            add_nested_numbers(graph, &chosen, &mut before);
            graph.check(&before)?;
        }
        Ok(Self { stacks, chosen, before })
    }

    /// Returns what each stack waits for.
    pub fn edges(&self, direction: Direction) -> Vec<BTreeSet<usize>> {
        match direction {
            Direction::Up => self.before.clone(),
            Direction::Down => inverted(&self.before),
        }
    }

    /// Groups the chosen stacks by the longest chain of stacks they wait for.
    fn levels(&self, edges: &[BTreeSet<usize>]) -> Vec<BTreeSet<usize>> {
        let mut done = BTreeSet::<usize>::new();
        let mut open = self.chosen.clone();
        let mut levels = Vec::new();
        while !open.is_empty() {
            let is_ready = |index: &usize| edges[*index].iter().all(|earlier| done.contains(earlier));
            let (ready, waiting): (BTreeSet<_>, BTreeSet<_>) = open.into_iter().partition(is_ready);
            // `Graph::check` refused every cycle, so some stack is always ready.
            if ready.is_empty() {
                break;
            }
            done.extend(&ready);
            levels.push(ready);
            open = waiting;
        }
        levels
    }

    fn ids(&self, indices: impl IntoIterator<Item = usize>) -> Vec<StackId> {
        indices.into_iter().map(|index| self.stacks[index].id.clone()).collect()
    }
}

fn inverted(edges: &[BTreeSet<usize>]) -> Vec<BTreeSet<usize>> {
    let mut inverted = vec![BTreeSet::new(); edges.len()];
    for (index, targets) in edges.iter().enumerate() {
        for &target in targets {
            inverted[target].insert(index);
        }
    }
    inverted
}

/// Returns each stack's layer, lowered to that of the lowest stack that declares it as a dependency.
fn effective_layers(graph: &Graph<'_>) -> Vec<Option<u32>> {
    let mut layers = graph.stacks().iter().map(|stack| stack.id.layer()).collect::<Vec<_>>();
    let mut lowest_first = (0..layers.len()).filter(|index| layers[*index].is_some()).collect::<Vec<_>>();
    lowest_first.sort_by_key(|index| layers[*index]);
    // Whoever is reached first is reached from the lowest layer, so each stack is visited once.
    let mut visited = BTreeSet::new();
    for start in lowest_first {
        let layer = layers[start];
        let mut open = vec![start];
        while let Some(next) = open.pop() {
            if visited.insert(next) {
                layers[next] = layers[next].min(layer);
                open.extend(graph.dependencies(next));
            }
        }
    }
    layers
}

/// Makes every chosen stack wait for all chosen stacks of the nearest lower layer.
fn add_layers(graph: &Graph<'_>, chosen: &BTreeSet<usize>, before: &mut [BTreeSet<usize>]) {
    let layers = effective_layers(graph);
    let mut members: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for &index in chosen {
        if let Some(layer) = layers[index] {
            members.entry(layer).or_default().insert(index);
        }
    }
    for (lower, higher) in members.values().zip(members.values().skip(1)) {
        for &index in higher {
            before[index].extend(lower);
        }
    }
}

/// Orders siblings of one layer by their own numbers: `01-a/01-x` before `01-a/02-y`.
fn add_nested_numbers(graph: &Graph<'_>, chosen: &BTreeSet<usize>, before: &mut [BTreeSet<usize>]) {
    let mut families: BTreeMap<&str, Vec<Nested<'_>>> = BTreeMap::new();
    for &index in chosen {
        if let Some((layer, below)) = split_at_layer(graph.stacks()[index].id.as_str()) {
            let segments = below.split('/').map(|segment| (segment, leading_number(segment))).collect();
            families.entry(layer).or_default().push(Nested { index, segments });
        }
    }
    for family in families.values() {
        for lower in family {
            let upstream = graph.upstream(lower.index);
            let higher = family.iter().filter(|other| lower.is_before(other)).map(|other| other.index);
            // A declared edge is stronger than a number.
            for index in higher.filter(|index| !upstream.contains(index)) {
                before[index].insert(lower.index);
            }
        }
    }
}

/// Returns the nearest chosen stacks that each waits for because of nested numbers alone.
pub fn nested_neighbours(graph: &Graph<'_>, chosen: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
    let mut before = vec![BTreeSet::new(); graph.stacks().len()];
    add_nested_numbers(graph, chosen, &mut before);
    let nearest = |near: &BTreeSet<usize>| {
        // Whoever hides another is mostly one of the last, so that long rows of siblings cost little.
        let is_hidden = |index: &usize| near.iter().rev().any(|other| before[*other].contains(index));
        near.iter().filter(|index| !is_hidden(index)).copied().collect()
    };
    before.iter().map(nearest).collect()
}

/// A stack by what stands below its layer, each segment with its number.
struct Nested<'a> {
    index: usize,
    segments: Vec<(&'a str, Option<u32>)>,
}

impl Nested<'_> {
    /// Returns whether the number is lower in the first segment where two of one family differ.
    fn is_before(&self, other: &Self) -> bool {
        let mut pairs = self.segments.iter().zip(&other.segments);
        match pairs.find(|((one, _), (other, _))| one != other) {
            Some(((_, Some(one)), (_, Some(other)))) => one < other,
            _ => false,
        }
    }
}

/// Splits an id behind the segment that gives it its layer: `01-a/02-x` is `01-a` and `02-x`.
fn split_at_layer(id: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for (end, _) in id.match_indices('/') {
        if leading_number(&id[start..end]).is_some() {
            return Some((&id[..end], &id[end + 1..]));
        }
        start = end + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::sample::{ids, stack, stacks};

    /// Returns the waves as text: commas within a wave, bars between.
    fn text(layers: Layers, stacks: &[Stack], chosen: &[StackId], direction: Direction) -> String {
        let project = Project { layers, ..Project::default() };
        match run_order(&project, stacks, chosen, direction).map(|order| order.waves) {
            Ok(waves) => waves
                .iter()
                .map(|wave| wave.iter().map(StackId::as_str).collect::<Vec<_>>().join(", "))
                .collect::<Vec<_>>()
                .join(" | "),
            Err(error) => error.message().to_owned(),
        }
    }

    fn up(stacks: &[Stack]) -> String {
        text(Layers::Strict, stacks, &ids(stacks), Direction::Up)
    }

    #[test]
    fn layers_go_up_for_apply_and_down_for_destroy() {
        let stacks = stacks(&["01-a/x", "01-a/y", "02-b/z", "03-c/w"]);

        assert_eq!(up(&stacks), "01-a/x, 01-a/y | 02-b/z | 03-c/w");
        let down = text(Layers::Strict, &stacks, &ids(&stacks), Direction::Down);
        assert_eq!(down, "03-c/w | 02-b/z | 01-a/x, 01-a/y");
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        assert_eq!(up(&stacks(&["10-b/x", "9-a/x"])), "9-a/x | 10-b/x");
    }

    #[test]
    fn nested_numbers_order_siblings_of_one_layer_only() {
        let siblings = stacks(&["01-a/01-x", "01-a/02-y", "01-a/z", "02-b/01-w"]);
        let cousins = stacks(&["01-a/01-x", "01-b/02-y"]);

        assert_eq!(up(&siblings), "01-a/01-x, 01-a/z | 01-a/02-y | 02-b/01-w");
        assert_eq!(up(&cousins), "01-a/01-x, 01-b/02-y");
    }

    #[test]
    fn loose_layers_leave_only_declared_edges() {
        let stacks = [stack("01-a/x", &["02-b/y"]), stack("02-b/y", &[]), stack("03-c/z", &[])];

        let loose = text(Layers::Loose, &stacks, &ids(&stacks), Direction::Up);

        assert_eq!(loose, "02-b/y, 03-c/z | 01-a/x");
    }

    #[test]
    fn a_stack_without_a_number_follows_its_declared_edges_only() {
        let stacks =
            [stack("01-a/x", &[]), stack("02-b/y", &[]), stack("dns", &[]), stack("mail", &["02-b/y"])];

        assert_eq!(up(&stacks), "01-a/x, dns | 02-b/y | mail");
    }

    #[test]
    fn a_declared_edge_to_a_higher_layer_pulls_that_stack_down() {
        let stacks = [
            stack("01-a/x", &[]),
            stack("02-b/k8s", &["03-c/dns"]),
            stack("02-b/other", &[]),
            stack("03-c/dns", &[]),
            stack("03-c/rest", &[]),
        ];

        assert_eq!(up(&stacks), "01-a/x | 02-b/other, 03-c/dns | 02-b/k8s | 03-c/rest");
    }

    #[test]
    fn an_edge_through_a_stack_that_is_not_chosen_still_counts() {
        let stacks = [stack("a", &["b"]), stack("b", &["c"]), stack("c", &[])];
        let chosen = [StackId::new("a"), StackId::new("c")];

        assert_eq!(text(Layers::Strict, &stacks, &chosen, Direction::Up), "c | a");
        assert_eq!(text(Layers::Strict, &stacks, &chosen, Direction::Down), "a | c");
    }

    #[test]
    fn a_layer_that_is_not_chosen_does_not_loosen_the_order() {
        let stacks = stacks(&["01-a/x", "02-b/y", "03-c/z"]);
        let chosen = [StackId::new("01-a/x"), StackId::new("03-c/z")];

        assert_eq!(text(Layers::Strict, &stacks, &chosen, Direction::Up), "01-a/x | 03-c/z");
    }

    #[test]
    fn a_cycle_is_an_error_that_shows_it() {
        let pair = [stack("a", &["b"]), stack("b", &["a"]), stack("c", &["a"])];
        let own = [stack("a", &["a"])];

        assert_eq!(up(&pair), "stacks depend on each other in a cycle: a → b → a");
        assert_eq!(up(&own), "stacks depend on each other in a cycle: a → a");
    }

    #[test]
    fn what_must_have_succeeded_before_is_named_for_each_stack() {
        let stacks =
            [stack("01-a/x", &[]), stack("01-a/y", &[]), stack("02-b/z", &[]), stack("03-c/w", &["01-a/y"])];
        let project = Project::default();

        let before = run_order(&project, &stacks, &ids(&stacks), Direction::Up).expect("an order").after;

        let names = |id: &str| before[&StackId::new(id)].iter().map(StackId::as_str).collect::<Vec<_>>();
        assert_eq!(names("01-a/x"), [""; 0]);
        assert_eq!(names("02-b/z"), ["01-a/x", "01-a/y"]);
        assert_eq!(names("03-c/w"), ["01-a/y", "02-b/z"]);
    }

    #[test]
    fn a_chain_of_thousands_is_ordered() {
        let names = (0..2_000).map(|number| format!("s{number:04}")).collect::<Vec<_>>();
        let chain = names.iter().enumerate().map(|(index, name)| {
            let before = index.checked_sub(1).map(|index| names[index].as_str());
            stack(name, &before.into_iter().collect::<Vec<_>>())
        });
        let chain = chain.collect::<Vec<_>>();
        let ends = [StackId::new("s1999"), StackId::new("s0000")];

        let order = run_order(&Project::default(), &chain, &ends, Direction::Up).expect("an order");

        assert_eq!(order.waves, [[StackId::new("s0000")], [StackId::new("s1999")]]);
    }
}
