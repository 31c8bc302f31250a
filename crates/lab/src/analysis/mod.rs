//! From recordings to results: metrics, episodes, flows, findings, claims.

mod captures;
mod claims;
mod contents;
mod datagrams;
mod ends;
mod episodes;
mod findings;
mod flows;
mod ideal;
mod interruptions;
mod loads;
mod metrics;
mod options;
mod paths;
mod pooled;
mod run;
mod sender;
mod sizes;
mod store_trial;
mod trial;

pub(crate) use captures::trace;
pub use captures::{load_frames, load_recording, load_trial};
pub(crate) use contents::Contents;
pub use ideal::Ideal;
pub(crate) use ideal::{WITH_TIMESTAMPS, WITHOUT_OPTIONS};
pub(crate) use metrics::{ESTABLISHED, Sources};
pub(crate) use run::analyse;
pub(crate) use sender::{flow_of, sending_end};
pub(crate) use sizes::Sizes;
pub(crate) use store_trial::{analyse_and_store, trial};

#[cfg(test)]
mod tests;
