//! What the names in templates stand for: a machine of `nodes`, something else, or unknown.

use std::collections::HashMap;

use super::Readers;
use crate::render::jinja::rewrite::{Kind, Token, Tokens};

/// The list of machines.
const NODES: &str = "nodes";

/// What is derived from machines, and has keys of its own.
const DERIVED: &[&str] = &["proxmox_vms", "proxmox_isos"];

/// Names of the templates' own that may hold a machine.
const UNCERTAIN: &[&str] = &["loop", "caller", "varargs", "kwargs", "self"];

/// Words of a tag that are no names.
const WORDS: &[&str] = &[
    "for",
    "in",
    "if",
    "else",
    "elif",
    "set",
    "with",
    "and",
    "or",
    "not",
    "is",
    "do",
    "recursive",
    "true",
    "false",
    "none",
    "True",
    "False",
    "None",
];

/// What a name stands for, the surest last.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Meaning {
    Other,
    Unknown,
    Node,
}

/// What the names of a template, or of all of them, stand for.
pub struct Names<'a> {
    bound: HashMap<String, Meaning>,
    above: Option<&'a Names<'a>>,
    unbound: Meaning,
}

impl Names<'_> {
    pub fn of_project(readers: &Readers<'_>) -> Self {
        let others = readers.others.iter().chain(DERIVED).map(|name| ((*name).to_owned(), Meaning::Other));
        let bound = others.chain([(NODES.to_owned(), Meaning::Node)]).collect();
        // A plugin may put machines anywhere else.
        let unbound = if readers.plugins.is_empty() { Meaning::Other } else { Meaning::Unknown };
        Self { bound, above: None, unbound }
    }

    pub fn inner(&self) -> Names<'_> {
        Names { bound: HashMap::new(), above: Some(self), unbound: self.unbound }
    }

    pub fn meaning(&self, name: &str) -> Meaning {
        if let Some(meaning) = self.bound.get(name) {
            return *meaning;
        }
        match self.above {
            Some(above) => above.meaning(name),
            None if UNCERTAIN.contains(&name) => Meaning::Unknown,
            None => self.unbound,
        }
    }

    /// Adds what the tags of a template bind; twice, for a name may be used above its own tag.
    pub fn with(mut self, tags: &[Tokens<'_>]) -> Self {
        for _ in 0..2 {
            tags.iter().for_each(|tokens| self.bind_in(&tokens.list));
        }
        self
    }

    fn bind_in(&mut self, list: &[Token<'_>]) {
        let Some((first, rest)) = list.split_first() else { return };
        let split = |mark: &str| rest.iter().position(|token| token.text == mark).map(|at| rest.split_at(at));
        let bound = match first.text {
            "for" => split("in"),
            "set" | "with" => split("="),
            // What a macro is called with cannot be failure.
            "macro" | "call" => {
                let names = rest.iter().filter(|token| token.kind == Kind::Name);
                names.for_each(|token| self.join(token.text, Meaning::Unknown));
                return;
            }
            _ => return,
        };
        let Some((targets, expression)) = bound else { return };
        let meaning = self.meaning_of(expression);
        for at in (0..targets.len()).filter(|at| begins(targets, *at)) {
            // `set ns.last = node` leaves a machine somewhere below the name.
            let below = targets.get(at + 1).is_some_and(|token| token.text == ".");
            self.join(targets[at].text, if below { meaning.min(Meaning::Unknown) } else { meaning });
        }
    }

    pub fn bind(&mut self, name: &str, expression: &[Token<'_>]) {
        let meaning = self.meaning_of(expression);
        self.join(name, meaning);
    }

    fn join(&mut self, name: &str, meaning: Meaning) {
        let known = self.bound.entry(name.to_owned()).or_insert(meaning);
        *known = meaning.max(*known);
    }

    /// Returns what an expression may be: the surest of the names that stand in it whole.
    fn meaning_of(&self, list: &[Token<'_>]) -> Meaning {
        let whole = (0..list.len()).filter(|at| begins(list, *at)).filter(|at| {
            let below = steps(&list[at + 1..]);
            below.iter().all(|step| step.parse::<usize>().is_ok())
                || self.meaning(list[*at].text) == Meaning::Unknown
        });
        whole.map(|at| self.meaning(list[at].text)).max().unwrap_or(Meaning::Other)
    }
}

/// Returns whether a name begins here: no attribute, filter, test, keyword or function.
pub fn begins(list: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| list.get(before)).map_or("", |token| token.text);
    let after = list.get(at + 1).map_or("", |token| token.text);
    let named = list.get(at).is_some_and(|token| token.kind == Kind::Name && !WORDS.contains(&token.text));
    let argument = after == "=" && ["(", ","].contains(&before);
    named && ![".", "|", "is"].contains(&before) && after != "(" && !argument
}

/// Returns the keys behind a name: `b`, `c` of `a.b['c']`.
pub fn steps<'t>(mut list: &[Token<'t>]) -> Vec<&'t str> {
    let mut steps = Vec::new();
    loop {
        list = match list {
            [dot, name, rest @ ..] if dot.text == "." && name.kind != Kind::Sign => {
                steps.push(name.text);
                rest
            }
            [open, key, close, rest @ ..] if open.text == "[" && close.text == "]" => {
                steps.push(key.text.trim_matches(['"', '\'']));
                rest
            }
            _ => return steps,
        };
    }
}
