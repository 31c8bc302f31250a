//! From a scenario to a run directory: plan, trials, resume, claims.

mod data;
mod model;

pub use data::TrialData;
pub use model::{Case, Claim, EpisodeRow, FindingRow, Metric, Run, Summary, Trial};
