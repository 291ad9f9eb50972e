//! `'{!r}'.format(x)`: fields of `str.format` that ask for another text of their value.
//!
//! minijinja's own formatting knows no such fields. They become fields of a name of ours whose
//! value is the text asked for; all others keep the value they have. Begin at [`converted`].

use minijinja::value::{Kwargs, Value};

use super::{split_arguments, text};

/// Returns a pattern without conversions and the arguments for it; `None` if it has none, or
/// where it is not understood and minijinja may say why.
pub fn converted(pattern: &str, args: &[Value]) -> Option<(String, Vec<Value>)> {
    if !pattern.contains('!') {
        return None;
    }
    let (plain, named) = split_arguments(args);
    let mut fields = Fields { plain, named: named.as_ref(), next: 0, made: Vec::new() };
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let (mark, after) = rest[at..].split_at(1);
        if after.starts_with(mark) {
            out.push_str(&mark.repeat(2));
            rest = &after[1..];
            continue;
        }
        let (field, left) = after.split_once('}').filter(|(field, _)| mark == "{" && !field.contains('{'))?;
        out.push_str(&fields.rewrite(field)?);
        rest = left;
    }
    out.push_str(rest);
    Some((out, fields.arguments()))
}

struct Fields<'a> {
    plain: &'a [Value],
    named: Option<&'a Kwargs>,
    /// The place of the next field that names none.
    next: usize,
    made: Vec<(String, Value)>,
}

impl Fields<'_> {
    fn rewrite(&mut self, field: &str) -> Option<String> {
        let (head, spec) = match field.split_once(':') {
            Some((head, spec)) => (head, format!(":{spec}")),
            None => (field, String::new()),
        };
        let (path, conversion) = head.split_once('!').map_or((head, None), |(path, to)| (path, Some(to)));
        let path = self.with_place(path);
        let Some(conversion) = conversion else { return Some(format!("{{{path}{spec}}}")) };
        let value = self.lookup(&path)?;
        let text = match conversion {
            "s" => text::string(&value),
            "r" => text::repr(&value),
            _ => return None,
        };
        let name = format!("__text{}", self.made.len());
        let field = format!("{{{name}{spec}}}");
        self.made.push((name, Value::from(text)));
        Some(field)
    }

    /// Returns a path that begins with a place or a name, counting those that have none.
    fn with_place(&mut self, path: &str) -> String {
        if !(path.is_empty() || path.starts_with(['.', '['])) {
            return path.to_owned();
        }
        self.next += 1;
        format!("{}{path}", self.next - 1)
    }

    fn lookup(&self, path: &str) -> Option<Value> {
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (first, mut rest) = path.split_at(end);
        let mut value = match first.parse::<usize>() {
            Ok(place) => self.plain.get(place)?.clone(),
            Err(_) => self.named?.peek::<Value>(first).ok()?,
        };
        while !rest.is_empty() {
            let (key, left) = match rest.strip_prefix('[') {
                Some(inside) => inside.split_once(']')?,
                None => {
                    let name = rest.strip_prefix('.')?;
                    name.split_at(name.find(['.', '[']).unwrap_or(name.len()))
                }
            };
            let key = key.parse::<usize>().map_or_else(|_| Value::from(key), Value::from);
            value = value.get_item(&key).ok().filter(|value| !value.is_undefined())?;
            rest = left;
        }
        Some(value)
    }

    fn arguments(self) -> Vec<Value> {
        let named = self.named;
        let given = named.into_iter().flat_map(Kwargs::args);
        let given = given.filter_map(|name| Some((name.to_owned(), named?.peek::<Value>(name).ok()?)));
        let all: Kwargs = given.chain(self.made).collect();
        self.plain.iter().cloned().chain([Value::from(all)]).collect()
    }
}
