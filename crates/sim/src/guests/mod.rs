//! Trials whose hosts are not models but real kernels that run in virtual time.

mod awaited;
mod error;
mod guest;
mod trial;
mod world;

pub use error::GuestTrialError;
pub use guest::{FromGuest, Guest};
pub use trial::{GuestTrial, response_time, run_guests};
