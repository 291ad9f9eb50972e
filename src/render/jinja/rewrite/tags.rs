//! Finds the tags of a template and has each rewritten; everything else passes unchanged.

use super::expression::{rewrite, rewrite_statement};
use super::macros::{Moved, take_defaults};
use super::tokens::Tokens;
use std::collections::BTreeSet;

use super::{Marks, TooLong};
use crate::render::settings::Whitespace;

/// A template as minijinja runs it.
#[derive(Debug)]
pub struct Rewritten {
    /// Its text.
    pub text: String,
    /// The names that its tags hold, attributes left out.
    pub names: BTreeSet<String>,
}

/// Rewrites a template whose line ends are `\n`.
pub fn template(source: &str, marks: &Marks, whitespace: Whitespace) -> Result<Rewritten, TooLong> {
    let source = match whitespace.keep_trailing_newline {
        true => source,
        // What is added at the end would hide the line end from minijinja.
        false => source.strip_suffix('\n').unwrap_or(source),
    };
    let mut rewriter = Rewriter { marks, weight: source.len(), whitespace, names: BTreeSet::new() };
    let mut out = String::with_capacity(source.len() + source.len() / 8);
    let mut starts = Starts::new(marks);
    let mut rest = source;
    while let Some((before, tag, inside)) = starts.next(source, rest) {
        out.push_str(before);
        let Some((text, after)) = rewriter.tag(tag, inside)? else {
            // What does not end here is minijinja's to complain about.
            out.push_str(&rest[before.len()..]);
            return Ok(Rewritten { text: out, names: rewriter.names });
        };
        out.push_str(&text);
        rest = after;
    }
    out.push_str(rest);
    let text = counted(out, source.len(), marks);
    Ok(Rewritten { text, names: rewriter.names })
}

/// Has the text of the template counted each time that it is rendered, as an included one may be in
/// a loop. At its end, and with signs that keep all white space: there it changes nothing else.
fn counted(mut out: String, weight: usize, marks: &Marks) -> String {
    let (start, end) = &marks.block;
    out.push_str(&format!("{start}+ do __tick({weight}) +{end}"));
    out
}

/// What sort of tag begins.
#[derive(Clone, Copy)]
pub enum Tag {
    Block,
    Variable,
    Comment,
}

/// Where each mark stands next; remembered, or a mark that never comes would be looked for from
/// every tag on to the end.
pub struct Starts<'a> {
    marks: [(&'a str, Tag, TagPlace); 3],
}

/// Where a mark was last found.
#[derive(Clone, Copy)]
enum TagPlace {
    Unknown,
    At(usize),
    Nowhere,
}

impl<'a> Starts<'a> {
    pub fn new(marks: &'a Marks) -> Self {
        let start = |mark: &'a (String, String), tag| (mark.0.as_str(), tag, TagPlace::Unknown);
        let [comment, block, variable] = [
            start(&marks.comment, Tag::Comment),
            start(&marks.block, Tag::Block),
            start(&marks.variable, Tag::Variable),
        ];
        Self { marks: [comment, block, variable] }
    }

    /// Returns the text before the next tag, what it is, and what follows its mark.
    ///
    /// Where two marks begin at one place the longer one counts.
    pub fn next<'s>(&mut self, source: &'s str, rest: &'s str) -> Option<(&'s str, Tag, &'s str)> {
        let here = source.len() - rest.len();
        for (mark, _, place) in &mut self.marks {
            let known = match place {
                TagPlace::Unknown => false,
                TagPlace::At(at) => *at >= here,
                TagPlace::Nowhere => true,
            };
            if !known {
                *place = rest.find(*mark).map_or(TagPlace::Nowhere, |at| TagPlace::At(here + at));
            }
        }
        let found = self.marks.iter().filter_map(|(mark, tag, place)| match place {
            TagPlace::At(at) => Some((*at, *mark, *tag)),
            TagPlace::Unknown | TagPlace::Nowhere => None,
        });
        let (at, mark, tag) = found.min_by_key(|(at, mark, _)| (*at, usize::MAX - mark.len()))?;
        Some((&source[here..at], tag, &source[at + mark.len()..]))
    }
}

struct Rewriter<'a> {
    marks: &'a Marks,
    /// How many bytes a turn of a loop is counted as: at most the whole template.
    weight: usize,
    whitespace: Whitespace,
    names: BTreeSet<String>,
}

impl<'a> Rewriter<'a> {
    fn note_names(&mut self, tokens: &Tokens<'_>) {
        for name in tokens.names() {
            if !self.names.contains(name) {
                self.names.insert(name.to_owned());
            }
        }
    }

    /// Rewrites a tag whose mark has just been read; returns what follows it.
    fn tag(&mut self, tag: Tag, inside: &'a str) -> Result<Option<(String, &'a str)>, TooLong> {
        match tag {
            Tag::Comment => Ok(self.comment(inside)),
            Tag::Variable => self.variable(inside),
            Tag::Block => self.block(inside),
        }
    }

    fn comment(&self, inside: &'a str) -> Option<(String, &'a str)> {
        let (start, end) = &self.marks.comment;
        let len = inside.find(end.as_str())? + end.len();
        Some(([start, &inside[..len]].concat(), &inside[len..]))
    }

    fn variable(&mut self, inside: &'a str) -> Result<Option<(String, &'a str)>, TooLong> {
        let (start, end) = &self.marks.variable;
        let (control, body) = control_of(inside);
        let Some((tokens, rest)) = Tokens::until(body, end)? else { return Ok(None) };
        let Some((closing, after)) = closing_of(rest, end) else { return Ok(None) };
        let read = &body[..body.len() - rest.len()];
        self.note_names(&tokens);
        let text = rewrite(&tokens).unwrap_or_else(|| read.to_owned());
        Ok(Some(([start, control, &text, closing].concat(), after)))
    }

