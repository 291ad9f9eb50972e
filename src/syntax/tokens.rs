//! Splits a text into the signs and words that blocks are made of. A quoted text or a heredoc
//! with all that is filled into it is one token. Follows OpenTofu's own scanner.

use std::ops::Range;

use super::scan::{comment_end, end_while, is_in_name, is_name_start, line_end};
use super::templates::{Opening, heredoc_opening, template_end};

/// What a token is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// A name or keyword.
    Name,
    Number,
    /// A text in quotes.
    Quoted,
    Heredoc,
    Newline,
    /// A sign of one letter.
    Sign(u8),
    /// A sign of two letters that ends in `=`, or `=>`.
    Operator,
    /// What no file may hold, and why.
    Wrong(&'static str),
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

impl Token {
    pub const fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Returns the tokens of a part of a text; spaces and comments are none.
pub(super) fn tokens(text: &str, part: Range<usize>) -> Vec<Token> {
    let bytes = &text.as_bytes()[..part.end.min(text.len())];
    let mut found = Vec::new();
    let mut at = part.start;
    while let Some(&byte) = bytes.get(at) {
        let (kind, end) = match byte {
            b' ' | b'\t' => {
                at += 1;
                continue;
            }
            b'#' => {
                at = line_end(bytes, at);
                continue;
            }
            b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => match comment_end(bytes, at) {
                Some(end) => {
                    at = end;
                    continue;
                }
                None => (Kind::Wrong("a comment is never closed"), bytes.len()),
            },
            _ => token(bytes, at, byte),
        };
        found.push(Token { kind, start: at, end });
        at = end;
    }
    found
}

/// Returns what begins at a place, and where it ends.
fn token(bytes: &[u8], at: usize, byte: u8) -> (Kind, usize) {
    match byte {
        b'\n' => (Kind::Newline, at + 1),
        b'\r' if bytes.get(at + 1) == Some(&b'\n') => (Kind::Newline, at + 2),
        b'"' => match template_end(bytes, at + 1, Opening::Quote) {
            Ok(end) => (Kind::Quoted, end),
            Err(end) => (Kind::Wrong("a text in quotes is never closed"), end),
        },
        b'<' if heredoc_opening(bytes, at).is_some() => heredoc(bytes, at),
        b'=' | b'<' | b'>' | b'!' if bytes.get(at + 1) == Some(&b'=') => (Kind::Operator, at + 2),
        b'=' if bytes.get(at + 1) == Some(&b'>') => (Kind::Operator, at + 2),
        b'0'..=b'9' => (Kind::Number, number_end(bytes, at)),
        _ if is_name_start(byte) => (Kind::Name, end_while(bytes, at, is_in_name)),
        b'`' | b'\'' | b';' | b'\r' | 0..=31 => (Kind::Wrong("a letter that has no meaning"), at + 1),
        _ => (Kind::Sign(byte), at + 1),
    }
}

fn heredoc(bytes: &[u8], at: usize) -> (Kind, usize) {
    let end = heredoc_opening(bytes, at)
        .map_or(Err(bytes.len()), |(marker, body)| template_end(bytes, body, Opening::Heredoc(marker)));
    match end {
        Ok(end) => (Kind::Heredoc, end),
        Err(end) => (Kind::Wrong("a heredoc is never closed"), end),
    }
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let digit_at = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'0'..=b'9' => 1,
            b'.' if digit_at(at + 1) => 1,
            b'e' | b'E' if digit_at(at + 1) => 1,
            b'e' | b'E' if matches!(bytes.get(at + 1), Some(b'+' | b'-')) && digit_at(at + 2) => 2,
            _ => break,
        };
    }
    at
}
