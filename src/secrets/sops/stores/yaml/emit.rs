//! Writes documents as YAML, in the layout of sops, which is that of Go's yaml.v3.
//!
//! Everything is written in block style; comments go where sops hangs them: the first of a
//! map or list above all of it, the last below its last entry. Begin at [`emit`].

use base64::Engine as _;

use super::Purpose;
use super::page::{Leaves, Notes, Page};
use super::style;
use super::style::Style;
use crate::secrets::sops::stores::number;
use crate::secrets::sops::tree::{Comment, Document, Item, ListEntry, Value};

/// Keys longer than this stand behind a question mark.
const SIMPLE_KEY: usize = 128;
/// How many signs of base64 stand on a line.
const BASE64_LINE: usize = 70;

/// Writes documents; `indent` is the step of nested maps.
pub(super) fn emit(documents: &[Document], indent: usize, purpose: Purpose) -> String {
    let step = if (2..=9).contains(&indent) { indent } else { 2 };
    let mut page = Page::new(step, purpose);
    for (at, document) in documents.iter().enumerate() {
        if at > 0 {
            page.indent();
            page.sign("---", Leaves::Word);
            page.indent();
        }
        let root = Branch::of_map(document);
        page.note(Notes { head: root.head.clone(), ..Notes::default() });
        page.head_note();
        page.line_note();
        page.foot_note();
        write_branch(&mut page, &root, Within::Nothing);
        page.end_document();
    }
    page.finish()
}

/// What holds a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Map,
    List,
}

/// A map or list with its comments hung up.
struct Branch<'a> {
    twigs: Vec<Twig<'a>>,
    is_map: bool,
    head: String,
}

/// An entry of a branch.
struct Twig<'a> {
    name: Option<&'a str>,
    value: &'a Value,
    head: String,
    line: String,
    foot: String,
}

/// An item of either kind of branch.
enum Piece<'a> {
    Comment(&'a Comment),
    Twig(Option<&'a str>, &'a Value),
}

impl<'a> Branch<'a> {
    fn of_map(items: &'a [Item]) -> Self {
        let pieces = items.iter().map(|item| match item {
            Item::Comment(comment) => Piece::Comment(comment),
            Item::Pair(name, value) => Piece::Twig(Some(name.as_str()), value),
        });
        Self::gather(pieces, true)
    }

    fn of_list(entries: &'a [ListEntry]) -> Self {
        let pieces = entries.iter().map(|entry| match entry {
            ListEntry::Comment(comment) => Piece::Comment(comment),
            ListEntry::Value(value) => Piece::Twig(None, value),
        });
        Self::gather(pieces, false)
    }

    fn gather(pieces: impl Iterator<Item = Piece<'a>>, is_map: bool) -> Self {
        let mut branch = Self { twigs: Vec::new(), is_map, head: String::new() };
        let (mut above, mut beside) = (Vec::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Comment(comment) if comment.beside => beside.push(comment.text.as_str()),
                Piece::Comment(comment) => above.push(comment.text.as_str()),
                Piece::Twig(name, value) => {
                    let mut head = joined(&std::mem::take(&mut above));
                    if branch.twigs.is_empty() {
                        branch.head = std::mem::take(&mut head);
                    }
                    let line = joined(&std::mem::take(&mut beside));
                    branch.twigs.push(Twig { name, value, head, line, foot: String::new() });
                }
            }
        }
        above.extend(beside);
        match branch.twigs.last_mut() {
            Some(last) => last.foot = joined(&above),
            None => branch.head = joined(&above),
        }
        branch
    }

    const fn is_empty_map(&self) -> bool {
        self.is_map && self.twigs.is_empty()
    }
}

fn joined(comments: &[&str]) -> String {
    if comments.is_empty() { String::new() } else { format!("#{}", comments.join("\n#")) }
}

fn branch_of(value: &Value) -> Option<Branch<'_>> {
    match value {
        Value::Map(items) => Some(Branch::of_map(items)),
        Value::List(entries) => Some(Branch::of_list(entries)),
        _ => None,
    }
}

fn write_branch(page: &mut Page, branch: &Branch<'_>, within: Within) {
    match (branch.twigs.is_empty(), branch.is_map) {
        (true, true) => write_empty_map(page, within),
        (true, false) => write_empty_list(page, within),
        (false, true) => write_map(page, branch, within),
        (false, false) => write_list(page, branch, within),
    }
}

fn write_empty_map(page: &mut Page, within: Within) {
    page.sign("{", Leaves::Space);
    page.deeper(within == Within::List, true);
    page.head_note();
    page.back();
    page.sign_at_once("}", Leaves::Word);
    page.line_note();
    page.foot_note();
}

/// The comments of an empty list wait for what follows it in sops; an encrypted file keeps
/// them inside, since they can be decrypted only there.
fn write_empty_list(page: &mut Page, within: Within) {
    page.sign("[", Leaves::Space);
    page.deeper(within == Within::List, true);
    if page.purpose() == Purpose::Encrypted {
        page.head_note();
    }
    page.back();
    if page.is_at_line_start() {
        page.indent();
    }
    page.sign_at_once("]", Leaves::Word);
    page.line_note();
    page.foot_note();
}

