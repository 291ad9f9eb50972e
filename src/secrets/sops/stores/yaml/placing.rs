//! Decides to which token each comment belongs, as Go's yaml.v3 does.
//!
//! A comment is a head (of what follows), a line (of what stands before it on its line) or a
//! foot (of what ended above it). yaml.v3 decides that while it scans, from columns and empty
//! lines; sops writes the comment where that decision puts it, so the decision is repeated
//! here step by step, odd ones included. Begin at [`place`].

use std::ops::Range;

use granit_parser::ScalarStyle;

use super::Purpose;
use super::token::{Kind, Mark, Remark, YamlText};

/// How a comment relates to the token it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Head,
    Line,
    Foot,
}

/// Comment lines that belong together.
#[derive(Debug)]
pub(super) struct Placed {
    pub relation: Relation,
    /// The first token that starts here or later gets it.
    pub token: usize,
    pub lines: Vec<String>,
    start: Mark,
    end: usize,
    scanned_from: usize,
}

/// Places every comment, and moves the ends of blocks before comments of their parents.
pub(super) fn place(source: &mut YamlText<'_>, purpose: Purpose) -> Vec<Placed> {
    let mut placer =
        Placer { purpose, placed: Vec::new(), indents: Vec::new(), flow_level: 0, next_remark: 0 };
    let mut at = 1;
    while at < source.tokens.len() {
        at = placer.step(source, at);
    }
    placer.placed
}

struct Placer {
    purpose: Purpose,
    placed: Vec<Placed>,
    indents: Vec<usize>,
    flow_level: usize,
    next_remark: usize,
}

impl Placer {
    /// Handles the gap before a token, the block ends in it, and the token; returns the next one.
    fn step(&mut self, source: &mut YamlText<'_>, at: usize) -> usize {
        let real = at + source.tokens[at..].iter().take_while(|token| token.kind == Kind::BlockEnd).count();
        let real = real.min(source.tokens.len() - 1);
        let scanned = self.gap(source, at - 1, real);
        self.end_blocks(source, at..real, scanned);
        self.track(source, real);
        self.remarks_inside(source, real);
        real + 1
    }

    /// Follows indents and brackets, as the scanner does.
    fn track(&mut self, source: &YamlText<'_>, at: usize) {
        let token = &source.tokens[at];
        match token.kind {
            Kind::BlockListStart | Kind::BlockMapStart => self.indents.push(token.start.column),
            Kind::FlowListStart | Kind::FlowMapStart => self.flow_level += 1,
            Kind::FlowListEnd | Kind::FlowMapEnd => self.flow_level = self.flow_level.saturating_sub(1),
            _ => {}
        }
    }

    /// Takes the comment in the first line of a block scalar.
    fn remarks_inside(&mut self, source: &YamlText<'_>, at: usize) {
        let token = &source.tokens[at];
        while let Some(remark) = source.remarks.get(self.next_remark) {
            if remark.start.index >= token.end.index {
                return;
            }
            self.push_line(token.start.index, remark);
            self.next_remark += 1;
        }
    }

    /// Places the comments between two tokens; returns where the scanner stood before them.
    fn gap(&mut self, source: &YamlText<'_>, last: usize, next: usize) -> Mark {
        let token = &source.tokens[last];
        let end = source.tokens[next].start;
        let first = self.next_remark;
        let count = source.remarks[first..].iter().take_while(|r| r.start.index < end.index).count();
        let mut remarks = &source.remarks[first..first + count];
        self.next_remark += count;

        let mut from = token.end;
        if let Some((beside, others)) = remarks.split_first().filter(|(r, _)| is_beside(source, last, r)) {
            self.push_line(line_owner(source, last, self.flow_level), beside);
            (from, remarks) = (beside.end, others);
        } else if eats_breaks(&token.kind, source, token.end, end) {
            from = remarks.first().map_or(end, |remark| remark.start);
        }
        if let Some(remark) = remarks.first() {
            let gap = Gap::new(self, source, &Between { last, next, from }, remark);
            self.placed.extend(gap.place(remarks));
        }
        from
    }

