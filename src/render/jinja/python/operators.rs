//! The operators that minijinja lacks or does otherwise, as functions: the rewriter turns
//! `a % b` into `__mod(a, b)`.
//!
//! Undefined values fail in arithmetic, whatever the mode: so does Jinja2.

use std::cmp::Ordering;

use minijinja::value::{Rest, Tuple, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior};

use super::arguments::Given;
use super::dict::{Dict, pairs_of};
use super::list::{List, MAX_ITEMS};
use super::number::{as_float, as_int, int_value};
use super::{defined, format, items_of, text};
use crate::render::jinja::fault::fault;
use crate::render::jinja::limits::MAX_TEXT;

/// Adds the functions that rewritten templates call.
pub fn add_to(env: &mut Environment<'_>) {
    env.add_function("__list", list);
    env.add_function("__dict", dict);
    env.add_function("dict", new_dict);
    env.add_function("__concat", concat);
    env.add_function("__add", add_all);
    env.add_function("__mul", mul);
    env.add_function("__mod", modulo);
    env.add_function("__pow", pow);
    env.add_function("__neg", neg);
    env.add_function("__slice", slice);
    env.add_function("__compare", compare);
}

fn list(state: &State<'_, '_>, literal: Value) -> Result<Value, Error> {
    Ok(List::value(items_of(state, &literal)?))
}

fn dict(state: &State<'_, '_>, literal: Value) -> Result<Value, Error> {
    Ok(Dict::value(pairs_of(state, &literal)?))
}

/// `dict(map_or_pairs, name=value)`.
fn new_dict(state: &State<'_, '_>, args: Given) -> Result<Value, Error> {
    let mut pairs = Vec::new();
    for each in args.into_values() {
        pairs.extend(pairs_of(state, &each)?);
    }
    Ok(Dict::value(pairs))
}

fn concat(state: &State<'_, '_>, parts: Rest<Value>) -> Result<Value, Error> {
    let mut out = String::new();
    for part in parts.iter() {
        defined(state, part)?;
        match part.as_str() {
            Some(text) => out.push_str(text),
            None => out.push_str(&text::string(part)),
        }
        check_text(out.len())?;
    }
    Ok(Value::from(out))
}

/// Fails where a text would be larger than any file that is worth to be rendered.
pub fn check_text(len: usize) -> Result<(), Error> {
    if len > MAX_TEXT { Err(fault("a text grew too large")) } else { Ok(()) }
}

/// `a + b + c`, from the left.
fn add_all(items: Rest<Value>) -> Result<Value, Error> {
    let mut items = items.0.into_iter();
    let first = items.next().unwrap_or_default();
    items.try_fold(first, add)
}

/// `left + right`: numbers, texts, lists with lists and tuples with tuples.
pub fn add(left: Value, right: Value) -> Result<Value, Error> {
    if let (Some(left), Some(right)) = (as_int(&left), as_int(&right)) {
        return left.checked_add(right).map(int_value).ok_or_else(overflow);
    }
    if let (Some(left), Some(right)) = (as_float(&left), as_float(&right)) {
        return Ok(Value::from(left + right));
    }
    if let (Some(left), Some(right)) = (left.as_str(), right.as_str()) {
        check_text(left.len() + right.len())?;
        return Ok(Value::from([left, right].concat()));
    }
    match (sequence(&left)?, sequence(&right)?) {
        (Some(mut items), Some(more)) if left.is_tuple() == right.is_tuple() => {
            check_items(items.len() + more.len())?;
            items.extend(more);
            Ok(like(&left, items))
        }
        _ => Err(unsupported("+", &left, &right)),
    }
}

fn mul(left: Value, right: Value) -> Result<Value, Error> {
    if let (Some(left), Some(right)) = (as_int(&left), as_int(&right)) {
        return left.checked_mul(right).map(int_value).ok_or_else(overflow);
    }
    if let (Some(left), Some(right)) = (as_float(&left), as_float(&right)) {
        return Ok(Value::from(left * right));
    }
    let (what, times) = match (as_int(&left), as_int(&right)) {
        (None, Some(times)) => (&left, times),
        (Some(times), None) => (&right, times),
        _ => return Err(unsupported("*", &left, &right)),
    };
    let times = usize::try_from(times.max(0)).map_err(|_| overflow())?;
    if let Some(text) = what.as_str() {
        check_text(text.len().saturating_mul(times))?;
        return Ok(Value::from(text.repeat(times)));
    }
    let items = sequence(what)?.ok_or_else(|| unsupported("*", &left, &right))?;
    check_items(items.len().saturating_mul(times))?;
    let repeated = std::iter::repeat_n(items, times).flatten().collect();
    Ok(like(what, repeated))
}

fn modulo(left: Value, right: Value) -> Result<Value, Error> {
    if let Some(pattern) = left.as_str() {
        return format::percent(pattern, &right).map(Value::from);
    }
    if let (Some(left), Some(right)) = (as_int(&left), as_int(&right)) {
        return remainder(left, right).map(int_value).ok_or_else(by_zero);
    }
    match (as_float(&left), as_float(&right)) {
        (Some(_), Some(0.0)) => Err(by_zero()),
        (Some(left), Some(right)) => Ok(Value::from(left - right * (left / right).floor())),
        _ => Err(unsupported("%", &left, &right)),
    }
}

/// Returns the remainder with the sign of the divisor.
fn remainder(left: i128, right: i128) -> Option<i128> {
    let rest = left.checked_rem(right)?;
    Some(if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest })
}

