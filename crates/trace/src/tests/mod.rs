//! Captures written as packets in time, and what must be found in them.

pub(crate) mod drill;
mod figures;
pub(crate) mod frames;
mod life;
mod losses;
mod robustness;
mod shortcuts;
mod streaming;
mod wire_facts;
