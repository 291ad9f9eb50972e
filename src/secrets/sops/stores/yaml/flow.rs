//! Reads what stands in brackets: lists and maps in flow style.

use super::Purpose;
use super::node::{Content, Node};
use super::parser::{NodePlace, Parser, raise_foot};
use super::token::{Kind, Mark};
use crate::error::Result;

impl<'a> Parser<'a> {
    pub(super) fn flow_list(&mut self, mark: Mark) -> Result<Node> {
        let mut node = self.take(mark);
        let mut items = Vec::new();
        self.skip();
        while self.peek() != Kind::FlowListEnd {
            if !items.is_empty() && !self.comma(&Kind::FlowListEnd)? {
                break;
            }
            if self.peek() == Kind::Key {
                items.push(self.pair_in_list()?);
            } else {
                items.push(self.node(NodePlace::Flow)?);
            }
        }
        if items.is_empty() && self.purpose() == Purpose::Encrypted {
            keep_inside(&mut node);
        }
        self.end_flow(&mut node, mark);
        node.content = Content::List(items);
        Ok(node)
    }

    /// Passes a comma; returns whether an item follows it.
    fn comma(&mut self, end: &Kind<'a>) -> Result<bool> {
        if self.peek() != Kind::FlowEntry {
            return self.unexpected();
        }
        Ok(self.skip() != *end)
    }

    /// The comments at the closing bracket replace those at the opening one, as in yaml.v3.
    fn end_flow(&mut self, node: &mut Node, mark: Mark) {
        let end = self.take(mark);
        (node.line, node.foot) = (end.line, end.foot);
        self.pass();
    }

    fn pair_in_list(&mut self) -> Result<Node> {
        let mark = self.mark();
        let key = match self.skip() {
            Kind::Value | Kind::FlowEntry | Kind::FlowListEnd => self.empty(),
            _ => self.node(NodePlace::Flow)?,
        };
        let value = self.flow_value(&Kind::FlowListEnd)?;
        Ok(Node { content: Content::Map(vec![(key, value)]), mark, ..Node::default() })
    }

    pub(super) fn flow_map(&mut self, mark: Mark) -> Result<Node> {
        let mut node = self.take(mark);
        let mut pairs = Vec::new();
        self.skip();
        while self.peek() != Kind::FlowMapEnd {
            if !pairs.is_empty() && !self.comma(&Kind::FlowMapEnd)? {
                break;
            }
            let (mut key, mut value) = self.flow_pair()?;
            raise_foot(&mut key, &mut value);
            pairs.push((key, value));
        }
        if pairs.is_empty() {
            keep_inside(&mut node);
        }
        self.end_flow(&mut node, mark);
        self.finish_map(node, pairs)
    }

    fn flow_pair(&mut self) -> Result<(Node, Node)> {
        if self.peek() != Kind::Key {
            let key = self.node(NodePlace::Flow)?;
            let value = self.flow_value(&Kind::FlowMapEnd)?;
            return Ok((key, value));
        }
        let key = match self.skip() {
            Kind::Value | Kind::FlowEntry | Kind::FlowMapEnd => self.empty(),
            _ => self.node(NodePlace::Flow)?,
        };
        Ok((key, self.flow_value(&Kind::FlowMapEnd)?))
    }

    fn flow_value(&mut self, end: &Kind<'a>) -> Result<Node> {
        if self.peek() != Kind::Value {
            return Ok(self.empty());
        }
        match self.skip() {
            Kind::FlowEntry => Ok(self.empty()),
            kind if kind == *end => Ok(self.empty()),
            _ => self.node(NodePlace::Flow),
        }
    }
}

/// Keeps the comments between empty brackets, where encrypted files have them.
fn keep_inside(node: &mut Node) {
    let inside = std::mem::take(&mut node.foot);
    node.head.extend(inside);
}
