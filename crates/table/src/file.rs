//! A table as a Parquet file.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::{Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

use crate::TableError;
use crate::column::{Cells, Column, Values};

/// Rows that wait until they are written together. Readers work on groups in parallel and pay for
/// each; DuckDB's performance guide advises 100 000 to a million rows. These take 20 MB.
pub(crate) const ROWS_PER_GROUP: usize = 1 << 17;

/// Writes all `rows` to `out` and says how many these were.
///
/// # Errors
/// The first error of `rows` or `out`.
pub(crate) fn write<R, E>(
    columns: &'static [Column<R>],
    rows: impl Iterator<Item = Result<R, E>>,
    out: impl Write + Send,
) -> Result<u64, TableError<E>> {
    let mut table = Table::new(columns.iter().collect(), ROWS_PER_GROUP, out)?;
    for row in rows {
        table.push(row.map_err(TableError::Row)?)?;
    }
    let (written, _) = table.finish(Vec::new())?;
    Ok(written)
}

/// A table whose rows come one by one.
pub(crate) struct Table<R: 'static, W: Write + Send> {
    writer: SerializedFileWriter<Lent<W>>,
    out: Arc<Mutex<W>>,
    columns: Vec<&'static Column<R>>,
    waiting: Vec<R>,
    rows_per_group: usize,
    written: u64,
}

impl<R, W: Write + Send> Table<R, W> {
    /// Begins a table; `rows_per_group` rows wait until they are written together.
    pub(crate) fn new(
        columns: Vec<&'static Column<R>>,
        rows_per_group: usize,
        out: W,
    ) -> ParquetResult<Table<R, W>> {
        let out = Arc::new(Mutex::new(out));
        let lent = Lent(Arc::clone(&out));
        let writer = SerializedFileWriter::new(lent, schema(&columns), properties(&columns))?;
        Ok(Table { writer, out, columns, waiting: Vec::new(), rows_per_group, written: 0 })
    }

    /// The next row.
    pub(crate) fn push(&mut self, row: R) -> ParquetResult<()> {
        self.waiting.push(row);
        if self.waiting.len() == self.rows_per_group { self.put_away() } else { Ok(()) }
    }

