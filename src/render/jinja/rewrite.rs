//! Turns a Jinja2 template into one that minijinja runs the same way.
//!
//! minijinja's grammar has no hooks for operators and literals, so what differs there becomes a
//! call: `a % b` is `__mod(a, b)`, `[a]` is `__list([a])`, so that it can be appended to. Text
//! outside of tags and every line break stay where they are: line numbers keep their meaning.
//! A tag that is not understood stays as it is, and minijinja says what is wrong with it.
//! Begin at [`template`].

mod expression;
mod macros;
mod operand;
mod tags;
mod tokens;
mod unclosed;

pub use tokens::{Kind, Token, Tokens};

pub use tags::{Rewritten, template};
pub use unclosed::unclosed;

use super::fault::fault;
use crate::render::settings::Marks;

/// A tag with more words than minijinja could take apart without running out of stack.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLong;

/// How many words a tag may have.
const MAX_WORDS: usize = 4_000;

impl From<TooLong> for minijinja::Error {
    fn from(_: TooLong) -> Self {
        fault(format!("a tag has more than {MAX_WORDS} words"))
    }
}

/// Returns the names that the tags of some text read: no attributes, filters, tests or calls.
pub fn names_in(text: &str, marks: &Marks) -> Vec<String> {
    tags_in(text, marks).iter().flat_map(|tokens| tokens.names().map(str::to_owned)).collect()
}

/// Returns the words of each tag of some text, as far as they are Jinja.
pub fn tags_in<'a>(text: &'a str, marks: &Marks) -> Vec<Tokens<'a>> {
    let mut tags = Vec::new();
    for (start, end) in [&marks.block, &marks.variable] {
        for inside in text.split(start.as_str()).skip(1) {
            let inside = inside.trim_start_matches(['-', '+']);
            if let Ok(Some((tokens, _))) = Tokens::until(inside, end) {
                tags.push(tokens);
            }
        }
    }
    tags
}

/// Rewrites a single expression; one that is not understood stays as it is.
pub fn expression(source: &str) -> Result<String, TooLong> {
    let Some((tokens, rest)) = Tokens::until(source, "")? else { return Ok(source.to_owned()) };
    Ok(match expression::rewrite(&tokens) {
        Some(text) if rest.is_empty() => text,
        _ => source.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_and_literals_become_calls() {
        let cases = [
            ("a.b['c']|default(1)", "a.b['c']|default(1)"),
            ("'%s' % x", "__mod('%s' , x)"),
            ("[1, a + 2]", "__list([1, __add(a , 2)])"),
            ("a + b + c - d + e", "__add(__add(a , b , c) - d , e)"),
            ("a ~ b ~ 'c'", "__concat(a , b , 'c')"),
            ("x in ['a', 'b']", "x in ['a', 'b']"),
            ("a[1:]", "__slice(a,1,none)"),
            ("a[:-1].b", "__slice(a,none,-1).b"),
            ("{'a': [1]}", "__dict({'a': __list([1])})"),
            ("x is divisibleby 3", "(x is divisibleby (3))"),
            ("1 < a", "__compare('<',1 , a)"),
            ("1 < a < 3", "1 < a < 3"),
            ("a in b < c", "a in b < c"),
            ("-1 - -a", "-1 - __neg(a)"),
            ("a if b else c * 2", "a if b else __mul(c , 2)"),
            ("f(*a, **b)|map(attribute='x')|list", "f(*a, **b)|map(attribute='x')|list"),
        ];

        for (source, expected) in cases {
            assert_eq!(expression(source).unwrap(), expected, "{source}");
        }
    }

    #[test]
    fn what_is_not_understood_stays() {
        assert_eq!(expression("a b % c").unwrap(), "a b % c");
        assert_eq!(expression("[1").unwrap(), "[1");
    }

    #[test]
    fn nothing_is_read_twice_however_deep() {
        let chain = format!("{}1{}", "1 < (".repeat(90), ") < 2".repeat(90));
        let lists = format!("{}1{}", "1 in [".repeat(90), "] + x".repeat(90));

        assert_eq!(expression(&chain).unwrap(), chain);
        assert!(expression(&lists).unwrap().starts_with("1 in __add(__list([1 in "));
    }

    #[test]
    fn a_tag_without_measure_is_refused() {
        assert_eq!(expression(&"not ".repeat(100_000)), Err(TooLong));
    }
}
