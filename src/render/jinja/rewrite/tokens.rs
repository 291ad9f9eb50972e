//! The words of a tag: names, numbers, texts and signs, each with the white space before it.

use super::{MAX_WORDS, TooLong};

/// What sort of word it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    Name,
    Number,
    Text,
    Sign,
}

/// One word.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub kind: Kind,
    /// The white space before it.
    pub space: &'a str,
    pub text: &'a str,
}

/// The words of one tag, and the white space after the last.
#[derive(Debug)]
pub struct Tokens<'a> {
    pub list: Vec<Token<'a>>,
    pub tail: &'a str,
}

const SIGNS: &[&str] = &[
    "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<", ">", "=", ".", ",", ":", "|", "(",
    ")", "[", "]", "{", "}", ";",
];

impl<'a> Tokens<'a> {
    /// Reads words up to an end mark outside of brackets, or to the end of the text where the mark
    /// is empty; returns what follows the mark. `None` where the tag does not end or is no Jinja.
    pub fn until(source: &'a str, end: &str) -> Result<Option<(Self, &'a str)>, TooLong> {
        let mut list: Vec<Token<'a>> = Vec::new();
        let mut depth = 0_usize;
        let mut rest = source;
        loop {
            let trimmed = rest.trim_start();
            let (space, _) = rest.split_at(rest.len() - trimmed.len());
            if depth == 0 && ends_here(trimmed, end) {
                return Ok(Some((Self { list, tail: space }, trimmed)));
            }
            if list.len() >= MAX_WORDS {
                return Err(TooLong);
            }
            let after_dot = list.last().is_some_and(|last| last.text == ".");
            let Some((kind, len)) = word(trimmed, after_dot) else { return Ok(None) };
            let (text, left) = trimmed.split_at(len);
            match text {
                "(" | "[" | "{" if kind == Kind::Sign => depth += 1,
                ")" | "]" | "}" if kind == Kind::Sign && depth == 0 => return Ok(None),
                ")" | "]" | "}" if kind == Kind::Sign => depth -= 1,
                _ => {}
            }
            list.push(Token { kind, space, text });
            rest = left;
        }
    }
}

impl Tokens<'_> {
    /// Returns the names that are read: what follows a dot, a bar or `is` is none, nor is what is
    /// called or assigned to.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let before = std::iter::once("").chain(self.list.iter().map(|token| token.text));
        let after = self.list.iter().skip(1).map(|token| token.text).chain([""]);
        let around = self.list.iter().zip(before).zip(after);
        around
            .filter(|((token, before), after)| {
                let part = [".", "|", "is"].contains(before) || ["(", "="].contains(after);
                token.kind == Kind::Name && !part
            })
            .map(|((token, _), _)| token.text)
    }
}

fn ends_here(text: &str, end: &str) -> bool {
    if end.is_empty() {
        return text.is_empty();
    }
    text.starts_with(end) || text.strip_prefix(['-', '+']).is_some_and(|rest| rest.starts_with(end))
}

fn word(text: &str, after_dot: bool) -> Option<(Kind, usize)> {
    let first = text.chars().next()?;
    if first == '\'' || first == '"' {
        return quoted(text, first).map(|len| (Kind::Text, len));
    }
    if first.is_ascii_digit() {
        return Some((Kind::Number, if after_dot { digits(text) } else { number(text) }));
    }
    if first == '_' || first.is_alphabetic() {
        let name = text.chars().take_while(|char| *char == '_' || char.is_alphanumeric());
        return Some((Kind::Name, name.map(char::len_utf8).sum()));
    }
    let sign = SIGNS.iter().find(|sign| text.starts_with(**sign))?;
    Some((Kind::Sign, sign.len()))
}

fn quoted(text: &str, mark: char) -> Option<usize> {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if char == mark => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'_').count()
}

fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    if matches!(bytes.get(1), Some(b'x' | b'X' | b'o' | b'O' | b'b' | b'B')) {
        return 2 + bytes[2..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count();
    }
    let mut len = digits(text);
    let fraction = bytes.get(len) == Some(&b'.') && bytes.get(len + 1).is_some_and(u8::is_ascii_digit);
    if fraction {
        len += 1 + digits(&text[len + 1..]);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let exponent = digits(&text[len + 1 + sign..]);
        len += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    len
}
