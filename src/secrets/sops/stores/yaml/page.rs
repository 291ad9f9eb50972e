//! The page that YAML is written on: columns, indents, and comments that wait for their place.
//!
//! It keeps the same few facts as libyaml's emitter, because where yaml.v3 breaks a line or
//! leaves one empty follows from them. It knows nothing of maps and lists.

use super::Purpose;
use super::style;
use super::style::Style;

/// Comments of the event that is being written.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub head: String,
    pub line: String,
    pub foot: String,
    /// The foot of the pair before this one.
    pub tail: String,
}

/// What a sign leaves behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    /// The next thing needs a space.
    Word,
    /// The next thing can follow at once.
    Space,
    /// The line still counts as indentation.
    Indent,
}

/// The text written so far.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
    column: usize,
    indents: Vec<Option<usize>>,
    step: usize,
    purpose: Purpose,
    after_space: bool,
    in_indent: bool,
    foot_indent: Option<usize>,
    kept_line: String,
    notes: Notes,
}

impl Page {
    pub(super) const fn new(step: usize, purpose: Purpose) -> Self {
        Self {
            text: String::new(),
            column: 0,
            indents: Vec::new(),
            step,
            purpose,
            after_space: true,
            in_indent: true,
            foot_indent: None,
            kept_line: String::new(),
            notes: Notes {
                head: String::new(),
                line: String::new(),
                foot: String::new(),
                tail: String::new(),
            },
        }
    }