    /// Writes what is left and the file's end, with these `notes` beside the columns' own; the
    /// number of rows.
    pub(crate) fn finish(mut self, notes: Vec<(String, String)>) -> ParquetResult<(u64, W)> {
        if !self.waiting.is_empty() {
            self.put_away()?;
        }
        for (key, value) in notes {
            self.writer.append_key_value_metadata(KeyValue::new(key, value));
        }
        self.writer.close()?;
        let out =
            Arc::into_inner(self.out).expect("the writer, which had the other one, is closed");
        Ok((self.written, out.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }

    fn put_away(&mut self) -> ParquetResult<()> {
        self.written += write_group(&mut self.writer, &self.columns, &self.waiting)?;
        self.waiting.clear();
        Ok(())
    }
}

/// Lent to the writer, which gives back what it is given, but with an error in words of its own.
struct Lent<W>(Arc<Mutex<W>>);

impl<W: Write> Write for Lent<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

impl<E> From<ParquetError> for TableError<E> {
    fn from(error: ParquetError) -> TableError<E> {
        TableError::Write { source: reason(error) }
    }
}

/// Mostly what the disk said, which callers know how to explain.
pub(crate) fn reason(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(said) => *said,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

fn schema<R>(columns: &[&'static Column<R>]) -> Arc<Type> {
    let fields = columns.iter().map(|column| {
        let (physical, logical) = match column.cells {
            Cells::Number(_) | Cells::NumberIfAny(_) => {
                (Physical::INT64, Some(LogicalType::integer(64, false)))
            }
            Cells::Text(_) | Cells::TextIfAny(_) => {
                (Physical::BYTE_ARRAY, Some(LogicalType::String))
            }
            Cells::RatioIfAny(_) => (Physical::DOUBLE, None),
            Cells::Flag(_) => (Physical::BOOLEAN, None),
        };
        let repetition =
            if column.cells.may_be_empty() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(column.name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition)
            .build();
        Arc::new(field.expect("each of these logical types fits its physical one"))
    });
    let table = Type::group_type_builder("table").with_fields(fields.collect()).build();
    Arc::new(table.expect("a group of columns is a schema"))
}

fn properties<R>(columns: &[&'static Column<R>]) -> WriterPropertiesPtr {
    let note = |key: String, value: &str| KeyValue::new(key, value.to_owned());
    let version = note("tcplab.version".into(), env!("CARGO_PKG_VERSION"));
    let docs =
        columns.iter().map(|column| note(format!("tcplab.column.{}", column.name), column.doc));
    // Not compressed: once packed, Snappy takes but 7 % off the log of a busy path.
    let mut properties = WriterProperties::builder()
        .set_key_value_metadata(Some(std::iter::once(version).chain(docs).collect()));
    for column in columns.iter().filter(|column| column.values == Values::Near) {
        let path = ColumnPath::from(column.name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    Arc::new(properties.build())
}

/// Writes a group of rows, a column after the other.
fn write_group<R, W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    columns: &[&'static Column<R>],
    rows: &[R],
) -> ParquetResult<u64> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        match column.cells {
            Cells::Number(cell) => {
                let numbers: Vec<i64> = rows.iter().map(|row| cell(row).cast_signed()).collect();
                write_column::<Int64Type, W>(&mut group, &numbers, None)?;
            }
            Cells::NumberIfAny(cell) => {
                let numbers = rows.iter().map(|row| cell(row).map(u64::cast_signed));
                let (numbers, there) = those_there(numbers);
                write_column::<Int64Type, W>(&mut group, &numbers, Some(&there))?;
            }
            Cells::RatioIfAny(cell) => {
                let (ratios, there) = those_there(rows.iter().map(cell));
                write_column::<DoubleType, W>(&mut group, &ratios, Some(&there))?;
            }
            Cells::Flag(cell) => {
                let flags: Vec<bool> = rows.iter().map(cell).collect();
                write_column::<BoolType, W>(&mut group, &flags, None)?;
            }
            Cells::Text(cell) => {
                let mut words = Words::default();
                let texts: Vec<ByteArray> = rows.iter().map(|row| words.bytes(cell(row))).collect();
                write_column::<ByteArrayType, W>(&mut group, &texts, None)?;
            }
            Cells::TextIfAny(cell) => {
                let mut words = Words::default();
                let texts = rows.iter().map(|row| cell(row).map(|text| words.bytes(text)));
                let (texts, there) = those_there(texts);
                write_column::<ByteArrayType, W>(&mut group, &texts, Some(&there))?;
            }
        }
    }
    group.close()?;
    Ok(rows.len() as u64)
}

/// The values that are there, and for each cell 1 if it has one, else 0: Parquet's definition
/// levels.
fn those_there<T>(cells: impl Iterator<Item = Option<T>>) -> (Vec<T>, Vec<i16>) {
    let mut there = Vec::new();
    let values = cells.inspect(|cell| there.push(i16::from(cell.is_some()))).flatten().collect();
    (values, there)
}

/// The names that a column is made of, each stored once however many rows bear it.
#[derive(Default)]
struct Words(Vec<(&'static str, ByteArray)>);

impl Words {
    fn bytes(&mut self, text: Cow<'static, str>) -> ByteArray {
        /// Names of a kind are few; a search through more takes longer than a copy.
        const MOST: usize = 32;
        let Cow::Borrowed(word) = text else {
            return ByteArray::from(text.into_owned().into_bytes());
        };
        if let Some((_, bytes)) = self.0.iter().find(|(known, _)| std::ptr::eq(*known, word)) {
            return bytes.clone();
        }
        let bytes = ByteArray::from(word);
        if self.0.len() < MOST {
            self.0.push((word, bytes.clone()));
        }
        bytes
    }
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    there: Option<&[i16]>,
) -> ParquetResult<()> {
    let mut column = group.next_column()?.expect("the schema has all columns");
    column.typed::<T>().write_batch(values, there, None)?;
    column.close()
}
