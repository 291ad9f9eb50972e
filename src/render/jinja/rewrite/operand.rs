//! What stands between operators: names, literals, calls, subscripts, filters and tests.

use super::expression::{Reader, parted};
use super::tokens::Kind;

impl Reader<'_> {
    pub fn primary(&mut self) -> Option<String> {
        if let Some(read) = self.read.take() {
            return Some(read);
        }
        let token = self.peek()?;
        match token.kind {
            Kind::Name if KEYWORDS.contains(&token.text) => None,
            Kind::Name | Kind::Number => self.take(),
            Kind::Text => self.texts(),
            Kind::Sign => match token.text {
                "(" => self.bracketed(")"),
                "[" => self.literal("__list", "]"),
                "{" => self.literal("__dict", "}"),
                _ => None,
            },
        }
    }

    fn take_text(&mut self) -> Option<String> {
        let text = self.peek()?.text;
        self.take_as(&python_text(text))
    }

    /// Texts side by side are one.
    fn texts(&mut self) -> Option<String> {
        let first = self.take_text()?;
        if self.peek().is_none_or(|next| next.kind != Kind::Text) {
            return Some(first);
        }
        let (space, mut text) = parted(&first);
        text = format!("{space}__concat({text}");
        while self.peek().is_some_and(|next| next.kind == Kind::Text) {
            text += ",";
            text += &self.take_text()?;
        }
        Some(text + ")")
    }

    fn literal(&mut self, name: &str, end: &str) -> Option<String> {
        let text = self.bracketed(end)?;
        let (space, body) = parted(&text);
        Some(format!("{space}{name}({body})"))
    }

    /// Reads from an opening bracket to its end: items, arguments, or keys and values.
    pub fn bracketed(&mut self, end: &str) -> Option<String> {
        let mut text = self.take()?;
        while !self.sees(end) {
            match self.peek()?.text {
                "," | "=" | ":" | "*" | "**" if self.peek()?.kind == Kind::Sign => text += &self.take()?,
                _ => text += &self.condition()?,
            }
        }
        Some(text + &self.take()?)
    }

    pub fn postfix(&mut self, mut text: String) -> Option<String> {
        loop {
            if self.sees(".") {
                text += &self.take()?;
                text += &self.take()?;
            } else if self.sees("[") {
                text = self.subscript(text)?;
            } else if self.sees("(") {
                text += &self.bracketed(")")?;
            } else {
                return Some(text);
            }
        }
    }

    fn subscript(&mut self, text: String) -> Option<String> {
        let open = self.take()?;
        let mut parts = vec![String::new()];
        while !self.sees("]") {
            match self.peek()?.text {
                ":" => {
                    // Its line ends stay, for the count of lines.
                    *parts.last_mut()? += self.take()?.trim_end_matches(':');
                    parts.push(String::new());
                }
                "," => *parts.last_mut()? += &self.take()?,
                _ => *parts.last_mut()? += &self.condition()?,
            }
        }
        let close = self.take()?;
        if let [index] = parts.as_slice() {
            return Some([text, open, index.clone(), close].concat());
        }
        let (space, body) = parted(&text);
        let parts: Vec<String> = parts
            .iter()
            .map(|part| if part.trim().is_empty() { format!("none{part}") } else { part.clone() })
            .collect();
        Some(format!("{space}__slice({body},{})", parts.join(",")))
    }

    pub fn filters(&mut self, mut text: String) -> Option<String> {
        loop {
            if self.sees("|") {
                text += &self.take()?;
                text += &self.dotted_name()?;
                if self.sees("(") {
                    text += &self.bracketed(")")?;
                }
            } else if self.sees("is") {
                text = self.test(text)?;
            } else if self.sees("(") {
                text += &self.bracketed(")")?;
            } else {
                return Some(text);
            }
        }
    }

    fn dotted_name(&mut self) -> Option<String> {
        let mut name = self.take()?;
        while self.sees(".") {
            name += &self.take()?;
            name += &self.take()?;
        }
        Some(name)
    }

    /// `x is [not] name`, whose argument needs no brackets; in brackets of its own, so that
    /// minijinja takes nothing else for the argument.
    fn test(&mut self, text: String) -> Option<String> {
        let (space, mut text) = parted(&text);
        text += &self.take()?;
        if self.sees("not") {
            text += &self.take()?;
        }
        text += &self.dotted_name()?;
        if self.sees("(") {
            text += &self.bracketed(")")?;
        } else if self.argument_follows() {
            let primary = self.primary()?;
            let (space, argument) = parted(&self.postfix(primary)?);
            text += &format!("{space}({argument})");
        }
        Some(format!("{space}({text})"))
    }

    fn argument_follows(&self) -> bool {
        self.peek().is_some_and(|next| match next.kind {
            Kind::Name => !KEYWORDS.contains(&next.text) && !STATEMENT_WORDS.contains(&next.text),
            Kind::Number | Kind::Text => true,
            Kind::Sign => matches!(next.text, "[" | "{"),
        })
    }
}

/// Names that stand between expressions.
const KEYWORDS: &[&str] = &["and", "or", "not", "in", "is", "if", "else"];

/// Names that may follow an expression in a statement.
const STATEMENT_WORDS: &[&str] = &["recursive", "ignore", "with", "without", "as", "import"];

/// Returns a quoted text in which `\/` stays two characters, as in Python.
fn python_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        out.push(char);
        if char != '\\' {
            continue;
        }
        match chars.next() {
            Some('/') => out.push_str("\\/"),
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}
