//! Finds the name of what is undefined: the engine says only that something is.
//!
//! The accesses that stand in the text (`a.b['c'].d`) are followed through the data; only names
//! are failure, never a value. Begin at [`missing`].

use serde_json::Value;

use super::rewrite::{Kind, Token, Tokens};
use crate::model::Values;

/// Returns the first access of an expression that leads nowhere: `db.nope` of `db.nope.x`.
///
/// A name that is no key of the data is passed over: it may be the template's own.
pub fn missing(tokens: &Tokens<'_>, values: &Values) -> Option<String> {
    let list = tokens.list.as_slice();
    let begins = (0..list.len()).filter(|at| begins_path(list, *at));
    let found: Vec<Lost> = begins.filter_map(|at| follow(&list[at..], values)).collect();
    // The last step may be allowed to lead nowhere, one before it never is.
    found.iter().find(|lost| lost.goes_on).or(found.first()).map(|lost| lost.path.clone())
}

/// An access that leads nowhere, up to there.
struct Lost {
    path: String,
    /// Whether something below it is asked for.
    goes_on: bool,
}

fn begins_path(list: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| list.get(before)).map_or("", |token| token.text);
    list.get(at).is_some_and(|token| token.kind == Kind::Name) && ![".", "|", "is"].contains(&before)
}

fn follow(list: &[Token<'_>], values: &Values) -> Option<Lost> {
    let (first, mut rest) = list.split_first()?;
    let mut here = match first.text {
        "none" | "None" => &Value::Null,
        name => values.get(name)?,
    };
    let mut path = first.text.to_owned();
    while let Some((key, shown, left)) = step(rest) {
        // What is called is a method.
        if left.first().is_some_and(|token| token.text == "(") {
            return None;
        }
        path.push_str(&shown);
        match below(here, &key) {
            Some(next) => here = next,
            None => return (!is_allowed(left)).then(|| Lost { path, goes_on: step(left).is_some() }),
        }
        rest = left;
    }
    None
}

/// Returns the next key of an access, how it is written, and what follows it.
fn step<'l, 't>(list: &'l [Token<'t>]) -> Option<(String, String, &'l [Token<'t>])> {
    match list {
        [dot, name, rest @ ..] if dot.text == "." && name.kind != Kind::Sign => {
            Some((name.text.to_owned(), format!(".{}", name.text), rest))
        }
        [open, key, close, rest @ ..]
            if open.text == "[" && close.text == "]" && matches!(key.kind, Kind::Text | Kind::Number) =>
        {
            let plain = key.text.trim_matches(['\'', '"']);
            Some((plain.to_owned(), format!("[{}]", key.text), rest))
        }
        _ => None,
    }
}

fn below<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Returns whether what follows an undefined value asks just for that.
fn is_allowed(rest: &[Token<'_>]) -> bool {
    let texts: Vec<&str> = rest.iter().take(2).map(|token| token.text).collect();
    matches!(texts.as_slice(), ["is", ..] | ["|", "default" | "d"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_followed_to_where_it_ends() {
        let values = serde_json::json!({"db": {"l": [{"a": 1}], "n": null}});
        let values = values.as_object().unwrap();
        let cases = [
            ("db.nope.x", Some("db.nope")),
            ("db['nope'] + 1", Some("db['nope']")),
            ("db.n.x.y", Some("db.n.x")),
            ("none.foo.bar", Some("none.foo")),
            ("db.l[0].b ~ 1", Some("db.l[0].b")),
            ("1 + db.nope", Some("db.nope")),
            ("db.may if db.l else db.nope.x", Some("db.nope")),
            ("db.nope | default(1)", None),
            ("db.nope is defined", None),
            ("db.items() + other.nope", None),
        ];

        for (expression, expected) in cases {
            let (tokens, _) = Tokens::until(expression, "").unwrap().unwrap();
            assert_eq!(missing(&tokens, values).as_deref(), expected, "{expression}");
        }
    }
}
