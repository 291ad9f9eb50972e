//! What a value says, as far as it can be known without running it. Begin at [`value`].

use std::borrow::Cow;
use std::ops::Range;

use super::super::setting::{Setting, Settings};
use super::tokens::{Kind, Token, tokens};

/// How deep objects are looked into; a deeper one is an expression like any other.
const DEEPEST: usize = 16;

/// Returns the value that stands at a place of a text; `null` is none.
pub fn value(text: &str, span: &Range<usize>) -> Option<Setting> {
    setting(text, &tokens(text, span.clone()), 0)
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
        _ => expression(),
    })
}

/// Reads the entries of an object; of those of one name the last one counts, as for OpenTofu.
fn object(text: &str, tokens: &[Token], depth: usize) -> Settings {
    let mut found = Settings::new();
    for entry in entries(tokens) {
        let is_assignment = |token: &Token| matches!(token.kind, Kind::Sign(b'=' | b':'));
        let Some(middle) = top_level(entry).find(|at| is_assignment(&entry[*at])) else { continue };
        let name = key(text, &entry[..middle]);
        match setting(text, &entry[middle + 1..], depth) {
            Some(value) => _ = found.insert(name, value),
            None => _ = found.remove(&name),
        }
    }
    found
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

/// Returns what a label in quotes says.
pub(super) fn label(source: &str) -> Cow<'_, str> {
    quoted(source).unwrap_or_else(|| Cow::Borrowed(source.trim_matches('"')))
}

/// Returns what a text in quotes says; none where something is filled in, or that makes no sense.
fn quoted(source: &str) -> Option<Cow<'_, str>> {
    let inner = source.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains(['\\', '$', '%']) {
        return Some(Cow::Borrowed(inner));
    }
    let mut said = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(letter) = rest.chars().next() {
        if rest.starts_with("${") || rest.starts_with("%{") {
            return None;
        }
        rest = &rest[letter.len_utf8()..];
        match letter {
            '\\' => {
                let (meant, length) = escaped(rest)?;
                said.push(meant);
                rest = &rest[length..];
            }
            '$' | '%' if rest.starts_with(letter) && rest[1..].starts_with('{') => {
                said.push_str(&rest[..2]);
                rest = &rest[2..];
            }
            _ => said.push(letter),
        }
    }
    Some(Cow::Owned(said))
}

/// Returns what stands for a letter behind a backslash, and how long that is.
fn escaped(rest: &str) -> Option<(char, usize)> {
    let code = |length: usize| {
        let digits = rest.get(1..=length)?;
        let meant = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
        Some((meant, length + 1))
    };
    match rest.chars().next()? {
        'n' => Some(('\n', 1)),
        'r' => Some(('\r', 1)),
        't' => Some(('\t', 1)),
        letter @ ('"' | '\\') => Some((letter, 1)),
        'u' => code(4),
        'U' => code(8),
        _ => None,
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
        for text in
            ["var.a", "-1", "a.0.b", "\"${a}\"", "[1]", "{ for k in x : k => k }", "<<A\nb\nA", "f({})"]
        {
            assert_eq!(read(text), Some(Setting::Expression(text.to_owned())));
        }
    }

    #[test]
    fn escapes_stand_for_what_they_mean() {
        let text = |text: &str| read(text).and_then(|value| value.literal().map(str::to_owned));

        assert_eq!(text(r#""a\"\\\n\u00e9\U0001F600""#).as_deref(), Some("a\"\\\né😀"));
        assert_eq!(text(r#""$${a} %%{b} $ % $$ 5%""#).as_deref(), Some("${a} %{b} $ % $$ 5%"));
        assert_eq!(text(r#""$$${a}""#).as_deref(), Some("$${a}"));
        assert_eq!(text(r#""\q""#), None);
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
}
