//! What a stack's own files tell tofu about encryption: `terraform { encryption { … } }`.

use std::path::Path;

use crate::syntax;
use crate::syntax::{Block, JsonNode, read_json};

/// What is looked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SearchedPart {
    /// Any such block.
    Anything,
    /// One that says how plans are encrypted.
    Plans,
    /// One that says how states are encrypted.
    States,
}

impl SearchedPart {
    /// Returns the block that it stands in; `None` where any counts.
    const fn block(self) -> Option<&'static str> {
        match self {
            Self::Anything => None,
            Self::Plans => Some("plan"),
            Self::States => Some("state"),
        }
    }
}

/// Returns whether the files of a stack tell tofu how to encrypt.
pub fn declares(dir: &Path, subject: SearchedPart) -> bool {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    files.into_iter().any(|path| {
        let name = path.to_string_lossy();
        let is_json = [".tf.json", ".tofu.json"].iter().any(|end| name.ends_with(end));
        let is_ours = is_json || [".tf", ".tofu"].iter().any(|end| name.ends_with(end));
        // A pipe would never end.
        let bytes = (is_ours && path.is_file()).then(|| std::fs::read(&path).unwrap_or_default());
        bytes.is_some_and(|bytes| is_said_in(&syntax::decoded(&bytes), is_json, subject))
    })
}

/// Returns whether a file says it; one that makes no sense is taken at its word.
fn is_said_in(text: &str, is_json: bool, subject: SearchedPart) -> bool {
    let (says, is_sound) = if is_json { said_in_json(text, subject) } else { said_in_hcl(text, subject) };
    let has_words = || text.contains("encryption") && subject.block().is_none_or(|word| text.contains(word));
    says || (!is_sound && has_words())
}

/// Returns whether a file says it, and whether all of it could be read.
fn said_in_hcl(text: &str, subject: SearchedPart) -> (bool, bool) {
    // Reading is slow, and most files say nothing about it.
    if !text.contains("encryption") {
        return (false, true);
    }
    let document = syntax::read(text);
    let terraform = document.body.blocks_of("terraform");
    let mut encryption = terraform.flat_map(|block| block.body.blocks_of("encryption"));
    let has = |block: &Block<'_>, kind| block.body.blocks_of(kind).next().is_some();
    let says = encryption.any(|block| subject.block().is_none_or(|kind| has(block, kind)));
    (says, document.fault.is_none())
}

fn said_in_json(text: &str, subject: SearchedPart) -> (bool, bool) {
    let (node, fault) = read_json(text);
    let terraform = node.all("terraform").into_iter();
    let mut encryption = terraform.flat_map(|block| block.all("encryption"));
    let has = |block: &JsonNode, kind| !block.all(kind).is_empty();
    (encryption.any(|block| subject.block().is_none_or(|kind| has(block, kind))), fault.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_block_of_tofu_says_that_something_is_encrypted() {
        let block = "terraform {\n  encryption {\n    state {\n    }\n  }\n}\n";
        let other = "# encryption\nresource \"a\" \"b\" {\n  encryption {\n  }\n}\n";

        assert!(is_said_in(block, false, SearchedPart::Anything));
        assert!(!is_said_in(other, false, SearchedPart::Anything));
        assert!(is_said_in(r#"{"terraform":{"encryption":{}}}"#, true, SearchedPart::Anything));
        assert!(!is_said_in(r#"{"terraform":{}}"#, true, SearchedPart::Anything));
    }

    #[test]
    fn a_block_about_states_says_nothing_about_plans() {
        let state = "terraform {\n  encryption {\n    state {\n    }\n  }\n}\n";

        assert!(!is_said_in(state, false, SearchedPart::Plans));
        assert!(is_said_in(&state.replace("state", "plan"), false, SearchedPart::Plans));
        assert!(is_said_in(r#"{"terraform":{"encryption":{"plan":{}}}}"#, true, SearchedPart::Plans));
        assert!(!is_said_in(r#"{"terraform":{"encryption":{"state":{}}}}"#, true, SearchedPart::Plans));
        assert!(is_said_in(state, false, SearchedPart::States));
        assert!(!is_said_in(&state.replace("state", "plan"), false, SearchedPart::States));
    }

    #[test]
    fn what_tofu_accepts_says_it_too() {
        let block =
            "locals {\n  a = { k = 1, k = 2 }\n}\nterraform {\n  encryption {\n    plan {\n    }\n  }\n}\n";
        let listed = r#"{"terraform":[{},{"encryption":[{"plan":{}}]}], "terraform": {}}"#;

        assert!(is_said_in(block, false, SearchedPart::Plans));
        assert!(is_said_in(listed, true, SearchedPart::Plans));
        assert!(is_said_in(&format!("{block}}}"), false, SearchedPart::Plans), "what makes no sense counts");
        assert!(is_said_in(r#"{"terraform":{"encr\u0079ption":{}}}"#, true, SearchedPart::Anything));
    }

    #[test]
    fn a_file_that_is_no_utf_8_or_has_a_mark_is_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |bytes: &[u8]| std::fs::write(dir.path().join("a.tf"), bytes).expect("a file");

        write(b"\xef\xbb\xbfterraform {\n  encryption {\n  }\n}\n");
        assert!(declares(dir.path(), SearchedPart::Anything));
        write(b"# caf\xe9\nterraform {\n  encryption {\n  }\n}\n");
        assert!(declares(dir.path(), SearchedPart::Anything));
    }
}
