//! Captures written as packets in time, and what must be found in them.

mod drill;
mod figures;
mod limits;
mod losses;
mod robustness;
mod stalls;
mod transfer;
mod wire_facts;
