//! The results of a run: its outcome in sentences, its metrics, the answer to its question.

mod alternatives;
pub(crate) mod answer;
mod arrivals;
pub(crate) mod boxes;
pub(crate) mod factors;
pub(crate) mod measure;
pub(crate) mod metrics;
pub(crate) mod outcome;
pub(crate) mod pools;
pub(crate) mod question;
pub(crate) mod recovery;
pub(crate) mod scatter;
pub(crate) mod subject;
pub(crate) mod trends;
mod walks;
pub(crate) mod worlds;