    fn push_line(&mut self, token: usize, remark: &Remark) {
        self.placed.push(Placed {
            relation: Relation::Line,
            token,
            lines: vec![remark.text.clone()],
            start: remark.start,
            end: 0,
            scanned_from: 0,
        });
    }

    /// Marks the ends of blocks: before the comments that stand at the indent of their block.
    fn end_blocks(&mut self, source: &mut YamlText<'_>, ends: Range<usize>, scanned: Mark) {
        let next = source.tokens[ends.end].start;
        let mut mark = before(scanned);
        let mut forced = false;
        for at in ends {
            let indent = self.indents.pop().unwrap_or(0);
            if indent <= next.column && !forced {
                (mark, forced) = (before(next), true);
            }
            mark = self.end_of_block(indent, mark);
            source.tokens[at].start = mark;
        }
    }

    fn end_of_block(&self, indent: usize, mut mark: Mark) -> Mark {
        let mut stop = mark.index;
        for placed in self.placed.iter().rev().take_while(|placed| placed.relation != Relation::Line) {
            if placed.end < stop {
                break;
            }
            if placed.start.column == indent {
                mark = placed.start;
            }
            stop = placed.scanned_from;
        }
        mark
    }
}

fn before(mark: Mark) -> Mark {
    Mark { index: mark.index.saturating_sub(1), ..mark }
}

/// Says whether a comment stands on the line where a token ends, and counts as its line comment.
fn is_beside(source: &YamlText<'_>, last: usize, remark: &Remark) -> bool {
    let kind = &source.tokens[last].kind;
    let alone = matches!(
        kind,
        Kind::BlockEntry | Kind::StreamStart | Kind::DocumentStart | Kind::DocumentEnd | Kind::Directive
    );
    !alone && source.breaks_before(remark.start.index) == 0 && remark.start.index > 0
}

/// A line comment behind `:` or `,` belongs to what stands before the sign.
fn line_owner(source: &YamlText<'_>, last: usize, flow_level: usize) -> usize {
    let shifted = match source.tokens[last].kind {
        Kind::Value => flow_level == 0,
        Kind::FlowEntry => flow_level > 0,
        _ => false,
    };
    source.tokens[last - usize::from(shifted && last > 0)].start.index
}

/// Plain and block scalars are scanned up to the next thing, line breaks included.
fn eats_breaks(kind: &Kind<'_>, source: &YamlText<'_>, end: Mark, next: Mark) -> bool {
    match kind {
        Kind::Scalar(ScalarStyle::Plain, _) => source.break_signs(end.index, next.index) > 0,
        Kind::Scalar(ScalarStyle::Literal | ScalarStyle::Folded, _) => true,
        _ => false,
    }
}

/// The tokens around a gap, and where the scanner stood at its start.
struct Between {
    last: usize,
    next: usize,
    from: Mark,
}

/// What follows a run of comments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Token,
    FlowEnd,
    StreamEnd,
}

/// The comments between two tokens while they are placed.
struct Gap<'a, 'b> {
    source: &'a YamlText<'b>,
    purpose: Purpose,
    after: After,
    next: Mark,
    next_indent: usize,
    behind_value: bool,
    foot_line: Option<usize>,
    first_empty: bool,
    recent_empty: bool,
    token: usize,
    scanned_from: usize,
    start: Mark,
    lines: Vec<String>,
    placed: Vec<Placed>,
}

