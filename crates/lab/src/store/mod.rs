//! The run directory on disk. Nothing here analyses.

mod arrangement;
mod cleaning;
mod directory;
mod extend;
mod files;
mod glance;
mod stopping;
mod tables;
#[cfg(test)]
mod tests;
mod trial_files;
mod trials;

pub use arrangement::Extension;
pub use cleaning::RunSize;
pub use directory::RunDirectory;
pub use extend::extend;
pub(crate) use extend::plan_extension;
pub use files::kept_files;
pub(crate) use files::{
    PLAN, RUN, SCENARIO_FILE, TRIALS, folder_of, lock, read_scenario, replace_in, trial_directory,
};
pub use glance::{RunGlance, TrialGlance, TrialState, place_of_trial, sampled_ports, trial_result};
pub(crate) use tables::{row, write_tables};
pub use tables::{run_tables, write_run_table};
pub(crate) use trial_files::{Identity, StoredTrial, TRIAL, read};
