//! Why a page could not be written.

use std::error::Error;
use std::io;

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A trial's recording could not be loaded.
    #[error("trial {number} of case {case}: {source}")]
    Load {
        /// The case's name.
        case: String,
        /// The trial's number.
        number: u32,
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The page could not be put together.
    #[error("the page could not be put together: {0}")]
    Page(#[from] askama::Error),
    /// The page could not be written.
    #[error("the report could not be written: {0}")]
    Write(#[from] io::Error),
}
