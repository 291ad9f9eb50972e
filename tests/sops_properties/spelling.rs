//! Documents as text, spelled by the test itself: the product's own writer has no part in it.

use std::fmt::Write as _;

use crate::documents::{Member, Node};

/// Spells documents as YAML in block style, every text in double quotes.
pub fn yaml(documents: &[Vec<Member>]) -> String {
    let spelled = documents.iter().map(|members| {
        let mut out = String::new();
        yaml_map(&mut out, members, 0);
        out
    });
    spelled.collect::<Vec<_>>().join("---\n")
}

fn yaml_map(out: &mut String, members: &[Member], indent: usize) {
    for (at, member) in members.iter().enumerate() {
        yaml_member(out, member, &format!("{}:", quoted(&unlike(member, at))), indent);
    }
}

fn yaml_member(out: &mut String, member: &Member, head: &str, indent: usize) {
    let pad = " ".repeat(indent);
    if let Some(comment) = &member.above {
        writeln!(out, "{pad}# {comment}").unwrap();
    }
    let beside = member.beside.as_ref().map(|comment| format!(" # {comment}")).unwrap_or_default();
    match &member.node {
        Node::Map(members) if !members.is_empty() => {
            writeln!(out, "{pad}{head}").unwrap();
            yaml_map(out, members, indent + 2);
        }
        Node::List(members) if !members.is_empty() => {
            writeln!(out, "{pad}{head}").unwrap();
            members.iter().for_each(|member| yaml_member(out, member, "-", indent + 2));
        }
        Node::Map(_) => writeln!(out, "{pad}{head} {{}}").unwrap(),
        Node::List(_) => writeln!(out, "{pad}{head} []").unwrap(),
        Node::Lines(lines) => {
            writeln!(out, "{pad}{head} |-").unwrap();
            lines.iter().for_each(|line| writeln!(out, "{pad}  {line}").unwrap());
        }
        Node::Spelled(flow) if flow.starts_with(['[', '{']) => writeln!(out, "{pad}{head} {flow}").unwrap(),
        scalar => writeln!(out, "{pad}{head} {}{beside}", yaml_scalar(scalar)).unwrap(),
    }
}

fn yaml_scalar(node: &Node) -> String {
    match node {
        Node::Spelled(spelling) => (*spelling).to_owned(),
        Node::Text(text) => quoted(text),
        Node::Float(number) => format!("{number:e}"),
        other => json_value(other).to_string(),
    }
}

/// Quotes a text; letters stay, all other signs beyond ASCII are escaped.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|sign| match sign {
        '"' | '\\' => format!("\\{sign}"),
        ' '..='~' => sign.to_string(),
        sign if sign.is_alphabetic() => sign.to_string(),
        sign => format!("\\U{:08X}", u32::from(sign)),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// Spells a document as JSON; comments are left out.
pub fn json(members: &[Member]) -> String {
    json_map(members).to_string()
}

fn json_map(members: &[Member]) -> serde_json::Value {
    let pairs = members.iter().enumerate();
    pairs.map(|(at, member)| (unlike(member, at), json_value(&member.node))).collect()
}

fn json_value(node: &Node) -> serde_json::Value {
    match node {
        Node::Null => serde_json::Value::Null,
        Node::Bool(value) => (*value).into(),
        Node::Int(number) => (*number).into(),
        Node::Float(number) => (*number).into(),
        Node::Spelled(text) => (*text).into(),
        Node::Text(text) => text.as_str().into(),
        Node::Lines(lines) => lines.join("\n").into(),
        Node::Map(members) => json_map(members),
        Node::List(members) => members.iter().map(|member| json_value(&member.node)).collect(),
    }
}

/// Returns a key that no neighbour has; some values stay readable in the encrypted file.
fn unlike(member: &Member, at: usize) -> String {
    let open = at % 3 == 1 && matches!(member.node, Node::Bool(_) | Node::Int(_) | Node::Spelled(_));
    format!("{}{at}{}", member.key, if open { "_unencrypted" } else { "" })
}
