//! A trial while it runs: what its recording says, read as the files grow.
//!
//! A trial sends nothing to those who watch it, so watching costs it nothing but the reading. What
//! was watched looks the same once the trial is over. All who watch a trial share its readers. They
//! keep sums over intervals of [`INTERVAL`], so memory grows with the length of a trial, not with
//! its packets.

mod current;
mod error;
mod follow;
mod history;
mod ladder;
mod latest;
mod overview;
mod packets;
mod read;
mod sink;
mod steps;
mod trial;
mod unanswered;
mod watched;

pub use error::WatchError;
pub use history::{Cursor, History, INTERVAL, MetConnection, SenderSocket};
pub use ladder::PacketRow;
pub use overview::{Overview, Step};
pub use packets::packets;
pub use trial::{Places, WatchedTrial};
pub use watched::Watched;
