//! The graph of stacks as Mermaid or dot text. Arrows go from what is applied first to
//! what is applied after it; layers are boxes, and an arrow between two stands for all.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::names::layer_segment;
use crate::model::project::Layers;
use crate::model::{Project, Stack};

/// The stacks of each layer, those without a layer first.
type Groups<'a> = BTreeMap<Option<u32>, Vec<(usize, &'a Stack)>>;

/// Returns the graph as a Mermaid flow chart.
pub fn mermaid(project: &Project, stacks: &[Stack]) -> String {
    let mut text = "flowchart TD\n".to_owned();
    for (layer, members) in &groups(stacks) {
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
    for (from, to) in declared_edges(stacks) {
        let _ = writeln!(text, "  n{from} --> n{to}");
    }
    for (lower, higher) in layer_edges(project, stacks) {
        let _ = writeln!(text, "  layer{lower} -.-> layer{higher}");
    }
    text
}

/// Returns the graph in the dot language.
pub fn dot(project: &Project, stacks: &[Stack]) -> String {
    let groups = groups(stacks);
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
    for (from, to) in declared_edges(stacks) {
        let _ = writeln!(text, "  n{from} -> n{to};");
    }
    for (lower, higher) in layer_edges(project, stacks) {
        let (from, to) = (first_of(&groups, lower), first_of(&groups, higher));
        let _ = writeln!(
            text,
            "  n{from} -> n{to} [ltail=cluster_{lower}, lhead=cluster_{higher}, style=dashed];"
        );
    }
    text.push_str("}\n");
    text
}

fn groups(stacks: &[Stack]) -> Groups<'_> {
    let mut groups = Groups::new();
    for (index, stack) in stacks.iter().enumerate() {
        groups.entry(stack.id.layer()).or_default().push((index, stack));
    }
    groups
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

/// Returns pairs of indices: what comes first, what comes after it.
fn declared_edges(stacks: &[Stack]) -> Vec<(usize, usize)> {
    let indices =
        stacks.iter().enumerate().map(|(index, stack)| (&stack.id, index)).collect::<BTreeMap<_, _>>();
    let edges = stacks.iter().enumerate().flat_map(|(to, stack)| {
        stack.depends_on.iter().filter_map(|id| indices.get(id)).map(move |from| (*from, to))
    });
    edges.collect()
}

/// Returns pairs of neighbouring layers; none where layers are only labels.
fn layer_edges(project: &Project, stacks: &[Stack]) -> Vec<(u32, u32)> {
    match project.layers {
        Layers::Loose => Vec::new(),
        Layers::Strict => {
            let layers = groups(stacks).into_keys().flatten().collect::<Vec<_>>();
            layers.windows(2).map(|pair| (pair[0], pair[1])).collect()
        }
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
    use super::super::sample::stack;
    use super::*;

    fn sample() -> Vec<Stack> {
        vec![stack("01-hypervisors/pve1", &[]), stack("02-platforms/a \"b\"", &["dns"]), stack("dns", &[])]
    }

    #[test]
    fn mermaid_shows_layers_as_boxes_and_edges_in_order_of_apply() {
        let text = mermaid(&Project::default(), &sample());

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
        let text = dot(&Project::default(), &sample());

        assert!(text.contains(
            "subgraph cluster_2 { label=\"02-platforms\"; n1 [label=\"02-platforms/a \\\"b\\\"\"]; }"
        ));
        assert!(text.contains("  n2 -> n1;\n"));
        assert!(text.contains("  n0 -> n1 [ltail=cluster_1, lhead=cluster_2, style=dashed];\n"));
    }

    #[test]
    fn loose_layers_have_no_arrows_between_boxes() {
        let project = Project { layers: Layers::Loose, ..Project::default() };

        assert!(!mermaid(&project, &sample()).contains("-.->"));
    }
}
