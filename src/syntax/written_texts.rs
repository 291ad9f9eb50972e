//! Every text that is written down in a value, with the entry whose whole value it is: so that
//! a text which is something can be told from one that is only looked up or compared. Begin at
//! [`written_texts`].

use std::borrow::Cow;
use std::ops::Range;

use super::texts::{heredoc, quoted};
use super::tokens::{Kind, Token, tokens};

/// How many brackets around a text are looked through; what is deeper is the value of nothing.
const DEEPEST: usize = 64;

/// Functions that return what they are given.
const TRANSPARENT: [&str; 2] = ["sensitive", "nonsensitive"];

/// A text in quotes or a heredoc.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WrittenText {
    /// What it is all of.
    pub of: TextOwner,
    /// Where it stands.
    pub span: Range<usize>,
    /// What it says; none where something is filled in.
    pub said: Option<String>,
}

/// What a text is the whole value of, alone or as one of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TextOwner {
    /// The value that was looked into.
    Value,
    /// An entry of an object, with its name.
    Entry(String),
    /// It is a part of an expression.
    Nothing,
}

/// Returns the texts at a place of a file, at any depth; names of entries are none.
pub fn written_texts(text: &str, span: &Range<usize>) -> Vec<WrittenText> {
    let tokens = tokens(text, span.clone());
    let nesting = Nesting::of(text, &tokens);
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let source = text.get(token.span()).unwrap_or_default();
        let said = match token.kind {
            Kind::Quoted => quoted(source).map(Cow::into_owned),
            Kind::Heredoc => heredoc(source),
            _ => continue,
        };
        if !nesting.is_key(index) {
            found.push(WrittenText { of: nesting.owner(index), span: token.span(), said });
        }
    }
    found
}

/// Tokens, and which bracket each stands in.
struct Nesting<'a> {
    text: &'a str,
    tokens: &'a [Token],
    /// The bracket that is open at each token.
    inside: Vec<Option<usize>>,
    /// Where each bracket is closed.
    closes: Vec<usize>,
}

