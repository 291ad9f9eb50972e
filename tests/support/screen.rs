//! A small terminal that only remembers: turns what a program wrote into the lines that a
//! person sees at the end, scrolled-off lines included.

use std::collections::BTreeSet;

/// The lines of a terminal.
pub struct Screen {
    columns: usize,
    lines: Vec<Vec<char>>,
    /// The lines that only go on with the one above, which was too long for the terminal.
    folded: BTreeSet<usize>,
    row: usize,
    column: usize,
}

impl Screen {
    /// Replays what was written on a terminal of this width.
    pub fn replay(written: &str, columns: usize) -> Self {
        let mut screen =
            Self { columns, lines: vec![Vec::new()], folded: BTreeSet::new(), row: 0, column: 0 };
        let mut chars = written.chars();
        while let Some(char) = chars.next() {
            match char {
                '\u{1b}' => screen.escape(&mut chars),
                '\r' => screen.column = 0,
                '\n' => screen.down(),
                char if char.is_control() => {}
                char => screen.put(char),
            }
        }
        screen
    }

    /// Returns the lines without spaces at their ends.
    pub fn lines(&self) -> Vec<String> {
        self.lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned()).collect()
    }

    /// Returns the lines as one copies them: what the terminal folded is one line again.
    pub fn unfolded(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for (row, line) in self.lines.iter().enumerate() {
            let text: String = line.iter().collect();
            match lines.last_mut().filter(|_| self.folded.contains(&row)) {
                Some(begun) => begun.push_str(&text),
                None => lines.push(text),
            }
        }
        lines.iter().map(|line| line.trim_end().to_owned()).collect()
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
    }

    fn put(&mut self, char: char) {
        if self.column == self.columns {
            self.column = 0;
            self.down();
            self.folded.insert(self.row);
        }
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = char;
        self.column += 1;
    }

    fn clear_rest(&mut self) {
        self.lines[self.row].truncate(self.column);
        self.lines.truncate(self.row + 1);
        self.folded.retain(|row| *row <= self.row);
    }

    /// Follows the few movements that a live view makes; colours change no text.
    fn escape(&mut self, chars: &mut std::str::Chars<'_>) {
        let mut number = String::new();
        for char in chars.by_ref().skip_while(|char| *char == '[') {
            match char {
                '0'..='9' | ';' | '?' => number.push(char),
                'A' => return self.row = self.row.saturating_sub(count(&number)),
                'B' => return (0..count(&number)).for_each(|_| self.down()),
                'J' => return self.clear_rest(),
                'K' if number == "2" => return self.lines[self.row].clear(),
                'K' => return self.lines[self.row].truncate(self.column),
                _ => return,
            }
        }
    }
}

fn count(number: &str) -> usize {
    number.parse().unwrap_or(1)
}