    fn block(&mut self, inside: &'a str) -> Result<Option<(String, &'a str)>, TooLong> {
        let (start, end) = &self.marks.block;
        let (control, body) = control_of(inside);
        if body.trim_start().starts_with("raw")
            && let Some(raw) = self.raw(inside)
        {
            return Ok(Some(raw));
        }
        let Some((mut tokens, rest)) = Tokens::until(body, end)? else { return Ok(None) };
        let Some((closing, after)) = closing_of(rest, end) else { return Ok(None) };
        let read = &body[..body.len() - rest.len()];
        self.note_names(&tokens);
        let word = tokens.list.first().map_or("", |first| first.text);
        let moved = if word == "macro" { take_defaults(&mut tokens) } else { Vec::new() };
        let text = rewrite_statement(&tokens).unwrap_or_else(|| read.to_owned());
        let whole = match word {
            // minijinja lets an included template change the names of the one that includes it.
            "include" => format!("{start}{control} with {end}{start}{text}{end}{start} endwith {closing}"),
            "for" => format!("{start}{control}{text}{end}{start} do __tick({}) {closing}", self.weight),
            "macro" if !moved.is_empty() => {
                let set = moved.iter().map(|Moved { name, default }| {
                    let condition = format!("{start} if {name} is undefined {end}");
                    format!("{condition}{start} set {name} = {default} {end}{start} endif {end}")
                });
                let set = set.collect::<String>();
                let last = set.strip_suffix(end.as_str()).unwrap_or(&set);
                [start, control, &text, end, last, closing].concat()
            }
            _ => [start, control, &text, closing].concat(),
        };
        Ok(Some((whole, after)))
    }

    /// Passes over everything up to `endraw`.
    fn raw(&self, inside: &'a str) -> Option<(String, &'a str)> {
        let (start, end) = &self.marks.block;
        let (_, body) = control_of(inside);
        let (tokens, rest) = Tokens::until(body, end).ok()??;
        let [word] = tokens.list.as_slice() else { return None };
        if word.text != "raw" {
            return None;
        }
        let mut left = rest;
        loop {
            let at = left.find(start.as_str())? + start.len();
            let (_, body) = control_of(&left[at..]);
            let ended = Tokens::until(body, end)
                .ok()
                .flatten()
                .filter(|(tokens, _)| matches!(tokens.list.as_slice(), [word] if word.text == "endraw"))
                .and_then(|(_, rest)| closing_of(rest, end));
            if let Some((closing, after)) = ended {
                let whole = &inside[..inside.len() - after.len()];
                return Some((self.with_first_line_end(whole, rest, closing), after));
            }
            left = &left[at..];
        }
    }
}

impl Rewriter<'_> {
    /// Returns a raw part whose first line end stays: Jinja2 trims none there, minijinja does.
    ///
    /// The line end is written before, and the trimmed one keeps the count of lines.
    fn with_first_line_end(&self, whole: &str, rest: &str, closing: &str) -> String {
        let (start, end) = &self.marks.block;
        let trimmed = self.whitespace.trim_blocks
            && rest.strip_prefix(end.as_str()).is_some_and(|body| body.starts_with('\n'));
        if !trimmed {
            return [start, whole].concat();
        }
        let (control, body) = control_of(whole);
        let inner = body.strip_suffix(closing).unwrap_or(body);
        let (open, close) = &self.marks.variable;
        format!("{start}{control} with {end}{open} '\\n' {close}{start}{inner}{end}{start} endwith {closing}")
    }
}

/// Parts the sign that controls white space from what follows a mark.
pub fn control_of(inside: &str) -> (&str, &str) {
    inside.split_at(usize::from(inside.starts_with(['-', '+'])))
}

/// Parts the end mark, with its sign, from what follows the tag.
fn closing_of<'a>(rest: &'a str, end: &str) -> Option<(&'a str, &'a str)> {
    let len = match rest.starts_with(end) {
        true => end.len(),
        false => 1 + end.len(),
    };
    rest.get(len..).map(|after| (&rest[..len], after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks() -> Marks {
        let pair = |start: &str, end: &str| (start.to_owned(), end.to_owned());
        Marks { block: pair("#%", "%#"), variable: pair("#{", "}#"), comment: pair("#|", "#|") }
    }

    #[test]
    fn text_comments_and_raw_parts_pass_unchanged() {
        let source = "# a [1] % 2\n#| [1] % 2 #|\n#% raw %##{ [1] }##% endraw %#\n#{ a.b }#\n";

        let rewritten = template(source, &marks(), Whitespace::default()).unwrap().text;

        assert_eq!(rewritten, format!("{source}#%+ do __tick({}) +%#", source.len()));
    }

    #[test]
    fn tags_are_rewritten_in_place_and_lines_are_kept() {
        let source = "#%- set x = [1,\n  2] -%#\n#{ '}#' % x }#";
        let expected = "#%- set x = __list([1,\n  2]) -%#\n#{ __mod('}#' , x) }#";

        let rewritten = template(source, &marks(), Whitespace::default()).unwrap().text;

        assert!(rewritten.starts_with(expected), "{rewritten}");
    }

    #[test]
    fn a_tag_without_an_end_stays_for_the_engine_to_tell() {
        assert_eq!(template("a #{ [1] ", &marks(), Whitespace::default()).unwrap().text, "a #{ [1] ");
    }
}
