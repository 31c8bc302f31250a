//! Measures a path on this machine before it is used: probes with the kernel's own time stamps go
//! through the very devices and the very bridge that trials use.
//!
//! This only measures: the caller of [`run_calibration`] compares with the description of the path.

mod ask;
mod blast;
mod capture_point;
mod process;
mod rounds;
mod site;

use serde::{Deserialize, Serialize};

use crate::calibration::{CalibrationRecord, Ceiling};

pub use ask::{CeilingRequest, measure_ceiling, run_calibration};
pub(crate) use process::{calibrate, measure};

/// What the process of a calibration says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Word {
    /// This much of the work is done, from 0 to 1.
    Progress(f64),
    /// The ceiling, where only that was asked for.
    Ceiling(Ceiling),
    /// All is.
    Measured(Box<CalibrationRecord>),
    /// As [`crate::launch::Message`] has it.
    Failed { message: String, remedy: Option<String> },
}