    /// Returns the text.
    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) const fn purpose(&self) -> Purpose {
        self.purpose
    }

    fn depth(&self) -> usize {
        self.indents.last().copied().flatten().unwrap_or(0)
    }

    /// Goes one level deeper; below a dash that is two columns, else the next step.
    pub(super) fn deeper(&mut self, below_dash: bool, flow: bool) {
        let next = match self.indents.last().copied().flatten() {
            None if flow => self.step,
            None => 0,
            Some(indent) if below_dash => indent + 2,
            Some(indent) => self.step * ((indent + self.step) / self.step),
        };
        self.indents.push(Some(next));
    }

    pub(super) fn back(&mut self) {
        self.indents.pop();
    }

    /// Takes over the comments of the next event. Those still waiting are replaced, as in
    /// yaml.v3, where one of a list and one of the map that starts it meet; an encrypted file
    /// keeps both.
    pub(super) fn note(&mut self, mut notes: Notes) {
        let waiting = &mut self.notes;
        if self.purpose == Purpose::Encrypted && !waiting.head.is_empty() && !notes.head.is_empty() {
            notes.head = format!("{}\n{}", waiting.head, notes.head);
        }
        for (waiting, new) in [
            (&mut waiting.head, notes.head),
            (&mut waiting.line, notes.line),
            (&mut waiting.foot, notes.foot),
            (&mut waiting.tail, notes.tail),
        ] {
            if !new.is_empty() {
                *waiting = new;
            }
        }
    }

    fn put(&mut self, sign: char) {
        self.text.push(sign);
        self.column += 1;
    }

    fn end_line(&mut self) {
        self.text.push('\n');
        self.column = 0;
        self.in_indent = true;
    }

    fn write_break(&mut self, sign: char) {
        self.text.push(sign);
        self.column = 0;
        self.in_indent = true;
    }

    /// Moves to the indent, on a new line unless this one is still empty.
    pub(super) fn indent(&mut self) {
        let indent = self.depth();
        if !self.in_indent || self.column > indent || (self.column == indent && !self.after_space) {
            self.end_line();
        }
        if self.foot_indent == Some(indent) {
            self.end_line();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.after_space = true;
        self.foot_indent = None;
    }

    /// Writes a sign behind a space.
    pub(super) fn sign(&mut self, sign: &str, leaves: Leaves) {
        if !self.after_space {
            self.put(' ');
        }
        self.sign_at_once(sign, leaves);
    }

    /// Writes a sign directly behind what is there.
    pub(super) fn sign_at_once(&mut self, sign: &str, leaves: Leaves) {
        sign.chars().for_each(|sign| self.put(sign));
        self.after_space = leaves == Leaves::Space;
        self.in_indent = self.in_indent && leaves == Leaves::Indent;
    }

    pub(super) const fn is_at_line_start(&self) -> bool {
        self.column == 0
    }

    pub(super) fn write_tag(&mut self, tag: &str) {
        if !self.after_space {
            self.put(' ');
        }
        tag.chars().for_each(|sign| self.put(sign));
        self.after_space = false;
        self.in_indent = false;
    }

    pub(super) fn write_scalar(&mut self, text: &str, style: Style) {
        match style {
            Style::Plain => self.write_plain(text),
            Style::Single => self.write_single(text),
            Style::Double => self.write_double(text),
            Style::Literal => self.write_literal(text),
        }
    }

    fn write_plain(&mut self, text: &str) {
        if !text.is_empty() && !self.after_space {
            self.put(' ');
        }
        text.chars().for_each(|sign| self.put(sign));
        self.after_space = self.after_space && text.is_empty();
        self.in_indent = false;
    }

    fn write_single(&mut self, text: &str) {
        self.sign("'", Leaves::Word);
        let mut broken = false;
        for sign in text.chars() {
            if style::is_break(sign) {
                self.write_break(sign);
                broken = true;
                continue;
            }
            if broken && sign != ' ' {
                self.indent();
                broken = false;
            }
            if sign == '\'' {
                self.put('\'');
            }
            self.put(sign);
            self.in_indent = self.in_indent && sign == ' ';
        }
        self.sign_at_once("'", Leaves::Word);
    }

    fn write_double(&mut self, text: &str) {
        self.sign("\"", Leaves::Word);
        // yaml.v3 tests the first character instead of each for a byte order mark.
        let escape_all = text.starts_with('\u{feff}');
        for sign in text.chars() {
            if escape_all || !style::is_printable(sign) || style::is_break(sign) || "\"\\".contains(sign) {
                style::escaped(sign).chars().for_each(|sign| self.put(sign));
            } else {
                self.put(sign);
            }
        }
        self.sign_at_once("\"", Leaves::Word);
    }

    fn write_literal(&mut self, text: &str) {
        self.sign("|", Leaves::Word);
        self.write_hints(text);
        if self.notes.line.is_empty() {
            self.end_line();
        } else {
            self.line_note();
        }
        self.after_space = true;
        let mut broken = true;
        for sign in text.chars() {
            if style::is_break(sign) {
                self.write_break(sign);
                broken = true;
                continue;
            }
            if broken {
                self.indent();
            }
            self.put(sign);
            self.in_indent = false;
            broken = false;
        }
    }

    /// Says how deep the block is indented and what happens to the line breaks at its end.
    fn write_hints(&mut self, text: &str) {
        if text.starts_with(|sign: char| sign == ' ' || style::is_break(sign)) {
            self.sign_at_once(&self.step.to_string(), Leaves::Word);
        }
        let mut ends = text.chars().rev().map(style::is_break);
        match (ends.next(), ends.next()) {
            (Some(true), Some(false)) => {}
            (Some(true), _) => self.sign_at_once("+", Leaves::Word),
            _ => self.sign_at_once("-", Leaves::Word),
        }
    }

    /// Writes the comments that stand above the next thing.
    pub(super) fn head_note(&mut self) {
        let tail = std::mem::take(&mut self.notes.tail);
        if !tail.is_empty() {
            self.indent();
            self.write_comment(&tail);
            self.foot_indent = Some(self.depth());
        }
        let head = std::mem::take(&mut self.notes.head);
        if !head.is_empty() {
            self.indent();
            self.write_comment(&head);
        }
    }

    /// Writes the comment that stands beside the last thing.
    pub(super) fn line_note(&mut self) {
        let line = std::mem::take(&mut self.notes.line);
        if line.is_empty() {
            return;
        }
        if !self.after_space {
            self.put(' ');
        }
        self.write_comment(&line);
    }

    /// Keeps a comment that waits when a key comes for the value of that key.
    pub(super) fn keep_line_for_value(&mut self) {
        if !self.notes.line.is_empty() {
            self.kept_line = std::mem::take(&mut self.notes.line);
        }
    }

    /// Lets a scalar have the kept comment, or writes it before a map or list.
    pub(super) fn kept_line(&mut self, scalar: bool) {
        if !scalar {
            let line = std::mem::replace(&mut self.notes.line, std::mem::take(&mut self.kept_line));
            self.line_note();
            self.notes.line = line;
        } else if self.notes.line.is_empty() {
            self.notes.line = std::mem::take(&mut self.kept_line);
        }
    }

    /// Writes the comments that stand below the last thing.
    pub(super) fn foot_note(&mut self) {
        let foot = std::mem::take(&mut self.notes.foot);
        if foot.is_empty() {
            return;
        }
        self.indent();
        self.write_comment(&foot);
        self.foot_indent = Some(self.depth());
    }

    /// Ends a document, with what still waits below it.
    pub(super) fn end_document(&mut self) {
        self.foot_indent = Some(0);
        self.foot_note();
        self.foot_indent = None;
        self.indent();
    }

    fn write_comment(&mut self, comment: &str) {
        for (at, line) in comment.split('\n').enumerate() {
            if at > 0 && !line.is_empty() {
                self.indent();
            }
            if !line.is_empty() && !line.starts_with('#') {
                "# ".chars().for_each(|sign| self.put(sign));
            }
            line.chars().for_each(|sign| self.put(sign));
            self.end_line();
        }
        self.after_space = true;
    }
}
