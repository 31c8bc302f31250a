//! What tcplab counts and measures: one definition for each quantity.
//!
//! Tables, JSON, reports and the terminal take keys and labels from here, so a quantity has one
//! name everywhere. Names are those of RFCs, Linux and Wireshark. A key ends in the unit
//! (`rtt_min_ns`), or contains it (`bytes_in_flight_max`).

mod capture;
mod document;
mod quantity;
mod trial;

pub use capture::*;
pub use document::*;
pub use quantity::{Quantity, Unit};
pub use trial::*;

/// All quantities, by topic.
pub const TOPICS: &[(&str, &[Quantity])] = &[
    ("Connections", capture::CONNECTION_LIST),
    ("Directions of a connection", capture::DIRECTION_LIST),
    ("Packets", capture::PACKET_LIST),
    ("Episodes, stalls, limits and states", capture::PERIOD_LIST),
    ("The path", trial::PATH_LIST),
    ("Samples of a socket (TCP_INFO)", trial::SAMPLE_LIST),
    ("Runs and trials", trial::TRIAL_LIST),
];

/// All quantities.
pub fn all() -> impl Iterator<Item = &'static Quantity> {
    TOPICS.iter().flat_map(|(_, list)| list.iter())
}

#[cfg(test)]
mod tests;
