//! Columns that line up, whatever the script of the words in them.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement};

/// A table without lines; the first row is its heading.
#[derive(Debug)]
pub struct Table(comfy_table::Table);

impl Table {
    /// Makes a table with these headings.
    pub fn new<'a>(headings: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(headings.into_iter().collect::<Vec<_>>());
        Self(table)
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.add_row(cells.into_iter().collect::<Vec<_>>());
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
