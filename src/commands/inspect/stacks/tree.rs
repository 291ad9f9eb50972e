//! The stacks as a tree for people: folders above what lies in them, numbers in the order
//! of numbers, facts in one column. Prints nothing. Begin at [`lines`].

use std::collections::BTreeMap;

use super::facts;
use crate::model::{Stack, natural_key};
use crate::report::{Terminal, Tone, padded, shortened, text_width};

/// A folder, a stack, or a stack with other stacks below it.
#[derive(Default)]
struct Node<'a> {
    stack: Option<&'a Stack>,
    below: BTreeMap<Name<'a>, Node<'a>>,
}

/// A segment of an id, which sorts as people count.
type Name<'a> = (Vec<(u128, &'a str)>, &'a str);

/// A line of the tree before its columns are known.
struct Row<'a> {
    name: String,
    indent: usize,
    stack: Option<&'a Stack>,
}

/// A line, and the column below which it goes on where it does not fit.
pub(super) type Hanging = (String, usize);

/// Returns the lines of the tree, each stack with what a person wants to know.
pub(super) fn lines(stacks: &[&Stack], terminal: &Terminal) -> Vec<Hanging> {
    let mut root = Node::default();
    for stack in stacks {
        root.place(stack);
    }
    let mut rows = Vec::new();
    root.rows(1, &mut rows);
    let width = rows.iter().filter(|row| row.stack.is_some()).map(Row::width).max().unwrap_or(0);
    // On a narrow screen names leave half of it to the facts.
    let width = terminal.out_columns().map_or(width, |columns| width.min((columns / 2).max(16)));
    rows.iter().flat_map(|row| row.lines(width, terminal)).collect()
}

impl<'a> Node<'a> {
    fn place(&mut self, stack: &'a Stack) {
        let segments = stack.id.as_str().split('/');
        let node = segments
            .fold(self, |node, segment| node.below.entry((natural_key(segment), segment)).or_default());
        node.stack = Some(stack);
    }

    fn rows(&self, depth: usize, rows: &mut Vec<Row<'a>>) {
        for ((_, segment), mut node) in &self.below {
            let mut name = (*segment).to_owned();
            // A folder with nothing but one folder in it needs no line of its own.
            while let (None, Some(((_, segment), only))) = (node.stack, node.only_folder()) {
                name = format!("{name}/{segment}");
                node = only;
            }
            rows.push(Row { name, indent: depth * 2, stack: node.stack });
            node.rows(depth + 1, rows);
        }
    }

    fn only_folder(&self) -> Option<(&Name<'a>, &Self)> {
        let mut below = self.below.iter();
        let only = below.next().filter(|(_, node)| node.stack.is_none());
        only.filter(|_| below.next().is_none())
    }
}

impl Row<'_> {
    fn width(&self) -> usize {
        self.indent + text_width(&self.name)
    }

    fn lines(&self, width: usize, terminal: &Terminal) -> Vec<Hanging> {
        let indent = " ".repeat(self.indent);
        let Some(stack) = self.stack else { return vec![(format!("{indent}{}", self.name), 0)] };
        let head = format!("{indent}{}", shortened(&self.name, width.saturating_sub(self.indent)));
        let remark = |tone, sign, text: &String| {
            (format!("{indent}  {} {text}", terminal.paint_data(tone, sign)), self.indent + 4)
        };
        let problems = stack.problems.iter().map(|text| remark(Tone::Bad, "✗", text));
        let warnings = stack.unread.iter().chain(&stack.warnings).map(|text| remark(Tone::Warn, "!", text));
        let first = (format!("{}  {}", padded(&head, width), facts(stack)), width + 2);
        std::iter::once(first).chain(problems).chain(warnings).collect()
    }
}
