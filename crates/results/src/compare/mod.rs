//! Two runs, or two levels of a factor in one, compared.

mod choice;
mod error;
mod estimate;
mod family;
mod minority;
mod pairs;
mod progress;
mod runs;
mod scaled;
mod sides;
mod significance;
mod surroundings;
#[cfg(test)]
mod tests;

pub use choice::{Asked, Metrics, Threshold};
pub use error::{CompareError, factor_word, level_word};
pub use progress::Progress;
pub use runs::{compare_levels, compare_over_cases, compare_planned, compare_runs, side};
pub use sides::factors;
