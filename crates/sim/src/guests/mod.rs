//! Worlds whose hosts are guests: real kernels that run in virtual time, or models.

mod awaited;
mod error;
mod guest;
mod model;
mod programs;
mod recorder;
mod shell;
mod trial;
mod world;

pub use error::GuestTrialError;
pub use guest::{FromGuest, Guest};
pub use model::ModelHost;
pub use programs::Print;
pub use shell::{ENDS, GuestShell, GuestShellEnd, links_of, run_shell};
pub use trial::{response_time, run_guests};

#[cfg(test)]
mod tests;
