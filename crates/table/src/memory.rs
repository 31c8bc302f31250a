//! Tables in memory, in Arrow's layout, for other languages.

use std::io::{self, Cursor, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, DurationNanosecondArray, RecordBatch, RecordBatchIterator,
    TimestampNanosecondArray,
};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Metadata, Schema, TimeUnit};

use crate::column::Column;
use crate::format::Format;
use crate::table::Table;
use crate::value::{Kind, Value};

/// A table in memory. Its times have Arrow's types: what counts from a zero is a duration, what
/// counts from 1970 a timestamp, both in nanoseconds.
#[derive(Debug, Clone)]
pub struct MemoryTable {
    schema: Arc<Schema>,
    batches: Vec<RecordBatch>,
}

/// A column of a table in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryColumn {
    /// Its name, as in files.
    pub name: String,
    /// Arrow's name for its type, such as `Duration(ns)`.
    pub kind: String,
    /// The symbol of its unit; empty where it has none.
    pub unit: String,
    /// What it is; empty where the table does not say.
    pub meaning: String,
}

impl MemoryTable {
    /// The table of an Arrow IPC file, as [`Format::Arrow`] or [`MemoryTable::to_ipc`] gives it.
    ///
    /// # Errors
    /// If it is none.
    pub fn from_ipc(file: Vec<u8>) -> io::Result<MemoryTable> {
        let reader = FileReader::try_new(Cursor::new(file), None).map_err(wrong)?;
        let mut notes = reader.schema().metadata().clone();
        // Notes that were known only at the end stand beside the schema.
        notes.extend(reader.custom_metadata().clone());
        let fields: Vec<Field> =
            reader.schema().fields().iter().map(|it| timed(it, &notes)).collect();
        let schema = Arc::new(Schema::new(fields).with_metadata(notes));
        let batches = reader.map(|batch| {
            let batch = batch.map_err(wrong)?;
            let columns = batch.columns().iter().zip(schema.fields());
            let columns = columns.map(|(column, field)| retyped(column, field.data_type()));
            RecordBatch::try_new(Arc::clone(&schema), columns.collect()).map_err(wrong)
        });
        let batches = batches.collect::<io::Result<_>>()?;
        Ok(MemoryTable { schema, batches })
    }

    /// The table as an Arrow IPC file; [`MemoryTable::from_ipc`] makes it again, with its types.
    ///
    /// # Errors
    /// None for the types that tables have.
    pub fn to_ipc(&self) -> io::Result<Vec<u8>> {
        let mut writer = FileWriter::try_new(Vec::new(), &self.schema).map_err(wrong)?;
        self.batches.iter().try_for_each(|batch| writer.write(batch)).map_err(wrong)?;
        writer.into_inner().map_err(wrong)
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Its columns, in their order.
    pub fn columns(&self) -> Vec<MemoryColumn> {
        let note = |what: &str, name: &str| {
            self.schema
                .metadata()
                .get(&format!("tcplab.{what}.{name}"))
                .cloned()
                .unwrap_or_default()
        };
        let column = |field: &Arc<Field>| MemoryColumn {
            name: field.name().clone(),
            kind: field.data_type().to_string(),
            unit: note("unit", field.name()),
            meaning: note("column", field.name()),
        };
        self.schema.fields().iter().map(column).collect()
    }

    /// What the table says of itself: its columns, the zero of its times, tcplab's version.
    pub fn notes(&self) -> impl Iterator<Item = (&String, &String)> {
        self.schema.metadata().iter()
    }

    /// `count` rows from the one at `first` on, or those that there are; times are whole
    /// nanoseconds.
    pub fn some_rows(&self, first: usize, count: usize) -> impl Iterator<Item = Vec<Value>> + '_ {
        let all = self
            .batches
            .iter()
            .flat_map(|batch| (0..batch.num_rows()).map(move |row| (batch, row)));
        all.skip(first).take(count).map(|(batch, row)| {
            batch.columns().iter().map(|column| value(column.as_ref(), row)).collect()
        })
    }

    /// Writes it as a file; returns the number of rows. Times are whole nanoseconds, as in all
    /// files.
    ///
    /// # Errors
    /// The first error of `out`.
    pub fn write<W: Write + Send>(&self, format: Format, out: W) -> io::Result<(u64, W)> {
        let columns = self.schema.fields().iter().zip(self.columns()).enumerate();
        let columns: Vec<Column<Vec<Value>>> = columns
            .map(|(place, (field, told))| {
                Column::at(place, told.name, kind(field.data_type()), told.meaning)
            })
            .collect();
        let mut table = Table::create(format, columns, out)?;
        self.some_rows(0, usize::MAX).try_for_each(|row| table.push(row))?;
        let is_own = |key: &str| !key.starts_with("tcplab.column.") && key != "tcplab.version";
        let notes = self.notes().filter(|(key, _)| is_own(key));
        table.finish(&notes.map(|(key, value)| (key.clone(), value.clone())).collect::<Vec<_>>())
    }

    /// Its schema for others, by the C data interface.
    ///
    /// # Errors
    /// None for the types that tables have.
    pub fn c_schema(&self) -> io::Result<FFI_ArrowSchema> {
        FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(wrong)
    }

    /// Its rows for others, by the C stream interface: the memory is shared, not copied.
    pub fn c_stream(&self) -> FFI_ArrowArrayStream {
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        FFI_ArrowArrayStream::new(Box::new(reader))
    }
}

