//! Turns YAML text into tokens and comments, each with its place.
//!
//! The scanner is granit's. Where it marks a token differently from libyaml, on whose marks
//! the placing of comments rests, the place is found again in the text. Begin at [`scan`].

use std::borrow::Cow;

use granit_parser::{
    ErrorKind, Options, Parser, ScalarStyle, ScanError, Scanner, StrInput, Token as Raw, TokenType,
};

use crate::error::{Error, Result};
use crate::secrets::sops::stores::MAX_DEPTH;

/// Line breaks to YAML 1.1, and so to sops, but not to 1.2.
const SEPARATORS: [char; 2] = ['\u{2028}', '\u{2029}'];
const BLANKS: [char; 2] = [' ', '\t'];

/// A place in the text; lines and columns count from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub index: usize,
    pub line: usize,
    pub column: usize,
}

impl Mark {
    /// Says where it is, counted as people do.
    pub(super) fn place(self) -> String {
        format!("line {}, column {}", self.line + 1, self.column + 1)
    }
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'a> {
    StreamStart,
    StreamEnd,
    Directive,
    DocumentStart,
    DocumentEnd,
    BlockListStart,
    BlockMapStart,
    BlockEnd,
    FlowListStart,
    FlowListEnd,
    FlowMapStart,
    FlowMapEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(Cow<'a, str>),
    Anchor(Cow<'a, str>),
    Tag(Cow<'a, str>, Cow<'a, str>),
    Scalar(ScalarStyle, Cow<'a, str>),
}

/// A token.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub kind: Kind<'a>,
    pub start: Mark,
    pub end: Mark,
}

/// A comment as it stands in the text, with its sign.
#[derive(Clone, Debug)]
pub(super) struct Remark {
    pub start: Mark,
    pub end: Mark,
    pub text: String,
}

/// The text, its tokens and its comments, both in the order of the text.
#[derive(Debug)]
pub(super) struct YamlText<'a> {
    pub chars: Vec<char>,
    pub tokens: Vec<Token<'a>>,
    pub remarks: Vec<Remark>,
}

/// Scans a text whose syntax it has checked before.
pub(super) fn scan(text: &str) -> Result<YamlText<'_>> {
    check_syntax(text)?;
    let mut source = YamlText { chars: text.chars().collect(), tokens: Vec::new(), remarks: Vec::new() };
    for raw in Scanner::with_options(StrInput::new(text), options()) {
        source.push(raw.map_err(|error| syntax_error(&error))?);
    }
    source.remarks.sort_by_key(|remark| remark.start.index);
    Ok(source)
}

fn options() -> Options {
    let mut options = Options::default();
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    options
}

fn check_syntax(text: &str) -> Result<()> {
    let mut options = options();
    options.set_emit_comments(false);
    for event in Parser::new_from_str_with_options(text, options) {
        event.map_err(|error| syntax_error(&error))?;
    }
    Ok(())
}

/// The scanner's own words may quote the text, which may be a secret; only the place is kept.
fn syntax_error(error: &ScanError) -> Error {
    let marker = error.marker();
    let place = format!("line {}, column {}", marker.line(), marker.col() + 1);
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => crate::secrets::sops::stores::too_deep().at(place),
        ErrorKind::UnknownAnchor => Error::invalid("an alias names an anchor that is not there").at(place),
        _ => Error::invalid("the text is not valid YAML").at(place),
    }
}

impl<'a> YamlText<'a> {
    fn push(&mut self, raw: Raw<'a>) {
        let (span, kind) = raw.into_parts();
        let (start, end) = (mark(span.start), mark(span.end));
        let kind = match kind {
            TokenType::Comment(comment) => {
                let text = format!("#{}", comment.into_text());
                return self.remarks.push(Remark { start, end, text });
            }
            TokenType::StreamStart => Kind::StreamStart,
            TokenType::StreamEnd => Kind::StreamEnd,
            TokenType::DocumentStart => Kind::DocumentStart,
            TokenType::DocumentEnd => Kind::DocumentEnd,
            TokenType::BlockSequenceStart => Kind::BlockListStart,
            TokenType::BlockMappingStart => Kind::BlockMapStart,
            TokenType::BlockEnd => Kind::BlockEnd,
            TokenType::FlowSequenceStart => Kind::FlowListStart,
            TokenType::FlowSequenceEnd => Kind::FlowListEnd,
            TokenType::FlowMappingStart => Kind::FlowMapStart,
            TokenType::FlowMappingEnd => Kind::FlowMapEnd,
            TokenType::BlockEntry => Kind::BlockEntry,
            TokenType::FlowEntry => Kind::FlowEntry,
            TokenType::Key => Kind::Key,
            TokenType::Value => Kind::Value,
            TokenType::Alias(name) => Kind::Alias(name),
            TokenType::Anchor(name) => Kind::Anchor(name),
            TokenType::Tag(handle, suffix) => Kind::Tag(handle, suffix),
            TokenType::Scalar(style, text) => Kind::Scalar(style, text),
            // The version, tag and reserved directives; the scanner may learn of more.
            _ => Kind::Directive,
        };
        self.push_token(kind, start, end);
    }

