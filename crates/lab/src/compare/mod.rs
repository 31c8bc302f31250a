//! Two runs, or two levels of a factor in one, compared: what differs, by how much, and how surely.
//!
//! Everything is read from the analysed results of runs (`run.json`). A is what there was, B what
//! is asked about: `better` and `worse` are said of B. What is computed and why:
//! docs/statistics.md.

mod captures;
mod choice;
mod error;
mod least;
mod read;
mod runs;
mod sides;
mod significance;
mod surroundings;
#[cfg(test)]
mod tests;
mod written;

pub use captures::{facts, matched};
pub use choice::{Asked, Metrics, Threshold};
pub use error::CompareError;
pub(crate) use least::undecidable;
pub use read::read_run;
pub use runs::{compare_levels, compare_runs};
pub use written::compare_as_written;
pub(crate) use written::of_scenario;
