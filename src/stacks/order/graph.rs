//! The stacks as a graph of declared edges, by index. Knows nothing of layers; `order`
//! adds those. A cycle is an error that shows the cycle. Begin at [`Graph::new`].

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::model::{Stack, StackId};

/// Declared dependencies between stacks.
#[derive(Debug)]
pub struct Graph<'a> {
    stacks: &'a [Stack],
    indices: BTreeMap<&'a StackId, usize>,
    dependencies: Vec<BTreeSet<usize>>,
}

impl<'a> Graph<'a> {
    /// Builds the graph; dependencies on stacks that are not there are left out.
    pub fn new(stacks: &'a [Stack]) -> Result<Self> {
        let indices =
            stacks.iter().enumerate().map(|(index, stack)| (&stack.id, index)).collect::<BTreeMap<_, _>>();
        let known =
            |stack: &Stack| stack.depends_on.iter().filter_map(|id| indices.get(id).copied()).collect();
        let dependencies = stacks.iter().map(known).collect::<Vec<_>>();
        if let Some(cycle) = find_cycle(&dependencies) {
            return Err(cycle_error(&cycle, stacks));
        }
        Ok(Self { stacks, indices, dependencies })
    }

    /// Returns the stacks.
    pub fn stacks(&self) -> &'a [Stack] {
        self.stacks
    }

    /// Returns the position of a stack.
    pub fn index(&self, id: &StackId) -> Option<usize> {
        self.indices.get(id).copied()
    }

    /// Returns what a stack depends on by declared edges.
    pub fn dependencies(&self, index: usize) -> &BTreeSet<usize> {
        &self.dependencies[index]
    }

    /// Returns everything a stack depends on by declared edges, directly or through others.
    pub fn upstream(&self, index: usize) -> BTreeSet<usize> {
        closure(index, |next| &self.dependencies[next])
    }

    /// Returns the chosen stacks that one depends on, looking through those that are not chosen.
    pub fn chosen_before(&self, index: usize, chosen: &BTreeSet<usize>) -> BTreeSet<usize> {
        let nothing = BTreeSet::new();
        let is_passed = |next| next == index || !chosen.contains(&next);
        let reached =
            closure(index, |next| if is_passed(next) { &self.dependencies[next] } else { &nothing });
        reached.intersection(chosen).copied().collect()
    }

    /// Returns the error for a cycle among the given edges, if there is one.
    pub fn check(&self, edges: &[BTreeSet<usize>]) -> Result<()> {
        find_cycle(edges).map_or(Ok(()), |cycle| Err(cycle_error(&cycle, self.stacks)))
    }
}

/// Returns everything that can be reached from a start, without it.
pub fn closure<'e>(start: usize, edges: impl Fn(usize) -> &'e BTreeSet<usize>) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(next) = open.pop() {
        open.extend(edges(next).iter().filter(|target| reached.insert(**target)));
    }
    reached
}

/// Where a depth-first search stands with a node.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Returns the nodes of a cycle in the order of their edges, the first one not repeated.
fn find_cycle(edges: &[BTreeSet<usize>]) -> Option<Vec<usize>> {
    let mut marks = vec![Mark::New; edges.len()];
    (0..edges.len()).find_map(|start| cycle_from(start, edges, &mut marks))
}

/// Searches from one node with a stack of its own: a long chain must not overflow the call stack.
fn cycle_from(start: usize, edges: &[BTreeSet<usize>], marks: &mut [Mark]) -> Option<Vec<usize>> {
    if marks[start] != Mark::New {
        return None;
    }
    marks[start] = Mark::Open;
    let mut path = vec![(start, edges[start].iter())];
    while let Some((node, rest)) = path.last_mut() {
        let Some(&next) = rest.next() else {
            marks[*node] = Mark::Done;
            path.pop();
            continue;
        };
        match marks[next] {
            Mark::Done => {}
            Mark::Open => {
                return Some(path.iter().map(|(node, _)| *node).skip_while(|node| *node != next).collect());
            }
            Mark::New => {
                marks[next] = Mark::Open;
                path.push((next, edges[next].iter()));
            }
        }
    }
    None
}

fn cycle_error(cycle: &[usize], stacks: &[Stack]) -> Error {
    let around = cycle.iter().chain(cycle.first());
    let names = around.map(|index| stacks[*index].id.as_str()).collect::<Vec<_>>().join(" → ");
    Error::invalid(format!("stacks depend on each other in a cycle: {names}"))
        .detail("each stack depends on the one after the arrow")
        .hint(
            "remove one of these edges: `depends_on`, `inputs`, `terraform_remote_state` or a numeric prefix",
        )
}
