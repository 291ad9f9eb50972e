//! What a live view shows of a run, as text: the stacks that run, and one line of counts.
//!
//! Pure: a board, a size and a time give lines, so that narrow and small terminals are
//! tested without one.

use std::time::Duration;

use console::{measure_text_width, truncate_str};

use crate::model::{StackId, StackResult, human_duration};
use crate::report::screen::{Live, Picture, Size, cut};

/// A stack that runs.
#[derive(Clone, Debug)]
struct Row {
    stack: StackId,
    doing: String,
    /// When it began, after the start of the view.
    began: Duration,
}

/// The state of a run.
#[derive(Clone, Debug, Default)]
pub struct Board {
    total: usize,
    done: usize,
    failed: usize,
    unchanged: usize,
    running: Vec<Row>,
}

impl Board {
    pub fn new(total: usize) -> Self {
        Self { total, ..Self::default() }
    }

    /// Says what a stack does now.
    pub fn set_doing(&mut self, stack: &StackId, doing: String, now: Duration) {
        match self.running.iter_mut().find(|row| row.stack == *stack) {
            Some(row) => row.doing = doing,
            None => self.running.push(Row { stack: stack.clone(), doing, began: now }),
        }
    }

    /// Says that a stack does nothing at the moment.
    pub fn rest(&mut self, stack: &StackId) {
        self.running.retain(|row| row.stack != *stack);
    }

    /// Counts a stack as finished.
    pub fn finish(&mut self, stack: &StackId, result: StackResult) {
        self.rest(stack);
        self.done += 1;
        self.failed += usize::from(result == StackResult::Failed);
        self.unchanged += usize::from(result == StackResult::NoChanges);
    }

    /// Counts in the order of their weight, as many as there is room for.
    fn counts(&self, columns: usize) -> String {
        let Self { total, done, failed, unchanged, running } = self;
        let waiting = total.saturating_sub(done + running.len());
        let mut text = format!("  {done}/{total} done · {} running · {failed} failed", running.len());
        for (count, word) in [(waiting, "waiting"), (*unchanged, "without changes")] {
            let part = format!(" · {count} {word}");
            if count > 0 && measure_text_width(&text) + measure_text_width(&part) < columns {
                text.push_str(&part);
            }
        }
        const HELP: &str = "Ctrl-C stops gently";
        let gap = columns.saturating_sub(measure_text_width(&text) + HELP.len() + 1);
        if gap >= 2 {
            text.push_str(&format!("{}{HELP}", " ".repeat(gap.min(12))));
        }
        cut(&text, columns)
    }
}

impl Picture for Board {
    fn lines(&self, spinner: &str, now: Duration, size: Size) -> Vec<String> {
        // One line for the counts, one that stays free for the cursor.
        let room = size.rows.saturating_sub(2).max(1);
        let shown = if self.running.len() > room { room - 1 } else { self.running.len() };
        let width = self.running[..shown].iter().map(|row| measure_text_width(row.stack.as_str())).max();
        let width = width.unwrap_or(0).min(size.columns / 2);
        let mut lines: Vec<String> =
            self.running[..shown].iter().map(|row| row.line(spinner, now, (width, size.columns))).collect();
        if shown < self.running.len() {
            lines.push(cut(&format!("    … and {} more running", self.running.len() - shown), size.columns));
        }
        if self.total > 1 {
            lines.push(self.counts(size.columns));
        }
        lines
    }
}

/// What the console tells the live view about stacks.
impl Live<Board> {
    /// Says what a stack does now, and shows the block if it was away.
    pub fn set_doing(&mut self, stack: &StackId, doing: String) {
        self.show(|board, now| board.set_doing(stack, doing, now));
    }

    /// Says that a stack does nothing at the moment.
    pub fn rest(&self, stack: &StackId) {
        self.change(|board| board.rest(stack));
    }

    /// Counts a stack as finished.
    pub fn finish(&self, stack: &StackId, result: StackResult) {
        self.change(|board| board.finish(stack, result));
    }
}

impl Row {
    fn line(&self, spinner: &str, now: Duration, (width, columns): (usize, usize)) -> String {
        let id = truncate_str(self.stack.as_str(), width, "…");
        let gap = " ".repeat(width.saturating_sub(measure_text_width(&id)));
        let time = human_duration(now.saturating_sub(self.began).as_secs_f64());
        let head = format!("  {spinner} {id}{gap}");
        let room = columns.saturating_sub(measure_text_width(&head) + time.len() + 5);
        if room < 8 {
            return cut(&format!("{head} {time}"), columns);
        }
        let doing = truncate_str(&self.doing, room, "…");
        cut(&format!("{head}  {doing}  {time}"), columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(running: usize) -> Board {
        let mut board = Board::new(200);
        for number in 0..running {
            let stack = StackId::new(format!("02-platforms/stack-{number:03}"));
            board.set_doing(&stack, "planning".to_owned(), Duration::ZERO);
        }
        board
    }

    fn lines(board: &Board, rows: usize, columns: usize) -> Vec<String> {
        board.lines("*", Duration::from_secs(7), Size { rows, columns })
    }

    #[test]
    fn a_wide_terminal_shows_each_running_stack_and_the_counts() {
        let mut board = board(2);
        board.finish(&StackId::new("x"), StackResult::NoChanges);

        assert_eq!(
            lines(&board, 24, 80),
            [
                "  * 02-platforms/stack-000  planning  7.0s",
                "  * 02-platforms/stack-001  planning  7.0s",
                "  1/200 done · 2 running · 0 failed · 197 waiting · 1 without changes",
            ]
            .map(str::to_owned)
        );
    }

    #[test]
    fn more_than_fits_is_folded_into_one_line() {
        let shown = lines(&board(50), 6, 80);

        assert_eq!(shown.len(), 5);
        assert_eq!(shown[3], "    … and 47 more running");
    }

    #[test]
    fn no_line_is_wider_than_a_narrow_terminal() {
        for columns in [1, 5, 12, 20, 33, 40] {
            let widest = lines(&board(3), 10, columns).iter().map(|line| measure_text_width(line)).max();

            assert!(widest < Some(columns.max(2)), "{columns} columns: {widest:?}");
        }
    }

    #[test]
    fn a_stack_that_waits_for_a_person_is_not_shown_as_running() {
        let mut board = board(1);

        board.rest(&StackId::new("02-platforms/stack-000"));

        assert_eq!(lines(&board, 24, 40), ["  0/200 done · 0 running · 0 failed"]);
    }
}
