//! Verification before use: compares what a path should do with what it does, on this machine and
//! in virtual time.
//!
//! The expected values are always computed from the path's description, in closed form, never by
//! running the emulator. The achieved values are measured with the kernel's own stamps
//! ([`tcplab_testbed::run_calibration`]) or counted over a million packets in virtual time.

mod achieved;
mod asked;
mod doubt;
mod loss_law;
mod machine;
mod measure;
mod model;
mod rounds;
mod unmeasured;

#[cfg(test)]
mod tests;

pub use doubt::doubt;
pub(crate) use machine::tuning_of;
pub use measure::{measure_machine, measure_path};
pub(crate) use measure::{path_hash, waits};
pub use model::check_model;
