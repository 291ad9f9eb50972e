//! What a stack's own files tell tofu about encryption: `terraform { encryption { … } }`.

use std::path::{Path, PathBuf};

use hcl_edit::structure::{Block, Body};

/// What is looked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Subject {
    /// Any such block.
    Anything,
    /// One that says how plans are encrypted.
    Plans,
}

/// Returns whether the files of a stack tell tofu how to encrypt.
pub(super) fn declares(dir: &Path, subject: Subject) -> bool {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_ours = |path: &PathBuf| {
        let name = path.to_string_lossy().into_owned();
        [".tf", ".tofu", ".tf.json", ".tofu.json"].iter().any(|end| name.ends_with(end))
    };
    let says = |path: PathBuf| std::fs::read_to_string(path).is_ok_and(|text| is_said_in(&text, subject));
    files.filter(is_ours).any(says)
}

/// Returns whether a file says it; one that is no HCL is taken at its word.
fn is_said_in(text: &str, subject: Subject) -> bool {
    // Parsing is slow, and most files say nothing about it.
    if !text.contains("encryption") {
        return false;
    }
    let Ok(body) = text.parse::<Body>() else {
        let names = |name: &str| text.contains(&format!("\"{name}\""));
        return names("encryption") && (subject == Subject::Anything || names("plan"));
    };
    let terraform = blocks(&body, "terraform");
    let mut encryption = terraform.flat_map(|block| blocks(&block.body, "encryption"));
    match subject {
        Subject::Anything => encryption.next().is_some(),
        Subject::Plans => encryption.any(|block| blocks(&block.body, "plan").next().is_some()),
    }
}

fn blocks<'a>(body: &'a Body, name: &'a str) -> impl Iterator<Item = &'a Block> {
    body.iter().filter_map(|part| part.as_block()).filter(move |block| block.ident.as_str() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_block_of_tofu_says_that_something_is_encrypted() {
        let block = "terraform {\n  encryption {\n    state {\n    }\n  }\n}\n";
        let other = "# encryption\nresource \"a\" \"b\" {\n  encryption {\n  }\n}\n";

        assert!(is_said_in(block, Subject::Anything));
        assert!(!is_said_in(other, Subject::Anything));
        assert!(is_said_in(r#"{"terraform":{"encryption":{}}}"#, Subject::Anything));
        assert!(!is_said_in(r#"{"terraform":{}}"#, Subject::Anything));
    }

    #[test]
    fn a_block_about_states_says_nothing_about_plans() {
        let state = "terraform {\n  encryption {\n    state {\n    }\n  }\n}\n";

        assert!(!is_said_in(state, Subject::Plans));
        assert!(is_said_in(&state.replace("state", "plan"), Subject::Plans));
        assert!(is_said_in(r#"{"terraform":{"encryption":{"plan":{}}}}"#, Subject::Plans));
        assert!(!is_said_in(r#"{"terraform":{"encryption":{"state":{}}}}"#, Subject::Plans));
    }
}
