//! `tojson` as Python's `json.dumps(sort_keys=True)` writes it, with what HTML would read escaped.

use std::cmp::Ordering;
use std::fmt::Write as _;

use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, State};

use crate::render::jinja::fault::fault;
use crate::render::jinja::python::{Arguments, Given, as_float, check_text, float_text, pairs_of};

/// How deep collections may be nested.
const MAX_DEPTH: usize = 100;

/// Adds the filter.
pub fn add_to(env: &mut Environment<'_>) {
    env.add_filter("tojson", to_json);
}

fn to_json(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["indent"])?;
    let indent = args.get("indent");
    let unit = indent.map(|indent| match indent.as_str() {
        Some(text) => text.to_owned(),
        None => " ".repeat(indent.as_usize().unwrap_or(0).min(64)),
    });
    let mut writer = Writer { state, unit, out: String::new() };
    writer.value(&value, 0)?;
    Ok(Value::from(writer.out))
}

struct Writer<'a, 'b, 'c> {
    state: &'a State<'b, 'c>,
    /// What one level is indented by; `None` writes all on one line.
    unit: Option<String>,
    out: String,
}

impl Writer<'_, '_, '_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(fault("a value is nested too deep for JSON"));
        }
        check_text(self.out.len())?;
        match value.kind() {
            ValueKind::None => self.out.push_str("null"),
            ValueKind::Bool => self.out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.out.push_str(&number(value)),
            ValueKind::String => self.text(value.as_str().unwrap_or_default()),
            ValueKind::Map => self.map(value, depth)?,
            ValueKind::Seq | ValueKind::Iterable => self.list(value, depth)?,
            ValueKind::Undefined => return Err(Error::from(minijinja::ErrorKind::UndefinedError)),
            kind => return Err(fault(format!("a {kind} has no form in JSON"))),
        }
        Ok(())
    }

    fn list(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let items: Vec<Value> = value.try_iter()?.checked().collect::<Result<_, _>>()?;
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            self.separate(at, depth + 1);
            self.value(item, depth + 1)?;
        }
        self.close(items.is_empty(), depth, ']');
        Ok(())
    }

    fn map(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let mut pairs = pairs_of(self.state, value)?;
        pairs.sort_by(|(left, _), (right, _)| by_key(left, right));
        self.out.push('{');
        for (at, (key, value)) in pairs.iter().enumerate() {
            self.separate(at, depth + 1);
            self.text(&key_text(key)?);
            self.out.push_str(": ");
            self.value(value, depth + 1)?;
        }
        self.close(pairs.is_empty(), depth, '}');
        Ok(())
    }

    fn separate(&mut self, at: usize, depth: usize) {
        match (&self.unit, at) {
            (None, 0) => {}
            (None, _) => self.out.push_str(", "),
            (Some(unit), _) => {
                let line = format!("{}\n{}", if at > 0 { "," } else { "" }, unit.repeat(depth));
                self.out.push_str(&line);
            }
        }
    }

    fn close(&mut self, empty: bool, depth: usize, end: char) {
        if let Some(unit) = self.unit.as_ref().filter(|_| !empty) {
            let line = format!("\n{}", unit.repeat(depth));
            self.out.push_str(&line);
        }
        self.out.push(end);
    }

    fn text(&mut self, text: &str) {
        self.out.push('"');
        for char in text.chars() {
            match char {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                '<' | '>' | '&' | '\'' | '\u{7f}'.. | '\0'..'\u{20}' => self.escape(char),
                _ => self.out.push(char),
            }
        }
        self.out.push('"');
    }

    /// Writes a character as one or two `\uXXXX`; DEL alone is plain in Python.
    fn escape(&mut self, char: char) {
        if char == '\u{7f}' {
            return self.out.push(char);
        }
        for unit in char.encode_utf16(&mut [0; 2]) {
            let _ = write!(self.out, "\\u{unit:04x}");
        }
    }
}

fn number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    match as_float(value) {
        Some(number) if number.is_nan() => "NaN".to_owned(),
        Some(f64::INFINITY) => "Infinity".to_owned(),
        Some(f64::NEG_INFINITY) => "-Infinity".to_owned(),
        Some(number) => float_text(number),
        None => value.to_string(),
    }
}

fn by_key(left: &Value, right: &Value) -> Ordering {
    match (left.as_str(), right.as_str()) {
        (Some(left), Some(right)) => left.cmp(right),
        _ => left.cmp(right),
    }
}

fn key_text(key: &Value) -> Result<String, Error> {
    match key.kind() {
        ValueKind::String => Ok(key.as_str().unwrap_or_default().to_owned()),
        ValueKind::Number => Ok(number(key)),
        ValueKind::Bool => Ok(if key.is_true() { "true" } else { "false" }.to_owned()),
        ValueKind::None => Ok("null".to_owned()),
        kind => Err(fault(format!("a {kind} cannot be a key in JSON"))),
    }
}
