//! Python's methods of texts and numbers; lists and maps bring their own.
//!
//! What is not here is minijinja-contrib's, whose methods know no lists that can change.

use minijinja::value::{Rest, Tuple, Value, ValueKind, from_args};
use minijinja::{Error, State};
use minijinja_contrib::pycompat::unknown_method_callback;

use super::list::List;
use super::number::as_float;
use super::operators::check_text;
use super::{fields, items_of, split_arguments, text};
use crate::render::jinja::fault::fault;

/// Calls a method of a value that has none of its own.
pub fn call(state: &mut State<'_, '_>, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let own = match value.as_str() {
        Some(text) => text_method(state, text, method, args)?,
        None if value.is_number() => number_method(value, method),
        None => None,
    };
    if let Some(result) = own {
        return Ok(result);
    }
    let formatted = value.as_str().filter(|_| method == "format");
    if let Some((pattern, args)) = formatted.and_then(|pattern| fields::converted(pattern, args)) {
        return unknown_method_callback(state, &Value::from(pattern), method, &args);
    }
    match unknown_method_callback(state, value, method, args) {
        // Methods that return many return what a template can change.
        Ok(result) if result.kind() == ValueKind::Seq && !result.is_tuple() => {
            Ok(List::value(result.try_iter()?.collect()))
        }
        other => other,
    }
}

fn number_method(value: &Value, method: &str) -> Option<Value> {
    match method {
        "is_integer" => as_float(value).map(|number| Value::from(number.fract() == 0.0)),
        "bit_length" => i128::try_from(value.clone()).ok().map(|number| {
            let size = number.unsigned_abs();
            Value::from(u128::BITS - size.leading_zeros())
        }),
        _ => None,
    }
}

fn text_method(
    state: &State<'_, '_>,
    text: &str,
    method: &str,
    args: &[Value],
) -> Result<Option<Value>, Error> {
    Ok(Some(match method {
        "split" => split(text, args, Side::Left)?,
        "rsplit" => split(text, args, Side::Right)?,
        "splitlines" => lines(text, args)?,
        "partition" => parted(text, text.split_once(separator(args)?), separator(args)?, Side::Left),
        "rpartition" => parted(text, text.rsplit_once(separator(args)?), separator(args)?, Side::Right),
        "title" => Value::from(title(text)),
        "swapcase" => Value::from(swap_case(text)),
        "casefold" => Value::from(text.to_lowercase()),
        "zfill" | "ljust" | "rjust" | "center" => Value::from(justify(text, method, args)?),
        "removeprefix" => Value::from(text.strip_prefix(separator(args)?).unwrap_or(text)),
        "removesuffix" => Value::from(text.strip_suffix(separator(args)?).unwrap_or(text)),
        "isdecimal" | "isdigit" | "isnumeric" => {
            Value::from(!text.is_empty() && text.chars().all(char::is_numeric))
        }
        "find" | "rfind" | "index" | "rindex" => find(text, method, args)?,
        "startswith" | "endswith" => begins_or_ends(state, text, method, args)?,
        "count" => {
            let what = wanted(args)?.as_str().unwrap_or_default();
            Value::from(within(text, args)?.0.matches(what).count())
        }
        "expandtabs" => Value::from(text.replace('\t', "        ")),
        "join" => join(state, text, args)?,
        "replace" => replace(text, args)?,
        _ => return Ok(None),
    }))
}

/// From which end a text is cut.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

fn separator(args: &[Value]) -> Result<&str, Error> {
    let (separator,): (&str,) = from_args(args)?;
    Ok(separator)
}

fn split(text: &str, args: &[Value], side: Side) -> Result<Value, Error> {
    let (plain, named) = split_arguments(args);
    let by_name = |name: &str| named.as_ref().and_then(|named| named.get::<Value>(name).ok());
    let separator = plain.first().cloned().or_else(|| by_name("sep")).unwrap_or_default();
    let most = plain.get(1).cloned().or_else(|| by_name("maxsplit")).and_then(|most| most.as_i64());
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    let parts = match separator.as_str() {
        Some("") => return Err(fault("a text cannot be split by nothing")),
        Some(separator) => cut(text, separator, most, side),
        None => words(text, most, side),
    };
    Ok(List::value(parts.into_iter().map(Value::from).collect()))
}

fn cut<'a>(text: &'a str, separator: &str, most: usize, side: Side) -> Vec<&'a str> {
    let pieces = most.saturating_add(1);
    match side {
        Side::Left => text.splitn(pieces, separator).collect(),
        Side::Right => {
            let mut parts: Vec<&str> = text.rsplitn(pieces, separator).collect();
            parts.reverse();
            parts
        }
    }
}

/// Splits at runs of white space; the part that is left whole keeps its own.
fn words(text: &str, most: usize, side: Side) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = match side {
        Side::Left => text.trim_start(),
        Side::Right => text.trim_end(),
    };
    while parts.len() < most && !rest.is_empty() {
        let found = match side {
            Side::Left => rest.split_once(char::is_whitespace).map(|(word, left)| (word, left.trim_start())),
            Side::Right => rest.rsplit_once(char::is_whitespace).map(|(left, word)| (word, left.trim_end())),
        };
        let (word, left) = found.unwrap_or((rest, ""));
        parts.push(word);
        rest = left;
    }
    parts.extend(Some(rest).filter(|rest| !rest.is_empty()));
    if matches!(side, Side::Right) {
        parts.reverse();
    }
    parts
}

