//! Where a text in quotes or a heredoc ends, whatever is filled into it. Texts nest without
//! limit, so the way down is kept in a list and not in the call stack. Begin at [`template_end`].

use std::ops::Range;

use super::scan::{comment_end, end_while, is_in_name, is_name_start, line_end};

/// How a template begins.
#[derive(Clone, Debug)]
pub(super) enum Opening {
    Quote,
    /// Where the word stands that ends it.
    Heredoc(Range<usize>),
}

/// What is open at some place of a template.
enum Level {
    Quote,
    Heredoc {
        marker: Range<usize>,
        at_line_start: bool,
    },
    /// Code that is filled in, with as many braces open.
    Code(usize),
}

impl From<Opening> for Level {
    fn from(opening: Opening) -> Self {
        match opening {
            Opening::Quote => Self::Quote,
            Opening::Heredoc(marker) => Self::Heredoc { marker, at_line_start: true },
        }
    }
}

/// Returns where a template ends whose content begins at a place.
///
/// One that is never closed is an error with the place up to which it was looked at.
pub(super) fn template_end(bytes: &[u8], start: usize, opening: Opening) -> Result<usize, usize> {
    let mut levels = vec![Level::from(opening)];
    let mut at = start;
    while let Some(level) = levels.last_mut() {
        let Some(&byte) = bytes.get(at) else { return Err(bytes.len()) };
        let step = match level {
            Level::Quote if byte == b'\n' => return Err(at),
            Level::Quote => in_quotes(bytes, at, byte),
            Level::Heredoc { marker, at_line_start } => in_heredoc(bytes, at, byte, marker, at_line_start),
            Level::Code(braces) => in_code(bytes, at, byte, braces).ok_or(bytes.len())?,
        };
        at = step.to;
        match step.then {
            Then::GoOn => {}
            Then::Close => drop(levels.pop()),
            Then::Open(level) => levels.push(level),
        }
    }
    Ok(at)
}

/// Where to go on, and with what.
struct Step {
    to: usize,
    then: Then,
}

enum Then {
    GoOn,
    Open(Level),
    Close,
}

impl Step {
    const fn to(to: usize) -> Self {
        Self { to, then: Then::GoOn }
    }

    const fn close(to: usize) -> Self {
        Self { to, then: Then::Close }
    }

    const fn open(to: usize, level: Level) -> Self {
        Self { to, then: Then::Open(level) }
    }
}

fn in_quotes(bytes: &[u8], at: usize, byte: u8) -> Step {
    match byte {
        b'"' => Step::close(at + 1),
        b'\\' if bytes.get(at + 1).is_some_and(|next| *next != b'\n') => Step::to(at + 2),
        _ => in_text(bytes, at, byte),
    }
}

/// `${` and `%{` begin code; doubled signs stand for themselves.
fn in_text(bytes: &[u8], at: usize, byte: u8) -> Step {
    if byte != b'$' && byte != b'%' {
        return Step::to(at + 1);
    }
    match (bytes.get(at + 1), bytes.get(at + 2)) {
        (Some(b'{'), _) => Step::open(at + 2, Level::Code(0)),
        (Some(next), Some(b'{')) if *next == byte => Step::to(at + 3),
        _ => Step::to(at + 1),
    }
}

fn in_heredoc(bytes: &[u8], at: usize, byte: u8, marker: &Range<usize>, at_line_start: &mut bool) -> Step {
    if *at_line_start {
        let end = line_end(bytes, at);
        let line = bytes.get(at..end).unwrap_or_default();
        if Some(line.trim_ascii()) == bytes.get(marker.clone()) {
            // The newline behind the word ends the argument.
            return Step::close(at + line.trim_ascii_end().len());
        }
    }
    *at_line_start = byte == b'\n';
    in_text(bytes, at, byte)
}

fn in_code(bytes: &[u8], at: usize, byte: u8, braces: &mut usize) -> Option<Step> {
    Some(match byte {
        b'"' => Step::open(at + 1, Level::Quote),
        b'#' => Step::to(line_end(bytes, at)),
        b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => Step::to(comment_end(bytes, at)?),
        b'{' => {
            *braces += 1;
            Step::to(at + 1)
        }
        b'}' if *braces == 0 => Step::close(at + 1),
        b'}' => {
            *braces -= 1;
            Step::to(at + 1)
        }
        b'<' => match heredoc_opening(bytes, at) {
            Some((marker, body)) => Step::open(body, Opening::Heredoc(marker).into()),
            None => Step::to(at + 1),
        },
        _ => Step::to(at + 1),
    })
}

/// Returns where the word of a heredoc that begins at a place stands, and where its content begins.
pub(super) fn heredoc_opening(bytes: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    let mut start = at + bytes.get(at..)?.strip_prefix(b"<<").map(|_| 2)?;
    start += usize::from(bytes.get(start) == Some(&b'-'));
    bytes.get(start).filter(|byte| is_name_start(**byte))?;
    let end = end_while(bytes, start, is_in_name);
    let rest = bytes.get(end..)?;
    let newline = if rest.starts_with(b"\r\n") { 2 } else { 1 };
    (rest.first() == Some(&b'\n') || newline == 2).then_some((start..end, end + newline))
}
