//! Two runs, or two levels of a factor in one, compared: what differs, by how much, and how surely.
//!
//! A is the baseline, B what is asked about: `better` and `worse` are said of B. What is computed
//! and why: docs/statistics.md.

mod captures;
mod choice;
mod divergence;
mod error;
mod family;
mod found;
mod outcome;
mod primary;
mod row;
mod runs;
mod sides;
mod significance;
mod surroundings;
#[cfg(test)]
mod tests;

pub use captures::{Fact, Value};
pub use choice::{Asked, Metrics, Threshold};
pub use divergence::{Divergence, PacketSequence, Step, divergence};
pub use error::CompareError;
pub use found::{ComparedCase, Comparison, Side};
pub use outcome::Outcome;
pub use primary::main_metric;
pub use row::{ALPHA, CONFIDENCE, Family, Row};
pub use runs::{compare_levels, compare_planned, compare_runs, side};
