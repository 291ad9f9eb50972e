//! `'%s: %05.2f' % (name, number)`: Python's older formatting.

use minijinja::Error;
use minijinja::value::{Value, ValueKind};

use super::number::{as_float, as_int};
use super::text;
use crate::render::jinja::fault::fault;

/// The widest a single field may be.
const MAX_WIDTH: usize = 10_000;

/// Fills the fields of a pattern with a tuple's items, a map's values, or one value.
pub fn percent(pattern: &str, values: &Value) -> Result<String, Error> {
    let mut given = Given::of(values)?;
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let (field, left) = Field::parse(after, &mut given)?;
        out.push_str(&field.fill(&mut given)?);
        rest = left;
    }
    out.push_str(rest);
    given.check_all_used()?;
    Ok(out)
}

/// The values to fill in.
struct Given {
    map: Option<Value>,
    list: std::vec::IntoIter<Value>,
    /// Whether values may be left over: Python lets anything with items be unused, but a tuple.
    may_remain: bool,
}

impl Given {
    fn of(values: &Value) -> Result<Self, Error> {
        let list = match values.is_tuple() {
            true => values.try_iter()?.collect(),
            false => vec![values.clone()],
        };
        let map = (values.kind() == ValueKind::Map).then(|| values.clone());
        let subscriptable = matches!(values.kind(), ValueKind::Map | ValueKind::Seq | ValueKind::Undefined);
        Ok(Self { map, list: list.into_iter(), may_remain: subscriptable && !values.is_tuple() })
    }

    fn next(&mut self) -> Result<Value, Error> {
        self.list.next().ok_or_else(|| fault("not enough values for the `%` pattern"))
    }

    fn named(&self, name: &str) -> Result<Value, Error> {
        let map = self.map.as_ref().ok_or_else(|| fault("a `%(name)` field needs a map"))?;
        let found = map.get_attr(name).ok().filter(|value| !value.is_undefined());
        found.ok_or_else(|| fault(format!("the map has no `{name}` for the `%` pattern")))
    }

    fn check_all_used(&self) -> Result<(), Error> {
        if !self.may_remain && self.list.len() > 0 {
            return Err(fault("more values than the `%` pattern has fields"));
        }
        Ok(())
    }
}

/// One field: `%(name)-05.2f`.
#[derive(Default)]
struct Field<'a> {
    name: Option<&'a str>,
    flags: &'a str,
    width: usize,
    precision: Option<usize>,
    kind: char,
}

impl<'a> Field<'a> {
    fn parse(text: &'a str, given: &mut Given) -> Result<(Self, &'a str), Error> {
        let mut field = Self::default();
        let mut rest = text;
        if let Some(inside) = rest.strip_prefix('(') {
            let (name, after) = inside.split_once(')').ok_or_else(incomplete)?;
            field.name = Some(name);
            rest = after;
        }
        let flags = rest.len() - rest.trim_start_matches(['-', '+', ' ', '#', '0']).len();
        (field.flags, rest) = rest.split_at(flags);
        (field.width, rest) = size(rest, given)?;
        if let Some(after) = rest.strip_prefix('.') {
            let (precision, after) = size(after, given)?;
            field.precision = Some(precision);
            rest = after;
        }
        rest = rest.trim_start_matches(['h', 'l', 'L']);
        let mut chars = rest.chars();
        field.kind = chars.next().ok_or_else(incomplete)?;
        Ok((field, chars.as_str()))
    }

    fn fill(&self, given: &mut Given) -> Result<String, Error> {
        if self.kind == '%' {
            return Ok("%".to_owned());
        }
        let value = match self.name {
            Some(name) => given.named(name)?,
            None => given.next()?,
        };
        let body = match self.kind {
            's' => self.cut(text::string(&value)),
            'r' | 'a' => self.cut(text::repr(&value)),
            'c' => self.cut(character(&value)?),
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' => return self.whole(&value),
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' => return self.fraction(&value),
            other => return Err(fault(format!("`%{other}` is no field of a `%` pattern"))),
        };
        Ok(self.pad("", &body, ' '))
    }

    fn cut(&self, text: String) -> String {
        match self.precision {
            Some(most) => text.chars().take(most).collect(),
            None => text,
        }
    }

