//! What a scenario says of a workload, and what the two ends do then.

mod check;
mod parts;
mod programs;
mod workload;

pub use parts::{CloseMode, Connections, Idle, Keystrokes, Pause, Requests};
pub use workload::WorkloadSpec;

#[cfg(test)]
mod tests;
