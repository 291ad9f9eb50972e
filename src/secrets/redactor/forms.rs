//! In which forms a secret may stand in a text.
//!
//! A value is looked for as a whole, without the white space around it, and line by line; each
//! of these raw, escaped, escaped twice (a quoted value inside a JSON message), URL-encoded and
//! in base64. Equal forms are kept once, so a plain password costs a handful. Long values go
//! without the rare forms, for the automaton grows with the sum of all.

use std::collections::BTreeMap;

use zeroize::{Zeroize as _, Zeroizing};

use super::SHORTEST;
use super::base64_forms::{cores, padded};
use super::escapes::{Escape, escaped};
use super::form::{Breadth, Edges};
use super::url_forms::{Variety, url_encoded};

/// Up to this length a value is looked for in the rare forms too.
const RARE_UP_TO: usize = 512;

/// All forms of all values, each once; zeroised on drop.
#[derive(Default)]
pub(super) struct Forms(BTreeMap<Vec<u8>, Edges>);

impl Forms {
    /// Adds a value; returns whether it is long enough to be masked.
    pub fn add(&mut self, value: &[u8]) -> bool {
        let lines = value.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
        self.add_pieces([value, value.trim_ascii()].into_iter().chain(lines))
    }

    /// Adds a value, but none of its lines; returns whether it is long enough to be masked.
    pub fn add_whole(&mut self, value: &[u8]) -> bool {
        self.add_pieces([value, value.trim_ascii()].into_iter())
    }

    fn add_pieces<'a>(&mut self, pieces: impl Iterator<Item = &'a [u8]>) -> bool {
        let mut added = false;
        for piece in pieces.filter(|piece| is_long_enough(piece)) {
            self.add_piece(piece);
            added = true;
        }
        added
    }

    /// Returns the forms in the order of [`Self::edges`].
    pub fn patterns(&self) -> impl Iterator<Item = &[u8]> {
        self.0.keys().map(Vec::as_slice)
    }

    /// Returns the edges of the forms.
    pub fn edges(&self) -> impl Iterator<Item = Edges> {
        self.0.values().copied()
    }

    fn add_piece(&mut self, piece: &[u8]) {
        if self.0.contains_key(piece) {
            return;
        }
        let breadth = if piece.len() <= RARE_UP_TO { Breadth::All } else { Breadth::Usual };
        self.insert(piece, Edges::default());
        self.add_base64(piece);
        Variety::of(breadth).for_each(|variety| self.insert(&url_encoded(piece, variety), Edges::default()));
        let text = Zeroizing::new(String::from_utf8_lossy(piece).into_owned());
        // Bytes that are no text arrive replaced, once a line has been made of them.
        if text.chars().filter(|char| *char != char::REPLACEMENT_CHARACTER).count() >= SHORTEST {
            self.add_text(&text, breadth);
        }
    }

    fn add_text(&mut self, text: &str, breadth: Breadth) {
        self.insert(text.as_bytes(), Edges::default());
        for escape in Escape::ALL {
            let once = escaped(text, escape);
            if breadth == Breadth::All && once.as_str() != text {
                self.add_base64(once.as_bytes());
            }
            for twice in [Escape::Json, Escape::GoJson] {
                self.insert(escaped(&once, twice).as_bytes(), Edges::default());
            }
            self.insert(once.as_bytes(), Edges::default());
        }
    }

    fn add_base64(&mut self, bytes: &[u8]) {
        cores(bytes).for_each(|(core, edges)| self.insert(&core, edges));
        padded(bytes).for_each(|form| self.insert(&form, Edges::default()));
    }

    fn insert(&mut self, form: &[u8], edges: Edges) {
        match self.0.get_mut(form) {
            Some(known) => *known = Edges { left: known.left | edges.left, right: known.right | edges.right },
            None => drop(self.0.insert(form.to_vec(), edges)),
        }
    }
}

impl Drop for Forms {
    fn drop(&mut self) {
        std::mem::take(&mut self.0).into_keys().for_each(|mut form| form.zeroize());
    }
}

/// Counts characters where it is text, else bytes.
fn is_long_enough(piece: &[u8]) -> bool {
    match std::str::from_utf8(piece) {
        Ok(text) => text.trim().chars().count() >= SHORTEST,
        Err(_) => piece.len() >= SHORTEST,
    }
}
