//! Honest statistics of few repetitions: what a run's trials say together, and how surely.
//!
//! Values must be finite numbers; a value that is not is a bug of the caller and panics.

mod binomial;
mod blocks;
mod factorial;
mod ks;
mod student;
mod summary;

pub use binomial::binomial_range;
pub use blocks::{Paired, marginal_means, paired};
pub use factorial::{Observation, VarianceShares, variance_shares};
pub use ks::KolmogorovSmirnov;
pub use student::student_t_quantile;
pub use summary::{Interval, Summary, mean, median, quantile, standard_deviation};
