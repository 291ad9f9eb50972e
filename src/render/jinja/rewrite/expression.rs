//! Expressions by Jinja2's own precedence; each function returns the rewritten text of what it
//! has read, white space included.
//!
//! `None` says that the words are no expression; the caller then leaves the tag alone.

use super::tokens::{Kind, Token, Tokens};

/// How deep expressions may be nested.
const MAX_DEPTH: usize = 100;

/// Rewrites words that are one expression.
pub fn rewrite(tokens: &Tokens<'_>) -> Option<String> {
    let mut reader = Reader { list: &tokens.list, at: 0, depth: 0, read: None };
    let text = reader.condition()?;
    (reader.at == tokens.list.len()).then(|| text + tokens.tail)
}

/// Rewrites the words of a statement after its first: expressions with words and signs between.
pub fn rewrite_statement(tokens: &Tokens<'_>) -> Option<String> {
    let mut reader = Reader { list: &tokens.list, at: 0, depth: 0, read: None };
    let mut out = String::new();
    out.push_str(&reader.take()?);
    while let Some(next) = reader.peek() {
        let passes = matches!(next.text, "=" | "," | "if" | "in" | "as") && next.kind != Kind::Text;
        match passes {
            true => out.push_str(&reader.take()?),
            false => out.push_str(&reader.condition()?),
        }
    }
    Some(out + tokens.tail)
}

pub struct Reader<'a> {
    list: &'a [Token<'a>],
    at: usize,
    depth: usize,
    /// An operand that has been read already; reading it again would take twice the time on every
    /// level.
    pub read: Option<String>,
}

impl<'a> Reader<'a> {
    pub fn peek(&self) -> Option<&'a Token<'a>> {
        self.list.get(self.at)
    }

