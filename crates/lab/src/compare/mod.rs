//! Runs read from their directories to be compared, the comparisons of a scenario, and captures.
//!
//! Everything is read from the analysed results of runs (`run.json`). The comparison itself is
//! [`tcplab_results::comparison`].

mod captures;
mod least;
mod read;
mod written;

pub use captures::{facts, matched};
pub(crate) use least::{unanswerable, undecidable};
pub use read::{is_results, read_run};
pub use tcplab_results::compare::{
    Asked, CompareError, Metrics, Progress, Threshold, compare_levels, compare_over_cases,
    compare_runs,
};
pub use written::compare_as_written;
pub(crate) use written::of_scenario;
