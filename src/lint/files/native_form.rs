//! Reads what rules ask for from the native syntax. Begin at [`read`].

use super::declaration::{Declaration, DeclarationKind};
use super::ignore_comment::{IgnoreComment, MARK, join_stacked};
use super::lines::Lines;
use super::parts::{FoundSecret, Parts, Reading};
use crate::lint::plaintext::{may_hold_secrets, suspicion};
use crate::syntax;
use crate::syntax::{Attribute, Block, Body, TextOwner};

/// Reads a file.
pub fn read(text: &str, lines: &Lines, reading: Reading) -> Parts {
    let document = syntax::read(text);
    let mut reader = Reader { text, parts: Parts { fault: document.fault, ..Parts::default() } };
    if reading.declarations {
        reader.declarations(&document.body);
    }
    if reading.secrets && may_hold_secrets(text) {
        reader.secrets(&document.body, &Owner::default());
    }
    if text.contains(MARK) {
        reader.parts.ignores = ignores(text, lines);
    }
    reader.parts
}

/// Returns the comments that ignore rules: on a line of its own one is about the line below, too.
fn ignores(text: &str, lines: &Lines) -> Vec<IgnoreComment> {
    let found = syntax::line_comments(text).into_iter().filter_map(|comment| {
        let line = lines.line(comment.at);
        let about = if comment.is_alone { vec![line, line + 1] } else { vec![line] };
        IgnoreComment::parse(comment.text, line, about)
    });
    join_stacked(found.collect())
}

/// The blocks around an argument.
#[derive(Clone, Debug, Default)]
struct Owner {
    /// Where the outermost begins.
    block: Option<usize>,
    /// Their kinds and labels.
    path: String,
    /// The name of the variable or output whose value may stand here, and how that is called.
    named: Option<(String, &'static str)>,
}

struct Reader<'a> {
    text: &'a str,
    parts: Parts,
}

impl Reader<'_> {
    fn declarations(&mut self, body: &Body<'_>) {
        for block in &body.blocks {
            let kind = match (block.kind, block.labels.as_slice()) {
                ("module", [_]) => DeclarationKind::Module,
                ("variable", [_]) => DeclarationKind::Variable,
                ("output", [_]) => DeclarationKind::Output,
                ("terraform", []) => {
                    self.required_providers(&block.body);
                    continue;
                }
                _ => continue,
            };
            let name = block.labels.first().map(ToString::to_string).unwrap_or_default();
            let arguments = block.body.attributes.iter();
            let arguments = arguments
                .map(|found| (found.name.to_owned(), syntax::value(self.text, &found.value)))
                .collect();
            self.parts.declarations.push(Declaration { kind, name, at: block.span.start, arguments });
        }
    }

    fn required_providers(&mut self, body: &Body<'_>) {
        for entry in body.blocks_of("required_providers").flat_map(|block| &block.body.attributes) {
            self.parts.declarations.push(Declaration {
                kind: DeclarationKind::RequiredProvider,
                name: entry.name.to_owned(),
                at: entry.start,
                arguments: [("entry".to_owned(), syntax::value(self.text, &entry.value))].into(),
            });
        }
    }

    fn secrets(&mut self, body: &Body<'_>, owner: &Owner) {
        for attribute in &body.attributes {
            self.secrets_of(attribute, owner);
        }
        for block in &body.blocks {
            self.secrets(&block.body, &below(owner, block));
        }
    }

    fn secrets_of(&mut self, attribute: &Attribute<'_>, owner: &Owner) {
        let written = self.text.get(attribute.start..attribute.value.end).unwrap_or_default();
        let is_named = owner.named.as_ref().is_some_and(|(_, argument)| *argument == attribute.name);
        if !is_named && !may_hold_secrets(written) {
            return;
        }
        let named = owner.named.as_ref().filter(|_| is_named).map(|(name, _)| name.as_str());
        let block = owner.block.unwrap_or(attribute.start);
        let path = if owner.path.is_empty() { String::new() } else { format!("{}.", owner.path) };
        for text in syntax::written_texts(self.text, &attribute.value) {
            let (name, subject) = match &text.of {
                TextOwner::Value => {
                    let name = named.unwrap_or(attribute.name);
                    (Some(name), format!("{path}{}", attribute.name))
                }
                TextOwner::Entry(key) => (Some(key.as_str()), format!("{path}{}.{key}", attribute.name)),
                TextOwner::Nothing => (None, format!("{path}{}", attribute.name)),
            };
            let source = self.text.get(text.span.clone()).unwrap_or_default();
            let Some(why) = suspicion(name, text.said.as_deref(), source) else { continue };
            let shown = name.unwrap_or(attribute.name).to_owned();
            // The default of a variable belongs to its block; anything else is told where it stands.
            let at = match (&text.of, named) {
                (TextOwner::Value, Some(_)) => block,
                (TextOwner::Value, None) => attribute.start,
                _ => text.span.start,
            };
            self.parts.secrets.push(FoundSecret { at, block, subject, name: shown, why });
        }
    }
}

fn below(owner: &Owner, block: &Block<'_>) -> Owner {
    let words = std::iter::once(block.kind).chain(block.labels.iter().map(AsRef::as_ref));
    let words = words.collect::<Vec<_>>().join(".");
    let named = match (&owner.block, block.kind, block.labels.as_slice()) {
        (None, "variable", [name]) => Some((name.to_string(), "default")),
        (None, "output", [name]) => Some((name.to_string(), "value")),
        _ => None,
    };
    Owner {
        block: owner.block.or(Some(block.span.start)),
        path: if owner.path.is_empty() { words } else { format!("{}.{words}", owner.path) },
        named,
    }
}
