//! One pass over text: where are the bytes that must not be seen?
//!
//! Goes on where it stopped, so text may come in pieces.

use std::ops::Range;

use aho_corasick::automaton::StateID;

use super::matcher::Matcher;

/// A pass under way.
pub(super) struct Scan {
    state: StateID,
    /// Whether the next byte shares bits with a secret, if it is of base64.
    spills: bool,
    /// What to mask: in order, apart from each other.
    pub marks: Vec<Range<usize>>,
}

impl Scan {
    pub const fn new(matcher: &Matcher) -> Self {
        Self { state: matcher.start(), spills: false, marks: Vec::new() }
    }

    /// Scans the bytes from `from` on; those before were scanned already.
    pub fn feed(&mut self, matcher: &Matcher, bytes: &[u8], from: usize) {
        for at in from..bytes.len() {
            if self.spills && is_base64(bytes[at]) {
                self.mark(at..at + 1);
            }
            self.state = matcher.next(self.state, bytes[at]);
            let ending = matcher.ending(self.state);
            self.spills = ending.is_some_and(|ending| ending.right);
            let Some(ending) = ending else { continue };
            let end = at + 1;
            self.mark(end.saturating_sub(ending.length)..end);
            let left = end.saturating_sub(ending.length_with_left);
            if ending.length_with_left > 0 && left > 0 && is_base64(bytes[left - 1]) {
                self.mark(left - 1..end);
            }
        }
    }

    /// Returns where the bytes begin that later ones may still turn into a secret.
    pub fn undecided(&self, matcher: &Matcher, bytes: &[u8]) -> usize {
        let start = bytes.len().saturating_sub(matcher.depth(self.state));
        // The character before may share bits with a secret that has yet to begin.
        let shared = start > 0 && is_base64(bytes[start - 1]);
        start - usize::from(shared)
    }

    /// Forgets the first bytes; what was marked beyond them stays marked.
    pub fn forget(&mut self, count: usize) {
        self.marks.retain(|mark| mark.end > count);
        for mark in &mut self.marks {
            *mark = mark.start.saturating_sub(count)..mark.end - count;
        }
    }

    /// Adds a range that ends last, and merges those it overlaps or touches.
    fn mark(&mut self, mut range: Range<usize>) {
        while let Some(last) = self.marks.pop_if(|last| last.end >= range.start) {
            range.start = range.start.min(last.start);
        }
        self.marks.push(range);
    }
}

/// Returns whether a byte is of either alphabet of base64.
fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}
