//! Turns tokens into nodes that carry their comments, as Go's yaml.v3 does.
//!
//! Which node gets a comment follows from when yaml.v3 looks at a token and when it makes an
//! event, so this parser looks and takes at the same moments. Begin at [`parse`]; what stands
//! in brackets is read by [`super::flow`].

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use granit_parser::ScalarStyle;
use zeroize::Zeroizing;

use super::Purpose;
use super::node::{Content, Lines, Node, Root, Scalar};
use super::placing;
use super::placing::{Placed, Relation};
use super::token;
use super::token::{Kind, Mark, Token};
use crate::error::{Error, Result};
use crate::secrets::sops::stores::MAX_DEPTH;

/// Reads the documents of a text.
pub(super) fn parse(text: &str, purpose: Purpose) -> Result<Vec<Root>> {
    let mut source = token::scan(text)?;
    let placed = placing::place(&mut source, purpose);
    let mut parser = Parser {
        purpose,
        tokens: source.tokens,
        at: 1,
        placed: placed.into_iter().peekable(),
        head: Lines::new(),
        line: Lines::new(),
        foot: Lines::new(),
        stem: Lines::new(),
        anchors: HashMap::new(),
        depth: 0,
    };
    parser.documents()
}

/// The tokens and comments that are still to be read.
pub(super) struct Parser<'a> {
    purpose: Purpose,
    tokens: Vec<Token<'a>>,
    at: usize,
    placed: std::iter::Peekable<std::vec::IntoIter<Placed>>,
    head: Lines,
    line: Lines,
    foot: Lines,
    stem: Lines,
    anchors: HashMap<String, Rc<Node>>,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Looks at the next token and gathers the comments that belong to it or to those before.
    pub(super) fn peek(&mut self) -> Kind<'a> {
        let Some(token) = self.tokens.get(self.at) else { return Kind::StreamEnd };
        while let Some(placed) = self.placed.next_if(|placed| {
            let due = token.start.index >= placed.token;
            // A block's end has no head; the comment waits for what follows.
            due && !(placed.relation == Relation::Head && token.kind == Kind::BlockEnd)
        }) {
            match placed.relation {
                Relation::Head => self.head.extend(placed.lines),
                Relation::Line => self.line.extend(placed.lines),
                Relation::Foot => self.foot.extend(placed.lines),
            }
        }
        token.kind.clone()
    }

    /// Returns where the next token starts.
    pub(super) fn mark(&self) -> Mark {
        self.tokens.get(self.at).map_or_else(Mark::default, |token| token.start)
    }

    pub(super) const fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Passes a token without a look at the next, which would gather its comments.
    pub(super) const fn pass(&mut self) {
        self.at += 1;
    }

    /// Passes a token and looks at the next.
    pub(super) fn skip(&mut self) -> Kind<'a> {
        self.pass();
        self.peek()
    }

    /// Makes a node of the comments gathered so far.
    pub(super) fn take(&mut self, mark: Mark) -> Node {
        self.stem.clear();
        Node {
            content: Content::default(),
            head: std::mem::take(&mut self.head),
            line: std::mem::take(&mut self.line),
            foot: std::mem::take(&mut self.foot),
            mark,
        }
    }

    /// Makes the node of a place where nothing stands.
    pub(super) fn empty(&self) -> Node {
        Node { mark: self.mark(), ..Node::default() }
    }

    /// Refuses the token that is next.
    pub(super) fn unexpected<T>(&self) -> Result<T> {
        Err(Error::invalid("the text is not valid YAML").at(self.mark().place()))
    }

    fn documents(&mut self) -> Result<Vec<Root>> {
        let mut roots = Vec::new();
        loop {
            while matches!(self.peek(), Kind::DocumentEnd | Kind::Directive) {
                self.skip();
            }
            match self.peek() {
                Kind::StreamEnd => return Ok(roots),
                Kind::DocumentStart => roots.push(self.explicit_document()?),
                _ => roots.push(self.document()?),
            }
        }
    }

    fn explicit_document(&mut self) -> Result<Root> {
        match self.skip() {
            Kind::Directive | Kind::DocumentStart | Kind::DocumentEnd | Kind::StreamEnd => {
                let node = self.empty();
                Ok(self.end_document(node))
            }
            _ => self.document(),
        }
    }

    fn document(&mut self) -> Result<Root> {
        self.anchors.clear();
        let node = self.node(NodePlace::Block)?;
        Ok(self.end_document(node))
    }

    fn end_document(&mut self, node: Node) -> Root {
        if self.peek() == Kind::DocumentEnd {
            self.pass();
        }
        let end = self.take(Mark::default());
        Root { node, foot: if end.foot.is_empty() { end.head } else { end.foot } }
    }

    /// Reads a value.
    pub(super) fn node(&mut self, place: NodePlace) -> Result<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(crate::secrets::sops::stores::too_deep().at(self.mark().place()));
        }
        let node = self.node_at_depth(place);
        self.depth -= 1;
        node
    }

    fn node_at_depth(&mut self, place: NodePlace) -> Result<Node> {
        let mark = self.mark();
        if let Kind::Alias(name) = self.peek() {
            return self.alias(&name, mark);
        }
        let (anchor, tag) = self.properties();
        let has_properties = anchor.is_some() || tag.is_some();
        if let Some(name) = &anchor {
            self.anchors.remove(name);
        }
        let node = match self.peek() {
            Kind::BlockEntry if place == NodePlace::BlockOrEntries => self.entries(mark)?,
            Kind::Scalar(style, text) => self.scalar(style, &text, tag, mark),
            Kind::FlowListStart => self.flow_list(mark)?,
            Kind::FlowMapStart => self.flow_map(mark)?,
            Kind::BlockListStart if place != NodePlace::Flow => self.block_list(mark)?,
            Kind::BlockMapStart if place != NodePlace::Flow => self.block_map(mark)?,
            _ if has_properties => Node {
                mark,
                content: Content::Scalar(Scalar { tag, ..Scalar::default() }),
                ..Node::default()
            },
            _ => return self.unexpected(),
        };
        if let Some(name) = anchor {
            self.anchors.insert(name, Rc::new(node.clone()));
        }
        Ok(node)
    }

    fn alias(&mut self, name: &str, mark: Mark) -> Result<Node> {
        let Some(target) = self.anchors.get(name).cloned() else {
            return Err(Error::invalid("an alias names an anchor that is not complete yet").at(mark.place()));
        };
        let node = Node { content: Content::Alias(target), ..self.take(mark) };
        self.pass();
        Ok(node)
    }

    fn properties(&mut self) -> (Option<String>, Option<String>) {
        let (mut anchor, mut tag) = (None, None);
        loop {
            match self.peek() {
                Kind::Anchor(name) if anchor.is_none() => anchor = Some(name.into_owned()),
                Kind::Tag(handle, suffix) if tag.is_none() => tag = Some(format!("{handle}{suffix}")),
                _ => return (anchor, tag),
            }
            self.pass();
        }
    }

    fn scalar(&mut self, style: ScalarStyle, text: &str, tag: Option<String>, mark: Mark) -> Node {
        let scalar =
            Scalar { text: Zeroizing::new(text.to_owned()), quoted: style != ScalarStyle::Plain, tag };
        let node = Node { content: Content::Scalar(scalar), ..self.take(mark) };
        self.pass();
        node
    }

    /// Passes a dash; what stood above it belongs to the whole block behind it, if one starts.
    fn entry(&mut self) -> Kind<'a> {
        let above = self.head.len();
        let next = self.skip();
        if above > 0 && matches!(next, Kind::BlockListStart | Kind::BlockMapStart) {
            let inner = self.head.split_off(above);
            self.stem = std::mem::replace(&mut self.head, inner);
        }
        next
    }

    fn block_list(&mut self, mark: Mark) -> Result<Node> {
        let mut node = Node { head: std::mem::take(&mut self.stem), mark, ..Node::default() };
        let mut items = Vec::new();
        self.skip();
        while self.peek() == Kind::BlockEntry {
            match self.entry() {
                Kind::BlockEntry | Kind::BlockEnd => items.push(self.empty()),
                _ => items.push(self.node(NodePlace::Block)?),
            }
        }
        if self.peek() != Kind::BlockEnd {
            return self.unexpected();
        }
        if let (Purpose::Encrypted, Some(last)) = (self.purpose, items.last_mut()) {
            last.foot.append(&mut self.foot);
        }
        self.pass();
        node.content = Content::List(items);
        Ok(node)
    }

    /// Reads a list that stands at the indent of the key above it.
    fn entries(&mut self, mark: Mark) -> Result<Node> {
        let mut items = Vec::new();
        while self.peek() == Kind::BlockEntry {
            match self.entry() {
                Kind::BlockEntry | Kind::Key | Kind::Value | Kind::BlockEnd => items.push(self.empty()),
                _ => items.push(self.node(NodePlace::Block)?),
            }
        }
        Ok(Node { content: Content::List(items), mark, ..Node::default() })
    }

    fn block_map(&mut self, mark: Mark) -> Result<Node> {
        let mut node = Node { head: std::mem::take(&mut self.stem), mark, ..Node::default() };
        let mut pairs: Vec<(Node, Node)> = Vec::new();
        self.skip();
        while self.peek() != Kind::BlockEnd {
            if self.peek() != Kind::Key {
                return self.unexpected();
            }
            let mut key = self.block_key()?;
            if let (false, Some(last)) = (key.foot.is_empty(), pairs.last_mut()) {
                last.0.foot = std::mem::take(&mut key.foot);
            }
            let mut value = self.block_value()?;
            raise_foot(&mut key, &mut value);
            pairs.push((key, value));
        }
        let end = self.take(mark);
        self.pass();
        node.line = end.line;
        match pairs.last_mut() {
            Some(last) if !end.foot.is_empty() => last.0.foot = end.foot,
            _ => node.foot = end.foot,
        }
        self.finish_map(node, pairs)
    }

    /// Fills a map whose keys differ.
    pub(super) fn finish_map(&self, mut node: Node, pairs: Vec<(Node, Node)>) -> Result<Node> {
        let mut seen = HashSet::new();
        for (key, _) in &pairs {
            if let Content::Scalar(scalar) = &key.content
                && !seen.insert(scalar.text.as_str())
            {
                let message = format!("the key `{}` is there twice", scalar.text.as_str());
                return Err(Error::invalid(message).at(key.mark.place()));
            }
        }
        node.content = Content::Map(pairs);
        Ok(node)
    }

    fn block_key(&mut self) -> Result<Node> {
        match self.skip() {
            Kind::Key | Kind::Value | Kind::BlockEnd => Ok(self.empty()),
            _ => self.node(NodePlace::BlockOrEntries),
        }
    }

    fn block_value(&mut self) -> Result<Node> {
        if self.peek() != Kind::Value {
            return Ok(self.empty());
        }
        match self.skip() {
            Kind::Key | Kind::Value | Kind::BlockEnd => Ok(self.empty()),
            _ => self.node(NodePlace::BlockOrEntries),
        }
    }
}

/// Where a node stands, which decides what it may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NodePlace {
    Block,
    /// A list may start without an indent of its own.
    BlockOrEntries,
    Flow,
}

/// Moves the foot of a value to its key.
pub(super) fn raise_foot(key: &mut Node, value: &mut Node) {
    if key.foot.is_empty() {
        key.foot = std::mem::take(&mut value.foot);
    }
}
