//! Resets that acknowledge nothing, and resets that were forged.

use std::fmt;

use tcplab_units::{Endpoint, Instant, Offset};
use tcplab_wire::TcpFlags;

use super::FlowId;

/// A reset (RST) without the ACK flag, as it answers a segment of no connection (RFC 9293 section
/// 3.5.2). One with the flag is an [`Ack`](crate::Ack).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BareReset {
    /// When it passed the capture point.
    pub at: Instant,
    /// Its frame number, from 1.
    pub frame: u64,
    /// As in its header.
    pub flags: TcpFlags,
    /// Its place in the stream of its sender; 1 where nothing else shows where that begins.
    pub place: Offset,
    /// Its window field is zero, which means nothing.
    pub zero: bool,
    /// Whether the sender of the flow's data sent it, or the other end.
    pub from_sender: bool,
    /// What the capture's comments say of it.
    pub comment: Option<String>,
}

impl BareReset {
    /// A reset in the flow of its sender, as each of the two flows has it.
    pub fn in_both(self, flow: FlowId) -> [(FlowId, BareReset); 2] {
        let opposite = FlowId { forward: !flow.forward, ..flow };
        let heard = BareReset { from_sender: false, ..self.clone() };
        [(flow, self), (opposite, heard)]
    }
}

impl fmt::Display for BareReset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RST {0}:{0}(0)", self.place)
    }
}

/// An RST in the name of an end that went on after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForgedReset {
    /// The end in whose name it came.
    pub by: Endpoint,
    /// When it passed the capture point.
    pub at: Instant,
    /// Its frame.
    pub frame: u64,
    /// Its TTL, and that of the end's first packet; they differ if no end obeyed it.
    pub ttls: Option<(u8, u8)>,
    /// The frame that shows that the end went on.
    pub went_on: u64,
    /// The frame of the RST by which the other end, which had obeyed, refused that.
    pub refused: Option<u64>,
}

/// An option of Multipath TCP that ends something: MP_FASTCLOSE or REMOVE_ADDR (RFC 8684).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MultipathSign {
    /// Who sent it.
    pub by: Endpoint,
    /// When it passed the capture point.
    pub at: Instant,
    /// Its frame.
    pub frame: u64,
}
