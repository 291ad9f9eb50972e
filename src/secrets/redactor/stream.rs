//! Masks text that comes in pieces, wherever it is cut.
//!
//! Holds back only what may still become a secret: at most the longest form of a value. What
//! is held back is zeroised on drop.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::MASK;
use super::matcher::Matcher;
use super::scan::Scan;

/// A stream of text with its secrets masked.
pub struct Stream(Option<Active>);

/// A stream that has something to mask.
struct Active {
    matcher: Arc<Matcher>,
    scan: Scan,
    held: Zeroizing<Vec<u8>>,
    /// Whether the last thing shown was a mask, which a mark at the beginning would continue.
    after_mask: bool,
}

impl Stream {
    pub(super) fn new(matcher: Option<Arc<Matcher>>) -> Self {
        Self(matcher.map(|matcher| {
            let scan = Scan::new(&matcher);
            Active { matcher, scan, held: Zeroizing::default(), after_mask: false }
        }))
    }

    /// Takes more text and returns what can be shown by now.
    pub fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match &mut self.0 {
            Some(active) => Cow::Owned(active.push(bytes)),
            None => Cow::Borrowed(bytes),
        }
    }

    /// Returns what is left: the text has ended, so nothing can become a secret any more.
    pub fn finish(self) -> Vec<u8> {
        let Some(mut active) = self.0 else { return Vec::new() };
        let end = active.held.len();
        active.release(end)
    }
}

impl Active {
    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let known = self.held.len();
        self.held.extend_from_slice(bytes);
        self.scan.feed(&self.matcher, &self.held, known);
        let decided = self.scan.undecided(&self.matcher, &self.held);
        self.release(decided)
    }

    /// Shows the first bytes; a mark that goes on beyond them is masked now and continued later.
    fn release(&mut self, count: usize) -> Vec<u8> {
        let mut shown = Vec::with_capacity(count);
        let mut done = 0;
        for mark in self.scan.marks.iter().take_while(|mark| mark.start < count) {
            shown.extend_from_slice(&self.held[done..mark.start]);
            if mark.start > 0 || !self.after_mask {
                shown.extend_from_slice(MASK.as_bytes());
            }
            done = mark.end.min(count);
            self.after_mask = true;
        }
        shown.extend_from_slice(&self.held[done..count]);
        self.after_mask &= done == count;
        self.held.drain(..count);
        self.scan.forget(count);
        shown
    }
}

/// Shows nothing of what is held back.
impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}
