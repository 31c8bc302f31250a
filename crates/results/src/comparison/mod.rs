//! What a comparison of two runs, or of two levels of a factor in one, came to: what differs, by
//! how much, and how surely.
//!
//! A is the baseline, B what is asked about: `better` and `worse` are said of B. What is computed
//! and why: docs/statistics.md.

mod captures;
mod divergence;
mod found;
mod outcome;
mod row;

pub use captures::{Fact, Value};
pub use divergence::{Divergence, PacketSequence, Step, divergence};
pub use found::{ComparedCase, Comparison, Missing, Side};
pub use outcome::Outcome;
pub use row::{ALPHA, CONFIDENCE, Estimator, Family, Row};
