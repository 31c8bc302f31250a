//! A table in a run's directory while it is written.

use std::path::{Path, PathBuf};

use tcplab_table::{Column, Format, Table, Value};

use super::super::files::Draft;
use crate::error::LabError;

/// Rows that wait until they are written together: few, as they have a hundred cells.
pub(super) const ROWS_PER_GROUP: usize = 1 << 10;

/// A table in a run's directory while it is written. It is there, whole, once it is committed.
pub(super) struct TableFile {
    table: Table<Vec<Value>, Draft>,
    target: PathBuf,
}

impl TableFile {
    pub(super) fn begin(
        directory: &Path,
        name: &str,
        format: Format,
        columns: Vec<Column<Vec<Value>>>,
    ) -> Result<TableFile, LabError> {
        let name = format!("{name}.{}", format.extension());
        let draft = Draft::begin(directory, &name)?;
        let target = directory.join(name);
        let table = Table::with_groups(format, columns, ROWS_PER_GROUP, draft);
        let table = table.map_err(LabError::file("write", &target))?;
        Ok(TableFile { table, target })
    }

    pub(super) fn push(&mut self, row: Vec<Value>) -> Result<(), LabError> {
        self.table.push(row).map_err(LabError::file("write", &self.target))
    }

    pub(super) fn commit(self) -> Result<(), LabError> {
        let (_, draft) = self.table.finish(&[]).map_err(LabError::file("write", &self.target))?;
        draft.commit().map(drop)
    }
}
