//! The hidden mark at the very beginning of what infra writes, by which it is found again.
//!
//! It names the project, so that two projects of one repository keep one each. A reply that quotes
//! it begins with something else.

/// Returns the mark of a comment with the plans of a project.
pub fn of_comment(project: &str) -> String {
    mark("comment", project)
}

/// Returns the mark of the issue about the drift of a project.
pub fn of_drift(project: &str) -> String {
    mark("drift", project)
}

/// Returns the mark of the last word about a drift that a run found gone.
pub fn of_last_word(project: &str, run: &str) -> String {
    format!("<!-- infra:clean project=\"{}\" run=\"{}\" -->", encoded(project), encoded(run))
}

fn mark(what: &str, project: &str) -> String {
    format!("<!-- infra:{what} project=\"{}\" -->", encoded(project))
}

/// Returns a text that ends no comment of HTML; different ones stay different.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'-' if encoded.ends_with('-') => encoded.push_str("%2D"),
            b'-' | b'_' | b'.' | b'/' | b' ' => encoded.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => encoded.push(char::from(byte)),
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_breaks_out_of_the_mark() {
        for name in ["--> <b>", "a\"", "a--!>", "ü\n", "--->"] {
            let mark = of_comment(name);

            assert_eq!(mark.matches("-->").count(), 1, "{mark}");
            assert_eq!(mark.matches("--").count(), 2, "{mark}");
            assert_eq!(mark.matches('"').count(), 2, "{mark}");
        }
        assert_ne!(of_comment("a"), of_drift("a"));
        assert!(!of_comment("lab-two").starts_with(&of_comment("lab")));
    }
}
