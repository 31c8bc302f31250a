//! ICMP's reports that a segment was too big for the path.

use tcplab_units::Instant;
use tcplab_wire::{IpPacket, QuotedSegment, too_big};

use crate::packet::Ends;

/// What a report says, and of which connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TooBig {
    pub(crate) ends: Ends,
    /// The lower end sent the segment.
    pub(super) from_low: bool,
    /// When and in which frame the report came.
    pub(super) moment: (Instant, u64),
    pub(super) quoted: QuotedSegment,
    pub(super) mtu: u32,
}

impl TooBig {
    /// The report in a packet, if it is one.
    pub(crate) fn of(ip: &IpPacket<'_>, moment: (Instant, u64)) -> Option<TooBig> {
        let (mtu, quoted) = too_big(ip)?;
        let quoted = QuotedSegment::of(quoted)?;
        let QuotedSegment { src, dst, src_port, dst_port, .. } = quoted;
        let (ends, from_low) = Ends::between((src, src_port), (dst, dst_port));
        Some(TooBig { ends, from_low, moment, quoted, mtu })
    }
    /// In which frame the report came.
    pub(crate) fn frame(&self) -> u64 {
        self.moment.1
    }
}
