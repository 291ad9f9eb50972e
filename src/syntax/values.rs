//! What a value says, as far as it can be known without running it. Begin at [`value`].

use std::borrow::Cow;
use std::ops::Range;

use super::setting::{Setting, Settings};
use super::texts::{heredoc, quoted};
use super::tokens::{Kind, Token, tokens};

/// How deep objects are looked into; a deeper one is an expression like any other.
const DEEPEST: usize = 16;

/// Returns the value that stands at a place of a text; `null` is none.
pub fn value(text: &str, span: &Range<usize>) -> Option<Setting> {
    setting(text, &tokens(text, span.clone()), 0)
}

/// Returns every text and number that is written down at a place of a text, at any depth; a text
/// into which something is filled as it stands there. Names of entries are none.
pub fn literals(text: &str, span: &Range<usize>) -> Vec<String> {
    let tokens = tokens(text, span.clone());
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let source = text.get(token.span()).unwrap_or_default();
        match token.kind {
            Kind::Sign(sign @ (b'(' | b'[' | b'{')) => open.push(sign),
            Kind::Sign(b')' | b']' | b'}') => _ = open.pop(),
            Kind::Quoted if open.last() == Some(&b'{') && is_key(&tokens, index) => {}
            Kind::Quoted => {
                found.push(quoted(source).map_or_else(|| source.to_owned(), Cow::into_owned));
            }
            Kind::Heredoc => found.push(heredoc(source).unwrap_or_else(|| source.to_owned())),
            Kind::Number => found.push(source.to_owned()),
            _ => {}
        }
    }
    found
}

/// Returns whether a token of an object is the name of an entry: only such a text begins it.
fn is_key(tokens: &[Token], index: usize) -> bool {
    let kind_at = |index: usize| tokens.get(index).map(|token| token.kind);
    let begins = matches!(kind_at(index.wrapping_sub(1)), Some(Kind::Newline | Kind::Sign(b'{' | b',')));
    begins && matches!(kind_at(index + 1), Some(Kind::Sign(b'=' | b':')))
}

fn setting(text: &str, tokens: &[Token], depth: usize) -> Option<Setting> {
    let tokens = without_newlines(tokens);
    let source = || text_between(text, tokens);
    match tokens {
        [only] => word(source(), only.kind),
        _ if depth == DEEPEST => Some(Setting::Expression(source().to_owned())),
        [open, inner @ .., close] if is_pair(open, inner, close, b'(') => setting(text, inner, depth + 1),
        [open, inner @ .., close] if is_pair(open, inner, close, b'{') && !is_loop(text, inner) => {
            Some(Setting::Map(object(text, inner, depth + 1)))
        }
        _ => Some(Setting::Expression(source().to_owned())),
    }
}

fn word(source: &str, kind: Kind) -> Option<Setting> {
    let expression = || Setting::Expression(source.to_owned());
    Some(match (kind, source) {
        (Kind::Name, "null") => return None,
        (Kind::Name, "true" | "false") | (Kind::Number, _) => Setting::Literal(source.to_owned()),
        (Kind::Quoted, _) => {
            quoted(source).map_or_else(expression, |text| Setting::Literal(text.into_owned()))
        }
        (Kind::Heredoc, _) => heredoc(source).map_or_else(expression, Setting::Literal),
        _ => expression(),
    })
}

/// Returns the entries of an object that stands at a place of a text, each with where its value stands;
/// nothing if that is no object.
pub fn object_entries(text: &str, span: &Range<usize>) -> Option<Vec<(String, Range<usize>)>> {
    let tokens = tokens(text, span.clone());
    let [open, inner @ .., close] = without_newlines(&tokens) else { return None };
    if !is_pair(open, inner, close, b'{') || is_loop(text, inner) {
        return None;
    }
    let found = named_entries(text, inner).filter_map(|(name, value)| {
        let value = without_newlines(value);
        Some((name, value.first()?.start..value.last()?.end))
    });
    Some(found.collect())
}

/// Reads the entries of an object; of those of one name the last one counts, as for OpenTofu.
fn object(text: &str, tokens: &[Token], depth: usize) -> Settings {
    let mut found = Settings::new();
    for (name, value) in named_entries(text, tokens) {
        match setting(text, value, depth) {
            Some(value) => _ = found.insert(name, value),
            None => _ = found.remove(&name),
        }
    }
    found
}

/// Returns the names of the entries of an object, each with what stands behind it.
fn named_entries<'a>(text: &'a str, tokens: &'a [Token]) -> impl Iterator<Item = (String, &'a [Token])> {
    entries(tokens).filter_map(move |entry| {
        let is_assignment = |token: &Token| matches!(token.kind, Kind::Sign(b'=' | b':'));
        let middle = top_level(entry).find(|at| is_assignment(&entry[*at]))?;
        Some((key(text, &entry[..middle]), &entry[middle + 1..]))
    })
}

fn key(text: &str, tokens: &[Token]) -> String {
    let source = text_between(text, without_newlines(tokens));
    match tokens {
        [only] if only.kind == Kind::Quoted => quoted(source).unwrap_or(Cow::Borrowed(source)).into_owned(),
        _ => source.to_owned(),
    }
}

