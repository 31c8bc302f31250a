//! What a connection remembers, one topic a file. None of these knows the connection.

mod counters;
mod handshake;
mod limits;
mod numbers;
mod timers;
mod timestamps;
mod writer;

pub(super) use counters::Counters;
pub(super) use handshake::{Fast, Handshake};
pub(super) use limits::Limit;
pub(super) use numbers::Numbers;
pub(super) use timers::Timers;
pub(super) use timestamps::Timestamps;
pub(super) use writer::{Output, Writer};
