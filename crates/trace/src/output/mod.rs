//! A connection as text: listing, ladder, comments on packets.

mod explanations;
mod ladder;
mod listing;
mod notation;

pub use explanations::Explanations;
pub use ladder::{Fate, LadderLine, ladder, ladder_between};
pub use listing::listing;
