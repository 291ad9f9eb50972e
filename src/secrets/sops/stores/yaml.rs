//! The YAML store: text ↔ documents, as sops does it with Go's yaml.v3.
//!
//! Reading goes text → [`token`] → [`placing`] of comments → [`parser`] → [`to_tree`]; writing
//! goes tree → [`emit`] onto a [`page`]. yaml.v3's odd decisions are kept where they show.

mod emit;
mod flow;
mod node;
mod page;
mod parser;
mod placing;
mod resolve;
mod style;
mod timestamp;
mod to_tree;
mod token;

use crate::error::{Error, Result};
use crate::secrets::sops::tree::Document;

/// What a text is for: an encrypted file means what sops wrote, plaintext what sops reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Plain,
    Encrypted,
}

/// Reads the documents of a text.
pub(super) fn load(bytes: &[u8], purpose: Purpose) -> Result<Vec<Document>> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Error::invalid("the text is not UTF-8").at(format!("byte {}", error.valid_up_to()))
    })?;
    let roots = parser::parse(text, purpose)?;
    if roots.is_empty() && !text.trim().is_empty() {
        return Err(Error::invalid("the text has comments but no document"));
    }
    roots.into_iter().map(to_tree::document).collect()
}

/// Writes documents, nested maps by `indent` columns.
pub(super) fn write(documents: &[Document], indent: usize, purpose: Purpose) -> Vec<u8> {
    emit::emit(documents, indent, purpose).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::sops::tree::{Item, Value, find};

    fn again(text: &str) -> String {
        String::from_utf8(write(&load(text.as_bytes(), Purpose::Plain).unwrap(), 4, Purpose::Encrypted))
            .unwrap()
    }

    fn refusal(text: &str) -> String {
        load(text.as_bytes(), Purpose::Plain).unwrap_err().to_string()
    }

    #[test]
    fn comments_stay_with_what_they_speak_of() {
        let text = "# top\na: 1 # beside\n# before b\nb:\n    # in b\n    - x # beside x\n    # last in b\nc: {} # empty\n# end\n";

        let written = again(text);

        assert_eq!(
            written,
            "# top\na: 1 # beside\n# before b\nb:\n    # in b\n    - x # beside x\n    # last in b\nc: {\n    # empty\n}\n# end\n"
        );
    }

    #[test]
    fn the_comment_of_an_empty_map_is_kept_in_encrypted_files_only() {
        let text = "a: {\n    # inside\n}\n";
        let documents = load(text.as_bytes(), Purpose::Plain).unwrap();

        assert_eq!(write(&documents, 4, Purpose::Encrypted), text.as_bytes());
        assert_eq!(write(&documents, 4, Purpose::Plain), b"a: {}\n");
    }

    #[test]
    fn a_comment_behind_a_deeper_block_moves_into_it_in_plaintext_only() {
        let text = "a:\n    b:\n        c: 1\n    # of a\nd: 2\n";

        let plain = load(text.as_bytes(), Purpose::Plain).unwrap();
        let encrypted = load(text.as_bytes(), Purpose::Encrypted).unwrap();

        let moved = "a:\n    b:\n        c: 1\n        # of a\nd: 2\n";
        assert_eq!(write(&plain, 4, Purpose::Plain), moved.as_bytes());
        assert_eq!(write(&encrypted, 4, Purpose::Encrypted), text.as_bytes());
    }

    #[test]
    fn an_encrypted_file_keeps_the_comments_of_lists() {
        let text =
            "a: [\n    #one\n]\nb:\n    #two\n    #three\n    - c: 1\n    #four\n    - d\n    #five\ne: 1\n";

        let documents = load(text.as_bytes(), Purpose::Encrypted).unwrap();

        assert_eq!(String::from_utf8(write(&documents, 4, Purpose::Encrypted)).unwrap(), text);
    }

    #[test]
    fn everything_is_written_in_blocks_four_columns_deep() {
        let text = "a: {b: [1, {c: x, d: []}], e: 'q'}\n";

        assert_eq!(again(text), "a:\n    b:\n        - 1\n        - c: x\n          d: []\n    e: q\n");
    }

    #[test]
    fn another_indent_is_kept_within_what_yaml_allows() {
        let documents = load(b"a: {b: 1}\n", Purpose::Plain).unwrap();

        assert_eq!(write(&documents, 2, Purpose::Plain), b"a:\n  b: 1\n");
        assert_eq!(write(&documents, 1, Purpose::Plain), b"a:\n  b: 1\n");
        assert_eq!(write(&documents, 12, Purpose::Plain), b"a:\n  b: 1\n");
    }

    #[test]
    fn aliases_are_written_out_and_merge_keys_stay() {
        let text = "a: &x {k: v}\nb:\n  <<: *x\n";

        assert_eq!(again(text), "a:\n    k: v\nb:\n    !!merge <<:\n        k: v\n");
    }

    #[test]
    fn block_scalars_keep_their_lines_and_their_end() {
        let text = "clip: |\n    x\nstrip: |-\n    x\n      y\nkeep: |+\n    x\n\nlead: |4-\n     x\n    y\n";

        assert_eq!(again(text), text);
    }

    #[test]
    fn carriage_returns_and_a_byte_order_mark_are_no_content() {
        let documents = load("\u{feff}a: 1\r\nb: |\r\n  x\r\n".as_bytes(), Purpose::Plain).unwrap();

        assert_eq!(
            documents,
            [vec![Item::Pair("a".into(), Value::Int(1)), Item::Pair("b".into(), Value::text("x\n"))]]
        );
    }

    #[test]
    fn several_documents_stay_apart() {
        assert_eq!(again("a: 1\n---\n# two\nb: 2\n---\n"), "a: 1\n---\n# two\nb: 2\n---\n{}\n");
        assert_eq!(load(b"", Purpose::Plain).unwrap(), Vec::<Document>::new());
    }

    #[test]
    fn bytes_that_are_no_text_are_written_as_base_64() {
        let documents = load(b"a: !!binary gIGC\n", Purpose::Plain).unwrap();

        assert_eq!(find(&documents[0], "a"), Some(&Value::Text(vec![0x80, 0x81, 0x82].into())));
        assert_eq!(write(&documents, 4, Purpose::Plain), b"a: !!binary gIGC\n");
    }

    #[test]
    fn a_refusal_names_the_place_and_never_the_value() {
        let cases = [
            ("a: hunter2\na: hunter2\n", "`a` is there twice", "line 2, column 1"),
            ("a: \"hunter2\n", "not valid YAML", "line "),
            ("a: [hunter2, 1\n", "not valid YAML", "line "),
            ("a: 1\n b: hunter2\n", "not valid YAML", "line 2"),
            ("- hunter2\n", "not a map", "line 1, column 1"),
            ("hunter2\n", "not a map", "line 1, column 1"),
            ("1: hunter2\n", "not a text", "line 1, column 1"),
            ("a: !!int hunter2\n", "fit its tag", "line 1, column 4"),
            ("a: 9223372036854775808\n", "too large", "line 1, column 4"),
            ("a: *hunter2\n", "anchor", "line 1"),
            ("a: &x\n  b: *x\n", "anchor", "line 2, column 6"),
            ("<<: hunter2\n", "`<<`", "line 1, column 1"),
        ];
        for (text, reason, place) in cases {
            let error = refusal(text);

            assert!(error.contains(reason) && error.contains(place), "{text}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn comments_without_a_document_are_refused_rather_than_lost() {
        assert!(refusal("# only\n").contains("no document"));
    }

    #[test]
    fn nesting_is_refused_before_the_stack_ends() {
        let flow = format!("a: {}{}\n", "[".repeat(50_000), "]".repeat(50_000));
        let block: String = (0..5_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        let mixed = format!("a: {}1{}\n", "[{a: ".repeat(100), "}]".repeat(100));

        for text in [flow, block, mixed] {
            assert!(refusal(&text).contains("nested deeper"));
        }
    }

    #[test]
    fn aliases_that_grow_without_measure_are_refused() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for at in 1..9 {
            let inner = vec![format!("*a{}", at - 1); 10].join(", ");
            text += &format!("a{at}: &a{at} [{inner}]\n");
        }

        assert!(refusal(&text).contains("too many values"));
    }
}
