//! A place in a document in the form of sops: `["a"]["b"][0]`; and what is put there or taken away.

use super::{Document, Item, ListEntry, Value};
use crate::error::{Error, Kind, Result};
use crate::secrets::sops::refusal::refused;

/// How long a path may be.
const LONGEST: usize = 100;

/// A step of a path.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Step {
    Name(String),
    Index(usize),
}

/// A path from the top of a document.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TreePath(Vec<Step>);

impl std::str::FromStr for TreePath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::new(Kind::Usage, format!("`{text}` is no path"))
                .hint(r#"write a path as `["database"]["users"][0]`"#)
        };
        let mut steps = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (step, after) = step(rest).ok_or_else(wrong)?;
            steps.push(step);
            rest = after;
        }
        let starts_with_name = matches!(steps.first(), Some(Step::Name(_)));
        if starts_with_name && steps.len() <= LONGEST { Ok(Self(steps)) } else { Err(wrong()) }
    }
}

/// Takes one `[…]` from the front.
fn step(text: &str) -> Option<(Step, &str)> {
    let inner = text.strip_prefix('[')?;
    for quote in ['"', '\''] {
        if let Some(quoted) = inner.strip_prefix(quote) {
            let (name, rest) = quoted.split_once(&format!("{quote}]"))?;
            return Some((Step::Name(name.to_owned()), rest));
        }
    }
    let (index, rest) = inner.split_once(']')?;
    Some((Step::Index(index.parse().ok()?), rest))
}

impl TreePath {
    /// Puts a value at the path; missing maps are made, an index behind the end appends.
    pub fn set(&self, document: &mut Document, value: Value) -> Result<()> {
        put_in_map(document, &self.0, value)
    }

    /// Takes away what is at the path.
    pub fn unset(&self, document: &mut Document) -> Result<()> {
        take_from_map(document, &self.0)
    }
}

fn put(target: &mut Value, steps: &[Step], value: Value) -> Result<()> {
    match (target, steps) {
        (target, []) => *target = value,
        (Value::Map(items), steps) => return put_in_map(items, steps, value),
        (Value::List(entries), steps) => return put_in_list(entries, steps, value),
        // A scalar makes way for what the path needs.
        (target, [Step::Name(_), ..]) => {
            let mut items = Vec::new();
            put_in_map(&mut items, steps, value)?;
            *target = Value::Map(items);
        }
        (target, [Step::Index(_), ..]) => {
            let mut entries = Vec::new();
            put_in_list(&mut entries, steps, value)?;
            *target = Value::List(entries);
        }
    }
    Ok(())
}

fn put_in_map(items: &mut Vec<Item>, steps: &[Step], value: Value) -> Result<()> {
    let [Step::Name(name), below @ ..] = steps else {
        return Err(refused("the path has an index where the document has a map"));
    };
    let found = items.iter_mut().find_map(|item| match item {
        Item::Pair(known, value) if known == name => Some(value),
        Item::Pair(..) | Item::Comment(_) => None,
    });
    if let Some(target) = found {
        return put(target, below, value);
    }
    let mut made = Value::Null;
    put(&mut made, below, value)?;
    items.push(Item::Pair(name.clone(), made));
    Ok(())
}

fn put_in_list(entries: &mut Vec<ListEntry>, steps: &[Step], value: Value) -> Result<()> {
    let [Step::Index(index), below @ ..] = steps else {
        return Err(refused("the path has a name where the document has a list"));
    };
    if let Some(at) = position(entries, *index)
        && let ListEntry::Value(target) = &mut entries[at]
    {
        return put(target, below, value);
    }
    let mut made = Value::Null;
    put(&mut made, below, value)?;
    entries.push(ListEntry::Value(made));
    Ok(())
}

fn take_from_map(items: &mut Vec<Item>, steps: &[Step]) -> Result<()> {
    let [Step::Name(name), below @ ..] = steps else {
        return Err(nothing_there());
    };
    let found = items.iter().position(|item| matches!(item, Item::Pair(known, _) if known == name));
    let at = found.ok_or_else(nothing_there)?;
    match (&mut items[at], below) {
        (_, []) => drop(items.remove(at)),
        (Item::Pair(_, Value::Map(items)), below) => return take_from_map(items, below),
        (Item::Pair(_, Value::List(entries)), below) => return take_from_list(entries, below),
        (Item::Pair(..) | Item::Comment(_), _) => return Err(nothing_there()),
    }
    Ok(())
}

fn take_from_list(entries: &mut Vec<ListEntry>, steps: &[Step]) -> Result<()> {
    let [Step::Index(index), below @ ..] = steps else {
        return Err(nothing_there());
    };
    let at = position(entries, *index).ok_or_else(nothing_there)?;
    match (&mut entries[at], below) {
        (_, []) => drop(entries.remove(at)),
        (ListEntry::Value(Value::Map(items)), below) => return take_from_map(items, below),
        (ListEntry::Value(Value::List(entries)), below) => return take_from_list(entries, below),
        (ListEntry::Value(_) | ListEntry::Comment(_), _) => return Err(nothing_there()),
    }
    Ok(())
}

/// Returns where the value with this index stands; comments are not counted.
fn position(entries: &[ListEntry], index: usize) -> Option<usize> {
    let values = entries.iter().enumerate().filter(|(_, entry)| matches!(entry, ListEntry::Value(_)));
    values.map(|(at, _)| at).nth(index)
}

fn nothing_there() -> Error {
    refused("the path leads to nothing in this file")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> TreePath {
        text.parse().unwrap()
    }

    #[test]
    fn paths_are_read_in_the_form_of_sops() {
        let steps = vec![Step::Name("a[b".to_owned()), Step::Name("c".to_owned()), Step::Index(0)];

        assert_eq!(path(r#"["a[b"]['c'][0]"#), TreePath(steps));
        for odd in ["", "a", "[0]", r#"["a""#, r#"["a"]x"#, r#"["a"][-1]"#, r#"["a"][99999999999999999999]"#]
        {
            assert_eq!(odd.parse::<TreePath>().unwrap_err().exit().0, 64, "{odd}");
        }
        assert!(r#"["a"]"#.repeat(1000).parse::<TreePath>().is_err());
    }

    #[test]
    fn missing_maps_are_made_and_scalars_make_way() {
        let mut document = vec![Item::Pair("a".to_owned(), Value::Int(1))];

        path(r#"["x"]["y"][7]"#).set(&mut document, Value::Int(2)).unwrap();
        path(r#"["a"]["b"]"#).set(&mut document, Value::Int(3)).unwrap();

        let list = Value::List(vec![ListEntry::Value(Value::Int(2))]);
        let pair = |name: &str, value| Item::Pair(name.to_owned(), value);
        let expected = vec![
            pair("a", Value::Map(vec![pair("b", Value::Int(3))])),
            pair("x", Value::Map(vec![pair("y", list)])),
        ];
        assert!(document == expected);
    }

    #[test]
    fn what_is_not_there_cannot_be_taken_away() {
        let list = Value::List(vec![ListEntry::Value(Value::Int(1)), ListEntry::Value(Value::Int(2))]);
        let mut document = vec![Item::Pair("l".to_owned(), list)];

        path(r#"["l"][0]"#).unset(&mut document).unwrap();

        assert!(
            document == vec![Item::Pair("l".to_owned(), Value::List(vec![ListEntry::Value(Value::Int(2))]))]
        );
        for odd in [r#"["l"][1]"#, r#"["m"]"#, r#"["l"]["x"]"#, r#"["l"][0][0]"#] {
            assert!(path(odd).unset(&mut document).is_err(), "{odd}");
        }
    }
}
