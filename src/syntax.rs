//! The two forms of OpenTofu's language as far as infra looks into them: blocks, their labels,
//! and where values stand. Never stricter than OpenTofu: what an expression says is not looked
//! into before somebody asks for it, and where a file makes no sense the rest is read all the same.
//! Text in, tree out. Begin at [`read`] and, for the JSON form, at [`read_json`].

mod comments;
mod json;
mod json_settings;
mod recovery;
mod scan;
mod setting;
mod templates;
mod texts;
mod tokens;
mod tree;
mod values;
mod written_texts;

pub use comments::{Comment, line_comments};
pub use json::{JsonEntry, JsonNode, read_json};
pub use json_settings::{entries, setting, settings};
pub use setting::{Setting, Settings, flatten, one_line, with_paths};
pub use texts::template_text;
pub use tree::{Attribute, Block, Body, Document, Fault};
pub use values::{literals, object_entries, value};
pub use written_texts::{TextOwner, WrittenText, written_texts};

use std::borrow::Cow;
use std::path::Path;

use self::tree::Parser;

use crate::error::{Error, Result};

/// Reads a file; the document says where it made no sense.
pub fn read(text: &str) -> Document<'_> {
    let mut parser = Parser::new(text, 0..text.len());
    let mut document = Document::default();
    while parser.has_more() {
        let start = parser.position();
        let mut body = Body::default();
        parser.item(&mut body);
        if let Some(fault) = parser.take_fault() {
            recovery::read_from(text, start, &mut document.body);
            document.fault = Some(fault);
            return document;
        }
        document.body.extend(body);
    }
    document
}

/// Reads a file that is to be changed, so that all of it must make sense.
pub fn read_sound<'a>(text: &'a str, file: &Path) -> Result<Body<'a>> {
    let Document { body, fault } = read(text);
    let Some(fault) = fault else { return Ok(body) };
    let (line, column) = line_and_column(text, fault.at);
    Err(Error::invalid(format!("`{}` cannot be read", file.display()))
        .at(format!("{}:{line}:{column}", file.display()))
        .detail(fault.what))
}

/// Returns what the bytes of a file say, without the mark that some editors put first. What is no
/// UTF-8 is kept as a letter of its own: OpenTofu judges.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

/// Returns where a letter stands at first that belongs to no comment.
pub fn outside_comments(text: &str, letter: char) -> Option<usize> {
    tokens::tokens(text, 0..text.len()).iter().find_map(|token| {
        let found = text.get(token.span())?.find(letter)?;
        Some(token.start + found)
    })
}

/// Returns line and column of a place in a text, both from one.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the blocks as text: kind, labels, the names of attributes, and so for those inside.
    fn shape(body: &Body<'_>) -> String {
        let attributes = body.attributes.iter().map(|found| found.name.to_owned());
        let blocks = body.blocks.iter().map(|block| {
            let labels: Vec<&str> = block.labels.iter().map(AsRef::as_ref).collect();
            let head = std::iter::once(block.kind).chain(labels).collect::<Vec<_>>().join(" ");
            format!("{head}({})", shape(&block.body))
        });
        attributes.chain(blocks).collect::<Vec<_>>().join(",")
    }

    fn sound(text: &str) -> String {
        let document = read(text);
        assert_eq!(document.fault, None, "{text}");
        shape(&document.body)
    }

    fn broken(text: &str) -> (usize, String) {
        let document = read(text);
        (document.fault.expect("a fault").at, shape(&document.body))
    }

    #[test]
    fn blocks_labels_and_arguments_are_found() {
        let text = "a \"b\" c {\n  d = 1\n  e {\n    f = [\n1,\n2]\n  }\n}\ng { h = {} }\ni {}\nj=2";

        assert_eq!(sound(text), "j,a b c(d,e(f)),g(h),i()");
        assert_eq!(sound(""), "");
        assert_eq!(sound("\n# only\n// comments /* \n/* \n }} */"), "");
    }

    #[test]
    fn braces_and_quotes_in_templates_belong_to_their_text() {
        let texts = [
            r#""${ { "}" = "\"}" }["}"] }""#,
            r#""$${ %%{ $ % $$ %""#,
            "\"${\n  x # }\n}\"",
            "<<EOT\n} \" ${ {a = \"}\"} } $${ EOT\n  EOT x\nEOT",
            "<<-EOT\n  ${<<IN\n }\nIN\n}\n%{ if true ~}\n}\n%{ endif ~}\n  EOT",
            "[<<A\n]\nA\n, <<B\r\n]\r\nB\r\n]",
            "(a ?\n b :\n c)",
            "{ for k, v in x : k => v... if v != \"}\" }",
            "a << b",
            "provider::x::y(1, [for z in a.0.b : z.*.c]...)",
        ];
        for text in texts {
            assert_eq!(sound(&format!("a {{\n  x = {text}\n}}\nb {{}}\n")), "a(x),b()", "{text}");
        }
    }

    #[test]
    fn a_comment_may_stand_anywhere() {
        let text = "a /* { */ \"b\" /* \n */ { # }\n  c /* = 2 */ = /* x\n */ 1 // }\n} # end\nd {} /* e {";

        assert_eq!(read(text).fault.map(|fault| fault.what), Some("a comment is never closed"));
        assert_eq!(sound(text.strip_suffix("/* e {").expect("its end")), "a b(c),d()");
    }

    #[test]
    fn what_stands_around_a_fault_is_read() {
        let around =
            |middle: &str| format!("a \"x\" {{\n  p = 1\n}}\n{middle}\nvariable \"y\" {{\n  q = 2\n}}\n");

        for middle in [
            "resource \"r\" \"s\" {{\n  k = 1\n}",
            "resource \"r\" \"s\" {\n  k = [1, 2\n}",
            "resource \"r\" \"s\" {\n  k = \"open\n}",
            "resource \"r\" \"s\" {\n  k = <<EOT\nnever closed\n}",
            "resource \"r\" \"s\" {\n  k =\n",
            "}",
            "<<<<<<< HEAD",
            "resource \"r\" \"s\"\n{\n}",
            "/* never closed",
            "a = 1, b = 2",
        ] {
            let (at, shape) = broken(&around(middle));
            assert!(shape.starts_with("a x(p)") || shape.contains(",a x(p)"), "{middle}: {shape}");
            assert!(shape.ends_with("variable y(q)"), "{middle}: {shape}");
            assert!(at >= "a \"x\" {\n  p = 1\n}\n".len(), "{middle}: {at}");
        }
    }

    #[test]
    fn what_nests_without_end_is_no_crash() {
        let many = 100_000;
        let lists = format!("a = {}{}\n", "[".repeat(many), "]".repeat(many));
        let blocks = format!("{}{}b {{}}\n", "a {\n".repeat(many), "}\n".repeat(many));
        let templates = format!("a = {}x{}\n", "\"${".repeat(many), "}\"".repeat(many));

        assert_eq!(sound(&lists), "a");
        assert!(sound(&blocks).ends_with(",b()"));
        assert_eq!(sound(&templates), "a");
        assert!(read(&"a {\n".repeat(many)).fault.is_some());
        assert!(read(&"\"${".repeat(many)).fault.is_some());
    }

    #[test]
    fn a_place_is_told_by_line_and_column() {
        assert_eq!(line_and_column("a\nbé x", 6), (2, 4));
        assert_eq!(line_and_column("", 0), (1, 1));
    }
}
