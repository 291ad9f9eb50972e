//! One change of a plan as lines: the resource, and its attributes as old → new.
//!
//! Each line can be read without colour. On a screen no line is wider than it: a value that has no
//! room is cut where old and new are alike, an address is broken between its parts.

use super::differences::signed;
use crate::model::excerpts;
use crate::model::{Action, AttributeChange, ChangeDetail, ChangeSubject};
use crate::report::screen::{Terminal, Tone, escaped_for_terminal, shortened, text_width, wrap};

/// How much of a value is shown where there is no screen.
const PIPE_COLUMNS: usize = 240;

/// Where the lines of attributes begin.
const INDENT: usize = 6;

/// The least that is worth showing of a value.
const NARROWEST: usize = 12;

/// What is shown of one change.
#[derive(Clone, Debug, Default)]
pub struct ShownChange {
    /// The resource.
    pub head: Vec<String>,
    /// What forces it to be replaced.
    pub causes: Vec<String>,
    /// The other attributes.
    pub body: Vec<String>,
    /// Whether something that exists goes away, so that it is never left out.
    pub loses_something: bool,
    /// What is shown first where there is no room for all.
    pub rank: u8,
}

/// How long values may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Values {
    /// So that a line fits.
    Cut,
    /// Whole, over several lines where a screen is narrow.
    Whole,
}

/// Writes changes for one terminal.
#[derive(Clone, Copy, Debug)]
pub struct ChangeWriter<'a> {
    terminal: &'a Terminal,
    values: Values,
    /// How wide a line may be: one column less than the screen, for some break the line there.
    room: usize,
}

impl<'a> ChangeWriter<'a> {
    pub fn new(terminal: &'a Terminal, values: Values) -> Self {
        let columns = terminal.out_columns().unwrap_or(match values {
            Values::Cut => PIPE_COLUMNS,
            Values::Whole => usize::MAX,
        });
        Self { terminal, values, room: columns.saturating_sub(1).max(20) }
    }

    /// Writes a change of which only address and action are known.
    pub fn address(&self, action: Action, address: &str) -> ShownChange {
        let loses_something = action.is_destructive();
        ShownChange {
            head: self.head(action, address, &[]),
            loses_something,
            rank: rank(action),
            ..ShownChange::default()
        }
    }

    /// Writes a change with its attributes.
    pub fn entry(&self, detail: &ChangeDetail) -> ShownChange {
        let ChangeDetail { subject, address, action, attributes, unchanged, .. } = detail;
        let whole = attributes.iter().find(|one| one.path.is_empty() && one.lines.is_empty());
        if let (ChangeSubject::Output, Some(value)) = (subject, whole) {
            let lines = self.named_value(address, value, 4);
            let mut lines = lines.into_iter();
            let first = lines.next().unwrap_or_default();
            let sign = signed(self.terminal, *action);
            let head = std::iter::once(format!("{sign} {}", first.trim_start())).chain(lines).collect();
            return ShownChange { head, rank: 3, ..ShownChange::default() };
        }
        let mut notes: Vec<String> = detail.notes.iter().map(ToString::to_string).collect();
        if *subject == ChangeSubject::Outside {
            notes.push("changed outside".to_owned());
        }
        let (forcing, others): (Vec<_>, Vec<_>) = attributes.iter().partition(|one| one.forces);
        let mut body: Vec<String> = others.into_iter().flat_map(|one| self.attribute(one)).collect();
        if *unchanged > 0 {
            let words = format!("{:INDENT$}{unchanged} unchanged", "");
            body.push(self.terminal.paint_data(Tone::Dim, &words));
        }
        ShownChange {
            head: self.head(*action, address, &notes),
            causes: forcing.into_iter().flat_map(|one| self.attribute(one)).collect(),
            body,
            loses_something: *subject == ChangeSubject::Resource && action.is_destructive(),
            rank: if *subject == ChangeSubject::Outside { 3 } else { rank(*action) },
        }
    }

