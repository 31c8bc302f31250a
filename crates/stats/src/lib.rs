//! Honest statistics of few repetitions: what a run's trials say together, and how surely; and
//! whether two of them differ.
//!
//! Values must be finite numbers; a value that is not is a bug of the caller and panics. What is
//! drawn at random comes from a seeded stream, so the same values give the same answers.

mod binomial;
mod blocks;
mod bootstrap;
mod box_plot;
mod detect;
mod factorial;
mod holm;
mod ks;
mod median;
mod normal;
mod outliers;
mod rank_tests;
mod ranks;
mod ratio;
#[cfg(test)]
mod samples;
mod shift;
mod steps;
mod student;
mod summary;
mod trend;

pub use binomial::{binomial_range, most_excess, share_interval};
pub use blocks::marginal_means;
pub use bootstrap::{Bootstrap, Resampling};
pub use box_plot::BoxPlot;
pub use detect::{Design, Observed, POWER, trials_needed};
pub use factorial::{Observation, VarianceShares, variance_shares};
pub use holm::holm;
pub use ks::KolmogorovSmirnov;
pub use median::median_interval;
pub use normal::{normal_probability, normal_quantile};
pub use outliers::{OUTLIER, modified_z_scores, outliers};
pub use rank_tests::{
    RankTest, least_p_of_pairs, least_p_of_samples, least_pairs, least_values, rank_sum,
    signed_rank,
};
pub use ratio::Ratio;
pub use shift::Shift;
pub use student::student_t_quantile;
pub use summary::{Interval, Summary, mean, median, quantile, standard_deviation};
pub use trend::Trend;
