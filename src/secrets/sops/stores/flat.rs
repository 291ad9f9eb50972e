//! Makes a tree flat and back, for the stores that cannot nest: `age__list_0__map_enc`.

use super::super::tree::{Entry, Item, Value};
use super::number;
use crate::error::{Error, Result};

const MAP: &str = "__map_";
const LIST: &str = "__list_";

/// Makes a map flat: every scalar below it gets a name that tells its path.
pub fn flatten(items: &[Item]) -> Vec<(String, Value)> {
    let mut flat = Vec::new();
    for item in items {
        if let Item::Pair(name, value) = item {
            flatten_value(name.clone(), value, &mut flat);
        }
    }
    flat
}

fn flatten_value(name: String, value: &Value, flat: &mut Vec<(String, Value)>) {
    match value {
        Value::Map(items) => {
            for item in items {
                if let Item::Pair(inner, value) = item {
                    flatten_value(format!("{name}{MAP}{inner}"), value, flat);
                }
            }
        }
        Value::List(entries) => {
            let values = entries.iter().filter_map(|entry| match entry {
                Entry::Value(value) => Some(value),
                Entry::Comment(_) => None,
            });
            for (at, value) in values.enumerate() {
                flatten_value(format!("{name}{LIST}{at}"), value, flat);
            }
        }
        value => flat.push((name, value.clone())),
    }
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Name(String),
    Index(usize),
}

/// Makes a flat map nested again; names keep the order in which they first appear.
pub fn unflatten(flat: Vec<(String, Value)>) -> Result<Vec<Item>> {
    let mut root = Vec::new();
    for (name, value) in flat {
        let mut steps = steps(&name)?.into_iter().peekable();
        let Some(Step::Name(first)) = steps.next() else { return Err(misfit(&name)) };
        put_in_map(&mut root, first, &mut steps, value).ok_or_else(|| misfit(&name))?;
    }
    Ok(root)
}

fn misfit(name: &str) -> Error {
    Error::invalid(format!("the metadata key `{name}` does not fit those before it"))
}

type Steps = std::iter::Peekable<std::vec::IntoIter<Step>>;

fn put_in_map(items: &mut Vec<Item>, name: String, steps: &mut Steps, value: Value) -> Option<()> {
    let found = items.iter_mut().find_map(|item| match item {
        Item::Pair(known, value) if *known == name => Some(value),
        Item::Pair(..) | Item::Comment(_) => None,
    });
    match found {
        Some(found) => put_into(found, steps, value),
        None => {
            let mut made = Value::Null;
            put_new(&mut made, steps, value)?;
            items.push(Item::Pair(name, made));
            Some(())
        }
    }
}

/// Makes what a path needs and puts the value at its end.
fn put_new(made: &mut Value, steps: &mut Steps, value: Value) -> Option<()> {
    *made = match steps.peek() {
        None => {
            *made = value;
            return Some(());
        }
        Some(Step::Name(_)) => Value::Map(Vec::new()),
        Some(Step::Index(_)) => Value::List(Vec::new()),
    };
    put_into(made, steps, value)
}

/// Puts a value below another; a path that ends here or bends otherwise does not fit.
fn put_into(place: &mut Value, steps: &mut Steps, value: Value) -> Option<()> {
    match (place, steps.next()?) {
        (Value::Map(items), Step::Name(name)) => put_in_map(items, name, steps, value),
        (Value::List(entries), Step::Index(at)) => put_in_list(entries, at, steps, value),
        _ => None,
    }
}

fn put_in_list(entries: &mut Vec<Entry>, at: usize, steps: &mut Steps, value: Value) -> Option<()> {
    if at == entries.len() {
        let mut made = Value::Null;
        put_new(&mut made, steps, value)?;
        entries.push(Entry::Value(made));
        return Some(());
    }
    match entries.get_mut(at)? {
        Entry::Value(found) => put_into(found, steps, value),
        Entry::Comment(_) => None,
    }
}

fn steps(name: &str) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    let (mut rest, mut in_list) = (name, false);
    loop {
        let next = [rest.find(MAP).map(|at| (at, MAP)), rest.find(LIST).map(|at| (at, LIST))];
        let next = next.into_iter().flatten().min_by_key(|(at, _)| *at);
        let step = &rest[..next.map_or(rest.len(), |(at, _)| at)];
        steps.push(match in_list {
            true => Step::Index(step.parse().map_err(|_| misfit(name))?),
            false => Step::Name(step.to_owned()),
        });
        let Some((at, separator)) = next else { return Ok(steps) };
        in_list = separator == LIST;
        rest = &rest[at + separator.len()..];
    }
}

/// Writes a scalar as the flat stores do; maps and lists have no such form.
pub(super) fn plain(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => "<nil>".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number::flat_float(*number),
        Value::Time(time) => time.clone(),
        Value::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Map(_) | Value::List(_) => return None,
    })
}

/// Replaces every occurrence of a few bytes.
pub(super) fn replace(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        if let Some(after) = rest.strip_prefix(old) {
            out.extend(new);
            rest = after;
        } else {
            out.push(*first);
            rest = &rest[1..];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(names: &[&str]) -> Vec<(String, Value)> {
        names.iter().map(|name| ((*name).to_owned(), Value::text(*name))).collect()
    }

    #[test]
    fn a_flat_map_nests_and_becomes_flat_again_in_its_order() {
        let names = [
            "version",
            "age__list_0__map_enc",
            "age__list_0__map_recipient",
            "age__list_1__map_enc",
            "a__map_b",
        ];

        let nested = unflatten(flat(&names)).unwrap();

        assert_eq!(nested.len(), 3);
        assert_eq!(flatten(&nested), flat(&names));
    }

    #[test]
    fn names_that_contradict_each_other_are_refused() {
        for names in [["a", "a"], ["a", "a__map_b"], ["a__list_0", "a__map_b"], ["a__list_0", "a__list_2"]] {
            assert!(unflatten(flat(&names)).is_err(), "{names:?}");
        }

        assert!(unflatten(flat(&["a__list_x"])).is_err());
    }
}
