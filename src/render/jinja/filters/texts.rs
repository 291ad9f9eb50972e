//! Filters of texts; a value that is no text is taken as it would be printed.

use minijinja::value::{Tuple, Value};
use minijinja::{Environment, Error, State};

use crate::render::jinja::python;
use crate::render::jinja::python::{Arguments, Given, check_text, defined};

/// Adds the filters.
pub fn add_to(env: &mut Environment<'_>) {
    env.add_filter("string", string);
    env.add_filter("lower", |state: &State<'_, '_>, value: Value| changed(state, &value, str::to_lowercase));
    env.add_filter("upper", |state: &State<'_, '_>, value: Value| changed(state, &value, str::to_uppercase));
    env.add_filter("title", |state: &State<'_, '_>, value: Value| changed(state, &value, title));
    env.add_filter("capitalize", |state: &State<'_, '_>, value: Value| changed(state, &value, capitalize));
    env.add_filter("trim", trim);
    env.add_filter("replace", replace);
    env.add_filter("indent", indent);
    env.add_filter("wordwrap", word_wrap);
    env.add_filter("wordcount", word_count);
    env.add_filter("truncate", truncate);
    env.add_filter("center", center);
    env.add_filter("format", format_filter);
    env.add_filter("basename", basename);
    for name in ["escape", "e", "forceescape"] {
        env.add_filter(name, |state: &State<'_, '_>, value: Value| changed(state, &value, escape));
    }
    env.add_filter("urlencode", |state: &State<'_, '_>, value: Value| changed(state, &value, url_encode));
}

/// Returns the text of a value; an undefined one is empty where that is allowed.
fn plain(state: &State<'_, '_>, value: &Value) -> Result<String, Error> {
    defined(state, value)?;
    Ok(python::string(value))
}

fn string(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    plain(state, &value).map(Value::from)
}

fn changed(state: &State<'_, '_>, value: &Value, change: impl Fn(&str) -> String) -> Result<Value, Error> {
    plain(state, value).map(|text| Value::from(change(&text)))
}

/// A letter after white space, a dash or an opening bracket is large, every other one small.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut first = true;
    for char in text.chars() {
        match first {
            true => out.extend(char.to_uppercase()),
            false => out.extend(char.to_lowercase()),
        }
        first = char.is_whitespace() || matches!(char, '-' | '(' | '{' | '[' | '<');
    }
    out
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    first + &chars.as_str().to_lowercase()
}

fn trim(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["chars"])?;
    let text = plain(state, &value)?;
    Ok(Value::from(match args.get("chars").and_then(Value::as_str) {
        Some(chars) => text.trim_matches(|char| chars.contains(char)),
        None => text.trim(),
    }))
}

fn replace(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["old", "new", "count"])?;
    let (old, new) = (plain(state, args.required("old")?)?, plain(state, args.required("new")?)?);
    let text = plain(state, &value)?;
    let replaced = match usize::try_from(args.int("count", -1)?) {
        Ok(count) => text.replacen(&old, &new, count),
        Err(_) => text.replace(&old, &new),
    };
    check_text(replaced.len())?;
    Ok(Value::from(replaced))
}

/// `indent(width=4, first=False, blank=False)`: the first line stays, blank lines too.
fn indent(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["width", "first", "blank"])?;
    let unit = match args.get("width").and_then(Value::as_str) {
        Some(unit) => unit.to_owned(),
        None => " ".repeat(args.size("width", 4)?),
    };
    let (first, blank) = (args.truth("first", false), args.truth("blank", false));
    let text = plain(state, &value)?.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let indents = if at == 0 { first } else { blank || !line.is_empty() };
        if indents {
            out.push_str(&unit);
        }
        out.push_str(line);
        check_text(out.len())?;
    }
    Ok(Value::from(out))
}

/// `wordwrap(width=79, break_long_words=True, wrapstring="\n")`: lines stay lines.
fn word_wrap(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["width", "break_long_words", "wrapstring", "break_on_hyphens"])?;
    let wrap = Wrap {
        width: args.size("width", 79)?.max(1),
        break_long: args.truth("break_long_words", true),
        on_hyphens: args.truth("break_on_hyphens", true),
    };
    let mark = args.text("wrapstring", "\n");
    let text = plain(state, &value)?;
    let lines: Vec<String> = text.lines().map(|line| wrap.line(line).join(&mark)).collect();
    Ok(Value::from(lines.join(&mark)))
}

