//! Text on its way to a terminal: everything that could move the cursor, clear the screen or
//! turn the direction of text is shown as its number instead.
//!
//! What is let through are line ends, tabs and this program's own colours. The number stands
//! in the form of JSON, so that a document that happens to hold such a character stays the same.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::model::turns_text;

/// Returns a text without anything that a terminal would obey, but for these colours.
pub fn escaped_for_terminal<'a>(text: &'a str, own_colors: &[&str]) -> Cow<'a, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let own = own_colors.iter().find(|color| rest.starts_with(**color));
        let taken = own.map_or(character.len_utf8(), |color| color.len());
        if own.is_some() || !is_obeyed(character) || rest.starts_with("\r\n") {
            out.push_str(&rest[..taken]);
        } else {
            let _ = write!(out, "\\u{:04x}", u32::from(character));
        }
        rest = &rest[taken..];
    }
    Cow::Owned(out)
}

fn is_obeyed(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t')) || turns_text(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_as_a_number() {
        let evil = "\u{1b}[31mEVIL\u{1b}[2J\u{202e}x\u{9b}\r";

        assert_eq!(escaped_for_terminal(evil, &[]), "\\u001b[31mEVIL\\u001b[2J\\u202ex\\u009b\\u000d");
        assert_eq!(escaped_for_terminal("größe\ttab\r\nline", &[]), "größe\ttab\r\nline");
    }

    #[test]
    fn the_programs_own_colours_stay() {
        let text = "\u{1b}[32mgood\u{1b}[0m \u{1b}]0;title\u{7}";

        assert_eq!(
            escaped_for_terminal(text, &["\u{1b}[32m", "\u{1b}[0m"]),
            "\u{1b}[32mgood\u{1b}[0m \\u001b]0;title\\u0007"
        );
    }
}
