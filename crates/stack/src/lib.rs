//! A model of a TCP endpoint, without clock, socket or randomness of its own.

mod cause;
pub mod config;
pub mod congestion;
mod segment;
#[cfg_attr(not(test), expect(dead_code, reason = "nothing drives it yet"))]
mod sender;

pub use cause::SendCause;
pub use config::Config;
pub use segment::{Data, Segment};
