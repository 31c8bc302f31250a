//! Captures as text: connections by lost time, and any connection in depth.

mod chosen;
mod detail;
mod flow;
mod head;
mod joined;
mod ladder;
mod limits;
mod numbers;
mod packet_bytes;
mod row;
mod summary;

pub use crate::grid::Look;
pub use chosen::{Chosen, Ended};
pub use detail::connection_text;
pub use head::{CaptureHead, notes_text};
pub use joined::joined_text;
pub use ladder::{LadderView, ladder_text};
pub use packet_bytes::packet_text;
pub use row::{Row, RowDirection, Standing, Summary, SummaryTotals};
pub use summary::summary_text;

#[cfg(test)]
mod tests;
