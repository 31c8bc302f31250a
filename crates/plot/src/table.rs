//! The numbers in a picture.

use std::borrow::Cow;

use tcplab_units::csv_field;

/// Rows of cells below the names of the columns. A cell is a number as Rust writes it, a text, or
/// empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    columns: usize,
    /// All cells, without anything between them.
    text: String,
    /// Where each cell ends.
    ends: Vec<usize>,
}

impl Table {
    /// Each row has as many cells as there are columns.
    pub fn new<R: AsRef<[String]>>(columns: &[&str], rows: impl IntoIterator<Item = R>) -> Table {
        let mut table = Table { columns: columns.len(), ..Table::default() };
        for name in columns {
            table.add(name);
        }
        for row in rows {
            for cell in row.as_ref() {
                table.add(cell);
            }
        }
        table
    }

    fn add(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }

    /// The cells row by row, the names of the columns first.
    pub fn rows(&self) -> impl Iterator<Item = Vec<&str>> {
        let cell = |index: usize| {
            let from = if index == 0 { 0 } else { self.ends[index - 1] };
            &self.text[from..self.ends[index]]
        };
        let starts = (0..self.ends.len()).step_by(self.columns.max(1));
        starts.map(move |start| (start..start + self.columns).map(cell).collect())
    }

    /// As comma-separated values (RFC 4180, but with `\n` at the end of a line), in which no text
    /// is a formula of a spreadsheet.
    pub fn csv(&self) -> String {
        let mut csv = String::new();
        for row in self.rows() {
            csv += &row.into_iter().map(csv_field).collect::<Vec<Cow<'_, str>>>().join(",");
            csv.push('\n');
        }
        csv
    }
}

/// A number as a cell of a [`Table`]; empty if it is not finite.
pub fn number_cell(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_csv_quotes_texts_and_disarms_formulas() {
        let rows = [
            ["a, b".to_owned(), number_cell(1.5)],
            ["\"c\"".into(), number_cell(f64::NAN)],
            ["=HYPERLINK(1)".into(), number_cell(-2.0)],
        ];
        let table = Table::new(&["name", "value"], rows);
        let csv = "name,value\n\"a, b\",1.5\n\"\"\"c\"\"\",\n'=HYPERLINK(1),-2\n";
        assert_eq!(table.csv(), csv);
        let rows: Vec<Vec<&str>> = table.rows().collect();
        assert_eq!(
            rows,
            [["name", "value"], ["a, b", "1.5"], ["\"c\"", ""], ["=HYPERLINK(1)", "-2"]]
        );
        assert_eq!((Table::default().csv(), Table::default().rows().count()), (String::new(), 0));
    }
}
