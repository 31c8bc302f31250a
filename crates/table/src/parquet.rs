//! Tables as Parquet files.

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

use crate::column::{Cells, Column, Packing};
use crate::metadata::metadata;
use crate::value::{Kind, Value, signed};

/// A Parquet file that is written row group by row group.
pub(crate) struct ParquetFile<W: Write + Send> {
    writer: SerializedFileWriter<Lent<W>>,
    out: Arc<Mutex<W>>,
}

impl<W: Write + Send> ParquetFile<W> {
    pub(crate) fn create<R>(columns: &[Column<R>], out: W) -> io::Result<ParquetFile<W>> {
        let out = Arc::new(Mutex::new(out));
        let lent = Lent(Arc::clone(&out));
        let writer = SerializedFileWriter::new(lent, schema(columns), properties(columns));
        Ok(ParquetFile { writer: writer.map_err(reason)?, out })
    }

    /// Writes a group of rows, a column after the other.
    pub(crate) fn write_group<R>(&mut self, columns: &[Column<R>], rows: &[R]) -> io::Result<()> {
        write_group(&mut self.writer, columns, rows).map_err(reason)
    }

    pub(crate) fn finish(mut self, notes: &[(String, String)]) -> io::Result<W> {
        for (key, value) in notes {
            self.writer.append_key_value_metadata(KeyValue::new(key.clone(), value.clone()));
        }
        self.writer.close().map_err(reason)?;
        let out =
            Arc::into_inner(self.out).expect("the writer, which had the other one, is closed");
        Ok(out.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Lent to the writer, which would not give it back after an error.
struct Lent<W>(Arc<Mutex<W>>);

impl<W: Write> Write for Lent<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// Mostly an error of the disk, which callers know how to explain.
fn reason(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

fn schema<R>(columns: &[Column<R>]) -> Arc<Type> {
    let fields = columns.iter().map(|column| {
        let empty = column.cells.may_be_empty();
        let repetition = if empty { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let whole = Some(LogicalType::integer(64, true));
        let (physical, logical) = match column.kind() {
            Kind::Whole => (Physical::INT64, whole),
            Kind::Wide => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Number => (Physical::DOUBLE, None),
            Kind::Flag => (Physical::BOOLEAN, None),
            Kind::Wholes => return list(&column.name),
        };
        primitive(&column.name, physical, logical, repetition)
    });
    group("table", None, None, fields.collect())
}

/// A list as the format's specification has it: a group of a repeated group of an element.
fn list(name: &str) -> Arc<Type> {
    let whole = Some(LogicalType::integer(64, true));
    let element = primitive("element", Physical::INT64, whole, Repetition::REQUIRED);
    let repeated = group("list", Some(Repetition::REPEATED), None, vec![element]);
    group(name, Some(Repetition::REQUIRED), Some(LogicalType::List), vec![repeated])
}

fn primitive(
    name: &str,
    physical: Physical,
    logical: Option<LogicalType>,
    repetition: Repetition,
) -> Arc<Type> {
    let field = Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build();
    Arc::new(field.expect("each of these logical types fits its physical one"))
}

fn group(
    name: &str,
    repetition: Option<Repetition>,
    logical: Option<LogicalType>,
    fields: Vec<Arc<Type>>,
) -> Arc<Type> {
    let mut builder = Type::group_type_builder(name).with_fields(fields).with_logical_type(logical);
    if let Some(repetition) = repetition {
        builder = builder.with_repetition(repetition);
    }
    Arc::new(builder.build().expect("a group of columns is a schema"))
}

fn properties<R>(columns: &[Column<R>]) -> WriterPropertiesPtr {
    let notes = metadata(columns).map(|(key, value)| KeyValue::new(key, value));
    // Not compressed: once packed, Snappy takes but 7 % off the log of a busy path.
    let mut properties = WriterProperties::builder().set_key_value_metadata(Some(notes.collect()));
    for column in columns.iter().filter(|column| column.packing == Packing::Near) {
        let path = ColumnPath::from(&*column.name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    Arc::new(properties.build())
}

fn write_group<R, W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    columns: &[Column<R>],
    rows: &[R],
) -> ParquetResult<()> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        write_cells(&mut group, column.cells, rows)?;
    }
    group.close()?;
    Ok(())
}

fn write_cells<R, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: Cells<R>,
    rows: &[R],
) -> ParquetResult<()> {
    match cells {
        Cells::Whole(cell) => {
            let numbers: Vec<i64> = rows.iter().map(|row| signed(cell(row))).collect();
            write_column::<Int64Type, W>(group, &numbers, None, None)
        }
        Cells::WholeIfAny(cell) => {
            write_some::<Int64Type, W>(group, rows.iter().map(|row| cell(row).map(signed)))
        }
        Cells::Wide(cell) => {
            let numbers: Vec<i64> = rows.iter().map(|row| cell(row).cast_signed()).collect();
            write_column::<Int64Type, W>(group, &numbers, None, None)
        }
        Cells::WideIfAny(cell) => write_some::<Int64Type, W>(
            group,
            rows.iter().map(|row| cell(row).map(u64::cast_signed)),
        ),
        Cells::NumberIfAny(cell) => write_some::<DoubleType, W>(group, rows.iter().map(cell)),
        Cells::Flag(cell) => {
            let flags: Vec<bool> = rows.iter().map(cell).collect();
            write_column::<BoolType, W>(group, &flags, None, None)
        }
        Cells::FlagIfAny(cell) => write_some::<BoolType, W>(group, rows.iter().map(cell)),
        Cells::Text(cell) => {
            let mut words = Words::default();
            let texts: Vec<ByteArray> = rows.iter().map(|row| words.bytes(cell(row))).collect();
            write_column::<ByteArrayType, W>(group, &texts, None, None)
        }
        Cells::TextIfAny(cell) => {
            let mut words = Words::default();
            let texts = rows.iter().map(|row| cell(row).map(|text| words.bytes(text)));
            write_some::<ByteArrayType, W>(group, texts)
        }
        Cells::Wholes(cell) => {
            let lists = rows.iter().map(|row| cell(row).into_iter().map(signed).collect());
            write_lists(group, lists)
        }
        Cells::Place(cell, place, kind) => {
            write_values(group, kind, rows.iter().map(|row| cell(row, place)))
        }
    }
}

/// Values of one kind, or empty; what is of another kind is empty too.
fn write_values<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    kind: Kind,
    values: impl Iterator<Item = Value>,
) -> ParquetResult<()> {
    match kind {
        Kind::Whole | Kind::Wide => write_some::<Int64Type, W>(
            group,
            values.map(|value| match value {
                Value::Whole(number) => Some(number),
                Value::Wide(number) => Some(number.cast_signed()),
                _ => None,
            }),
        ),
        Kind::Number => write_some::<DoubleType, W>(
            group,
            values.map(|value| if let Value::Number(number) = value { Some(number) } else { None }),
        ),
        Kind::Flag => write_some::<BoolType, W>(
            group,
            values.map(|value| if let Value::Flag(flag) = value { Some(flag) } else { None }),
        ),
        Kind::Text => {
            let mut words = Words::default();
            let texts = values.map(|value| match value {
                Value::Text(text) => Some(words.bytes(text)),
                _ => None,
            });
            write_some::<ByteArrayType, W>(group, texts)
        }
        Kind::Wholes => {
            let lists = values.map(|value| match value {
                Value::Wholes(numbers) => numbers,
                _ => Vec::new(),
            });
            write_lists(group, lists)
        }
    }
}

/// A column with empty cells: the values that are there, and for each cell 1 if it has one, else 0
/// (Parquet's definition levels).
fn write_some<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> ParquetResult<()> {
    let mut there = Vec::new();
    let values: Vec<T::T> =
        cells.inspect(|cell| there.push(i16::from(cell.is_some()))).flatten().collect();
    write_column::<T, W>(group, &values, Some(&there), None)
}

/// A column of lists: definition level 0 is an empty list; repetition level 1 continues one.
fn write_lists<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    lists: impl Iterator<Item = Vec<i64>>,
) -> ParquetResult<()> {
    let (mut values, mut there, mut goes_on) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        there.extend(std::iter::repeat_n(i16::from(!list.is_empty()), list.len().max(1)));
        goes_on.push(0);
        goes_on.extend(std::iter::repeat_n(1, list.len().saturating_sub(1)));
        values.extend(list);
    }
    write_column::<Int64Type, W>(group, &values, Some(&there), Some(&goes_on))
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    there: Option<&[i16]>,
    goes_on: Option<&[i16]>,
) -> ParquetResult<()> {
    let mut column = group.next_column()?.expect("the schema has all columns");
    column.typed::<T>().write_batch(values, there, goes_on)?;
    column.close()
}

/// The words that a column is made of, each stored once however many rows have it.
#[derive(Default)]
struct Words(Vec<(&'static str, ByteArray)>);

impl Words {
    fn bytes(&mut self, text: Cow<'static, str>) -> ByteArray {
        /// Words of a kind are few; a search through more takes longer than a copy.
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
