//! Captures written as packets in time, and what must be found in them.

mod drill;
mod figures;
mod life;
mod losses;
mod robustness;
mod wire_facts;
