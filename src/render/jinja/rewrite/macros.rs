//! Defaults of a macro that are made of its other arguments: `macro m(a, b=a)`.
//!
//! minijinja evaluates defaults before the arguments are there, so such a default moves into the
//! macro's body: `macro m(a, b=__unset)`, then `if b is undefined`, `set b = a`.

use super::expression::rewrite;
use super::tokens::{Kind, Token, Tokens};

/// An argument whose default is to be set in the body.
#[derive(Debug)]
pub struct Moved {
    /// Its name.
    pub name: String,
    /// Its default, rewritten.
    pub default: String,
}

/// Takes defaults out of a macro's words where they name other arguments.
pub fn take_defaults<'a>(tokens: &mut Tokens<'a>) -> Vec<Moved> {
    let mut moved = Vec::new();
    let mut names: Vec<&'a str> = Vec::new();
    let mut kept: Vec<Token<'a>> = Vec::new();
    for argument in arguments(&tokens.list) {
        let default = default_of(argument).filter(|default| names_any(default, &names));
        let rewritten = default.and_then(|default| rewrite(&Tokens { list: default.to_vec(), tail: "" }));
        let name = argument.iter().find(|token| token.kind == Kind::Name).map_or("", |token| token.text);
        match (rewritten, default) {
            (Some(text), Some(default)) => {
                kept.extend(&argument[..argument.len() - default.len()]);
                kept.push(Token { kind: Kind::Name, space: "", text: "__unset" });
                moved.push(Moved { name: name.to_owned(), default: text });
            }
            _ => kept.extend(argument),
        }
        names.push(name);
    }
    if !moved.is_empty() {
        tokens.list = kept;
    }
    moved
}

/// Cuts `macro name ( a , b = x )` before each argument and before the last bracket.
fn arguments<'t, 'a>(list: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, token) in list.iter().enumerate().filter(|(_, token)| token.kind == Kind::Sign) {
        let cuts = match token.text {
            "(" | "[" | "{" => {
                depth += 1;
                depth == 1
            }
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                depth == 0
            }
            "," => depth == 1,
            _ => false,
        };
        if cuts {
            parts.push(&list[start..at]);
            start = at;
        }
    }
    parts.push(&list[start..]);
    parts
}

/// Returns the words after `=` of one argument; its own first sign is a bracket or a comma.
fn default_of<'t, 'a>(argument: &'t [Token<'a>]) -> Option<&'t [Token<'a>]> {
    match argument {
        [sign, name, equals, default @ ..]
            if matches!(sign.text, "(" | ",") && name.kind == Kind::Name && equals.text == "=" =>
        {
            Some(default)
        }
        _ => None,
    }
}

fn names_any(default: &[Token<'_>], names: &[&str]) -> bool {
    default.iter().any(|token| token.kind == Kind::Name && names.contains(&token.text))
}
