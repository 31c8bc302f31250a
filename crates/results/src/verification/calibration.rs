//! What was verified before the trials of a run.

use serde::{Deserialize, Serialize};

use super::check::{CheckRow, Outcome, PathCheck};
use super::machine::Machine;

/// What was found before the trials; `calibration.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The boot of the machine it holds for.
    pub boot: String,
    /// tcplab's version.
    pub tcplab: String,
    /// What the machine can do.
    pub machine: Machine,
    /// How far its timers are off.
    pub timer: CheckRow,
    /// Each path that differs, with the cases on the kernel that have it.
    pub paths: Vec<PathCheck>,
}

impl Calibration {
    /// Whether nothing is off.
    pub fn is_good(&self) -> bool {
        self.timer.outcome != Outcome::Off && self.paths.iter().all(PathCheck::is_good)
    }
}