    /// Returns whether the next word is this sign or keyword.
    pub fn sees(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.text == text && token.kind != Kind::Text)
    }

    pub fn take(&mut self) -> Option<String> {
        let token = self.peek()?;
        self.at += 1;
        Some([token.space, token.text].concat())
    }

    /// Takes a word and puts another in its place, at the same distance.
    pub fn take_as(&mut self, other: &str) -> Option<String> {
        let token = self.peek()?;
        self.at += 1;
        Some([token.space, other].concat())
    }

    pub fn condition(&mut self) -> Option<String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut text = self.any()?;
        while self.sees("if") {
            text += &self.take()?;
            text += &self.any()?;
            if self.sees("else") {
                text += &self.take()?;
                text += &self.condition()?;
            }
        }
        self.depth -= 1;
        Some(text)
    }

    fn any(&mut self) -> Option<String> {
        let mut text = self.all()?;
        while self.sees("or") {
            text += &self.take()?;
            text += &self.all()?;
        }
        Some(text)
    }

    fn all(&mut self) -> Option<String> {
        let mut text = self.negation()?;
        while self.sees("and") {
            text += &self.take()?;
            text += &self.negation()?;
        }
        Some(text)
    }

    fn negation(&mut self) -> Option<String> {
        let mut text = String::new();
        while self.sees("not") {
            text += &self.take()?;
        }
        Some(text + &self.comparison()?)
    }

    /// A single ordering becomes a call; a chain of comparisons is minijinja's to take apart.
    fn comparison(&mut self) -> Option<String> {
        let left = self.sum()?;
        let Some(sign) = self.comparing() else { return self.chain(left) };
        if sign == "==" || sign == "!=" {
            return self.chain(left);
        }
        let comma = self.take_as(",")?;
        let right = self.sum()?;
        if self.comparing().is_some() || self.searching() {
            let spaced = comma.replace(',', sign);
            return self.chain([left, spaced, right].concat());
        }
        let (space, left) = parted(&left);
        Some(format!("{space}__compare('{sign}',{left}{comma}{right})"))
    }

    fn chain(&mut self, mut text: String) -> Option<String> {
        loop {
            if self.searching() {
                while self.sees("not") || self.sees("in") {
                    text += &self.take()?;
                }
                text += &self.container()?;
            } else if self.comparing().is_some() {
                text += &self.take()?;
                text += &self.sum()?;
            } else {
                return Some(text);
            }
        }
    }

    /// Returns whether `in` or `not in` comes next.
    fn searching(&self) -> bool {
        let negated = self.sees("not") && self.list.get(self.at + 1).is_some_and(|next| next.text == "in");
        self.sees("in") || negated
    }

    fn comparing(&self) -> Option<&'static str> {
        ["==", "!=", "<=", ">=", "<", ">"].into_iter().find(|sign| self.sees(sign))
    }

    /// Reads what is searched: a literal list there is never changed and stays as it is.
    fn container(&mut self) -> Option<String> {
        if !self.sees("[") {
            return self.sum();
        }
        let text = self.bracketed("]")?;
        let goes_on = [".", "[", "(", "|", "is", "+", "-", "*", "/", "%", "~", "**", "//"];
        if !goes_on.iter().any(|sign| self.sees(sign)) {
            return Some(text);
        }
        let (space, body) = parted(&text);
        self.read = Some(format!("{space}__list({body})"));
        self.sum()
    }

    fn sum(&mut self) -> Option<String> {
        let mut text = self.concatenation()?;
        loop {
            if self.sees("+") {
                text = self.call_all("__add", "+", text, Self::concatenation)?;
            } else if self.sees("-") {
                text += &self.take()?;
                text += &self.concatenation()?;
            } else {
                return Some(text);
            }
        }
    }

    fn concatenation(&mut self) -> Option<String> {
        let first = self.product()?;
        if self.sees("~") { self.call_all("__concat", "~", first, Self::product) } else { Some(first) }
    }

    fn product(&mut self) -> Option<String> {
        let mut text = self.power()?;
        loop {
            if self.sees("*") {
                text = self.call("__mul", text, Self::power)?;
            } else if self.sees("%") {
                text = self.call("__mod", text, Self::power)?;
            } else if self.sees("/") || self.sees("//") {
                text += &self.take()?;
                text += &self.power()?;
            } else {
                return Some(text);
            }
        }
    }

    fn power(&mut self) -> Option<String> {
        let mut text = self.unary()?;
        while self.sees("**") {
            text = self.call("__pow", text, Self::unary)?;
        }
        Some(text)
    }

    /// Turns `a SIGN b SIGN c` into `name(a , b , c)`.
    fn call_all(
        &mut self,
        name: &str,
        sign: &str,
        first: String,
        operand: impl Fn(&mut Self) -> Option<String>,
    ) -> Option<String> {
        let (space, mut text) = parted(&first);
        text = format!("{space}{name}({text}");
        while self.sees(sign) {
            text += &self.take_as(",")?;
            text += &operand(self)?;
        }
        Some(text + ")")
    }

    /// Turns `left SIGN right` into `name(left , right)`.
    fn call(
        &mut self,
        name: &str,
        left: String,
        right: impl Fn(&mut Self) -> Option<String>,
    ) -> Option<String> {
        let (space, left) = parted(&left);
        let comma = self.take_as(",")?;
        let right = right(self)?;
        Some(format!("{space}{name}({left}{comma}{right})"))
    }

    fn unary(&mut self) -> Option<String> {
        let signed = self.signed()?;
        self.filters(signed)
    }

    /// A sign binds closer than a filter: `-1|abs` is 1.
    fn signed(&mut self) -> Option<String> {
        if self.read.is_some() || !self.sees("-") && !self.sees("+") {
            let primary = self.primary()?;
            return self.postfix(primary);
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let token = self.peek()?;
        self.at += 1;
        let inner = self.signed()?;
        self.depth -= 1;
        let (space, body) = parted(&inner);
        let number = body.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        // Python's plus changes nothing; minijinja has none.
        let signed = match (token.text, number) {
            ("+", _) => body,
            (_, true) if !self.sees("|") && !self.sees("is") => format!("-{body}"),
            _ => format!("__neg({body})"),
        };
        Some([token.space, &space, &signed].concat())
    }
}

/// Parts a text into the white space before it and the rest.
pub fn parted(text: &str) -> (String, String) {
    let body = text.trim_start();
    let (space, _) = text.split_at(text.len() - body.len());
    (space.to_owned(), body.to_owned())
}
