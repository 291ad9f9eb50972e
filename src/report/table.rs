//! Columns that line up, whatever the script of the words in them.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement};

/// A table without lines; the first row is its heading.
#[derive(Debug)]
pub struct Table(comfy_table::Table);

impl Table {
    /// Makes a table with these headings.
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(headings);
        Self(table)
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.0.add_row(cells);
    }

    /// Aligns columns to the right.
    pub fn right(&mut self, columns: &[usize]) {
        for column in columns {
            if let Some(column) = self.0.column_mut(*column) {
                column.set_cell_alignment(CellAlignment::Right);
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    }

    /// Returns the lines, without spaces at their ends.
    pub fn lines(&self) -> Vec<String> {
        self.0.to_string().lines().map(|line| line.trim_end().to_owned()).collect()
    }
}
