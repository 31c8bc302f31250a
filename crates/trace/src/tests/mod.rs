//! Captures written as packets in time, and what must be found in them.

pub(crate) mod drill;
mod figures;
mod losses;
mod robustness;
mod wire_facts;
