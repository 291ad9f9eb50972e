//! The graph of stacks as Mermaid or dot text. Arrows go from what is applied first to
//! what is applied after it; layers are boxes, and an arrow between two stands for all.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::graph::{Graph, closure};
use super::run_order::nested_neighbours;
use crate::model::{Layers, Project, Stack, StackId};
use crate::stacks::choice::layer_segment;

/// The stacks of each layer, those without a layer first.
type Groups<'a> = BTreeMap<Option<u32>, Vec<(usize, &'a Stack)>>;

/// What is drawn: some of the stacks, by their index among all.
struct Drawing<'a> {
    project: &'a Project,
    stacks: &'a [Stack],
    chosen: BTreeSet<usize>,
}

/// Returns the graph of the chosen stacks as a Mermaid flow chart.
pub fn mermaid(project: &Project, stacks: &[Stack], chosen: &[StackId]) -> String {
    let drawing = Drawing::new(project, stacks, chosen);
    let mut text = "flowchart TD\n".to_owned();
    for (layer, members) in &drawing.groups() {
        let nodes = members
            .iter()
            .map(|(index, stack)| format!("n{index}[\"{}\"]\n", mermaid_text(stack.id.as_str())));
        let _ = match layer {
            None => write!(text, "  {}", nodes.collect::<Vec<_>>().join("  ")),
            Some(layer) => {
                let (title, nodes) =
                    (mermaid_text(&title(*layer, members)), nodes.collect::<Vec<_>>().join("    "));
                write!(text, "  subgraph layer{layer}[\"{title}\"]\n    {nodes}  end\n")
            }
        };
    }
    for (from, to) in drawing.declared_edges() {
        let _ = writeln!(text, "  n{from} --> n{to}");
    }
    for (from, to) in drawing.nested_edges() {
        let _ = writeln!(text, "  n{from} -.-> n{to}");
    }
    for (lower, higher) in drawing.layer_edges() {
        let _ = writeln!(text, "  layer{lower} -.-> layer{higher}");
    }
    text
}

/// Returns the graph of the chosen stacks in the dot language.
pub fn dot(project: &Project, stacks: &[Stack], chosen: &[StackId]) -> String {
    let drawing = Drawing::new(project, stacks, chosen);
    let groups = drawing.groups();
    let mut text = "digraph stacks {\n  compound=true;\n  node [shape=box];\n".to_owned();
    for (layer, members) in &groups {
        let nodes = members
            .iter()
            .map(|(index, stack)| format!("n{index} [label=\"{}\"];", dot_text(stack.id.as_str())));
        let nodes = nodes.collect::<Vec<_>>().join(" ");
        let _ = match layer {
            None => writeln!(text, "  {nodes}"),
            Some(layer) => {
                let title = dot_text(&title(*layer, members));
                writeln!(text, "  subgraph cluster_{layer} {{ label=\"{title}\"; {nodes} }}")
            }
        };
    }
    for (from, to) in drawing.declared_edges() {
        let _ = writeln!(text, "  n{from} -> n{to};");
    }
    for (from, to) in drawing.nested_edges() {
        let _ = writeln!(text, "  n{from} -> n{to} [style=dashed];");
    }
    for (lower, higher) in drawing.layer_edges() {
        let (from, to) = (first_of(&groups, lower), first_of(&groups, higher));
        let _ = writeln!(
            text,
            "  n{from} -> n{to} [ltail=cluster_{lower}, lhead=cluster_{higher}, style=dashed];"
        );
    }
    text.push_str("}\n");
    text
}

impl<'a> Drawing<'a> {
    fn new(project: &'a Project, stacks: &'a [Stack], chosen: &[StackId]) -> Self {
        let wanted: BTreeSet<&StackId> = chosen.iter().collect();
        let chosen = (0..stacks.len()).filter(|index| wanted.contains(&stacks[*index].id)).collect();
        Self { project, stacks, chosen }
    }