fn write_map(page: &mut Page, branch: &Branch<'_>, within: Within) {
    page.deeper(within == Within::List, false);
    let mut tail = String::new();
    for twig in &branch.twigs {
        let key = Scalar::of_text(twig.name.unwrap_or_default());
        page.note(Notes { head: twig.head.clone(), tail, ..Notes::default() });
        page.head_note();
        page.indent();
        page.keep_line_for_value();
        write_key(page, &key);
        write_value_of_key(page, twig);
        tail = twig.foot.clone();
    }
    page.note(Notes { tail, ..Notes::default() });
    page.head_note();
    page.back();
}

fn write_key(page: &mut Page, key: &Scalar<'_>) {
    if key.is_simple() {
        key.write(page, Within::Map);
        page.sign_at_once(":", Leaves::Word);
    } else {
        page.sign("?", Leaves::Indent);
        key.write(page, Within::Map);
        page.indent();
        page.sign(":", Leaves::Indent);
    }
}

/// Writes what stands behind the colon; a comment left from before goes beside it.
fn write_value_of_key(page: &mut Page, twig: &Twig<'_>) {
    let branch = branch_of(twig.value);
    note_value(page, twig, branch.as_ref(), Notes::default());
    page.kept_line(branch.is_none());
    write_value(page, twig, branch.as_ref(), Within::Map);
}

fn note_value(page: &mut Page, twig: &Twig<'_>, branch: Option<&Branch<'_>>, mut notes: Notes) {
    match branch {
        // sops loses it when it reads the encrypted file, so its plaintext has none.
        Some(branch) if branch.is_empty_map() && page.purpose() == Purpose::Plain => {}
        Some(branch) if !branch.head.is_empty() => {
            notes.head = if notes.head.is_empty() {
                branch.head.clone()
            } else {
                format!("{}\n{}", notes.head, branch.head)
            };
        }
        Some(_) => {}
        None => notes.line = twig.line.clone(),
    }
    page.note(notes);
}

fn write_value(page: &mut Page, twig: &Twig<'_>, branch: Option<&Branch<'_>>, within: Within) {
    let Some(branch) = branch else {
        Scalar::of_value(twig.value).write(page, within);
        page.line_note();
        page.foot_note();
        return;
    };
    page.line_note();
    page.foot_note();
    // A map or list shows the comment beside it only when it ends.
    let end = Notes {
        line: twig.line.clone(),
        foot: if within == Within::List { twig.foot.clone() } else { String::new() },
        ..Notes::default()
    };
    write_branch_to(page, branch, within, end);
}

fn write_branch_to(page: &mut Page, branch: &Branch<'_>, within: Within, end: Notes) {
    if branch.twigs.is_empty() {
        page.note(end);
        write_branch(page, branch, within);
    } else {
        write_branch(page, branch, within);
        page.note(end);
    }
}

fn write_list(page: &mut Page, branch: &Branch<'_>, within: Within) {
    page.deeper(within == Within::List, false);
    for twig in &branch.twigs {
        let inner = branch_of(twig.value);
        let foot = if inner.is_none() { twig.foot.clone() } else { String::new() };
        let notes = Notes { head: twig.head.clone(), foot, ..Notes::default() };
        note_value(page, twig, inner.as_ref(), notes);
        page.head_note();
        page.indent();
        page.sign("-", Leaves::Indent);
        write_value(page, twig, inner.as_ref(), Within::List);
    }
    page.back();
}

/// A scalar ready to be written.
struct Scalar<'a> {
    tag: Option<&'static str>,
    text: std::borrow::Cow<'a, str>,
    style: Style,
}

impl<'a> Scalar<'a> {
    fn of_text(text: &'a str) -> Self {
        let tag = (text == "<<").then_some("!!merge");
        Self { tag, text: text.into(), style: style::style_of(text) }
    }

    fn plain(text: impl Into<std::borrow::Cow<'a, str>>) -> Self {
        Self { tag: None, text: text.into(), style: Style::Plain }
    }

    fn of_value(value: &'a Value) -> Self {
        match value {
            Value::Null | Value::Map(_) | Value::List(_) => Self::plain("null"),
            Value::Bool(value) => Self::plain(value.to_string()),
            Value::Int(number) => Self::plain(number.to_string()),
            Value::Float(number) => Self::plain(number::yaml_float(*number)),
            Value::Time(time) => Self::plain(time.as_str()),
            Value::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Self::of_text(text),
                Err(_) => Self::of_bytes(bytes),
            },
        }
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let signs = base64::engine::general_purpose::STANDARD.encode(bytes);
        let lines: Vec<&str> =
            signs.as_bytes().chunks(BASE64_LINE).filter_map(|line| std::str::from_utf8(line).ok()).collect();
        let (text, style) = match lines.as_slice() {
            [line] if line.len() < BASE64_LINE => ((*line).to_owned(), Style::Plain),
            lines => (lines.join("\n") + "\n", Style::Literal),
        };
        Self { tag: Some("!!binary"), text: text.into(), style }
    }

    fn is_simple(&self) -> bool {
        let length = self.text.len() + self.tag.map_or(0, str::len);
        length <= SIMPLE_KEY && !self.text.contains(style::is_break)
    }

    fn write(&self, page: &mut Page, within: Within) {
        if let Some(tag) = self.tag {
            page.write_tag(tag);
        }
        page.deeper(within == Within::List, true);
        page.write_scalar(&self.text, self.style);
        page.back();
    }
}
