//! One direction of a connection: what each packet is, what was lost, and why it was sent.

mod announced;
mod capture_point;
mod causes;
mod classification;
mod earlier_packets;
mod episodes;
mod feedback;
mod gaps;
mod knowledge;
mod passed_packet;
mod recent_acks;
mod recovery;
mod retransmission;
mod scoreboard;
mod send_order;
mod sender_clock;
mod sender_model;
mod spurious;
mod state;
mod timeout;
mod transmissions;

pub(crate) use capture_point::Distances;
pub(crate) use retransmission::Context;
#[cfg(test)]
pub(crate) use scoreboard::{ReceivedAck, Scoreboard};
pub(crate) use send_order::SHARE as COPIES_SHARE;
pub(crate) use sender_clock::{ClockStep, OwnClock};
pub(crate) use state::{AckOutcome, DirectionState};
#[cfg(test)]
pub(crate) use transmissions::Transmission;