fn pow(left: Value, right: Value) -> Result<Value, Error> {
    if let (Some(base), Some(exponent)) = (as_int(&left), as_int(&right))
        && exponent >= 0
    {
        let exponent = u32::try_from(exponent).map_err(|_| overflow())?;
        return base.checked_pow(exponent).map(int_value).ok_or_else(overflow);
    }
    match (as_float(&left), as_float(&right)) {
        (Some(base), Some(exponent)) if base != 0.0 || exponent >= 0.0 => {
            Ok(Value::from(base.powf(exponent)))
        }
        (Some(_), Some(_)) => Err(by_zero()),
        _ => Err(unsupported("**", &left, &right)),
    }
}

fn neg(value: Value) -> Result<Value, Error> {
    if let Some(number) = as_int(&value) {
        return number.checked_neg().map(int_value).ok_or_else(overflow);
    }
    match as_float(&value) {
        Some(number) => Ok(Value::from(-number)),
        None if value.is_undefined() => Err(Error::from(ErrorKind::UndefinedError)),
        None => Err(fault(format!("a {} has no negative", value.kind()))),
    }
}

/// `left < right` and the like: only what Python can order.
fn compare(sign: &str, left: Value, right: Value) -> Result<bool, Error> {
    let order = order(&left, &right).ok_or_else(|| unsupported(sign, &left, &right))?;
    Ok(match sign {
        "<" => order == Some(Ordering::Less),
        "<=" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        ">" => order == Some(Ordering::Greater),
        _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}

/// Returns how two values stand, if they can be compared at all; not-a-number stands nowhere.
fn order(left: &Value, right: &Value) -> Option<Option<Ordering>> {
    if let (Some(left), Some(right)) = (as_int(left), as_int(right)) {
        return Some(Some(left.cmp(&right)));
    }
    if let (Some(left), Some(right)) = (as_float(left), as_float(right)) {
        return Some(left.partial_cmp(&right));
    }
    let alike = left.kind() == right.kind() && left.is_tuple() == right.is_tuple();
    let ordered = matches!(left.kind(), ValueKind::String | ValueKind::Seq | ValueKind::Iterable);
    (alike && ordered).then(|| Some(left.cmp(right)))
}

/// `what[start:stop:step]` with Python's clamping.
fn slice(
    state: &State<'_, '_>,
    what: Value,
    start: Value,
    stop: Value,
    step: Option<Value>,
) -> Result<Value, Error> {
    if what.is_undefined() {
        // Only in this mode is there something below an undefined value: another one.
        return match state.undefined_behavior() {
            UndefinedBehavior::Chainable => Ok(what),
            _ => Err(Error::from(ErrorKind::UndefinedError)),
        };
    }
    let text = what.as_str().map(|text| text.chars().map(Value::from).collect::<Vec<_>>());
    let items = match text {
        Some(chars) => chars,
        None => match sequence(&what)? {
            Some(items) => items,
            // What has no items has no part either, as with a single index.
            None => return Ok(Value::UNDEFINED),
        },
    };
    let step = bound(&step.unwrap_or_default())?.unwrap_or(1);
    let picked = pick(&items, bound(&start)?, bound(&stop)?, step)?;
    match what.as_str() {
        Some(_) => Ok(Value::from(picked.iter().filter_map(Value::as_str).collect::<String>())),
        None => Ok(like(&what, picked)),
    }
}

fn bound(value: &Value) -> Result<Option<i64>, Error> {
    if value.is_none() || value.is_undefined() {
        return Ok(None);
    }
    let number = as_int(value).ok_or_else(|| fault("a slice is made of whole numbers"))?;
    Ok(Some(number.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64))
}

fn pick(items: &[Value], start: Option<i64>, stop: Option<i64>, step: i64) -> Result<Vec<Value>, Error> {
    let len = items.len() as i64;
    let from_end = |at: i64| if at < 0 { at.saturating_add(len) } else { at };
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let at = |bound: Option<i64>, default: i64| bound.map_or(default, |at| from_end(at).clamp(low, high));
    let (first, last) = match step {
        0 => return Err(fault("the step of a slice is not 0")),
        1.. => (at(start, low), at(stop, high)),
        _ => (at(start, high), at(stop, low)),
    };
    let mut picked = Vec::new();
    let mut place = first;
    while if step > 0 { place < last } else { place > last } {
        picked.extend(usize::try_from(place).ok().and_then(|place| items.get(place)).cloned());
        place = place.saturating_add(step);
    }
    Ok(picked)
}

/// Returns the items of a list, a tuple or another sequence; `None` for anything else.
fn sequence(value: &Value) -> Result<Option<Vec<Value>>, Error> {
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Ok(None);
    }
    value.try_iter()?.checked().collect::<Result<_, _>>().map(Some)
}

fn like(what: &Value, items: Vec<Value>) -> Value {
    if what.is_tuple() { Value::from(Tuple::from(items)) } else { List::value(items) }
}

fn check_items(count: usize) -> Result<(), Error> {
    if count > MAX_ITEMS { Err(fault("a list grew too large")) } else { Ok(()) }
}

fn unsupported(operator: &str, left: &Value, right: &Value) -> Error {
    if left.is_undefined() || right.is_undefined() {
        return Error::from(ErrorKind::UndefinedError);
    }
    fault(format!("`{operator}` does not work between a {} and a {}", left.kind(), right.kind()))
}

fn overflow() -> Error {
    fault("a number grew too large")
}

fn by_zero() -> Error {
    fault("division by zero")
}