impl<'a, 'b> Gap<'a, 'b> {
    fn new(placer: &Placer, source: &'a YamlText<'b>, between: &Between, first: &Remark) -> Self {
        let Between { last, next, from } = *between;
        let tokens = &source.tokens;
        let last = if tokens[last].kind == Kind::FlowEntry && last > 0 { last - 1 } else { last };
        let newlines = source.breaks_before(first.start.index);
        let beside = usize::from(newlines == 0 && first.start.column > 1);
        Self {
            source,
            purpose: placer.purpose,
            after: match tokens[next].kind {
                Kind::StreamEnd => After::StreamEnd,
                Kind::FlowListEnd | Kind::FlowMapEnd => After::FlowEnd,
                _ => After::Token,
            },
            next: tokens[next].start,
            next_indent: placer.indents.last().copied().unwrap_or(0),
            behind_value: tokens[last].kind == Kind::Value,
            foot_line: (from.line > 0).then(|| (first.start.line + 1 + beside).saturating_sub(newlines)),
            first_empty: newlines <= 1,
            recent_empty: false,
            token: tokens[last].start.index,
            scanned_from: from.index,
            start: first.start,
            lines: Vec::new(),
            placed: Vec::new(),
        }
    }

    fn place(mut self, remarks: &[Remark]) -> Vec<Placed> {
        let mut line = remarks.first().map_or(0, |remark| remark.start.line);
        for (at, remark) in remarks.iter().enumerate() {
            let following = remarks.get(at + 1).map(|remark| remark.start);
            self.part_if_dedented(remark.start);
            if self.lines.is_empty() {
                self.start = Mark { line, ..remark.start };
            }
            self.recent_empty = false;
            self.lines.push(remark.text.clone());
            let empties = self.empty_lines(remark.end, following.unwrap_or(self.next));
            line = remark.start.line + empties;
            if following.is_none() {
                self.finish();
            }
        }
        self.placed
    }

    /// Passes the empty lines behind a comment and returns how many the scanner counts: it
    /// skips one sign that ends the line, so a CR LF leaves one over.
    fn empty_lines(&mut self, from: Mark, to: Mark) -> usize {
        let empties = self.source.break_signs(from.index, to.index).saturating_sub(1);
        if empties > 0 {
            self.part_at_empty_line(from.index + 1);
            self.first_empty = false;
            self.recent_empty = true;
        }
        empties
    }

    /// An empty line parts a foot from the head that may follow it.
    fn part_at_empty_line(&mut self, at: usize) {
        let dedented = self.start.column < self.next_indent;
        let below = self.foot_line == Some(self.start.line) && !self.behind_value;
        if self.first_empty && (below || dedented) {
            self.push_foot(at);
        }
    }

    fn push_foot(&mut self, at: usize) {
        if self.lines.is_empty() {
            return;
        }
        if self.start.column < self.next_indent {
            self.token = self.start.index;
        }
        self.push(Relation::Foot, self.token, at);
    }

    fn push(&mut self, relation: Relation, token: usize, end: usize) {
        self.placed.push(Placed {
            relation,
            token,
            lines: std::mem::take(&mut self.lines),
            start: self.start,
            end,
            scanned_from: self.scanned_from,
        });
        self.scanned_from = end;
        self.token = end;
    }

    /// What stands left of the block and not below the comment makes the comment a foot: of
    /// the last value, as in yaml.v3, or of the block whose indent it has. The latter is what
    /// an encrypted file means; sops cannot decrypt the comment then, for it looks elsewhere.
    fn part_if_dedented(&mut self, next: Mark) {
        if self.lines.is_empty() || next.column >= self.next_indent || next.column == self.start.column {
            return;
        }
        match self.purpose {
            Purpose::Plain => self.push(Relation::Foot, self.token, next.index),
            Purpose::Encrypted => self.push_foot(next.index),
        }
    }

    fn finish(&mut self) {
        match self.after {
            After::Token => self.part_if_dedented(self.next),
            After::FlowEnd => self.push_foot(self.next.index),
            After::StreamEnd if !self.recent_empty => self.part_at_empty_line(self.next.index),
            After::StreamEnd => {}
        }
        if !self.lines.is_empty() {
            let end = self.next.index.saturating_sub(1);
            self.push(Relation::Head, self.start.index, end);
        }
    }
}
