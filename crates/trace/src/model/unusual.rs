//! Packets that segments, acknowledgements and resets do not show as they were sent.

use std::fmt;

use tcplab_units::{Bytes, Instant, Offset};
use tcplab_wire::TcpFlags;

/// A packet that sends and acknowledges nothing (without flags, or with URG alone), that has flags
/// which no segment, [`Ack`](crate::Ack) or [`BareReset`](crate::BareReset) of it shows (an
/// acknowledgement of another connection, RST with SYN), or that was counted but not analysed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusualPacket {
    /// When it passed the capture point.
    pub at: Instant,
    /// Its frame number, from 1.
    pub frame: u64,
    /// As in its header.
    pub flags: TcpFlags,
    /// Its place in the stream of its sender; none where it is outside the connection.
    pub place: Option<Offset>,
    /// Its data.
    pub payload: Bytes,
}

impl fmt::Display for UnusualPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnusualPacket { flags, place, payload, .. } = self;
        write!(f, "flags {flags} ")?;
        match place {
            Some(place) => write!(f, "{place}:{}({})", *place + *payload, payload.as_u64()),
            None => write!(f, "({}) outside the connection", payload.as_u64()),
        }
    }
}