fn wrong(error: ArrowError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// The field with the type of a time, if it is one.
fn timed(field: &Field, notes: &Metadata) -> Field {
    let name = field.name();
    let is_ns = notes.get(&format!("tcplab.unit.{name}")).is_some_and(|unit| unit == "ns");
    if *field.data_type() != DataType::Int64 || !is_ns {
        return field.clone();
    }
    let kind = if name.ends_with("_unix_ns") {
        DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))
    } else {
        DataType::Duration(TimeUnit::Nanosecond)
    };
    field.clone().with_data_type(kind)
}

/// The same numbers as another type of the same width.
fn retyped(column: &ArrayRef, kind: &DataType) -> ArrayRef {
    match kind {
        kind if kind == column.data_type() => Arc::clone(column),
        DataType::Duration(_) => {
            Arc::new(column.as_primitive::<Int64Type>().reinterpret_cast::<DurationNs>())
        }
        DataType::Timestamp(_, zone) => {
            let times = column.as_primitive::<Int64Type>().reinterpret_cast::<TimestampNs>();
            Arc::new(times.with_timezone_opt(zone.clone()))
        }
        _ => Arc::clone(column),
    }
}

type DurationNs = arrow_array::types::DurationNanosecondType;
type TimestampNs = arrow_array::types::TimestampNanosecondType;

fn kind(kind: &DataType) -> Kind {
    match kind {
        DataType::Boolean => Kind::Flag,
        DataType::UInt64 => Kind::Wide,
        DataType::Float64 => Kind::Number,
        DataType::Utf8 => Kind::Text,
        DataType::List(_) => Kind::Wholes,
        _ => Kind::Whole,
    }
}

/// What a cell holds.
fn value(column: &dyn Array, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Empty;
    }
    match column.data_type() {
        DataType::Boolean => Value::Flag(column.as_boolean().value(row)),
        DataType::UInt64 => Value::Wide(column.as_primitive::<UInt64Type>().value(row)),
        DataType::Float64 => Value::Number(column.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => Value::Text(column.as_string::<i32>().value(row).to_owned().into()),
        DataType::List(_) => {
            let list = column.as_list::<i32>().value(row);
            Value::Wholes(list.as_primitive::<Int64Type>().values().to_vec())
        }
        DataType::Duration(_) => {
            let times: Option<&DurationNanosecondArray> = column.as_primitive_opt();
            times.map_or(Value::Empty, |times| Value::Whole(times.value(row)))
        }
        DataType::Timestamp(..) => {
            let times: Option<&TimestampNanosecondArray> = column.as_primitive_opt();
            times.map_or(Value::Empty, |times| Value::Whole(times.value(row)))
        }
        _ => Value::Whole(column.as_primitive::<Int64Type>().value(row)),
    }
}

#[cfg(test)]
mod tests {
    use tcplab_quantities as q;

    use super::*;

    fn table() -> MemoryTable {
        let columns = [(q::AT_NS, Kind::Whole), (q::SEED, Kind::Wide), (q::CASE, Kind::Text)];
        let columns = Column::list(&columns);
        let mut table = Table::with_groups(Format::Arrow, columns, 2, Vec::new()).unwrap();
        for row in 0..3_u64 {
            let text = Value::from((row != 1).then(|| format!("case {row}")));
            table.push(vec![Value::from(row * 1_000), Value::Wide(u64::MAX - row), text]).unwrap();
        }
        let notes = [("tcplab.zero_unix_ns".to_owned(), "7".to_owned())];
        MemoryTable::from_ipc(table.finish(&notes).unwrap().1).unwrap()
    }

    #[test]
    fn times_are_durations_and_all_else_stays() {
        let table = table();
        let kinds: Vec<String> = table.columns().into_iter().map(|it| it.kind).collect();
        assert_eq!(kinds, ["Duration(ns)", "UInt64", "Utf8"]);
        assert_eq!(table.rows(), 3);
        let rows: Vec<_> = table.some_rows(1, 9).collect();
        assert_eq!(rows[0], [Value::Whole(1_000), Value::Wide(u64::MAX - 1), Value::Empty]);
        assert_eq!(rows[1][2], Value::Text("case 2".into()));
        assert!(table.notes().any(|(key, value)| key == "tcplab.zero_unix_ns" && value == "7"));
    }

    #[test]
    fn table_again_has_the_same_schema_and_batches() {
        let table = table();
        let again = MemoryTable::from_ipc(table.to_ipc().unwrap()).unwrap();
        assert_eq!((again.schema, again.batches), (table.schema, table.batches));
    }

    #[test]
    fn file_is_that_of_the_same_rows() {
        let (rows, csv) = table().write(Format::Csv, Vec::new()).unwrap();
        assert_eq!(rows, 3);
        let text = String::from_utf8(csv).unwrap();
        assert_eq!(text.lines().nth(1), Some("0,18446744073709551615,case 0"), "{text}");
        let (_, again) = table().write(Format::Arrow, Vec::new()).unwrap();
        let again = MemoryTable::from_ipc(again).unwrap();
        assert_eq!(
            again.some_rows(0, 3).collect::<Vec<_>>(),
            table().some_rows(0, 3).collect::<Vec<_>>()
        );
    }
}
