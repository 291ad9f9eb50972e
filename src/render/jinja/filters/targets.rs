//! Values written so that they arrive intact in another language: `hcl` and `yaml`.

use std::fmt::Write as _;

use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, State};

use crate::render::jinja::fault::fault;
use crate::render::jinja::python::{as_float, defined, float_text, items_of, pairs_of};

/// How deep collections may be nested.
const MAX_DEPTH: usize = 100;

/// Adds the filters.
pub fn add_to(env: &mut Environment<'_>) {
    env.add_filter("hcl", |state: &State<'_, '_>, value: Value| written(state, &value, Target::Hcl));
    env.add_filter("yaml", |state: &State<'_, '_>, value: Value| written(state, &value, Target::Yaml));
}

/// The language that a value is written in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Target {
    Hcl,
    Yaml,
}

fn written(state: &State<'_, '_>, value: &Value, target: Target) -> Result<Value, Error> {
    let mut out = String::new();
    write(state, value, target, &mut out, 0)?;
    Ok(Value::from(out))
}

fn write(
    state: &State<'_, '_>,
    value: &Value,
    target: Target,
    out: &mut String,
    depth: usize,
) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(fault("a value is nested too deep"));
    }
    defined(state, value)?;
    match value.kind() {
        ValueKind::None | ValueKind::Undefined => out.push_str("null"),
        ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
        ValueKind::Number => out.push_str(&number(value)?),
        ValueKind::String => quote(value.as_str().unwrap_or_default(), target, out),
        ValueKind::Map => map(state, value, target, out, depth)?,
        ValueKind::Seq | ValueKind::Iterable => {
            out.push('[');
            for (at, item) in items_of(state, value)?.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write(state, item, target, out, depth + 1)?;
            }
            out.push(']');
        }
        kind => return Err(fault(format!("a {kind} cannot be written"))),
    }
    Ok(())
}

fn number(value: &Value) -> Result<String, Error> {
    if value.is_integer() {
        return Ok(value.to_string());
    }
    match as_float(value).filter(|number| number.is_finite()) {
        Some(number) => Ok(float_text(number)),
        None => Err(fault("a number that is not finite cannot be written")),
    }
}

fn map(
    state: &State<'_, '_>,
    value: &Value,
    target: Target,
    out: &mut String,
    depth: usize,
) -> Result<(), Error> {
    let (open, between, close) = match target {
        Target::Hcl => ("{ ", " = ", " }"),
        Target::Yaml => ("{", ": ", "}"),
    };
    let pairs = pairs_of(state, value)?;
    if pairs.is_empty() {
        out.push_str("{}");
        return Ok(());
    }
    out.push_str(open);
    for (at, (key, value)) in pairs.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        write(state, key, target, out, depth + 1)?;
        out.push_str(between);
        write(state, value, target, out, depth + 1)?;
    }
    out.push_str(close);
    Ok(())
}

/// Quotes a text; HCL would read `${` and `%{` as the begin of an expression.
fn quote(text: &str, target: Target, out: &mut String) {
    out.push('"');
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' | '%' if target == Target::Hcl && chars.peek() == Some(&'{') => out.extend([char, char]),
            _ if char.is_control() || matches!(char, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                // Both languages have four digits for what is this small.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            _ => out.push(char),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_backslashes_and_interpolation_arrive_intact() {
        let (mut hcl, mut yaml) = (String::new(), String::new());
        let text = "a\"b\\c ${x} %{y} $5\n'";

        quote(text, Target::Hcl, &mut hcl);
        quote(text, Target::Yaml, &mut yaml);

        assert_eq!(hcl, r#""a\"b\\c $${x} %%{y} $5\n'""#);
        assert_eq!(yaml, r#""a\"b\\c ${x} %{y} $5\n'""#);
    }
}
