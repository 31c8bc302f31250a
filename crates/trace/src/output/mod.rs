//! A connection as text: listing, ladder, comments on packets.

mod display_filter;
mod explanations;
mod followed;
mod ladder;
mod listed;
mod listing;
mod notation;
mod numbering;
mod packet_bytes;

pub use display_filter::{DisplayFilter, PacketField, PacketValues, packet_values};
pub use explanations::Explanations;
pub use ladder::{Fate, LadderLine, ladder, ladder_between};
pub use listing::{listing, packet_lines};
pub use numbering::ConnectionNumbers;
pub use packet_bytes::{DUMP_ROW, PacketBytes, dump_letter};
