//! Statements about a trial.

use serde::{Deserialize, Serialize};

/// A statement with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingRow {
    /// The rule's name.
    pub rule: String,
    /// The statement.
    pub statement: String,
    /// What to do about it; older runs have it in the statement.
    #[serde(default)]
    pub remedy: Option<String>,
    /// Frames of the client's capture that show it.
    pub frames: Vec<u64>,
}
