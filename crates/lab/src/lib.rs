//! From a scenario to a run directory: plan, trials, resume, tables, claims.

pub mod advise;
mod analyse;
mod analysed;
mod blocks;
mod calibration;
mod claims;
pub mod compare;
mod data;
mod datagrams;
mod directory;
mod ends;
mod environment;
mod error;
mod execute;
mod extend;
mod failing;
pub mod fidelity;
mod flows;
mod ideal;
mod interruptions;
mod kept;
mod loads;
mod metrics;
mod model;
mod options;
mod paths;
mod plan;
mod prospect;
mod replay;
pub mod rfc6349;
mod simulate;
mod tables;
mod values;
pub mod verify;
mod worlds;

pub use analyse::{analyse, load_recording, load_trial, remark};
pub use calibration::Calibration;
pub use data::TrialData;
pub use datagrams::{Correspondence, DatagramKind, DatagramRow};
pub use directory::{RunDirectory, kept_files};
pub use environment::environment;
pub use error::LabError;
pub use execute::{Bench, Event, begin, execute};
pub use extend::{Extension, extend};
pub use flows::{FlowConnectionRow, FlowRow, FlowSeries};
pub use ideal::Ideal;
pub use model::{
    Case, Claim, EndRow, Ending, EpisodeRow, Failure, FindingRow, InterruptionRow, Metric,
    Recovery, Run, StackUsed, Stopping, Summary, Trial, Width,
};
pub use options::OptionRow;
pub use plan::{Instead, Plan, plan};
pub use prospect::{Foreseen, Prospect, prospect, prospect_of, prospect_of_extension};
pub use replay::{Difference, Replay, replay};
pub use tables::write_tables;
/// Parts of a [`Trial`].
pub use tcplab_workload::{DatagramMark, Durations, LoadReport, RequestReport};
pub use values::{MetricValue, Metrics};
pub use worlds::{Refusal, World, kernel_refused};
