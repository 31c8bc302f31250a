//! The virtual world: two model stacks, a path between them, and no clock but the next event.

mod accept_queue;
mod call_state;
mod calls;
mod chance;
mod connections;
mod datagrams;
mod error;
mod guests;
mod host;
mod lane;
mod machine;
mod openings;
mod options;
mod packets;
mod queue;
mod reassembly;
mod settings;
#[cfg(test)]
mod smoltcp;
mod trial;
mod upcoming;
mod world;

pub use chance::leaves_to_chance;
pub use error::{SettingsError, SimError};
pub use guests::{
    ENDS, FromGuest, Guest, GuestShell, GuestShellEnd, GuestTrialError, ModelHost, Print, links_of,
    response_time, run_guests, run_shell,
};
pub use settings::check_route_and_modules;
/// The congestion controls that models have.
pub use tcplab_stack::congestion::NAMES as CONGESTION_CONTROLS;
pub use trial::{Measured, TrialRequest, measure, run_trial};
