//! A document as SOPS sees it: an ordered tree in which comments are items of their own.
//!
//! Every format is loaded into this and written from it; encryption walks over it.

use zeroize::Zeroizing;

/// A value.
#[derive(Clone, Debug, PartialEq)]
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
    List(Vec<Entry>),
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
pub enum Entry {
    /// A comment, without its sign.
    Comment(Comment),
    /// A value.
    Value(Value),
}

/// A comment; it can be encrypted like a value.
#[derive(Clone, Debug, PartialEq)]
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

/// Returns the value of a name in a map.
pub fn find<'a>(items: &'a [Item], name: &str) -> Option<&'a Value> {
    items.iter().find_map(|item| match item {
        Item::Pair(found, value) if found == name => Some(value),
        Item::Pair(..) | Item::Comment(_) => None,
    })
}
