//! What a run came to, as plain data: trials, metrics, flows, comparisons, verification, claims.
//!
//! Nothing here runs an experiment, reads a file or knows a world. `lab` makes these values; the
//! report, tables and plots show them.

pub mod bench;
mod case;
mod claim;
pub mod compare;
pub mod comparison;
mod data;
mod datagrams;
mod end;
mod episode;
pub mod fidelity;
mod finding;
mod flow;
mod kept;
mod main_metric;
mod metrics;
mod option;
mod remark;
mod run;
mod stack;
mod stopping;
mod summary;
mod trial;
pub mod verification;
mod world;

pub use case::{Case, Failure};
pub use claim::{Claim, ClaimCounts, ClaimOutcome};
pub use comparison::Comparison;
pub use data::TrialData;
pub use datagrams::{Correspondence, DatagramKind, DatagramRow};
pub use end::{EndRow, Ending};
pub use episode::{Differing, EpisodeRow, InterruptionRow, Recovery};
pub use finding::FindingRow;
pub use flow::{FlowConnectionRow, FlowRow, FlowSeries};
pub use kept::KeptTrials;
pub use main_metric::{main_metric, metric_by_workload, subject_flow};
pub use metrics::{Metric, MetricNames, MetricValue, Metrics};
pub use option::OptionRow;
pub use remark::remark;
pub use run::{Run, SAME_HOST};
pub use stack::StackUsed;
pub use stopping::{Stopping, Width};
pub use summary::Summary;
/// Parts of a [`Trial`].
pub use tcplab_units::Durations;
pub use tcplab_workload::{DatagramMark, LoadReport, RequestReport};
pub use trial::Trial;
pub use verification::Calibration;
pub use world::{RunWorld, World};
