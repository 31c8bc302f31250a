//! A model of a TCP endpoint, without clock, socket or randomness of its own.

mod cause;
pub mod config;
pub mod congestion;
mod jiffies;
mod receiver;
mod segment;
mod send_buffer;
mod sender;
mod state;

pub use cause::SendCause;
pub use config::Config;
pub use segment::{Data, Segment};
pub use state::State;
