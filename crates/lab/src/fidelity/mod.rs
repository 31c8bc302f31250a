//! The model against the kernel: the same cases in both worlds, and how far apart they are.
//!
//! Nothing here runs or reads a trial in a way of its own: each world has an ordinary run
//! directory, filled by [`execute`](crate::execute()).

mod curve;
mod figures;
mod pairs;
mod ratios;
mod runs;
mod table;
#[cfg(test)]
mod tests;

pub use pairs::Pair;
pub use ratios::GOALS;
pub use runs::compare;
pub use table::csv;