fn lines(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (keep,): (Option<bool>,) = from_args(args)?;
    let keep = keep.unwrap_or(false);
    let lines = text.split_inclusive('\n').map(|line| match keep {
        true => line,
        false => line.trim_end_matches('\n').trim_end_matches('\r'),
    });
    Ok(List::value(lines.map(Value::from).collect()))
}

fn parted(text: &str, found: Option<(&str, &str)>, separator: &str, side: Side) -> Value {
    let parts = match (found, side) {
        (Some((before, after)), _) => [before, separator, after],
        (None, Side::Left) => [text, "", ""],
        (None, Side::Right) => ["", "", text],
    };
    Value::from(Tuple::from(parts.map(Value::from)))
}

/// `str.title`: a letter after anything that is no letter is large.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for char in text.chars() {
        match inside {
            true => out.extend(char.to_lowercase()),
            false => out.extend(char.to_uppercase()),
        }
        inside = char.is_alphabetic();
    }
    out
}

fn swap_case(text: &str) -> String {
    let swap = |char: char| -> String {
        if char.is_uppercase() { char.to_lowercase().collect() } else { char.to_uppercase().collect() }
    };
    text.chars().map(swap).collect()
}

fn justify(text: &str, method: &str, args: &[Value]) -> Result<String, Error> {
    let (width, fill): (usize, Option<char>) = from_args(args)?;
    check_text(width)?;
    let missing = width.saturating_sub(text.chars().count());
    let fill = |count: usize| fill.unwrap_or(' ').to_string().repeat(count);
    Ok(match method {
        "ljust" => format!("{text}{}", fill(missing)),
        "rjust" => format!("{}{text}", fill(missing)),
        "center" => {
            // Python puts the odd one to the left only where the width is odd too.
            let left = missing / 2 + (missing & width & 1);
            format!("{}{text}{}", fill(left), fill(missing - left))
        }
        _ => {
            let digits = text.trim_start_matches(['+', '-']);
            let (sign, digits) = text.split_at(text.len() - digits.len().max(text.len().saturating_sub(1)));
            format!("{sign}{}{digits}", "0".repeat(missing))
        }
    })
}

/// Returns the part of a text between the second and third arguments, and how many characters stand
/// before it.
fn within<'a>(text: &'a str, args: &[Value]) -> Result<(&'a str, usize), Error> {
    let len = text.chars().count();
    let bound = |at: usize, default: usize| -> Result<usize, Error> {
        let Some(value) = args.get(at).filter(|value| !value.is_none()) else { return Ok(default) };
        let place = value.as_i64().ok_or_else(|| fault("expected a whole number"))?;
        let place = if place < 0 { place.saturating_add_unsigned(len as u64) } else { place };
        Ok(usize::try_from(place.max(0)).unwrap_or(len).min(len))
    };
    let (start, end) = (bound(1, 0)?, bound(2, len)?);
    let byte = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte);
    Ok((text.get(byte(start)..byte(end)).unwrap_or_default(), start))
}

fn wanted(args: &[Value]) -> Result<&Value, Error> {
    args.first().ok_or_else(|| fault("expected a text to look for"))
}

fn find(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (part, before) = within(text, args)?;
    let what = wanted(args)?.as_str().ok_or_else(|| fault("expected a text to look for"))?;
    let found = if method.starts_with('r') { part.rfind(what) } else { part.find(what) };
    match found {
        Some(at) => Ok(Value::from(before + part[..at].chars().count())),
        None if method.ends_with("find") => Ok(Value::from(-1)),
        None => Err(fault("the text has no such part")),
    }
}

fn begins_or_ends(state: &State<'_, '_>, text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (part, _) = within(text, args)?;
    let wanted = wanted(args)?;
    let candidates = match wanted.as_str() {
        Some(_) => vec![wanted.clone()],
        None => items_of(state, wanted)?,
    };
    let fits =
        |what: &str| if method == "startswith" { part.starts_with(what) } else { part.ends_with(what) };
    Ok(Value::from(candidates.iter().filter_map(Value::as_str).any(fits)))
}

fn join(state: &State<'_, '_>, separator: &str, args: &[Value]) -> Result<Value, Error> {
    let (values,): (Value,) = from_args(args)?;
    let parts: Vec<String> = items_of(state, &values)?.iter().map(text::string).collect();
    check_text(parts.iter().map(|part| part.len() + separator.len()).sum())?;
    Ok(Value::from(parts.join(separator)))
}

fn replace(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (old, new, rest): (&str, &str, Rest<i64>) = from_args(args)?;
    let count = rest.first().copied().unwrap_or(-1);
    let replaced = match usize::try_from(count) {
        Ok(count) => text.replacen(old, new, count),
        Err(_) => text.replace(old, new),
    };
    check_text(replaced.len())?;
    Ok(Value::from(replaced))
}
