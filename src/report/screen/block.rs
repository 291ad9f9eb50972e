//! The block of lines at the end of the screen that is drawn over itself, as the characters
//! that draw it.
//!
//! Pure. It knows how wide its lines are, so that it finds its beginning again after the
//! window has changed its size: a narrower terminal breaks lines into several rows, a lower
//! one pushes the upper rows out of sight, and a larger one brings them back. Between two
//! drawings the cursor stands at the beginning of the last line, whose row breaks cannot
//! move.

use console::{measure_text_width, truncate_str};

/// How much room there is, in characters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Size {
    pub rows: usize,
    pub columns: usize,
}

/// Clears the line that the cursor stands at the beginning of.
///
/// Before anything is written: what is cleared behind a text still makes the line long, and so is
/// broken into rows when the window becomes narrower.
const CLEAR_LINE: &str = "\u{1b}[K";

/// Clears the lines below, and goes to the beginning of this one.
///
/// The step to the right is for terminals that keep in their history what is cleared from the first
/// place of the screen on.
const CLEAR_BELOW: &str = "\u{1b}[C\u{1b}[J\r";

/// The lines that are on the screen now.
#[derive(Debug, Default)]
pub struct Block {
    /// How wide they are.
    drawn: Vec<usize>,
    /// How wide those are that a lower screen pushed out of sight, right above them.
    lost: Vec<usize>,
    size: Option<Size>,
}

impl Block {
    /// Returns what puts these lines in the place of those before.
    pub fn draw(&mut self, lines: &[String], size: Size) -> String {
        let start = self.back_to_start(size);
        self.drawn = lines.iter().map(|line| measure_text_width(line)).collect();
        let text = lines.join(&format!("\n{CLEAR_LINE}"));
        format!("{start}{CLEAR_LINE}{text}{CLEAR_BELOW}")
    }

    /// Returns what takes the lines away and leaves the cursor where they began.
    pub fn erase(&mut self, size: Size) -> String {
        let start = self.back_to_start(size);
        // What is written next parts the lost lines from those that come.
        *self = Self::default();
        format!("{start}{CLEAR_LINE}{CLEAR_BELOW}")
    }

    fn back_to_start(&mut self, size: Size) -> String {
        let resized = self.size.replace(size).is_some_and(|before| before != size);
        if resized {
            self.drawn.splice(..0, self.lost.drain(..));
        }
        let above = self.drawn.split_last().map_or(0, |(_, above)| height(above, size));
        if !resized {
            return upwards(above);
        }
        self.lost = out_of_sight(&self.drawn, size);
        format!("{}{CLEAR_LINE}{CLEAR_BELOW}", upwards(above))
    }
}

/// A terminal stops at its first row, however far the way would be.
fn upwards(rows: usize) -> String {
    if rows == 0 { "\r".to_owned() } else { format!("\u{1b}[{rows}A\r") }
}

/// Returns the first of these lines, as many as there is no room for.
fn out_of_sight(lines: &[usize], size: Size) -> Vec<usize> {
    let first_seen = (0..lines.len()).find(|first| height(&lines[*first..], size) <= size.rows);
    lines[..first_seen.unwrap_or(lines.len())].to_vec()
}

/// Returns how many rows lines take.
fn height(lines: &[usize], size: Size) -> usize {
    lines.iter().map(|width| width.div_ceil(size.columns.max(1)).max(1)).sum()
}

/// Cuts a line to a width. The last column stays free: some terminals break the line there.
pub fn cut(line: &str, columns: usize) -> String {
    truncate_str(line, columns.saturating_sub(1), "…").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(rows: usize, columns: usize) -> Size {
        Size { rows, columns }
    }

    fn lines(count: usize, width: usize) -> Vec<String> {
        vec!["x".repeat(width); count]
    }

    #[test]
    fn the_next_drawing_begins_where_the_one_before_began() {
        let mut block = Block::default();

        assert_eq!(block.draw(&lines(2, 3), size(24, 80)), "\r\u{1b}[Kxxx\n\u{1b}[Kxxx\u{1b}[C\u{1b}[J\r");
        assert_eq!(block.draw(&lines(1, 1), size(24, 80)), "\u{1b}[1A\r\u{1b}[Kx\u{1b}[C\u{1b}[J\r");
        assert_eq!(block.erase(size(24, 80)), "\r\u{1b}[K\u{1b}[C\u{1b}[J\r");
    }

    #[test]
    fn a_narrower_window_makes_the_way_back_longer() {
        let mut block = Block::default();
        block.draw(&lines(3, 50), size(24, 80));

        let drawn = block.draw(&lines(3, 10), size(24, 20));

        assert!(drawn.starts_with("\u{1b}[6A\r\u{1b}[K\u{1b}[C\u{1b}[J"), "{drawn:?}");
    }

    #[test]
    fn what_a_lower_window_hid_is_erased_when_a_higher_one_brings_it_back() {
        let mut block = Block::default();
        block.draw(&lines(20, 10), size(24, 80));
        block.draw(&lines(9, 10), size(10, 80));
        block.draw(&lines(9, 10), size(10, 80));

        let drawn = block.draw(&lines(20, 10), size(50, 80));

        assert!(drawn.starts_with("\u{1b}[18A\r\u{1b}[K\u{1b}[C\u{1b}[J"), "{drawn:?}");
    }

    #[test]
    fn lines_above_the_block_are_never_taken_for_hidden_ones() {
        let mut block = Block::default();
        block.draw(&lines(20, 10), size(24, 80));
        block.draw(&lines(9, 10), size(10, 80));

        block.erase(size(10, 80));
        block.draw(&lines(9, 10), size(10, 80));

        assert!(block.draw(&lines(9, 10), size(50, 80)).starts_with("\u{1b}[8A\r"));
    }
}
