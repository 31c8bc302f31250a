//! A trial while it runs: what its recording says, read as the files grow.
//!
//! A trial sends nothing to those who watch it, so watching costs it nothing but the reading; and
//! what was watched looks the same once the trial is over. One set of readers serves all who watch
//! a trial. What they keep are sums over intervals of [`INTERVAL`], so memory grows with the length
//! of a trial and not with its packets.

mod error;
mod follow;
mod history;
mod packets;
mod places;
mod read;
mod sink;
mod trial;
mod watched;

pub use error::WatchError;
pub use history::{Cursor, History, INTERVAL};
pub use packets::{PacketRow, packets};
pub use places::Places;
pub use trial::WatchedTrial;
pub use watched::Watched;
