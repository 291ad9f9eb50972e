//! Makes a tree flat and back, for the stores that cannot nest: `age__list_0__map_enc`.

use std::collections::{BTreeMap, HashMap};

use super::number;
use crate::error::{Error, Result};
use crate::secrets::sops::tree::{Item, ListEntry, Value};

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
                ListEntry::Value(value) => Some(value),
                ListEntry::Comment(_) => None,
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
///
/// The names may come in any order: sops before 3.13 writes those of a list as its hash table has
/// them, `__list_2` before `__list_0`.
pub fn unflatten(flat: Vec<(String, Value)>) -> Result<Vec<Item>> {
    let mut root = Map::default();
    for (name, value) in flat {
        let mut steps = steps(&name)?.into_iter();
        let Some(Step::Name(first)) = steps.next() else { return Err(misfit(&name)) };
        root.place(first).put(steps, value).ok_or_else(|| misfit(&name))?;
    }
    root.into_items("")
}

fn misfit(name: &str) -> Error {
    Error::invalid(format!("the metadata key `{name}` does not fit the others"))
}

/// What grows while names are read.
#[derive(Debug, Default)]
enum Growth {
    /// Nothing has been put here yet.
    #[default]
    Empty,
    Value(Value),
    Map(Map),
    /// By position, for the first may come last.
    List(BTreeMap<usize, Growth>),
}

/// A map that finds its names fast and keeps their order.
#[derive(Debug, Default)]
struct Map {
    at: HashMap<String, usize>,
    entries: Vec<(String, Growth)>,
}

impl Growth {
    /// Puts a value at the end of a path; `None` if the path does not fit to an earlier one.
    fn put(&mut self, steps: impl Iterator<Item = Step>, value: Value) -> Option<()> {
        let mut place = self;
        for step in steps {
            if matches!(place, Self::Empty) {
                *place = match step {
                    Step::Name(_) => Self::Map(Map::default()),
                    Step::Index(_) => Self::List(BTreeMap::new()),
                };
            }
            place = match (place, step) {
                (Self::Map(map), Step::Name(name)) => map.place(name),
                (Self::List(entries), Step::Index(at)) => entries.entry(at).or_default(),
                _ => return None,
            };
        }
        matches!(place, Self::Empty).then(|| *place = Self::Value(value))
    }

    /// Returns the finished value; `path` is the name of what leads here.
    fn into_value(self, path: &str) -> Result<Value> {
        Ok(match self {
            Self::Empty => Value::Null,
            Self::Value(value) => value,
            Self::Map(map) => Value::Map(map.into_items(&format!("{path}{MAP}"))?),
            Self::List(entries) => Value::List(whole_list(entries, path)?),
        })
    }
}

impl Map {
    fn place(&mut self, name: String) -> &mut Growth {
        let next = self.entries.len();
        let at = *self.at.entry(name.clone()).or_insert(next);
        if at == next {
            self.entries.push((name, Growth::Empty));
        }
        &mut self.entries[at].1
    }

    fn into_items(self, prefix: &str) -> Result<Vec<Item>> {
        let item = |(name, growth): (String, Growth)| {
            let value = growth.into_value(&format!("{prefix}{name}"))?;
            Ok(Item::Pair(name, value))
        };
        self.entries.into_iter().map(item).collect()
    }
}

/// Returns the entries of a list that has one at every position.
fn whole_list(entries: BTreeMap<usize, Growth>, path: &str) -> Result<Vec<ListEntry>> {
    let mut whole = Vec::with_capacity(entries.len());
    for (expected, (at, growth)) in entries.into_iter().enumerate() {
        if at != expected {
            let message = format!("the metadata has `{path}{LIST}{at}` and no `{path}{LIST}{expected}`");
            return Err(Error::invalid(message));
        }
        whole.push(ListEntry::Value(growth.into_value(&format!("{path}{LIST}{at}"))?));
    }
    Ok(whole)
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
        let gap = unflatten(flat(&["a__map_b__list_1", "a__map_b__list_0", "a__map_b__list_3"]));
        assert!(gap.unwrap_err().message().contains("no `a__map_b__list_2`"));
    }

    #[test]
    fn the_order_of_names_is_free() {
        let (mut names, mut nested) = (Vec::new(), None);
        for group in 0..12 {
            for key in 0..11 {
                names.push(format!("key_groups__list_{group}__map_age__list_{key}__map_enc"));
                names.push(format!("key_groups__list_{group}__map_age__list_{key}__map_recipient"));
            }
        }
        // Each step visits every name once, in another order.
        for stride in [1, 5, 7, 13, 263] {
            let shuffled = (0..names.len()).map(|at| names[at * stride % names.len()].as_str());

            let mut flat = flatten(&unflatten(flat(&shuffled.collect::<Vec<_>>())).unwrap());

            flat.sort_by(|one, other| one.0.cmp(&other.0));
            assert_eq!(nested.get_or_insert_with(|| flat.clone()), &flat, "{stride}");
            assert_eq!(flat.len(), names.len());
        }
    }
}
