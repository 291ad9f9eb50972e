//! The automaton over all forms of all values, and how far into a form each of its states is.
//!
//! The depth is what makes a stream possible: it says how many of the last bytes may still
//! become a secret, so that everything before them can be shown.

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::noncontiguous::NFA;
use aho_corasick::{Anchored, MatchKind};

use super::form::Edges;
use super::forms::Forms;
use crate::error::{Error, Result};

/// Finds where forms end.
pub(super) struct Matcher {
    automaton: NFA,
    start: StateID,
    /// By state: how many bytes of a form have been seen.
    depths: Vec<usize>,
    /// By pattern: which neighbours belong to it.
    edges: Vec<Edges>,
}

/// The longest form that ends at a place, and which of its neighbours share bits with it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ending {
    pub length: usize,
    /// The longest form that shares bits with the character before it; 0 if none does.
    pub length_with_left: usize,
    pub right: bool,
}

impl Matcher {
    /// Builds the automaton.
    pub fn new(forms: &Forms) -> Result<Self> {
        let failed = |why: String| Error::bug("cannot build the redactor").detail(why);
        let automaton = NFA::builder().match_kind(MatchKind::Standard).build(forms.patterns());
        let automaton = automaton.map_err(|error| failed(error.to_string()))?;
        let start = automaton.start_state(Anchored::No).map_err(|error| failed(error.to_string()))?;
        let edges = forms.edges().collect();
        let mut matcher = Self { automaton, start, depths: Vec::new(), edges };
        forms.patterns().for_each(|pattern| matcher.note_depths(pattern));
        Ok(matcher)
    }

    /// Returns the state before any byte.
    pub const fn start(&self) -> StateID {
        self.start
    }

    /// Returns the state after one more byte.
    pub fn next(&self, state: StateID, byte: u8) -> StateID {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    /// Returns how many of the last bytes are the beginning of a form.
    pub fn depth(&self, state: StateID) -> usize {
        self.depths.get(state.as_usize()).copied().unwrap_or(0)
    }

    /// Returns what ends at a state, if anything does.
    pub fn ending(&self, state: StateID) -> Option<Ending> {
        if !self.automaton.is_match(state) {
            return None;
        }
        let mut ending = Ending::default();
        for at in 0..self.automaton.match_len(state) {
            let pattern = self.automaton.match_pattern(state, at);
            let (length, edges) = (self.automaton.pattern_len(pattern), self.edges[pattern.as_usize()]);
            ending.length = ending.length.max(length);
            ending.right |= edges.right;
            if edges.left {
                ending.length_with_left = ending.length_with_left.max(length);
            }
        }
        Some(ending)
    }

    /// Walks a form: from the start its own prefix is always the longest match.
    fn note_depths(&mut self, pattern: &[u8]) {
        let mut state = self.start;
        for (at, byte) in pattern.iter().enumerate() {
            state = self.next(state, *byte);
            let index = state.as_usize();
            if self.depths.len() <= index {
                self.depths.resize(index + 1, 0);
            }
            self.depths[index] = at + 1;
        }
    }
}
