//! The backend block of a stack as text: a new one, in a file of its own or in the place of
//! another. It is written as `tofu fmt` would write it, and nothing else of a file changes.
//! Text in, text out. Begin at [`NewBackend`].

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::error::Result;
use crate::syntax;
use crate::syntax::{Block, Body};

/// A backend block that is to be written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewBackend {
    /// Its label.
    pub kind: String,
    /// Its attributes: texts, booleans, and maps of them.
    pub settings: BTreeMap<String, Value>,
}

impl NewBackend {
    /// Returns a file with nothing but the block.
    pub fn file(&self) -> String {
        format!("terraform {{\n  {}\n}}\n", self.text("  ", "\n"))
    }

    /// Returns the text of a file with this block in the place of its `backend` or `cloud` block;
    /// `None` if it has none.
    pub fn replace_in(&self, text: &str, file: &Path) -> Result<Option<String>> {
        let marked = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mark = &text[..text.len() - marked.len()];
        let body = syntax::read_sound(marked, file)?;
        let Some(span) = old_block(&body).map(|block| block.span.clone()) else { return Ok(None) };
        let (Some(head), Some(tail)) = (marked.get(..span.start), marked.get(span.end..)) else {
            return Ok(None);
        };
        let newline = if head.contains("\r\n") { "\r\n" } else { "\n" };
        Ok(Some(format!("{mark}{head}{}{tail}", self.text(indent_of(head), newline))))
    }

    /// Returns the block; its first line stands behind what is there already.
    fn text(&self, indent: &str, newline: &str) -> String {
        let start = format!("backend \"{}\" {{", self.kind);
        if self.settings.is_empty() {
            return format!("{start}}}");
        }
        let width = self.settings.keys().map(|name| name.chars().count()).max().unwrap_or_default();
        let line = |(name, value)| format!("{indent}  {name:width$} = {}{newline}", literal(value));
        let lines: String = self.settings.iter().map(line).collect();
        format!("{start}{newline}{lines}{indent}}}")
    }
}

/// Returns the block that says where the state is.
fn old_block<'a, 'b>(body: &'b Body<'a>) -> Option<&'b Block<'a>> {
    let mut inner = body.blocks_of("terraform").flat_map(|block| &block.body.blocks);
    inner.find(|block| matches!(block.kind, "backend" | "cloud"))
}

/// Returns the white space that the last line begins with.
fn indent_of(text: &str) -> &str {
    let line = text.rsplit('\n').next().unwrap_or_default();
    &line[..line.len() - line.trim_start().len()]
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => quoted_text(text),
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(name, value)| format!("{name} = {}", literal(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns a text as the language writes it.
pub(super) fn quoted_text(text: &str) -> String {
    Value::from(text).to_string().replace("${", "$${").replace("%{", "%%{")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn http() -> NewBackend {
        NewBackend { kind: "http".to_owned(), settings: BTreeMap::new() }
    }

    fn s3() -> NewBackend {
        let settings = [
            ("bucket", json!("b")),
            ("endpoints", json!({"s3": "https://${x}"})),
            ("use_lockfile", json!(true)),
        ];
        let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        NewBackend { kind: "s3".to_owned(), settings }
    }

    fn replaced(new: &NewBackend, text: &str) -> Option<String> {
        new.replace_in(text, Path::new("main.tf")).expect("HCL")
    }

    #[test]
    fn only_the_backend_block_of_a_file_changes() {
        let text = "# mine\nterraform {\n  required_version = \">= 1\" # keep\n  backend \"local\" {\n    path = \"x\"\n  } # why\n}\n\nlocals { a = 1 }\n";

        let rest = "# mine\nterraform {\n  required_version = \">= 1\" # keep\n";
        assert_eq!(
            replaced(&http(), text),
            Some(format!("{rest}  backend \"http\" {{}} # why\n}}\n\nlocals {{ a = 1 }}\n"))
        );
        assert_eq!(replaced(&http(), "locals {}\n"), None);
        assert!(http().replace_in("terraform {", Path::new("main.tf")).is_err());
    }

    #[test]
    fn a_block_is_aligned_and_stands_as_deep_as_the_old_one() {
        let block = |indent: &str, newline: &str| {
            let lines = [
                "backend \"s3\" {",
                "  bucket       = \"b\"",
                "  endpoints    = { s3 = \"https://$${x}\" }",
                "  use_lockfile = true",
                "}",
            ];
            lines.map(|line| format!("{indent}{line}")).join(newline)
        };

        assert_eq!(s3().file(), format!("terraform {{\n{}\n}}\n", block("  ", "\n")));
        assert_eq!(
            replaced(&s3(), "terraform {\r\n\tcloud {\r\n\t}\r\n}\r\n"),
            Some(format!("terraform {{\r\n{}\r\n}}\r\n", block("\t", "\r\n")))
        );
    }

    #[test]
    fn a_byte_order_mark_stays() {
        let text = "\u{feff}terraform {\n  backend \"local\" {}\n}\n";

        assert_eq!(replaced(&http(), text), Some(text.replace("local", "http")));
    }
}
