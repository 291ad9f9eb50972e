//! Turns the offset of a byte in a text into line and column.
//!
//! Places are mostly asked for in rising order; the last answer is kept so that a file of one
//! very long line takes no longer than one of many. Begin at [`Lines::place`].

use std::cell::Cell;
use std::sync::Arc;

use crate::project::data::node::DataPlace;

/// Where the lines of a text begin.
#[derive(Debug)]
pub struct Lines<'a> {
    file: &'a Arc<str>,
    text: &'a str,
    starts: Vec<usize>,
    /// The offset that was asked for last and the characters before it in its line.
    last: Cell<(usize, usize)>,
}

impl<'a> Lines<'a> {
    /// Finds the lines of a text.
    pub fn new(file: &'a Arc<str>, text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { file, text, starts, last: Cell::new((0, 0)) }
    }

    /// Returns the place of a byte.
    pub fn place(&self, offset: usize) -> DataPlace {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(0);
        let (from, counted) = match self.last.get() {
            (last, count) if (start..=offset).contains(&last) => (last, count),
            _ => (start, 0),
        };
        let before = self.text.get(from..offset).map_or(0, |text| text.chars().count()) + counted;
        self.last.set((offset, before));
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        DataPlace { file: Arc::clone(self.file), line: number(line), column: number(before + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters_from_one() {
        let file: Arc<str> = "a.json".into();
        let lines = Lines::new(&file, "{\n  \"ü\": 1}\n");

        let places = [0, 4, 9, 4, 13].map(|offset| lines.place(offset).to_string());

        assert_eq!(places, ["a.json:1:1", "a.json:2:3", "a.json:2:7", "a.json:2:3", "a.json:3:1"]);
    }
}
