//! TCP captures explained: from frames to connections, segments with causes, and recovery episodes.

#![expect(clippy::inline_always, reason = "the short ways are compiled for what they know")]

mod analyzer;
mod bounds;
mod connection;
mod direction;
mod expression;
mod fast_path;
mod filter;
mod fold;
mod fragments;
pub mod join;
mod model;
mod observers;
mod output;
mod packet;
mod ranges;
mod sink;
mod states;
mod time_order;

pub use analyzer::{
    Analyzer, Collector, FrameLog, KnownConnection, LOG_LAG, ReplayError, analyze, replay,
};
pub use expression::FilterError;
pub use filter::Filter;
pub use model::*;
pub use output::{
    ConnectionNumbers, DUMP_ROW, DisplayFilter, Explanations, Fate, LadderLine, PacketBytes,
    PacketField, PacketValues, dump_letter, ladder, ladder_between, listing, packet_lines,
    packet_values,
};
pub use sink::{Both, Only, Sink};
pub use states::{
    Basis, DIAGRAM, Edge, Event, SeenFrom, StateWalk, StateWalks, TimeWait, Transition, WhyTimeWait,
};
pub use tcplab_wire::TcpFlags;

#[cfg(test)]
extern crate self as tcplab_trace;

#[cfg(test)]
mod tests;
