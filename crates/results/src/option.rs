//! Socket options of a trial.

use serde::{Deserialize, Serialize};
use tcplab_recording::OptionRecord;
use tcplab_workload::Outcome;

/// A socket option of one socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionRow {
    /// `client`, `listener` or `accepted`.
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
