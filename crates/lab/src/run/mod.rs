//! Running what a plan asks for.

mod blocks;
mod calibration;
mod complete;
mod estimate;
mod event;
mod execute;
mod failures;
mod kernel;
mod sim;
mod state;

pub use complete::{RunOutcome, analyse, complete, finish};
pub use estimate::{Foreseen, Prospect, prospect, prospect_of, prospect_of_extension};
pub use event::Event;
pub use execute::{begin, execute};
