//! One connection: how it opened, the states of both ends, how it closed, and the table of all.

mod endpoint_states;
mod entry;

mod handshake;
mod history;
mod last_heard;
mod multipath;
mod one_way;
mod outcome;
mod places;
mod resets;
mod reuse;
mod roles;
mod shown;
mod silence;
mod stamps;
mod state;
mod state_walk;
mod table;
mod too_big;
mod unread;

pub(crate) use entry::{Entry, Placed};
pub(crate) use outcome::{PacketOutcome, PlainOutcome, Refusal};
pub(crate) use state::ConnectionState;
pub(crate) use table::Table;
pub(crate) use too_big::TooBig;
