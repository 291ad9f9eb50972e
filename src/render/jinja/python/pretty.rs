//! `pprint`: a value as Python's module of that name lays it out, keys sorted, in 80 columns.
//!
//! Long texts stay whole; Python would cut them into several.

use minijinja::value::{DynObject, Value, ValueKind};

use super::range::Range;
use super::text;

const WIDTH: usize = 80;
/// How deep a value is laid out; what is deeper stands on one line.
const MAX_DEPTH: usize = 64;

/// Returns the layout of a value.
pub fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, &sorted(value, 0), Room { indent: 0, after: 0 });
    out
}

/// Where a value stands: columns before it, and columns needed behind it.
#[derive(Clone, Copy)]
struct Room {
    indent: usize,
    after: usize,
}

/// A value whose maps are sorted already.
enum Sorted {
    Plain(String),
    List(&'static str, &'static str, Vec<Sorted>),
    Map(Vec<(String, Sorted)>),
}

fn sorted(value: &Value, depth: usize) -> Sorted {
    let plain = || Sorted::Plain(text::repr(value));
    if depth > MAX_DEPTH || value.downcast_object_ref::<Range>().is_some() {
        return plain();
    }
    let items = || value.try_iter().into_iter().flatten().map(|item| sorted(&item, depth + 1)).collect();
    match value.kind() {
        ValueKind::Map => {
            let Some(pairs) = value.as_object().and_then(DynObject::try_iter_pairs) else { return plain() };
            let mut pairs: Vec<_> = pairs.collect();
            pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
            let pairs = pairs.iter().map(|(key, value)| (text::repr(key), sorted(value, depth + 1)));
            Sorted::Map(pairs.collect())
        }
        ValueKind::Seq if text::is_tuple(value) => {
            let end = if value.len() == Some(1) { ",)" } else { ")" };
            Sorted::List("(", end, items())
        }
        ValueKind::Seq => Sorted::List("[", "]", items()),
        _ => plain(),
    }
}

fn on_one_line(value: &Sorted) -> String {
    match value {
        Sorted::Plain(text) => text.clone(),
        Sorted::List(start, end, items) => {
            let items: Vec<String> = items.iter().map(on_one_line).collect();
            format!("{start}{}{end}", items.join(", "))
        }
        Sorted::Map(pairs) => {
            let pairs: Vec<String> =
                pairs.iter().map(|(key, value)| format!("{key}: {}", on_one_line(value))).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

fn write(out: &mut String, value: &Sorted, room: Room) {
    let line = on_one_line(value);
    let fits = line.chars().count() <= WIDTH.saturating_sub(room.indent + room.after);
    let indent = room.indent + 1;
    let inside = |last: bool, more: usize, end: usize| Room {
        indent: indent + more,
        after: if last { room.after + end } else { 1 },
    };
    match value {
        Sorted::List(start, end, items) if !fits => {
            out.push_str(start);
            for (at, item) in items.iter().enumerate() {
                separate(out, at, indent);
                write(out, item, inside(at + 1 == items.len(), 0, end.len()));
            }
            out.push_str(end);
        }
        Sorted::Map(pairs) if !fits => {
            out.push('{');
            for (at, (key, value)) in pairs.iter().enumerate() {
                separate(out, at, indent);
                out.push_str(&format!("{key}: "));
                write(out, value, inside(at + 1 == pairs.len(), key.chars().count() + 2, 1));
            }
            out.push('}');
        }
        _ => out.push_str(&line),
    }
}

fn separate(out: &mut String, at: usize, indent: usize) {
    if at > 0 {
        out.push_str(",\n");
        out.push_str(&" ".repeat(indent));
    }
}
