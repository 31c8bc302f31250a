//! Socket options of a trial, and attributes of its routes.

use serde::{Deserialize, Serialize};
use tcplab_recording::OptionRecord;
use tcplab_workload::Outcome;

/// A socket option of one socket, or an attribute of an endpoint's route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionRow {
    /// `client`, `listener` or `accepted`; `client's route` or `server's route`.
    pub socket: String,
    /// What was asked for and what it was.
    #[serde(flatten)]
    pub record: OptionRecord,
}

impl OptionRow {
    /// Whether the kernel refused it.
    pub fn is_refused(&self) -> bool {
        self.record.outcome == Outcome::Refused
    }
}
