//! A table of which rows come one by one, in any of the formats.

use std::borrow::Cow;
use std::io::{self, Write};

use tcplab_units::csv_field;

use crate::arrow::ArrowFile;
use crate::column::{Column, Object};
use crate::error::TableError;
use crate::format::Format;
use crate::parquet::ParquetFile;
use crate::value::Value;

/// Rows that wait until they are written together, in formats of columns. Readers work on groups in
/// parallel and pay for each; DuckDB's performance guide advises 100 000 to a million rows. These
/// take 20 MB.
pub(crate) const ROWS_PER_GROUP: usize = 1 << 17;

/// A table of which rows come one by one: memory does not grow with its length.
pub struct Table<R: 'static, W: Write + Send> {
    columns: Cow<'static, [Column<R>]>,
    waiting: Vec<R>,
    rows_per_group: usize,
    rows: u64,
    file: File<W>,
}

enum File<W: Write + Send> {
    Csv(W),
    Jsonl(W),
    Parquet(Box<ParquetFile<W>>),
    Arrow(Box<ArrowFile<W>>),
}

impl<R, W: Write + Send> Table<R, W> {
    /// Begins a table; `out` should be buffered.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn create(
        format: Format,
        columns: impl Into<Cow<'static, [Column<R>]>>,
        out: W,
    ) -> io::Result<Table<R, W>> {
        Table::with_groups(format, columns, ROWS_PER_GROUP, out)
    }

    /// Begins a table; `rows_per_group` rows wait until they are written together.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn with_groups(
        format: Format,
        columns: impl Into<Cow<'static, [Column<R>]>>,
        rows_per_group: usize,
        mut out: W,
    ) -> io::Result<Table<R, W>> {
        let columns = columns.into();
        let file = match format {
            Format::Csv => {
                let names = columns.iter().map(|column| Value::Text(column.name.clone()));
                write_line(&mut out, names)?;
                File::Csv(out)
            }
            Format::Jsonl => File::Jsonl(out),
            Format::Parquet => File::Parquet(Box::new(ParquetFile::create(&columns, out)?)),
            Format::Arrow => File::Arrow(Box::new(ArrowFile::create(&columns, out)?)),
        };
        Ok(Table { columns, waiting: Vec::new(), rows_per_group, rows: 0, file })
    }

    /// Writes the next row, or keeps it until its group is full.
    ///
    /// # Errors
    /// If the file cannot be written; then it is no table.
    pub fn push(&mut self, row: R) -> io::Result<()> {
        self.rows += 1;
        match &mut self.file {
            File::Csv(out) => {
                write_line(out, self.columns.iter().map(|column| column.cells.value(&row)))
            }
            File::Jsonl(out) => {
                serde_json::to_writer(&mut *out, &Object { columns: &self.columns, row: &row })?;
                out.write_all(b"\n")
            }
            File::Parquet(_) | File::Arrow(_) => {
                self.waiting.push(row);
                if self.waiting.len() == self.rows_per_group { self.write_group() } else { Ok(()) }
            }
        }
    }

    /// Writes what is left and the file's end, with these `notes` in its metadata if the format has
    /// any; the number of rows, and where they were written.
    ///
    /// # Errors
    /// If the file cannot be written; then it is no table.
    pub fn finish(mut self, notes: &[(String, String)]) -> io::Result<(u64, W)> {
        if !self.waiting.is_empty() {
            self.write_group()?;
        }
        let out = match self.file {
            File::Csv(mut out) | File::Jsonl(mut out) => {
                out.flush()?;
                out
            }
            File::Parquet(file) => file.finish(notes)?,
            File::Arrow(file) => file.finish(notes)?,
        };
        Ok((self.rows, out))
    }

    /// Writes all `rows`, and how many these were.
    pub(crate) fn write_all<E>(
        mut self,
        rows: impl Iterator<Item = Result<R, E>>,
    ) -> Result<u64, TableError<E>> {
        for row in rows {
            self.push(row.map_err(TableError::Row)?)?;
        }
        Ok(self.finish(&[])?.0)
    }

    fn write_group(&mut self) -> io::Result<()> {
        match &mut self.file {
            File::Parquet(file) => file.write_group(&self.columns, &self.waiting)?,
            File::Arrow(file) => file.write_group(&self.columns, &self.waiting)?,
            File::Csv(_) | File::Jsonl(_) => {}
        }
        self.waiting.clear();
        Ok(())
    }
}

impl<R, W: Write + Send> std::fmt::Debug for Table<R, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// A line of RFC 4180 with a Unix line end. Lists are numbers with spaces between them.
fn write_line(out: &mut impl Write, cells: impl Iterator<Item = Value>) -> io::Result<()> {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        match cell {
            Value::Flag(flag) => write!(out, "{flag}")?,
            Value::Whole(number) => write!(out, "{number}")?,
            Value::Wide(number) => write!(out, "{number}")?,
            Value::Number(number) if number.is_finite() => write!(out, "{number}")?,
            // RFC 4180 has no infinity and no NaN.
            Value::Empty | Value::Number(_) => {}
            Value::Text(text) => out.write_all(csv_field(&text).as_bytes())?,
            Value::Wholes(numbers) => {
                for (place, number) in numbers.iter().enumerate() {
                    let space = if place > 0 { " " } else { "" };
                    write!(out, "{space}{number}")?;
                }
            }
        }
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_quotes_texts_and_disarms_formulas_but_not_numbers() {
        let mut out = Vec::new();
        let texts = ["plain", "a,b", "=1+1", "-1", "@A1"].map(Value::from);
        let cells = texts.into_iter().chain([Value::Whole(-7), Value::Number(-0.5)]);
        write_line(&mut out, cells).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "plain,\"a,b\",'=1+1,-1,'@A1,-7,-0.5\n");
    }

    #[test]
    fn csv_leaves_empty_values_and_infinite_numbers_empty() {
        let mut out = Vec::new();
        let cells =
            [Value::Empty, Value::Number(f64::NAN), Value::Whole(-1), Value::Wholes(vec![1, 2])];
        write_line(&mut out, cells.into_iter()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), ",,-1,1 2\n");
    }
}