/// How a line is wrapped.
struct Wrap {
    width: usize,
    break_long: bool,
    on_hyphens: bool,
}

impl Wrap {
    fn line(&self, line: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let mut current = String::new();
        for chunk in self.chunks(line) {
            self.place(&chunk, &mut current, &mut lines);
        }
        let last = current.trim_end();
        if !last.is_empty() {
            lines.push(last.to_owned());
        }
        lines
    }

    fn place(&self, chunk: &str, current: &mut String, lines: &mut Vec<String>) {
        let used = current.chars().count();
        if used + chunk.chars().count() <= self.width {
            // White space never begins a line but the first.
            if !(current.is_empty() && chunk.trim().is_empty() && !lines.is_empty()) {
                current.push_str(chunk);
            }
            return;
        }
        if self.break_long && chunk.chars().count() > self.width {
            let room = self.width.saturating_sub(used);
            let cut = chunk.char_indices().nth(room).map_or(chunk.len(), |(at, _)| at);
            current.push_str(&chunk[..cut]);
            lines.push(std::mem::take(current).trim_end().to_owned());
            return self.place(&chunk[cut..], current, lines);
        }
        if !current.trim().is_empty() {
            lines.push(current.trim_end().to_owned());
        }
        current.clear();
        if !chunk.trim().is_empty() {
            current.push_str(chunk);
        }
    }

    /// Cuts a line where it may be broken: around white space and after hyphens inside of words.
    fn chunks(&self, line: &str) -> Vec<String> {
        let chars: Vec<char> = line.chars().collect();
        let mut chunks: Vec<String> = Vec::new();
        for (at, char) in chars.iter().enumerate() {
            let begins = match at.checked_sub(1).map(|before| chars[before]) {
                None => true,
                Some(before) if before.is_whitespace() != char.is_whitespace() => true,
                Some('-') => {
                    self.on_hyphens && at >= 2 && chars[at - 2].is_alphabetic() && char.is_alphabetic()
                }
                Some(_) => false,
            };
            match chunks.last_mut().filter(|_| !begins) {
                Some(last) => last.push(*char),
                None => chunks.push(char.to_string()),
            }
        }
        chunks
    }
}

fn word_count(state: &State<'_, '_>, value: Value) -> Result<usize, Error> {
    let text = plain(state, &value)?;
    Ok(text
        .split(|char: char| !char.is_alphanumeric() && char != '_')
        .filter(|word| !word.is_empty())
        .count())
}

/// `truncate(length=255, killwords=False, end='...', leeway=5)`.
fn truncate(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["length", "killwords", "end", "leeway"])?;
    let (length, leeway) = (args.size("length", 255)?, args.size("leeway", 5)?);
    let (kill_words, end) = (args.truth("killwords", false), args.text("end", "..."));
    let text = plain(state, &value)?;
    if text.chars().count() <= length.saturating_add(leeway) {
        return Ok(Value::from(text));
    }
    let room = length.saturating_sub(end.chars().count());
    let cut: String = text.chars().take(room).collect();
    let kept =
        if kill_words { cut.as_str() } else { cut.rsplit_once(' ').map_or(cut.as_str(), |(kept, _)| kept) };
    Ok(Value::from(format!("{kept}{end}")))
}

fn center(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let width = Arguments::read(args, &["width"])?.size("width", 80)?;
    let text = plain(state, &value)?;
    let missing = width.saturating_sub(text.chars().count());
    let left = missing / 2 + (missing & width & 1);
    Ok(Value::from(format!("{}{text}{}", " ".repeat(left), " ".repeat(missing - left))))
}

/// `'%s'|format(x)`.
fn format_filter(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let pattern = plain(state, &value)?;
    let args = args.into_values();
    let values = match args.last().filter(|last| last.is_kwargs()) {
        Some(named) => named.clone(),
        None => Value::from(Tuple::from(args)),
    };
    python::percent(&pattern, &values).map(Value::from)
}

/// The name of a file without its folder and its last suffix, as plugins of makejinja projects have it.
fn basename(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    let text = plain(state, &value)?;
    let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let stem = match name.rfind('.') {
        Some(at) if at > 0 && at + 1 < name.len() => &name[..at],
        _ => name,
    };
    Ok(Value::from(stem))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(char),
        }
    }
    out
}

fn url_encode(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-~/".contains(&byte);
    text.bytes()
        .map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
