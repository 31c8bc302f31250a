//! Captures written as packets in time, and what must be found in them.

mod answered;
mod bounded;

mod causes;
mod control;
mod copies;
mod crossings;
mod damaged;
pub(crate) mod drill;
mod fast_path;
mod figures;
mod folded;
pub(crate) mod fragments;
pub(crate) mod frames;
mod in_passing;
mod life;
mod limits;
mod losses;
mod oddities;
mod others;
mod partial;
mod probes;
mod recorder;
mod replayed;
mod robustness;
mod sinks;
mod stalls;
mod streaming;
mod threads;
mod time_order;
mod times;
mod transfer;
mod wire_facts;