    fn whole(&self, value: &Value) -> Result<String, Error> {
        let number = match as_int(value) {
            Some(number) => number,
            None if matches!(self.kind, 'd' | 'i' | 'u') => {
                as_float(value).ok_or_else(|| self.needs_number())?.trunc() as i128
            }
            None => return Err(self.needs_number()),
        };
        let size = number.unsigned_abs();
        let alternate = self.flags.contains('#');
        let (prefix, digits) = match self.kind {
            'x' => ("0x", format!("{size:x}")),
            'X' => ("0X", format!("{size:X}")),
            'o' => ("0o", format!("{size:o}")),
            _ => ("", size.to_string()),
        };
        let digits = format!("{digits:0>least$}", least = self.precision.unwrap_or(0));
        let sign = format!("{}{}", self.sign(number < 0), if alternate { prefix } else { "" });
        Ok(self.pad(&sign, &digits, self.filler()))
    }

    fn fraction(&self, value: &Value) -> Result<String, Error> {
        let number = as_float(value).ok_or_else(|| self.needs_number())?;
        let digits = self.precision.unwrap_or(6);
        let size = number.abs();
        let body = match self.kind.to_ascii_lowercase() {
            _ if !number.is_finite() => super::number::float_text(size),
            'f' => format!("{size:.digits$}"),
            'e' => scientific(size, digits),
            _ => general(size, digits.max(1)),
        };
        let body = if self.kind.is_ascii_uppercase() { body.to_ascii_uppercase() } else { body };
        Ok(self.pad(self.sign(number.is_sign_negative()), &body, self.filler()))
    }

    fn sign(&self, negative: bool) -> &'static str {
        match negative {
            true => "-",
            false if self.flags.contains('+') => "+",
            false if self.flags.contains(' ') => " ",
            false => "",
        }
    }

    fn filler(&self) -> char {
        if self.flags.contains('0') { '0' } else { ' ' }
    }

    fn pad(&self, sign: &str, body: &str, filler: char) -> String {
        let missing = self.width.saturating_sub(sign.chars().count() + body.chars().count());
        let fill: String = std::iter::repeat_n(filler, missing).collect();
        match filler {
            _ if self.flags.contains('-') => format!("{sign}{body}{}", " ".repeat(missing)),
            '0' => format!("{sign}{fill}{body}"),
            _ => format!("{fill}{sign}{body}"),
        }
    }

    fn needs_number(&self) -> Error {
        fault(format!("`%{}` needs a number", self.kind))
    }
}

fn character(value: &Value) -> Result<String, Error> {
    if let Some(text) = value.as_str().filter(|text| text.chars().count() == 1) {
        return Ok(text.to_owned());
    }
    let code = as_int(value).and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
    code.map(String::from).ok_or_else(|| fault("`%c` needs one character"))
}

fn size<'a>(text: &'a str, given: &mut Given) -> Result<(usize, &'a str), Error> {
    if let Some(rest) = text.strip_prefix('*') {
        let size = as_int(&given.next()?).and_then(|size| usize::try_from(size).ok());
        let size = size.filter(|size| *size <= MAX_WIDTH).ok_or_else(too_wide)?;
        return Ok((size, rest));
    }
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(len);
    if digits.is_empty() {
        return Ok((0, rest));
    }
    let size = digits.parse().ok().filter(|size| *size <= MAX_WIDTH).ok_or_else(too_wide)?;
    Ok((size, rest))
}

fn incomplete() -> Error {
    fault("the `%` pattern ends within a field")
}

fn too_wide() -> Error {
    fault("a field of the `%` pattern is too wide")
}

/// `1.50e+16`: two digits of exponent at least.
fn scientific(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$e}");
    let (body, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{body}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// The shorter of the two forms, without zeros at the end.
fn general(number: f64, digits: usize) -> String {
    let text = format!("{number:.*e}", digits - 1);
    let exponent: i32 = text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let strip = |text: String| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    if exponent < -4 || exponent >= digits as i32 {
        let text = scientific(number, digits - 1);
        let (body, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{exponent}", strip(body.to_owned()));
    }
    let after = (digits as i32 - 1 - exponent).max(0) as usize;
    strip(format!("{number:.after$}"))
}
