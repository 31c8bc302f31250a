//! The scenario file: an experiment and its claims, read into cases to run.
//!
//! [`Scenario::parse`] reads a file. The result is checked: every path can be built, every workload
//! run, every claim evaluated. A [`ScenarioError`] shows each mistake with its line and
//! remedy.

mod case;
mod compares;
mod compose;
mod design;
mod embedded;
mod error;
mod events;
mod expect;
mod fault;
mod file;
mod key;
mod located;
mod matrix;
pub mod metrics;
mod mistakes;
mod module;
mod operand;
mod ordered;
mod path_file;
mod plots;
mod problem;
mod profile;
mod question;
mod repeat;
mod scenario;
mod schema;
mod sections;
mod snaplen;
mod sysctl;

pub use case::{
    Case, EndpointSpec, Flow, FlowEnd, FlowSpec, KERNEL_MODEL, LimitsSpec, PlannedConnection,
    RouteSpec, RouteValue, SamplingSpec, Stack,
};
pub use compares::{Compare, Threshold};
pub use compose::{compose, decompose};
pub use embedded::{catalogue, presets};
pub use error::ScenarioError;
pub use events::{EventsError, with_events};
pub use expect::{Check, Evidence, Expectation, Selection, Statistic};
pub use metrics::{
    Better, CONNECTION_ENDS, METRICS, MetricInfo, MetricKind, Scope, Source, metric,
};
pub use operand::Value;
pub use ordered::Ordered;
pub use path_file::{PathFile, ReadFile};
pub use plots::{Measure, Plot, as_numbers};
pub use problem::{Problem, nearest};
pub use profile::{ModelSettingError, ModelSettings, Profile, ProfileError};
pub use question::CLAIMS;
pub use repeat::{Keep, RecordingSpec, TRIALS_MAX, Until};
pub use scenario::{Scenario, TrialId, trial_seed};
pub use schema::schema;
pub use snaplen::Snaplen;
