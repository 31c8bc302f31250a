//! From frames to an explanation: connections, segments, acknowledgements, recovery episodes.

mod ladder;
mod model;

pub use ladder::{Fate, LadderLine};
pub use model::*;
