//! Columns that line up, whatever the script of the words in them.

use super::fit::text_width;

/// A table without lines; the first row is its heading.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// The columns that are aligned to the right.
    right: Vec<usize>,
}

impl Table {
    /// Makes a table with these headings.
    pub fn new<'a>(headings: impl IntoIterator<Item = &'a str>) -> Self {
        Self { rows: vec![headings.into_iter().map(str::to_owned).collect()], right: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Aligns columns to the right.
    pub fn right(&mut self, columns: &[usize]) {
        self.right.extend(columns);
    }

    /// Returns the lines, without spaces at their ends.
    pub fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(|column| self.width(column)).collect();
        self.rows.iter().map(|row| self.line(row, &widths)).collect()
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().filter_map(|row| row.get(column)).map(|cell| text_width(cell)).max().unwrap_or(0)
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            let gap = " ".repeat(width.saturating_sub(text_width(cell)));
            if self.right.contains(&column) { format!(" {gap}{cell} ") } else { format!(" {cell}{gap} ") }
        });
        cells.collect::<String>().trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_on_both_sides_and_wide_letters_count_twice() {
        let mut table = Table::new(["stack", "add", ""]);
        table.right(&[1]);
        table.row(["日本".to_owned(), "10".to_owned(), "new".to_owned()]);
        table.row(["a/longer".to_owned(), "1".to_owned(), String::new()]);

        assert_eq!(table.lines(), [" stack     add", " 日本       10  new", " a/longer    1"]);
    }
}
