//! Captures written as packets in time, and what must be found in them.

mod causes;
mod drill;
mod figures;
mod losses;
mod robustness;
mod wire_facts;
