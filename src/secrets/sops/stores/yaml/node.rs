//! The nodes of a YAML text: values that carry their comments and places.

use std::rc::Rc;

use zeroize::Zeroizing;

use super::token::Mark;

/// Comment lines, each with its sign.
pub(super) type Lines = Vec<String>;

/// A value of the text with its comments.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub content: Content,
    pub head: Lines,
    pub line: Lines,
    pub foot: Lines,
    pub mark: Mark,
}

/// What a node holds.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Scalar(Scalar),
    Map(Vec<(Node, Node)>),
    List(Vec<Node>),
    Alias(Rc<Node>),
}

/// A scalar before its type is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Scalar {
    pub text: Zeroizing<String>,
    pub quoted: bool,
    pub tag: Option<String>,
}

impl Default for Content {
    fn default() -> Self {
        Self::Scalar(Scalar::default())
    }
}

/// A document and the comments at its end.
#[derive(Debug)]
pub(super) struct Root {
    pub node: Node,
    pub foot: Lines,
}
