//! A value in a plan: JSON in which parts may not be known yet.
//!
//! tofu writes what is known and what is unknown as two documents of one shape; here they
//! are one. Pure.

use std::collections::BTreeMap;

use serde_json::Value;

/// Stands for what is not known yet, as tofu writes it for people.
pub(super) const UNKNOWN: &str = "(known after apply)";

/// A value of which parts may be unknown.
#[derive(Debug)]
pub(super) enum PlanValue<'a> {
    Unknown,
    /// Nothing, or an attribute that is not there.
    Null,
    /// A text, a number or a truth.
    Plain(&'a Value),
    List(Vec<Self>),
    Map(BTreeMap<&'a str, Self>),
}

/// What is not there.
static NULL: PlanValue<'static> = PlanValue::Null;

/// One step into a value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    Key(String),
    Index(usize),
}

/// The way to a part of a value.
pub(super) type Steps = Vec<Step>;

/// Returns a path of `replace_paths` as steps.
pub fn steps_of(path: &Value) -> Steps {
    let step = |part: &Value| match part {
        Value::String(key) => Some(Step::Key(key.clone())),
        Value::Number(index) => index.as_u64().and_then(|index| usize::try_from(index).ok()).map(Step::Index),
        _ => None,
    };
    path.as_array().into_iter().flatten().map_while(step).collect()
}

impl<'a> PlanValue<'a> {
    /// Puts a value and the marks of its unknown parts together.
    pub fn of(value: &'a Value, unknown: &'a Value) -> Self {
        match (value, unknown) {
            (_, Value::Bool(true)) => Self::Unknown,
            (Value::Object(_), _) | (Value::Null, Value::Object(_)) => Self::map(value, unknown),
            (Value::Array(_), _) => Self::list(value, unknown),
            (Value::Null, Value::Array(_)) if has_mark(unknown) => Self::list(value, unknown),
            (Value::Null, _) => Self::Null,
            (plain, _) => Self::Plain(plain),
        }
    }

    fn map(value: &'a Value, unknown: &'a Value) -> Self {
        let known = value.as_object().into_iter().flatten();
        let mut map: BTreeMap<&str, Self> =
            known.map(|(key, item)| (key.as_str(), Self::of(item, &unknown[key.as_str()]))).collect();
        for (key, mark) in unknown.as_object().into_iter().flatten().filter(|(_, mark)| has_mark(mark)) {
            map.entry(key).or_insert_with(|| Self::of(&Value::Null, mark));
        }
        // An object of which nothing is known to be there is none.
        if map.is_empty() && value.is_null() { Self::Null } else { Self::Map(map) }
    }

    fn list(value: &'a Value, unknown: &'a Value) -> Self {
        let items = |of: &'a Value| of.as_array().map(Vec::as_slice).unwrap_or_default();
        let (known, marks) = (items(value), items(unknown));
        let item = |index| {
            Self::of(known.get(index).unwrap_or(&Value::Null), marks.get(index).unwrap_or(&Value::Null))
        };
        Self::List((0..known.len().max(marks.len())).map(item).collect())
    }

    /// Returns the part that a step leads to.
    pub fn below(&self, step: &Step) -> &Self {
        let part = match (self, step) {
            (Self::Map(map), Step::Key(key)) => map.get(key.as_str()),
            (Self::List(items), Step::Index(index)) => items.get(*index),
            _ => None,
        };
        part.unwrap_or(&NULL)
    }

    /// Returns the steps into two values that can be compared part by part.
    pub fn common_steps(&self, other: &Self) -> Option<Steps> {
        match (self, other) {
            (Self::Map(one), Self::Map(two)) => {
                let more = two.keys().filter(|key| !one.contains_key(*key));
                Some(one.keys().chain(more).map(|key| Step::Key((*key).to_owned())).collect())
            }
            (Self::List(one), Self::List(two)) if one.len() == two.len() => {
                Some((0..one.len()).map(Step::Index).collect())
            }
            _ => None,
        }
    }

    /// Returns whether everything that is known here is the same there.
    pub fn allows(&self, now: &Self) -> bool {
        match (self, now) {
            (Self::Unknown, _) | (Self::Null, Self::Null) => true,
            (Self::Plain(one), Self::Plain(two)) => is_same(one, two),
            // Known to have parts, of which none is known.
            (Self::Map(map), Self::Unknown) => map.values().all(|item| item.allows(now)),
            (Self::List(items), Self::Unknown) => items.iter().all(|item| item.allows(now)),
            _ => match self.common_steps(now) {
                Some(steps) => steps.iter().all(|step| self.below(step).allows(now.below(step))),
                None => false,
            },
        }
    }

    /// Returns whether two values are known and the same.
    pub fn is(&self, other: &Self) -> bool {
        !self.has_unknown() && !other.has_unknown() && self.allows(other)
    }

