//! Tables as Python sees them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Error};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};
use tcplab_table::{Format, MemoryTable, Value};

use crate::interrupt::{alone, here};

/// A table in memory.
#[pyclass(module = "tcplab._core", frozen)]
#[derive(Debug)]
pub(crate) struct Table(pub(crate) MemoryTable);

impl Table {
    /// The table that `write` writes as Arrow's IPC file.
    pub(crate) fn made(
        write: impl FnOnce(Vec<u8>) -> Result<Vec<u8>, Error>,
    ) -> Result<Table, Error> {
        Ok(Table(MemoryTable::from_ipc(write(Vec::new())?)?))
    }
}

#[pymethods]
impl Table {
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.rows()
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.columns().into_iter().map(|column| column.name).collect()
    }

    fn columns(&self) -> Vec<(String, String, String, String)> {
        let columns = self.0.columns().into_iter();
        columns.map(|it| (it.name, it.kind, it.unit, it.meaning)).collect()
    }

    #[getter]
    fn metadata(&self) -> BTreeMap<String, String> {
        self.0.notes().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    fn rows<'py>(
        &self,
        py: Python<'py>,
        first: usize,
        count: usize,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let list = |row: Vec<Value>| {
            let cells = row.into_iter().map(|value| cell(py, value));
            PyList::new(py, cells.collect::<PyResult<Vec<_>>>()?)
        };
        self.0.some_rows(first, count).map(list).collect()
    }

    /// The table of `ipc`.
    #[staticmethod]
    fn of_ipc(py: Python<'_>, file: Vec<u8>) -> PyResult<Table> {
        alone(py, |_| Table::made(|_| Ok(file)))
    }

    /// The table as Arrow's IPC file.
    fn ipc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let file = alone(py, |_| Ok(self.0.to_ipc()?))?;
        Ok(PyBytes::new(py, &file))
    }

    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        alone(py, |stop| {
            let format = format_of(&path)?;
            let cannot = || format!("cannot write {}", path.display());
            let file = File::create(&path).with_context(cannot)?;
            let out = BufWriter::new(UntilStopped { file, stop });
            let written = self.0.write(format, out).and_then(|(_, mut out)| out.flush());
            if stop.load(Ordering::Relaxed) {
                // A part of a table looks like a table.
                let _ = fs::remove_file(&path);
            }
            written.with_context(cannot)
        })
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = here(|| Ok(self.0.c_schema()?))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Another schema than the table's own is a wish, which the interface lets nobody insist on.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        PyCapsule::new_with_value(py, self.0.c_stream(), c"arrow_array_stream")
    }
}

/// A file that takes no more once `stop` is set.
struct UntilStopped<'a> {
    file: File,
    stop: &'a AtomicBool,
}

impl Write for UntilStopped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn cell(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Value::Empty => py.None().into_bound_py_any(py),
        Value::Flag(flag) => flag.into_bound_py_any(py),
        Value::Whole(number) => number.into_bound_py_any(py),
        Value::Wide(number) => number.into_bound_py_any(py),
        Value::Number(number) => number.into_bound_py_any(py),
        Value::Text(text) => text.into_bound_py_any(py),
        Value::Wholes(numbers) => numbers.into_bound_py_any(py),
    }
}

/// As the name of a file ends.
fn format_of(path: &Path) -> Result<Format, Error> {
    let is_of = |format: &Format| path.extension().is_some_and(|it| it == format.extension());
    Format::ALL.into_iter().find(is_of).with_context(|| {
        format!("{}: end the name in .csv, .jsonl, .parquet or .arrow", path.display())
    })
}
