//! A document as SOPS sees it: an ordered tree in which comments are items of their own.
//!
//! Every format is loaded into this and written from it; encryption walks over it.

mod tree_path;
mod walk;

pub use tree_path::TreePath;
pub(super) use walk::{Visitor, walk};

use std::fmt;

use zeroize::Zeroizing;

/// A value.
#[derive(Clone, PartialEq)]
pub enum Value {
    /// Nothing; never encrypted, never in the MAC.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A point in time, in the form SOPS encrypts: RFC 3339.
    Time(String),
    /// Text; bytes, because binary documents are one such value.
    Text(Zeroizing<Vec<u8>>),
    /// Named items in the order of the file.
    Map(Vec<Item>),
    /// Items in order.
    List(Vec<ListEntry>),
}

/// A line of a map.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A comment, without its sign.
    Comment(Comment),
    /// A name and its value.
    Pair(String, Value),
}

/// A line of a list.
#[derive(Clone, Debug, PartialEq)]
pub enum ListEntry {
    /// A comment, without its sign.
    Comment(Comment),
    /// A value.
    Value(Value),
}

/// A comment; it can be encrypted like a value.
#[derive(Clone, PartialEq)]
pub struct Comment {
    /// The text after the sign.
    pub text: Zeroizing<String>,
    /// Whether it stands behind a value on the same line.
    pub beside: bool,
}

/// A document: the items of its top-level map.
pub type Document = Vec<Item>;

impl Value {
    /// Makes a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Zeroizing::new(text.into().into_bytes()))
    }
}

/// Shows the shape only: every scalar may be a secret.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(_) => f.write_str("bool"),
            Self::Int(_) => f.write_str("int"),
            Self::Float(_) => f.write_str("float"),
            Self::Time(_) => f.write_str("time"),
            Self::Text(_) => f.write_str("text"),
            Self::Map(items) => items.fmt(f),
            Self::List(entries) => entries.fmt(f),
        }
    }
}

/// Shows where it stands, not what it says.
impl fmt::Debug for Comment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.beside { "beside" } else { "above" })
    }
}

/// Returns the value of a name in a map.
pub fn find<'a>(items: &'a [Item], name: &str) -> Option<&'a Value> {
    items.iter().find_map(|item| match item {
        Item::Pair(found, value) if found == name => Some(value),
        Item::Pair(..) | Item::Comment(_) => None,
    })
}
