//! From frames to an explanation: connections, segments, acknowledgements, recovery episodes.

#![expect(clippy::inline_always, reason = "the short ways are compiled for what they know")]

mod analyzer;
mod below;
mod bounds;
mod cause;
mod clock;
mod connection;
mod episodes;
mod explanations;
mod filter;
mod flow;
mod full_size;
mod habits;
mod handshake;
mod history;
mod holes;
mod identity;
pub mod join;
mod ladder;
mod life;
mod limits;
mod listing;
mod log;
mod model;
mod needless;
mod notation;
mod observe;
mod others;
mod packet;
mod ranges;
mod reading;
mod remarks;
mod round_trips;
mod scoreboard;
mod seen;
mod series;
mod shortcuts;
mod sinks;
mod stalls;
mod stamps;
mod states;
mod table;
mod tally;
mod tap;
mod transfer;
mod unread;
mod walk;
mod watch;
mod windows;

pub use analyzer::{Analyzer, Collector, FlowId, Frame};
pub use explanations::Explanations;
pub use filter::{Filter, FilterError};
pub use ladder::{Fate, LadderLine, ladder, ladder_between};
pub use listing::listing;
pub use model::*;
pub use reading::analyze;
pub use sinks::{Both, Only, Sink};
pub use states::{
    Basis, DIAGRAM, Edge, Event, SeenFrom, StateWalk, StateWalks, TimeWait, Transition, WhyTimeWait,
};

#[cfg(test)]
extern crate self as tcplab_trace;

#[cfg(test)]
mod tests;
