//! Strategies for documents: nested maps and lists, scalars of all types, odd keys, comments.
//!
//! What sops itself cannot write and read again is left out, and each such place says so.

use proptest::prelude::*;

/// Which format a document must fit into.
#[derive(Clone, Copy, Debug)]
pub enum Flavour {
    /// Comments, times, all whole numbers and many spellings.
    Yaml,
    /// Numbers up to where releases before 3.13 lose the end of them.
    Json,
}

/// A part of a document.
#[derive(Clone, Debug)]
pub enum Node {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// As it stands in YAML.
    Spelled(&'static str),
    Text(String),
    /// Lines of a block.
    Lines(Vec<&'static str>),
    Map(Vec<Member>),
    List(Vec<Member>),
}

/// A line of a map or a list.
#[derive(Clone, Debug)]
pub struct Member {
    /// Unlike its neighbours once its number is behind it; a list has no use for it.
    pub key: String,
    pub node: Node,
    pub above: Option<String>,
    pub beside: Option<String>,
}

/// Scalars whose spelling decides what they are.
const SPELLED: &[&str] = &[
    "017",
    "0o17",
    "0x1F",
    "0b11",
    "1_000",
    "+12",
    "08",
    "-0",
    "1.",
    ".5",
    "1e3",
    "+.inf",
    "-.INF",
    "~",
    "",
    "yes",
    "No",
    "on",
    "TRUE",
    "null",
    "2024-01-31",
    "2001-12-14t21:59:43.10-05:00",
    "12:30:45",
    "1.2.3",
    "!!str 12",
    "!!int \"7\"",
    "plain words",
    "a:b",
    "x#y",
    "'it''s'",
    "[a, 1, {b: 2.5}]",
    "{x: [], y: {}}",
];

const WORDS: &[&str] = &["word", "two words", "# none", "key: value", "- item", "end", "'", "größe"];

const PIECES: &[&str] = &[
    " ", "\n", "\t", "a", ": ", " #", "- ", "?", "!", "&", "*", "%", "\"", "'", "|", "{", "]", ",", "=", "0",
    "é", "\u{a0}", "\u{85}", "\u{2028}", "\u{feff}", "漢", "🔐", "\u{7}", "~", "null", "<<", "---", "\\",
    "ENC[", "$x", "%s",
];

/// Returns documents: maps with something in them.
pub fn document(flavour: Flavour) -> impl Strategy<Value = Vec<Member>> {
    prop::collection::vec(member(node(flavour)), 1..5)
}

fn node(flavour: Flavour) -> impl Strategy<Value = Node> + Clone {
    scalar(flavour).prop_recursive(4, 24, 4, |inner| {
        let members = prop::collection::vec(member(inner), 0..4);
        prop_oneof![members.clone().prop_map(Node::Map), members.prop_map(Node::List)]
    })
}

fn member(node: impl Strategy<Value = Node> + Clone) -> impl Strategy<Value = Member> + Clone {
    let comment = || prop::option::weighted(0.2, prop::sample::select(WORDS).prop_map(str::to_owned));
    (key(), node, comment(), comment()).prop_map(|(key, node, above, beside)| Member {
        key,
        node,
        above,
        beside,
    })
}

fn scalar(flavour: Flavour) -> BoxedStrategy<Node> {
    let common = prop_oneof![
        1 => Just(Node::Null),
        1 => any::<bool>().prop_map(Node::Bool),
        2 => prop::num::f64::NORMAL.prop_map(Node::Float),
        2 => (-1e6..1e6).prop_map(Node::Float),
        5 => odd_text().prop_map(Node::Text),
        1 => any::<String>().prop_map(Node::Text),
        2 => prop::collection::vec(prop::sample::select(WORDS), 1..4).prop_map(Node::Lines),
    ];
    match flavour {
        Flavour::Yaml => prop_oneof![
            4 => common,
            1 => any::<i64>().prop_map(Node::Int),
            1 => prop::sample::select(SPELLED).prop_map(Node::Spelled),
        ]
        .boxed(),
        Flavour::Json => {
            prop_oneof![4 => common, 1 => (-(1_i64 << 53)..=1 << 53).prop_map(Node::Int)].boxed()
        }
    }
}

fn odd_text() -> impl Strategy<Value = String> + Clone {
    prop::collection::vec(prop::sample::select(PIECES), 0..8).prop_map(|pieces| pieces.concat())
}

/// Returns keys on one line: sops loses the place of comments below a key of several, those
/// with a line break of YAML 1.1 among them.
fn key() -> impl Strategy<Value = String> + Clone {
    let breaks = ['\n', '\u{85}', '\u{2028}', '\u{2029}'];
    prop_oneof![
        3 => "[a-z_]{1,8}",
        2 => odd_text(),
        1 => any::<String>(),
    ]
    .prop_map(move |text| text.replace(breaks, "_"))
}
