//! What can go wrong.

use std::io;

/// Why a table could not be written. `E` is what the source of its rows reports.
#[derive(Debug, thiserror::Error)]
pub enum TableError<E> {
    /// A row could not be had.
    #[error(transparent)]
    Row(E),
    /// Such as a full disk. What was written so far is no table.
    #[error("cannot write the table: {source}")]
    Write {
        /// The writer's error.
        #[from]
        source: io::Error,
    },
}