    pub fn has_unknown(&self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Null | Self::Plain(_) => false,
            Self::List(items) => items.iter().any(Self::has_unknown),
            Self::Map(map) => map.values().any(Self::has_unknown),
        }
    }

    /// Returns the value with words for what is unknown.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Unknown => UNKNOWN.into(),
            Self::Null => Value::Null,
            Self::Plain(value) => (*value).clone(),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Map(map) => map.iter().map(|(key, item)| (*key, item.to_json())).collect(),
        }
    }
}

/// Returns a value as text: JSON, and words without quotation marks for what is unknown.
pub fn written(value: &Value) -> String {
    if value == UNKNOWN { UNKNOWN.to_owned() } else { value.to_string() }
}

impl Step {
    /// Writes a way as tofu does: `disk[0].size`, `tags["a b"]`.
    pub fn written(steps: &[Self]) -> String {
        let mut text = String::new();
        for step in steps {
            match step {
                Self::Index(index) => text.push_str(&format!("[{index}]")),
                Self::Key(key) if is_name(key) && text.is_empty() => text.push_str(key),
                Self::Key(key) if is_name(key) => text.push_str(&format!(".{key}")),
                Self::Key(key) => text.push_str(&format!("[{}]", Value::from(key.as_str()))),
            }
        }
        text
    }

    /// Returns the part of a document that the step leads to.
    pub fn follow<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        match self {
            Self::Key(key) => document.get(key),
            Self::Index(index) => document.get(index),
        }
    }
}

fn is_name(key: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-');
    key.starts_with(|char: char| char.is_alphabetic() || char == '_') && key.chars().all(is_part)
}

/// Returns whether a document of marks has any.
pub(super) fn has_mark(marks: &Value) -> bool {
    match marks {
        Value::Bool(mark) => *mark,
        Value::Array(items) => items.iter().any(has_mark),
        Value::Object(map) => map.values().any(has_mark),
        _ => false,
    }
}

/// Compares plain values; `1` and `1.0` are one number.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() && other.is_f64() => {
            one == other && is_exact(one)
        }
        (Value::Number(one), Value::Number(other)) => whole(one) == whole(other),
        _ => one == other,
    }
}

/// Returns whether a number was read without loss; of one that was not nobody can say that it is the same.
fn is_exact(number: &serde_json::Number) -> bool {
    number.as_f64().is_some_and(|number| number.abs() < 1e17)
}

/// Writes a number without a fraction of nothing.
fn whole(number: &serde_json::Number) -> String {
    let text = number.to_string();
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn allows(shown: (Value, Value), now: (Value, Value)) -> bool {
        PlanValue::of(&shown.0, &shown.1).allows(&PlanValue::of(&now.0, &now.1))
    }

    fn known(value: Value) -> (Value, Value) {
        (value, Value::Null)
    }

    #[test]
    fn what_was_unknown_may_be_anything() {
        let whole = (Value::Null, json!(true));
        let attribute = || (json!({"a": 1}), json!({"b": true}));
        let element = (json!(["x", null]), json!([false, true]));

        assert!(allows(whole, known(json!({"a": [1, 2]}))));
        assert!(allows(attribute(), known(json!({"a": 1, "b": "x"}))));
        assert!(allows(attribute(), known(json!({"a": 1}))));
        assert!(allows(element, known(json!(["x", "y"]))));
    }

    #[test]
    fn what_was_known_must_stay() {
        assert!(!allows(known(json!({"a": 1})), known(json!({"a": 2}))));
        assert!(!allows(known(json!(1)), (Value::Null, json!(true))));
        assert!(!allows(known(json!({"a": 1})), known(json!({"a": 1, "b": 2}))));
        assert!(!allows((json!([null, "x"]), json!([true, false])), known(json!(["y", "z"]))));
        assert!(!allows(known(json!("1")), known(json!(1))));
    }

    #[test]
    fn a_list_with_an_unknown_element_that_changes_its_length_is_another() {
        let shown = || (json!([null]), json!([true]));

        assert!(!allows(shown(), known(json!(["a", "b"]))));
        assert!(!allows(shown(), known(json!([]))));
        assert!(allows(shown(), (Value::Null, json!(true))));
    }

    #[test]
    fn nothing_is_the_same_as_an_attribute_that_is_not_there() {
        assert!(allows(known(json!({"a": 1, "b": null})), known(json!({"a": 1}))));
        assert!(allows(known(json!({"a": 1})), known(json!({"a": 1, "b": null}))));
    }

    #[test]
    fn a_number_is_the_same_however_it_is_written() {
        assert!(allows(known(json!(1)), known(json!(1.0))));
        assert!(!allows(known(json!(1)), known(json!(1.5))));
        assert!(!allows(known(json!(9_007_199_254_740_993_u64)), known(json!(9_007_199_254_740_992_u64))));
    }

    #[test]
    fn a_way_is_written_as_tofu_writes_it() {
        let key = |key: &str| Step::Key(key.to_owned());
        let steps = [key("disk"), Step::Index(0), key("size"), key("a b")];

        assert_eq!(Step::written(&steps), "disk[0].size[\"a b\"]");
    }
}
