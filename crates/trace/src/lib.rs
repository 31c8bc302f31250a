//! From frames to an explanation: connections, segments, acknowledgements, recovery episodes.

mod analyzer;
mod cause;
mod connection;
mod episodes;
mod explanations;
mod flow;
mod ladder;
mod listing;
mod log;
mod model;
mod notation;
mod observe;
mod packet;
mod ranges;
mod reading;
mod scoreboard;
mod watch;

pub use analyzer::{Analyzer, Collector, FlowId, Frame, Sink};
pub use explanations::Explanations;
pub use ladder::{Fate, LadderLine, ladder};
pub use listing::listing;
pub use model::*;
pub use reading::analyze;

#[cfg(test)]
extern crate self as tcplab_trace;

#[cfg(test)]
mod tests;