impl<'a> Nesting<'a> {
    fn of(text: &'a str, tokens: &'a [Token]) -> Self {
        let mut inside = Vec::with_capacity(tokens.len());
        let mut closes = vec![tokens.len(); tokens.len()];
        let mut open: Vec<usize> = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            if let Kind::Sign(b')' | b']' | b'}') = token.kind
                && let Some(opening) = open.pop()
                && let Some(close) = closes.get_mut(opening)
            {
                *close = index;
            }
            inside.push(open.last().copied());
            if let Kind::Sign(b'(' | b'[' | b'{') = token.kind {
                open.push(index);
            }
        }
        Self { text, tokens, inside, closes }
    }

    fn kind(&self, index: Option<usize>) -> Option<Kind> {
        self.tokens.get(index?).map(|token| token.kind)
    }

    /// Returns what a token is all of.
    fn owner(&self, index: usize) -> TextOwner {
        let (mut first, mut last) = (index, index);
        for _ in 0..DEEPEST {
            let Some(opening) = self.inside.get(first).copied().flatten() else {
                let is_whole = self.before(first).is_none() && self.after(last).is_none();
                return if is_whole { TextOwner::Value } else { TextOwner::Nothing };
            };
            let close = self.closes.get(opening).copied().unwrap_or(self.tokens.len());
            let (before, after) = (self.before(first), self.after(last));
            first = match self.kind(Some(opening)) {
                Some(Kind::Sign(b'{')) => return self.entry(first, last, opening),
                Some(Kind::Sign(b'[')) if self.is_element(before, after, opening, close) => opening,
                Some(Kind::Sign(b'(')) if before == Some(opening) && after == Some(close) => {
                    match self.function_before(opening) {
                        None => opening,
                        Some((name, at)) if TRANSPARENT.contains(&name) => at,
                        Some(_) => return TextOwner::Nothing,
                    }
                }
                _ => return TextOwner::Nothing,
            };
            last = close;
        }
        TextOwner::Nothing
    }

    fn is_element(&self, before: Option<usize>, after: Option<usize>, opening: usize, close: usize) -> bool {
        let is_comma = |index| self.kind(index) == Some(Kind::Sign(b','));
        // Behind a value a bracket is an index, no list.
        let is_list = !matches!(
            self.kind(opening.checked_sub(1)),
            Some(Kind::Name | Kind::Quoted | Kind::Sign(b')' | b']' | b'}'))
        );
        is_list && (before == Some(opening) || is_comma(before)) && (after == Some(close) || is_comma(after))
    }

    fn function_before(&self, opening: usize) -> Option<(&'a str, usize)> {
        let at = opening.checked_sub(1)?;
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Name)?;
        Some((self.text.get(token.span())?, at))
    }

    /// Returns the entry of an object of which the tokens are the value.
    fn entry(&self, first: usize, last: usize, opening: usize) -> TextOwner {
        let ends = matches!(self.kind(Some(last + 1)), None | Some(Kind::Newline | Kind::Sign(b',' | b'}')));
        let sign = first
            .checked_sub(1)
            .filter(|sign| matches!(self.kind(Some(*sign)), Some(Kind::Sign(b'=' | b':'))));
        let key = sign.and_then(|sign| sign.checked_sub(1)).filter(|key| *key > opening && self.is_key(*key));
        let token = key.filter(|_| ends).and_then(|key| self.tokens.get(key));
        match token {
            Some(token) => {
                let source = self.text.get(token.span()).unwrap_or_default();
                TextOwner::Entry(quoted(source).unwrap_or(Cow::Borrowed(source)).into_owned())
            }
            None => TextOwner::Nothing,
        }
    }

    /// Returns whether a token is the name of an entry of an object.
    fn is_key(&self, index: usize) -> bool {
        let is_in_object = self.kind(self.inside.get(index).copied().flatten()) == Some(Kind::Sign(b'{'));
        let begins = matches!(self.kind(index.checked_sub(1)), Some(Kind::Newline | Kind::Sign(b'{' | b',')));
        is_in_object && begins && matches!(self.kind(Some(index + 1)), Some(Kind::Sign(b'=' | b':')))
    }

    /// Returns the token before one; lines mean nothing in lists and in parentheses.
    fn before(&self, index: usize) -> Option<usize> {
        (0..index).rev().find(|before| self.kind(Some(*before)) != Some(Kind::Newline))
    }

    fn after(&self, index: usize) -> Option<usize> {
        (index + 1..self.tokens.len()).find(|after| self.kind(Some(*after)) != Some(Kind::Newline))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the texts as `owner:text`, `?` for what is only a part.
    fn found(text: &str) -> String {
        let word = |found: &WrittenText| {
            let said = found.said.as_deref().unwrap_or("…");
            match &found.of {
                TextOwner::Value => format!("={said}"),
                TextOwner::Entry(name) => format!("{name}={said}"),
                TextOwner::Nothing => format!("?{said}"),
            }
        };
        written_texts(text, &(0..text.len())).iter().map(word).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn a_text_knows_the_entry_that_it_is_the_value_of() {
        assert_eq!(found(r#""a""#), "=a");
        assert_eq!(found("<<E\na\nE"), "=a\n");
        assert_eq!(found("(\n\"a\"\n)"), "=a");
        assert_eq!(found(r#"["a", "b"]"#), "=a|=b");
        assert_eq!(found(r#"{ k = "a", "l" : ["b"], m = sensitive("c"), }"#), "k=a|l=b|m=c");
        assert_eq!(found("{\n a = { b = <<E\nx\nE\n }\n}"), "b=x\n");
        assert_eq!(found("[{ a = \"b\" }, {\n c = \"d\"\n}]"), "a=b|c=d");
        assert_eq!(found(r#"merge(var.x, { a = "b" })"#), "a=b");
    }

    #[test]
    fn what_is_looked_up_compared_or_filled_in_is_the_value_of_nothing() {
        assert_eq!(found(r#"file("a")"#), "?a");
        assert_eq!(found(r#"var.x["a"]"#), "?a");
        assert_eq!(found(r#"{ k = var.m["a"] }"#), "?a");
        assert_eq!(found(r#"{ k = local.t == "a" ? "b" : "c" }"#), "?a|?b|?c");
        assert_eq!(found(r#"{ k = "a" == var.x }"#), "?a");
        assert_eq!(found(r#"{ k = "a${b}" }"#), "k=…");
        assert_eq!(found(r#"{ k = "a$${b}" }"#), "k=a${b}");
        assert_eq!(found(r#"{ for k in ["a"] : k => "b" }"#), "?a|?b");
    }

    #[test]
    fn what_is_never_closed_is_looked_at_all_the_same() {
        for text in ["[", "{ a = \"b\"", "(\"a\"", "]\"a\"", "{ a = [\"b\"", ""] {
            let _ = found(text);
        }
    }
}
