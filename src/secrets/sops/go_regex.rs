//! Go's regular expressions, compiled by ours: the same syntax but for a few habits.
//!
//! In Go `\d`, `\s`, `\w` and `\b` know only ASCII, `[` and `&&` inside a class are plain
//! characters, and `\Q…\E` quotes. Matching is unanchored in both.

use std::iter::Peekable;
use std::str::Chars;

use regex::Regex;

use super::refusal::refused;
use crate::error::Result;

/// Compiles a Go expression; `name` is the setting it came from.
pub(super) fn compile(name: &str, expression: &str) -> Result<Regex> {
    Regex::new(&translate(expression)).map_err(|error| {
        refused(format!("`{name}` is no valid regular expression: `{expression}`")).because(error)
    })
}

fn translate(expression: &str) -> String {
    let mut rest = expression.chars().peekable();
    let mut out = String::new();
    while let Some(char) = rest.next() {
        match char {
            '\\' => escape(&mut rest, &mut out),
            '[' => class(&mut rest, &mut out),
            char => out.push(char),
        }
    }
    out
}

/// Translates what follows a backslash outside of a class.
fn escape(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    match rest.next() {
        Some('Q') => quoted(rest, out),
        Some('b') => out.push_str(r"(?-u:\b)"),
        Some(char) => match ascii_class(char) {
            Some(class) => out.push_str(class),
            None => out.extend(['\\', char]),
        },
        None => out.push('\\'),
    }
}

/// Copies what stands between `\Q` and `\E` as plain characters.
fn quoted(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    let text: String = rest.clone().collect();
    let plain = text.split_once(r"\E").map_or(text.as_str(), |(plain, _)| plain);
    out.push_str(&regex::escape(plain));
    let consumed = plain.chars().count() + if plain.len() < text.len() { 2 } else { 0 };
    rest.by_ref().take(consumed).for_each(drop);
}

/// Translates a class after its opening bracket.
fn class(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    out.extend(rest.next_if_eq(&'^'));
    // A bracket that comes first is a member.
    if rest.next_if_eq(&']').is_some() {
        out.push_str(r"\]");
    }
    while let Some(char) = rest.next() {
        match char {
            ']' => return out.push(']'),
            '[' if rest.peek() == Some(&':') => posix(rest, out),
            '[' => out.push_str(r"\["),
            '&' | '~' => out.extend(['\\', char]),
            '\\' => member_escape(rest, out),
            char => out.push(char),
        }
    }
}

/// Copies a class such as `[:alpha:]` as it is.
fn posix(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    for char in rest.by_ref() {
        out.push(char);
        if char == ']' {
            return;
        }
    }
}

fn member_escape(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    match rest.next() {
        Some(char) => match ascii_class(char) {
            Some(class) => out.push_str(class),
            None => out.extend(['\\', char]),
        },
        None => out.push('\\'),
    }
}

/// Returns the ASCII class of a letter such as the `d` of `\d`; a class may stand in a class.
fn ascii_class(letter: char) -> Option<&'static str> {
    Some(match letter {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        's' => r"[\t\n\x0C\r ]",
        'S' => r"[^\t\n\x0C\r ]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(expression: &str, text: &str) -> bool {
        compile("path_regex", expression).unwrap().is_match(text)
    }

    #[test]
    fn expressions_match_anywhere_in_the_text() {
        assert!(matches("pass", "db_password"));
        assert!(matches(r"^(data|stringData)$", "data"));
        assert!(!matches(r"^(data|stringData)$", "metadata"));
        assert!(matches(r"secrets/.*\.ya?ml$", "secrets/a/b.yaml"));
    }

    #[test]
    fn letters_beyond_ascii_are_no_word_characters_as_in_go() {
        assert!(!matches(r"^\w+$", "größe"));
        assert!(matches(r"^[\w.-]+$", "a.b-c_1"));
        assert!(!matches(r"^\d$", "٣"));
        assert!(matches(r"^[^\d]+$", "abc"));
        assert!(matches(r"\bkey\b", "a key b"));
    }

    #[test]
    fn a_class_has_no_set_operations_as_in_go() {
        assert!(matches(r"^[a&&b]+$", "a&b"));
        assert!(matches(r"^[[a]+$", "[a["));
        assert!(matches(r"^[]a]+$", "]a"));
        assert!(matches(r"^[[:alpha:]]+$", "abc"));
    }

    #[test]
    fn quoted_text_is_taken_as_it_stands() {
        assert!(matches(r"^\Qa.b\E+$", "a.bb"));
        assert!(!matches(r"\Qa.b", "axb"));
    }

    #[test]
    fn a_broken_expression_is_refused_by_name() {
        let error = compile("encrypted_regex", "(").unwrap_err();

        assert!(error.message().contains("`encrypted_regex`"), "{error}");
        for odd in ["\\", "[", "[\\", "[[:", "\\Q", "(?P<", "a{1000}{1000}{1000}"] {
            let _ = compile("path_regex", odd);
        }
    }
}
