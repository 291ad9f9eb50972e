//! Whether a file of a stack names a program that encrypts its state.

use crate::syntax;

/// Returns whether the `encryption` of a file runs a program; one that only looks like it counts
/// where the file cannot be read whole, for tofu may read what this reader does not.
pub fn names_key_program(text: &str, is_json: bool) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    if is_json {
        // Letters can be written as numbers there; only a whole reading knows them all.
        return serde_json::from_str::<serde_json::Value>(text)
            .map_or_else(|_| looks_like_it(text), |document| looks_like_it(&document.to_string()));
    }
    if !text.contains("encryption") {
        return false;
    }
    let document = syntax::read(text);
    if document.fault.is_some() {
        return looks_like_it(text);
    }
    let settings = document.body.blocks_of("terraform").flat_map(|block| block.body.blocks_of("encryption"));
    settings.filter_map(|block| text.get(block.span.clone())).any(runs_a_program)
}

/// Both the key and the method of an encryption can be a program; a label may hide its letters.
fn runs_a_program(encryption: &str) -> bool {
    encryption.contains("external") || encryption.contains('\\')
}

fn looks_like_it(text: &str) -> bool {
    text.contains("encryption") && text.contains("external") && text.contains("command")
}

#[cfg(test)]
mod tests {
    use super::names_key_program;

    #[test]
    fn only_an_encryption_names_a_program_that_tofu_runs() {
        let block = |inner: &str| format!("terraform {{\n  encryption {{\n    {inner}\n  }}\n}}\n");
        let program = "key_provider \"external\" \"k\" {\n command = [\"sh\"]\n }";

        assert!(names_key_program(&block(program), false));
        assert!(names_key_program(&block("method \"ext\\u0065rnal\" \"m\" {\n }"), false));
        assert!(names_key_program(&format!("\u{feff}{}", block(program)), false));
        assert!(!names_key_program(&block("key_provider \"pbkdf2\" \"k\" {\n }"), false));
        let words = "# encryption at rest\nresource \"lb\" \"external\" {\n  command = [\"run\"]\n}\n";
        assert!(!names_key_program(words, false));
        assert!(names_key_program(&format!("{words}resource {{ ="), false), "tofu judges what is not read");
    }

    #[test]
    fn letters_written_as_numbers_are_read_in_json() {
        let text =
            r#"{"terraform":{"encryption":{"key_provider":{"ext\u0065rnal":{"k":{"command":["sh"]}}}}}}"#;

        assert!(names_key_program(text, true));
        assert!(!names_key_program(r#"{"resource":{"lb":{"external":{}}}}"#, true));
    }
}
