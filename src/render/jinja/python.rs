//! What Python does with values that minijinja does otherwise: lists and maps that a template
//! can change, the text forms of numbers and collections, operators and methods.
//!
//! Templates were written for Jinja2, whose values are Python's. Everything here works on
//! minijinja's [`minijinja::Value`] and reads no file.

mod arguments;
mod dict;
mod fields;
mod format;
mod list;
mod methods;
mod number;
mod objects;
mod operators;
mod pretty;
mod range;
mod text;

pub use arguments::{Arguments, Given};
pub use dict::{Dict, pairs_of};
pub use format::percent;
pub use list::List;
pub use methods::call as call_method;
pub use number::{as_float, as_int, float_text, int_value, parse_float, parse_int, round_half_even};
pub use objects::{Group, Joiner};
pub use operators::{add, check_text};
pub use pretty::pretty;
pub use text::string;

use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, State, UndefinedBehavior};

use super::fault::fault;

/// Adds the operators, objects and functions of Python to an engine.
pub fn add_to(env: &mut Environment<'_>) {
    operators::add_to(env);
    objects::add_to(env);
    range::add_to(env);
}

/// Turns data into values: maps and lists become those that a template can change.
pub fn from_json(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::from(()),
        serde_json::Value::Bool(truth) => Value::from(*truth),
        serde_json::Value::Number(number) => from_number(number),
        serde_json::Value::String(text) => Value::from(text.as_str()),
        serde_json::Value::Array(items) => List::value(items.iter().map(from_json).collect()),
        serde_json::Value::Object(map) => {
            Dict::value(map.iter().map(|(key, value)| (Value::from(key.as_str()), from_json(value))))
        }
    }
}

fn from_number(number: &serde_json::Number) -> Value {
    if let Some(whole) = number.as_i64() {
        return Value::from(whole);
    }
    if let Some(whole) = number.as_u64() {
        return Value::from(whole);
    }
    Value::from(number.as_f64().unwrap_or(f64::NAN))
}

/// Fails where an undefined value is not allowed to be used.
pub fn defined(state: &State<'_, '_>, value: &Value) -> Result<(), Error> {
    let strict =
        !matches!(state.undefined_behavior(), UndefinedBehavior::Lenient | UndefinedBehavior::Chainable);
    if strict && value.is_undefined() {
        return Err(Error::from(minijinja::ErrorKind::UndefinedError));
    }
    Ok(())
}

/// Returns the items of anything that Python would iterate over, a text by its characters.
pub fn items_of(state: &State<'_, '_>, value: &Value) -> Result<Vec<Value>, Error> {
    defined(state, value)?;
    if value.is_undefined() {
        return Ok(Vec::new());
    }
    if let Some(text) = value.as_str() {
        return Ok(text.chars().map(Value::from).collect());
    }
    if value.is_none() {
        return Err(fault("none cannot be iterated over"));
    }
    let iter = value.try_iter().map_err(|_| fault(format!("a {} cannot be iterated over", value.kind())))?;
    iter.checked().collect()
}

/// Parts the arguments of a call into those by place and those by name.
pub fn split_arguments(args: &[Value]) -> (&[Value], Option<Kwargs>) {
    match args.split_last() {
        Some((last, rest)) if last.is_kwargs() => (rest, Kwargs::try_from(last.clone()).ok()),
        _ => (args, None),
    }
}
