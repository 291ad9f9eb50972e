//! From tokens to blocks and arguments. A place that makes no sense is noted, and reading goes on
//! behind it.

use std::borrow::Cow;
use std::ops::Range;

use super::texts::label;
use super::tokens::{Kind, Token, tokens};

/// How deep blocks are kept; what infra looks for is never deeper. Deeper ones are passed over.
const DEEPEST: usize = 16;

/// A file as it was read.
#[derive(Clone, Debug, Default)]
pub struct Document<'a> {
    /// What stands in it.
    pub body: Body<'a>,
    /// Where it makes no sense at first; what was found behind that place may be incomplete.
    pub fault: Option<Fault>,
}

/// A place that makes no sense.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// How many bytes stand before it.
    pub at: usize,
    /// What is wrong.
    pub what: &'static str,
}

/// The content of a file or of a block.
#[derive(Clone, Debug, Default)]
pub struct Body<'a> {
    /// Its arguments.
    pub attributes: Vec<Attribute<'a>>,
    /// Its blocks.
    pub blocks: Vec<Block<'a>>,
}

/// An argument: `name = value`.
#[derive(Clone, Debug)]
pub struct Attribute<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where its name begins.
    pub start: usize,
    /// Where its value stands.
    pub value: Range<usize>,
}

/// A block: `kind "label" { … }`.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// What it is.
    pub kind: &'a str,
    /// Its labels, without quotes.
    pub labels: Vec<Cow<'a, str>>,
    /// What stands in it.
    pub body: Body<'a>,
    /// Where it stands.
    pub span: Range<usize>,
}

impl<'a> Body<'a> {
    /// Returns the argument of a name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute<'a>> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// Returns the blocks of a kind.
    pub fn blocks_of<'b>(&'b self, kind: &'b str) -> impl Iterator<Item = &'b Block<'a>> {
        self.blocks.iter().filter(move |block| block.kind == kind)
    }

    /// Adds what stands in another one.
    pub(super) fn extend(&mut self, other: Self) {
        self.attributes.extend(other.attributes);
        self.blocks.extend(other.blocks);
    }
}

/// Reads a part of a text.
pub(super) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    end: usize,
    fault: Option<Fault>,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str, part: Range<usize>) -> Self {
        Self { text, end: part.end, tokens: tokens(text, part), next: 0, fault: None }
    }

    /// Returns whether anything is left, and stands before it.
    pub fn has_more(&mut self) -> bool {
        while self.kind() == Some(Kind::Newline) {
            self.next += 1;
        }
        self.kind().is_some()
    }

    /// Returns where the next token stands.
    pub fn position(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |token| token.start)
    }

    /// Returns the first place that made no sense.
    pub fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// Reads an argument or a block of a file.
    pub fn item(&mut self, body: &mut Body<'a>) {
        self.item_at(body, 0);
    }

    fn item_at(&mut self, body: &mut Body<'a>, depth: usize) {
        let Some(&name) = self.tokens.get(self.next) else { return };
        self.next += 1;
        match (name.kind, self.kind()) {
            (Kind::Name, Some(Kind::Sign(b'='))) => self.attribute(name, body),
            (Kind::Name, Some(Kind::Name | Kind::Quoted | Kind::Sign(b'{'))) => {
                body.blocks.extend(self.block(name, depth));
            }
            (Kind::Wrong(what), _) => self.wrong(name.start, what),
            _ => self.wrong(name.start, "expected a block or an argument"),
        }
    }

    fn attribute(&mut self, name: Token, body: &mut Body<'a>) {
        self.next += 1;
        let value = self.value();
        body.attributes.push(Attribute { name: self.text_of(name), start: name.start, value });
        match self.kind() {
            None | Some(Kind::Newline | Kind::Sign(b'}')) => {}
            Some(_) => self.wrong(self.position(), "an argument ends with its line"),
        }
    }

    /// Returns where a value stands: up to the end of its line, or of what holds it.
    fn value(&mut self) -> Range<usize> {
        let start = self.position();
        let mut end = start;
        let mut open: Vec<(u8, usize)> = Vec::new();
        while let Some(&token) = self.tokens.get(self.next) {
            match token.kind {
                Kind::Newline | Kind::Sign(b',' | b'=' | b'}' | b']' | b')') if open.is_empty() => break,
                Kind::Sign(sign @ (b'{' | b'[' | b'(')) => open.push((sign, token.start)),
                Kind::Sign(sign @ (b'}' | b']' | b')')) => {
                    let fits = open.pop().is_some_and(|(opening, _)| closing(opening) == sign);
                    self.note_unless(fits, token.start, "brackets do not match");
                }
                Kind::Wrong(what) => self.note(token.start, what),
                _ => {}
            }
            end = token.end;
            self.next += 1;
        }
        match open.last() {
            Some((_, at)) => self.note(*at, "a bracket is never closed"),
            None if end == start => self.note(start, "expected a value"),
            None => {}
        }
        start..end
    }

    /// Reads a block after its kind; returns `None` if that is no head of a block.
    fn block(&mut self, kind: Token, depth: usize) -> Option<Block<'a>> {
        let mut labels = Vec::new();
        while let Some(&token) = self.tokens.get(self.next) {
            match token.kind {
                Kind::Name => labels.push(Cow::Borrowed(self.text_of(token))),
                Kind::Quoted => labels.push(label(self.text_of(token))),
                _ => break,
            }
            self.next += 1;
        }
        if self.kind() != Some(Kind::Sign(b'{')) {
            self.wrong(self.position(), "expected `{` on the line where a block begins");
            return None;
        }
        self.next += 1;
        let (kind, start) = (self.text_of(kind), kind.start);
        let body = if depth < DEEPEST { self.body(start, depth + 1) } else { self.passed_over(start) };
        let end = self.tokens.get(self.next.wrapping_sub(1)).map_or(self.end, |token| token.end);
        Some(Block { kind, labels, body, span: start..end })
    }

    fn body(&mut self, start: usize, depth: usize) -> Body<'a> {
        let mut body = Body::default();
        loop {
            match self.kind() {
                None => {
                    self.note(start, "a block is never closed");
                    return body;
                }
                Some(Kind::Newline) => self.next += 1,
                Some(Kind::Sign(b'}')) => {
                    self.next += 1;
                    return body;
                }
                Some(_) => self.item_at(&mut body, depth),
            }
        }
    }

    /// Goes to the end of a block that is too deep to be of interest.
    fn passed_over(&mut self, start: usize) -> Body<'a> {
        let mut open = 1_usize;
        while let Some(kind) = self.kind() {
            self.next += 1;
            match kind {
                Kind::Sign(b'{') => open += 1,
                Kind::Sign(b'}') => open -= 1,
                _ => {}
            }
            if open == 0 {
                return Body::default();
            }
        }
        self.note(start, "a block is never closed");
        Body::default()
    }

    fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.next).map(|token| token.kind)
    }

    fn text_of(&self, token: Token) -> &'a str {
        self.text.get(token.span()).unwrap_or_default()
    }

    /// Notes a fault and goes on with the next line.
    fn wrong(&mut self, at: usize, what: &'static str) {
        self.note(at, what);
        while !matches!(self.kind(), None | Some(Kind::Newline)) {
            self.next += 1;
        }
    }

    fn note_unless(&mut self, is_right: bool, at: usize, what: &'static str) {
        if !is_right {
            self.note(at, what);
        }
    }

    fn note(&mut self, at: usize, what: &'static str) {
        self.fault.get_or_insert(Fault { at, what });
    }
}

const fn closing(opening: u8) -> u8 {
    match opening {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}
