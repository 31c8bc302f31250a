//! Tables as Arrow IPC files.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::column::Column;
use crate::metadata::metadata;
use crate::value::{Kind, Value};

/// An Arrow IPC file that is written record batch by record batch.
pub(crate) struct ArrowFile<W: Write> {
    writer: FileWriter<W>,
    schema: Arc<Schema>,
}

impl<W: Write> ArrowFile<W> {
    pub(crate) fn create<R>(columns: &[Column<R>], out: W) -> io::Result<ArrowFile<W>> {
        let fields: Vec<Field> = columns.iter().map(field).collect();
        let notes: HashMap<String, String> = metadata(columns).collect();
        let schema = Schema::new(fields).with_metadata(notes);
        let writer = FileWriter::try_new(out, &schema).map_err(reason)?;
        Ok(ArrowFile { writer, schema: Arc::new(schema) })
    }

    pub(crate) fn write_group<R>(&mut self, columns: &[Column<R>], rows: &[R]) -> io::Result<()> {
        let arrays = columns.iter().map(|column| array(column, rows)).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(reason)?;
        self.writer.write(&batch).map_err(reason)
    }

    pub(crate) fn finish(mut self, notes: &[(String, String)]) -> io::Result<W> {
        for (key, value) in notes {
            self.writer.write_metadata(key, value);
        }
        self.writer.finish().map_err(reason)?;
        self.writer.into_inner().map_err(reason)
    }
}

fn reason(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}

fn field<R>(column: &Column<R>) -> Field {
    let kind = match column.kind() {
        Kind::Flag => DataType::Boolean,
        Kind::Whole => DataType::Int64,
        Kind::Wide => DataType::UInt64,
        Kind::Number => DataType::Float64,
        Kind::Text => DataType::Utf8,
        Kind::Wholes => DataType::List(Arc::new(Field::new("element", DataType::Int64, false))),
    };
    Field::new(&*column.name, kind, column.may_be_empty())
}

/// The cells of a column; what is of another kind than the column is empty.
fn array<R>(column: &Column<R>, rows: &[R]) -> ArrayRef {
    let values = rows.iter().map(|row| column.cells.value(row));
    /// The cells of one kind, as that kind's array.
    macro_rules! cells {
        ($array:ty, $kind:ident) => {
            Arc::new(
                values
                    .map(|value| if let Value::$kind(cell) = value { Some(cell) } else { None })
                    .collect::<$array>(),
            )
        };
    }
    match column.kind() {
        Kind::Flag => cells!(BooleanArray, Flag),
        Kind::Whole => cells!(Int64Array, Whole),
        Kind::Wide => cells!(UInt64Array, Wide),
        Kind::Number => cells!(Float64Array, Number),
        Kind::Text => cells!(StringArray, Text),
        Kind::Wholes => {
            let element = Field::new("element", DataType::Int64, false);
            let mut lists = ListBuilder::new(Int64Builder::new()).with_field(element);
            for value in values {
                if let Value::Wholes(numbers) = value {
                    lists.values().append_slice(&numbers);
                }
                lists.append(true);
            }
            Arc::new(lists.finish())
        }
    }
}
