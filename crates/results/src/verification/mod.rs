//! Paths and the machine verified before use.

mod calibration;
mod check;
mod machine;

pub use calibration::Calibration;
pub use check::{CheckRow, Outcome, PathCheck};
pub use machine::{
    AboveCeiling, CEILING_SHARE, Machine, fastest_rate, micros, rounded, with_confidence,
};