    fn push_token(&mut self, kind: Kind<'a>, start: Mark, end: Mark) {
        let token = match kind {
            Kind::BlockEntry => {
                let start = self.next_content();
                Token { kind, start, end: after(start) }
            }
            Kind::Value => Token { kind, start, end: after(start) },
            Kind::Scalar(style @ (ScalarStyle::Literal | ScalarStyle::Folded), text) => {
                let kind = Kind::Scalar(style, self.without_missing_break(text, end));
                Token { kind, start: self.next_content(), end }
            }
            Kind::Scalar(style @ ScalarStyle::SingleQuoted, text) => {
                Token { kind: Kind::Scalar(style, without_indents(text)), start, end }
            }
            kind => Token { kind, start, end },
        };
        self.tokens.push(token);
    }

    /// A block scalar that the text cuts off has no line break at its end.
    fn without_missing_break(&self, text: Cow<'a, str>, end: Mark) -> Cow<'a, str> {
        let cut_off = end.index >= self.chars.len() && self.chars.last().is_some_and(|sign| *sign != '\n');
        match text.strip_suffix('\n').filter(|_| cut_off) {
            Some(shorter) => shorter.to_owned().into(),
            None => text,
        }
    }

    /// Finds the first thing behind the last token that is neither blank nor a comment.
    fn next_content(&self) -> Mark {
        let mut mark = self.tokens.last().map_or_else(Mark::default, |token| token.end);
        while let Some(sign) = self.chars.get(mark.index) {
            match sign {
                '#' => mark = self.end_of_line(mark),
                '\n' => mark = Mark { index: mark.index + 1, line: mark.line + 1, column: 0 },
                ' ' | '\t' | '\r' => mark = after(mark),
                _ => break,
            }
        }
        mark
    }

    fn end_of_line(&self, mut mark: Mark) -> Mark {
        while self.chars.get(mark.index).is_some_and(|sign| *sign != '\n') {
            mark = after(mark);
        }
        mark
    }

    /// Counts the line breaks directly before a place, blanks left aside.
    pub(super) fn breaks_before(&self, index: usize) -> usize {
        let before = self.chars.iter().take(index).rev();
        before.take_while(|sign| sign.is_whitespace()).filter(|sign| **sign == '\n').count()
    }

    /// Counts the characters between two places that end lines; a CR and its LF are two.
    pub(super) fn break_signs(&self, from: usize, to: usize) -> usize {
        let between = self.chars.iter().take(to).skip(from);
        between.filter(|sign| matches!(sign, '\n' | '\r')).count()
    }
}

/// Takes the blanks away around signs at which sops breaks lines, as YAML 1.1 does and 1.2 does not.
fn without_indents(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains(SEPARATORS) {
        return text;
    }
    let mut joined = String::with_capacity(text.len());
    for sign in text.chars() {
        if SEPARATORS.contains(&sign) {
            joined.truncate(joined.trim_end_matches(BLANKS).len());
        }
        if !(BLANKS.contains(&sign) && joined.ends_with(SEPARATORS)) {
            joined.push(sign);
        }
    }
    joined.into()
}

const fn after(mark: Mark) -> Mark {
    Mark { index: mark.index + 1, line: mark.line, column: mark.column + 1 }
}

fn mark(marker: granit_parser::Marker) -> Mark {
    Mark { index: marker.index(), line: marker.line().saturating_sub(1), column: marker.col() }
}
