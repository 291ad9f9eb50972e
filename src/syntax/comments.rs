//! The comments of a file that end with their line. Begin at [`line_comments`].

use super::scan::{comment_end, line_end};
use super::tokens::tokens;

/// A comment that ends with its line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Comment<'a> {
    /// Where its sign stands.
    pub at: usize,
    /// What stands behind the sign.
    pub text: &'a str,
    /// Whether nothing else stands on its line.
    pub is_alone: bool,
}

/// Returns the comments that begin with `#` or `//`; what looks like one inside of a text is none.
pub fn line_comments(text: &str) -> Vec<Comment<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    // All that is no token is a space or a comment.
    for token in tokens(text, 0..text.len()) {
        between(text, at..token.start, &mut found);
        at = token.end;
    }
    between(text, at..text.len(), &mut found);
    found
}

fn between<'a>(text: &'a str, gap: std::ops::Range<usize>, found: &mut Vec<Comment<'a>>) {
    let bytes = text.as_bytes().get(..gap.end).unwrap_or_default();
    let mut at = gap.start;
    while let Some(byte) = bytes.get(at) {
        let sign = match (byte, bytes.get(at + 1)) {
            (b'#', _) => 1,
            (b'/', Some(b'/')) => 2,
            (b'/', Some(b'*')) => {
                at = comment_end(bytes, at).unwrap_or(bytes.len());
                continue;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        let end = line_end(bytes, at);
        let line = text.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
        let words = text.get(at + sign..end).unwrap_or_default().trim_end_matches('\r');
        found.push(Comment { at, text: words, is_alone: line.trim().is_empty() });
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_text_is_a_comment() {
        let text = "# one\na = \"# no ${x /* # no */} // no\" // two\r\nb = <<E\n# no\nE\n/* # no\n*/ # three\nc {} #";

        let found = line_comments(text);

        let words: Vec<_> = found.iter().map(|comment| (comment.text, comment.is_alone)).collect();
        assert_eq!(words, [(" one", true), (" two", false), (" three", false), ("", false)]);
        assert!(found.iter().all(|comment| text[comment.at..].starts_with(['#', '/'])));
    }
}
