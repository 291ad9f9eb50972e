//! Filters that make or change numbers.

use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind};

use crate::render::jinja::fault::fault;
use crate::render::jinja::python::{
    Arguments, Given, as_float, as_int, float_text, int_value, parse_float, parse_int, round_half_even,
};

/// Adds the filters.
pub fn add_to(env: &mut Environment<'_>) {
    env.add_filter("int", int);
    env.add_filter("float", float);
    env.add_filter("round", round);
    env.add_filter("abs", abs);
    env.add_filter("filesizeformat", file_size);
}

/// `int(default=0, base=10)`: what is no number is the default.
fn int(value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["default", "base"])?;
    let default = args.get("default").cloned().unwrap_or_else(|| Value::from(0));
    let base = u32::try_from(args.int("base", 10)?).unwrap_or(10);
    never_undefined(&value)?;
    let number = match value.as_str() {
        Some(text) => parse_int(text, base).or_else(|| parse_float(text).and_then(whole)),
        None => as_int(&value).or_else(|| as_float(&value).and_then(whole)),
    };
    Ok(number.map_or(default, int_value))
}

/// An undefined value has no number in any mode, as in Jinja2.
fn never_undefined(value: &Value) -> Result<(), Error> {
    if value.is_undefined() { Err(Error::from(ErrorKind::UndefinedError)) } else { Ok(()) }
}

fn whole(number: f64) -> Option<i128> {
    number.is_finite().then(|| number.trunc() as i128)
}

fn float(value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["default"])?;
    let default = args.get("default").cloned().unwrap_or_else(|| Value::from(0.0));
    never_undefined(&value)?;
    let number = value.as_str().map_or_else(|| as_float(&value), parse_float);
    Ok(number.map_or(default, Value::from))
}

/// `round(precision=0, method='common')`: halves go to the even digit, as Python's do.
fn round(value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["precision", "method"])?;
    let precision = args.int("precision", 0)?.clamp(-300, 300) as i32;
    let method = args.text("method", "common");
    let number = as_float(&value).ok_or_else(|| fault("`round` needs a number"))?;
    let scale = 10_f64.powi(precision);
    match method.as_str() {
        // Python's `round` leaves whole numbers whole.
        "common" if as_int(&value).is_some() && value.kind() == ValueKind::Number => {
            let rounded = round_half_even(number, precision);
            Ok(int_value(rounded as i128))
        }
        "common" => Ok(Value::from(round_half_even(number, precision))),
        "ceil" => Ok(Value::from((number * scale).ceil() / scale)),
        "floor" => Ok(Value::from((number * scale).floor() / scale)),
        _ => Err(fault("the method of `round` is `common`, `ceil` or `floor`")),
    }
}

fn abs(value: Value) -> Result<Value, Error> {
    if let Some(number) = as_int(&value) {
        return Ok(int_value(number.abs()));
    }
    as_float(&value).map(|number| Value::from(number.abs())).ok_or_else(|| fault("`abs` needs a number"))
}

/// `13 kB`, or `13 KiB` with `binary`.
fn file_size(value: Value, args: Given) -> Result<String, Error> {
    let binary = Arguments::read(args, &["binary"])?.truth("binary", false);
    let bytes = match value.as_str() {
        Some(text) => parse_float(text),
        None => as_float(&value),
    };
    let bytes = bytes.ok_or_else(|| fault("`filesizeformat` needs a number"))?;
    let base: f64 = if binary { 1024.0 } else { 1000.0 };
    if bytes == 1.0 {
        return Ok("1 Byte".to_owned());
    }
    if bytes < base {
        return Ok(format!("{} Bytes", float_text(bytes.trunc()).trim_end_matches(".0")));
    }
    let names = ["k", "M", "G", "T", "P", "E", "Z", "Y"];
    let power = (1..names.len()).find(|power| bytes < base.powi(*power as i32 + 1)).unwrap_or(names.len());
    let prefix = names.get(power - 1).copied().unwrap_or("Y");
    let unit = if binary { format!("{}iB", prefix.to_uppercase()) } else { format!("{prefix}B") };
    Ok(format!("{:.1} {unit}", bytes / base.powi(power as i32)))
}
