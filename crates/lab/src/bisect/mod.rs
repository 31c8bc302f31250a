//! Finds the commit of a repository of Linux that changed a scenario's claims.
//!
//! [`Repository`] reads the history with git and changes nothing in it. [`Bisection`] is what is
//! known so far, [`BisectRecord`] the same on disk, so that an interrupted bisection goes on.
//! [`bisect`] asks its caller to test one commit after another.

mod commit;
mod document;
mod error;
mod record;
mod repository;
mod search;
mod subject;
#[cfg(test)]
mod tests;

pub use commit::Commit;
pub use document::{BisectOutcome, BisectStep, Bisection, StepVerdict, verdict_of};
pub use error::BisectError;
pub use record::BisectRecord;
pub use repository::Repository;
pub use search::{BisectTask, bisect};
pub use subject::{claims_of, other_kernels};