/// Splits what stands in braces at commas and newlines that belong to no other bracket.
fn entries(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let is_end = |at: &usize| matches!(tokens[*at].kind, Kind::Newline | Kind::Sign(b','));
    let mut ends: Vec<usize> = top_level(tokens).filter(is_end).collect();
    ends.push(tokens.len());
    let starts: Vec<usize> = std::iter::once(0).chain(ends.iter().map(|end| end + 1)).collect();
    starts.into_iter().zip(ends).map(|(start, end)| &tokens[start..end]).filter(|entry| !entry.is_empty())
}

/// Returns the indices of the tokens that stand in no bracket.
fn top_level(tokens: &[Token]) -> impl Iterator<Item = usize> {
    let mut open = 0_usize;
    tokens.iter().enumerate().filter_map(move |(index, token)| {
        match token.kind {
            Kind::Sign(b'(' | b'[' | b'{') => open += 1,
            Kind::Sign(b')' | b']' | b'}') => open = open.saturating_sub(1),
            _ if open == 0 => return Some(index),
            _ => {}
        }
        None
    })
}

/// Returns whether two brackets belong together.
fn is_pair(open: &Token, inner: &[Token], close: &Token, sign: u8) -> bool {
    let end = if sign == b'(' { b')' } else { b'}' };
    if open.kind != Kind::Sign(sign) || close.kind != Kind::Sign(end) {
        return false;
    }
    let mut depth = 1_usize;
    inner.iter().all(|token| {
        match token.kind {
            Kind::Sign(b'(' | b'[' | b'{') => depth += 1,
            Kind::Sign(b')' | b']' | b'}') => depth -= 1,
            _ => {}
        }
        depth > 0
    })
}

/// Returns whether braces hold `for … in …`.
fn is_loop(text: &str, inner: &[Token]) -> bool {
    match without_newlines(inner) {
        [first, second, ..] => text.get(first.span()) == Some("for") && second.kind == Kind::Name,
        _ => false,
    }
}

fn without_newlines(mut tokens: &[Token]) -> &[Token] {
    while let [Token { kind: Kind::Newline, .. }, rest @ ..]
    | [rest @ .., Token { kind: Kind::Newline, .. }] = tokens
    {
        tokens = rest;
    }
    tokens
}

fn text_between<'a>(text: &'a str, tokens: &[Token]) -> &'a str {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => text.get(first.start..last.end).unwrap_or_default(),
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Setting> {
        value(text, &(0..text.len()))
    }

    fn said(text: &str) -> String {
        read(text).map(|value| value.to_string()).unwrap_or_default()
    }

    #[test]
    fn literals_are_known_and_the_rest_is_text() {
        assert_eq!(said("null"), "");
        assert_eq!(said("true"), "\"true\"");
        assert_eq!(said("123456789012345678901234567890.5e+10"), "\"123456789012345678901234567890.5e+10\"");
        assert_eq!(said("( # why\n \"a\"\n)"), "\"a\"");
        assert_eq!(said("<<A\nb\nA"), "\"b\\n\"");
        for text in
            ["var.a", "-1", "a.0.b", "\"${a}\"", "[1]", "{ for k in x : k => k }", "<<A\n${b}\nA", "f({})"]
        {
            assert_eq!(read(text), Some(Setting::Expression(text.to_owned())));
        }
    }

    #[test]
    fn of_entries_of_one_name_the_last_counts() {
        assert_eq!(
            said("{ a = 1, \"b\" : 2\n  # no\n a = \"x\"\n c = null, 5 = { d = [\n1] }, }"),
            r#"{5={d=[
1]} a="x" b="2"}"#
        );
        assert_eq!(said("{ a = 1, a = null }"), "{}");
        assert_eq!(said("{ (var.k) = 1, for = 2 }"), r#"{(var.k)="1" for="2"}"#);
        assert_eq!(said("{}"), "{}");
    }

    #[test]
    fn the_entries_of_an_object_are_found_with_their_place() {
        let text = "{ source = \"a/b\", # one\n  version : (\n \"~> 1\" ) }";
        let found = object_entries(text, &(0..text.len())).unwrap();
        let found: Vec<_> = found.iter().map(|(name, at)| (name.as_str(), &text[at.clone()])).collect();

        assert_eq!(found, [("source", "\"a/b\""), ("version", "(\n \"~> 1\" )")]);
        for text in ["\"a\"", "merge({})", "{ for k in x : k => k }", ""] {
            assert_eq!(object_entries(text, &(0..text.len())), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_down_is_found_at_any_depth() {
        let found = |text: &str| literals(text, &(0..text.len())).join("|");

        assert_eq!(found(r#""a""#), "a");
        assert_eq!(found(r#"{ "host" = "a", "n": [1, { x = "b" }], "c" = true }"#), "a|1|b");
        assert_eq!(found("{\n \"k\" = (true ? \"a\" : \"b\")\n}"), "a|b");
        assert_eq!(found("[<<A\nkey\nA\n, \"${\"x\"}y\"]"), "key\n|\"${\"x\"}y\"");
        assert_eq!(found("-12345"), "12345");
    }
}