    fn groups(&self) -> Groups<'a> {
        let mut groups = Groups::new();
        for &index in &self.chosen {
            let stack = &self.stacks[index];
            groups.entry(stack.id.layer()).or_default().push((index, stack));
        }
        groups
    }

    /// Returns pairs of indices: what comes first, what comes after it, looking through what is not chosen.
    fn declared_edges(&self) -> Vec<(usize, usize)> {
        let indices: BTreeMap<&StackId, usize> =
            self.stacks.iter().enumerate().map(|(index, stack)| (&stack.id, index)).collect();
        let known =
            |stack: &Stack| stack.depends_on.iter().filter_map(|id| indices.get(id).copied()).collect();
        let edges: Vec<BTreeSet<usize>> = self.stacks.iter().map(known).collect();
        let nothing = BTreeSet::new();
        let before = |to: usize| {
            let is_passed = |next| next == to || !self.chosen.contains(&next);
            closure(to, |next| if is_passed(next) { &edges[next] } else { &nothing })
        };
        let pairs = |to: &usize| before(*to).into_iter().map(|from| (from, *to)).collect::<Vec<_>>();
        self.chosen.iter().flat_map(pairs).filter(|(from, _)| self.chosen.contains(from)).collect()
    }

    /// Returns pairs of neighbours among siblings that are numbered within one layer.
    fn nested_edges(&self) -> Vec<(usize, usize)> {
        // Where stacks depend on each other in a cycle, that is what the graph is to show.
        let (Layers::Strict, Ok(graph)) = (self.project.layers, Graph::new(self.stacks)) else {
            return Vec::new();
        };
        let declared: BTreeSet<(usize, usize)> = self.declared_edges().into_iter().collect();
        let neighbours = nested_neighbours(&graph, &self.chosen).into_iter().enumerate();
        let pairs = neighbours.flat_map(|(to, before)| before.into_iter().map(move |from| (from, to)));
        pairs.filter(|pair| !declared.contains(pair)).collect()
    }

    /// Returns pairs of neighbouring layers; none where layers are only labels.
    fn layer_edges(&self) -> Vec<(u32, u32)> {
        match self.project.layers {
            Layers::Loose => Vec::new(),
            Layers::Strict => {
                let layers = self.groups().into_keys().flatten().collect::<Vec<_>>();
                layers.windows(2).map(|pair| (pair[0], pair[1])).collect()
            }
        }
    }
}

fn first_of(groups: &Groups<'_>, layer: u32) -> usize {
    groups.get(&Some(layer)).and_then(|members| members.first()).map_or(0, |(index, _)| *index)
}

/// Returns the layer's folder name where all members share it, else its number.
fn title(layer: u32, members: &[(usize, &Stack)]) -> String {
    let mut names = members.iter().filter_map(|(_, stack)| layer_segment(&stack.id)).collect::<Vec<_>>();
    names.dedup();
    match names.as_slice() {
        [only] => (*only).to_owned(),
        _ => format!("layer {layer}"),
    }
}

fn mermaid_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

fn dot_text(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::sample::{ids, stack, stacks};

    fn sample() -> Vec<Stack> {
        vec![stack("01-hypervisors/pve1", &[]), stack("02-platforms/a \"b\"", &["dns"]), stack("dns", &[])]
    }

    #[test]
    fn mermaid_shows_layers_as_boxes_and_edges_in_order_of_apply() {
        let text = mermaid(&Project::default(), &sample(), &ids(&sample()));

        let expected = "flowchart TD
  n2[\"dns\"]
  subgraph layer1[\"01-hypervisors\"]
    n0[\"01-hypervisors/pve1\"]
  end
  subgraph layer2[\"02-platforms\"]
    n1[\"02-platforms/a &quot;b&quot;\"]
  end
  n2 --> n1
  layer1 -.-> layer2
";
        assert_eq!(text, expected);
    }

    #[test]
    fn dot_escapes_names_and_draws_layers_as_clusters() {
        let text = dot(&Project::default(), &sample(), &ids(&sample()));

        assert!(text.contains(
            "subgraph cluster_2 { label=\"02-platforms\"; n1 [label=\"02-platforms/a \\\"b\\\"\"]; }"
        ));
        assert!(text.contains("  n2 -> n1;\n"));
        assert!(text.contains("  n0 -> n1 [ltail=cluster_1, lhead=cluster_2, style=dashed];\n"));
    }

    #[test]
    fn loose_layers_have_no_arrows_between_boxes() {
        let project = Project { layers: Layers::Loose, ..Project::default() };

        assert!(!mermaid(&project, &sample(), &ids(&sample())).contains("-.->"));
    }

    #[test]
    fn nested_numbers_are_arrows_between_neighbours() {
        let stacks = stacks(&["01-h/01-boot", "01-h/02-srv", "01-h/10-late", "01-h/plain"]);

        let text = mermaid(&Project::default(), &stacks, &ids(&stacks));

        assert!(text.ends_with("  end\n  n0 -.-> n1\n  n1 -.-> n2\n"), "{text}");
        assert!(dot(&Project::default(), &stacks, &ids(&stacks)).contains("n0 -> n1 [style=dashed];"));
    }

    #[test]
    fn only_what_is_chosen_is_drawn_and_what_lies_between_is_looked_through() {
        let stacks = [stack("a", &[]), stack("b", &["a"]), stack("c", &["b"])];

        let text = mermaid(&Project::default(), &stacks, &[StackId::new("a"), StackId::new("c")]);

        assert_eq!(text, "flowchart TD\n  n0[\"a\"]\n  n2[\"c\"]\n  n0 --> n2\n");
    }
}
