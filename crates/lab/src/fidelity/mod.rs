//! The model against the kernel: the same cases in both worlds, and how far apart they are.
//!
//! Each world has an ordinary run directory, which [`complete`](crate::complete) fills.

mod curve;
mod figures;
mod pairs;
mod partings;
mod random;
mod ratios;
mod runs;
mod table;
#[cfg(test)]
mod tests;

pub use pairs::{Against, Pair, differing_defaults};
pub use random::{CONTROLS, random};
pub use runs::compare;
pub use table::csv;
