//! Running what a plan asks for.

mod blocks;
mod calibration;
mod complete;
mod consoles;
mod cost;
mod estimate;
mod event;
mod execute;
mod failures;
mod guests;
mod kernel;
mod remaining;
mod room;
mod sim;
mod state;

pub use self::estimate::{
    CaseEstimate, RunEstimate, estimate, estimate_extension, estimate_plan, in_words,
};
pub use complete::{RunOutcome, analyse, complete, finish, no_report};
pub use consoles::consoles;
pub use event::Event;
pub use execute::begin;
pub(crate) use guests::{GuestFailure, KernelHost, arguments_of, bbr_phases, seed_of};
pub use remaining::Remaining;
