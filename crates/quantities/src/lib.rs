//! What tcplab counts and measures: one definition for each quantity.
//!
//! Tables, JSON, reports and the terminal take keys and labels from here, so a quantity has one
//! name everywhere. Names are those of RFCs, Linux and Wireshark. A key ends in the unit
//! (`rtt_min_ns`), or contains it (`bytes_in_flight_max`).

mod connection;
mod direction;
mod document;
mod packet;
mod path;
mod period;
mod quantity;
mod tcp_info;
mod trial;

pub use connection::*;
pub use direction::*;
pub use document::*;
pub use packet::*;
pub use path::*;
pub use period::*;
pub use quantity::{Quantity, Unit};
pub use tcp_info::*;
pub use trial::*;

/// All quantities, by topic.
pub const TOPICS: &[(&str, &[Quantity])] = &[
    ("Connections", connection::LIST),
    ("Directions of a connection", direction::LIST),
    ("Packets", packet::LIST),
    ("Episodes, stalls, limits and states", period::LIST),
    ("The path", path::LIST),
    ("Samples of a socket (TCP_INFO)", tcp_info::LIST),
    ("Runs and trials", trial::LIST),
];

/// All quantities.
pub fn all() -> impl Iterator<Item = &'static Quantity> {
    TOPICS.iter().flat_map(|(_, list)| list.iter())
}

#[cfg(test)]
mod tests;
