//! From frames to an explanation: connections, segments, acknowledgements, recovery episodes.

mod model;

pub use model::*;
