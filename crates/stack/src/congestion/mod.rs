//! Congestion controls: what decides how much may be in flight.
//!
//! The trait has the shape of Linux's `tcp_congestion_ops`, so that its controls can be followed
//! line by line. Windows count segments of the sender's MSS.

mod bbr;
mod compound;
mod control;
mod cubic;
mod old_haiku;
mod reno;
mod rtt_samples;
mod samples;
mod tahoe;
mod ticks;
mod vegas;
mod veno;
mod westwood;
mod window;

use bbr::Bbr;
pub use bbr::FirstPhases;
use compound::Compound;
pub use control::{CongestionControl, Setup};
use cubic::Cubic;
use old_haiku::OldHaiku;
pub(crate) use reno::Reno;
pub use samples::{AckSample, Event, RateSample, State};
use tahoe::Tahoe;
use vegas::Vegas;
use veno::Veno;
use westwood::Westwood;
pub use window::{Deliveries, Flight, NO_THRESHOLD, PacingState, RoundTrips, Window};

/// The names of all controls, as [`by_name`] takes them.
pub const NAMES: [&str; 10] = [
    "bbr",
    "compound",
    "cubic",
    "newreno",
    "old-haiku",
    "reno",
    "tahoe",
    "vegas",
    "veno",
    "westwood",
];

/// Whether the control called `name` draws random numbers: when it does what depends on the seed.
pub fn draws_numbers(name: &str) -> bool {
    name == "bbr"
}

/// The control called `name`, one of [`NAMES`], on a usual machine.
pub fn by_name(name: &str) -> Option<Box<dyn CongestionControl>> {
    on(name, &Setup::default())
}

/// The control called `name`, one of [`NAMES`], on a machine like `setup`.
pub fn on(name: &str, setup: &Setup) -> Option<Box<dyn CongestionControl>> {
    Some(match name {
        "bbr" => Box::new(Bbr::new(setup)),
        "compound" => Box::new(Compound::default()),
        "cubic" => Box::new(Cubic::new(setup)),
        "newreno" => Box::new(Reno::named("newreno")),
        "old-haiku" => Box::new(OldHaiku::default()),
        "reno" => Box::new(Reno::named("reno")),
        "tahoe" => Box::new(Tahoe::default()),
        "vegas" => Box::new(Vegas::default()),
        "veno" => Box::new(Veno::default()),
        "westwood" => Box::new(Westwood::new(setup)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