    /// Writes sign, address and what else to know; what has no room goes below.
    fn head(&self, action: Action, address: &str, notes: &[String]) -> Vec<String> {
        let (sign, address) = (signed(self.terminal, action), escaped_for_terminal(address, &[]));
        let parts = self.broken(&address, self.room.saturating_sub(4));
        let mut lines: Vec<String> = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            lines.push(if number == 0 { format!("{sign} {part}") } else { format!("{:8}{part}", "") });
        }
        if notes.is_empty() {
            return lines;
        }
        let note = escaped_for_terminal(&format!("({})", notes.join(", ")), &[]).into_owned();
        let last = lines.last().map_or(0, |line| text_width(line));
        match lines.last_mut() {
            Some(line) if last + 2 + text_width(&note) <= self.room => line.push_str(&format!("  {note}")),
            _ => lines.extend(self.wrapped(&format!("{:INDENT$}{note}", ""))),
        }
        lines
    }

    /// Breaks an address between its parts; a part that is too long is shortened.
    fn broken(&self, address: &str, room: usize) -> Vec<String> {
        if text_width(address) <= room {
            return vec![address.to_owned()];
        }
        let mut lines = vec![String::new()];
        for part in parts_of(address) {
            let line = lines.len() - 1;
            let room = if line == 0 { room } else { room.saturating_sub(4) };
            let part = if self.values == Values::Whole { part.to_owned() } else { shortened(part, room) };
            if lines[line].is_empty() || text_width(&lines[line]) + text_width(&part) <= room {
                lines[line].push_str(&part);
            } else {
                lines.push(part);
            }
        }
        lines
    }

    fn attribute(&self, one: &AttributeChange) -> Vec<String> {
        let path = escaped_for_terminal(&one.path, &[]);
        if one.lines.is_empty() {
            return self.named_value(&path, one, INDENT);
        }
        let mut lines = vec![format!("{:INDENT$}{}:{}", "", self.short_path(&path), self.forces(one))];
        for line in &one.lines {
            let (sign, tone) = if line.added { ("+", Tone::Good) } else { ("-", Tone::Bad) };
            let text = escaped_for_terminal(&line.text, &[]).replace('\t', "    ");
            let room = self.room.saturating_sub(INDENT + 4);
            let text = if self.values == Values::Cut { cut(None, &text, room).1 } else { text };
            let line = format!("{:1$}{2} {text}", "", INDENT + 2, self.terminal.paint_data(tone, sign));
            lines.extend(self.wrapped(&line));
        }
        lines
    }

    /// Writes `name: old → new`, and that it forces a replacement if it does.
    fn named_value(&self, name: &str, one: &AttributeChange, indent: usize) -> Vec<String> {
        let (full, name) = (name, self.short_path(name));
        let (text, forces) = (|value: &str| escaped_for_terminal(value, &[]).into_owned(), self.forces(one));
        let (before, after) = match (&one.before, &one.after) {
            (Some(before), Some(after)) if before != after => (Some(text(before)), text(after)),
            (Some(only), _) | (None, Some(only)) => (None, text(only)),
            (None, None) => return vec![format!("{:indent$}{name}:{forces}", "")],
        };
        let start = format!("{:indent$}{name}: ", "");
        let beside = text_width(&start) + text_width(&forces);
        let line = |before: Option<&str>, after: &str| match before {
            Some(before) => format!("{start}{before} → {after}{forces}"),
            None => format!("{start}{after}{forces}"),
        };
        let whole = line(before.as_deref(), &after);
        if text_width(&whole) <= self.room {
            return vec![whole];
        }
        if self.values == Values::Whole {
            return self.wrapped(&whole);
        }
        let room = match before {
            Some(_) => self.room.saturating_sub(beside + 3) / 2,
            None => self.room.saturating_sub(beside),
        };
        if room >= NARROWEST {
            let (before, after) = cut(before.as_deref(), &after, room);
            return vec![line(before.as_deref(), &after)];
        }
        let (before, after) = cut(before.as_deref(), &after, self.room.saturating_sub(indent + 4));
        // On a line of its own there is room for more of the name.
        let name = shortened(full, self.room.saturating_sub(indent + 1 + text_width(&forces)).max(NARROWEST));
        let mut lines = vec![format!("{:indent$}{name}:{forces}", "")];
        lines.extend(before.map(|before| format!("{:1$}{before}", "", indent + 4)));
        let arrow = if lines.len() > 1 { "→ " } else { "" };
        lines.push(format!("{:1$}{arrow}{after}", "", indent + 2));
        lines
    }

    fn forces(&self, one: &AttributeChange) -> String {
        match one.forces {
            true => format!("  {}", self.terminal.paint_data(Tone::Bad, "forces replacement")),
            false => String::new(),
        }
    }

    fn short_path(&self, path: &str) -> String {
        if self.values == Values::Whole {
            return path.to_owned();
        }
        shortened(path, self.room.saturating_sub(INDENT + 24).max(NARROWEST))
    }

    /// Breaks a line at spaces; a word that is wider than the screen is shortened, unless all is wanted.
    fn wrapped(&self, line: &str) -> Vec<String> {
        if text_width(line) <= self.room {
            return vec![line.to_owned()];
        }
        let longest = match self.values {
            Values::Cut => self.room.saturating_sub(INDENT + 4),
            Values::Whole => usize::MAX,
        };
        let words: Vec<String> = line.split(' ').map(|word| shortened(word, longest)).collect();
        let line = words.join(" ");
        wrap(&line, self.room.saturating_add(1), INDENT + 4).lines().map(str::to_owned).collect()
    }
}

/// Cuts one value, or two where they are alike, so that each has room on a screen.
fn cut(before: Option<&str>, after: &str, room: usize) -> (Option<String>, String) {
    // Some letters take two places.
    let mut letters = room;
    loop {
        let (one, other) = match before {
            Some(before) => excerpts(before, after, letters),
            None => (String::new(), excerpts(after, "", letters).0),
        };
        if letters == 0 || text_width(&one).max(text_width(&other)) <= room {
            return (before.map(|_| one), other);
        }
        letters -= 1;
    }
}

/// Returns the parts of an address, each with the dot before it; a dot in a key is none.
fn parts_of(address: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0_usize, 0_usize);
    for (at, char) in address.char_indices() {
        match char {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '.' if depth == 0 && at > start => {
                parts.push(&address[start..at]);
                start = at;
            }
            _ => {}
        }
    }
    parts.push(&address[start..]);
    parts
}

/// What is worth reading first.
const fn rank(action: Action) -> u8 {
    match action {
        Action::Replace => 0,
        Action::Update => 1,
        Action::Import | Action::Move | Action::Forget => 2,
        Action::Create => 4,
        Action::Read => 5,
        // What is gone is gone as a whole.
        Action::Delete => 6,
    }
}
