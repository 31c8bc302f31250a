//! Captures written as packets in time, and what must be found in them.

mod drill;
mod figures;
mod losses;
mod robustness;
mod shortcuts;
mod streaming;
mod wire_facts;
