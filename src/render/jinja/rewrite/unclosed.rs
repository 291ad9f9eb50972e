//! Finds what a template opens and never closes: a comment, a tag, or a block such as `for`.

use super::Marks;
use super::tags::{Starts, Tag, control_of};
use super::tokens::Tokens;

/// The statements that have an end of their own.
const BLOCKS: &[&str] =
    &["autoescape", "block", "call", "filter", "for", "if", "macro", "raw", "set", "with"];

/// Returns how the innermost open part begins and on which line, counted from 1.
pub fn unclosed(source: &str, marks: &Marks) -> Option<(String, usize)> {
    let mut open: Vec<(String, usize)> = Vec::new();
    let mut starts = Starts::new(marks);
    let mut rest = source;
    while let Some((_, tag, inside)) = starts.next(source, rest) {
        let line = source[..source.len() - inside.len()].matches('\n').count() + 1;
        let (start, end) = match tag {
            Tag::Comment => &marks.comment,
            Tag::Variable => &marks.variable,
            Tag::Block => &marks.block,
        };
        let Some(after) = after(tag, inside, end) else { return Some((start.clone(), line)) };
        if matches!(tag, Tag::Block) {
            note(inside, marks, line, &mut open);
        }
        rest = after;
    }
    open.pop()
}

fn after<'a>(tag: Tag, inside: &'a str, end: &str) -> Option<&'a str> {
    if matches!(tag, Tag::Comment) {
        return inside.split_once(end).map(|(_, after)| after);
    }
    let (_, rest) = Tokens::until(control_of(inside).1, end).ok()??;
    rest.split_once(end).map(|(_, after)| after)
}

/// Notes that a statement begins or ends a part.
fn note(inside: &str, marks: &Marks, line: usize, open: &mut Vec<(String, usize)>) {
    let (start, end) = &marks.block;
    let Ok(Some((tokens, _))) = Tokens::until(control_of(inside).1, end) else { return };
    let word = tokens.list.first().map_or("", |first| first.text);
    if word.starts_with("end") {
        open.pop();
    }
    let assigns = word == "set" && tokens.list.iter().any(|token| token.text == "=");
    if BLOCKS.contains(&word) && !assigns {
        open.push((format!("{start} {word}"), line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_open_part_is_found_with_its_line() {
        let pair = |start: &str, end: &str| (start.to_owned(), end.to_owned());
        let marks = Marks { block: pair("#%", "%#"), variable: pair("#{", "}#"), comment: pair("#|", "#|") };
        let cases = [
            ("a\n#% for x in y %#\n#% if x %##% endif %#\n", Some(("#% for", 2))),
            ("#% if a %#\n#% set b = 1 %#\n#% macro m() %#", Some(("#% macro", 3))),
            ("a\n#| b", Some(("#|", 2))),
            ("\n\n#{ a ", Some(("#{", 3))),
            ("#% if a %##% endif %#", None),
        ];

        for (source, expected) in cases {
            let found = unclosed(source, &marks);
            assert_eq!(found.as_ref().map(|(what, line)| (what.as_str(), *line)), expected, "{source}");
        }
    }
}
