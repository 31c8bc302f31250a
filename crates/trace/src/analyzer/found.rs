//! What the analysis of a part of all connections finds.

use crate::{
    Ack, BareReset, Connection, Episode, FlowId, LimitPeriod, Segment, Spurious, Stall, TcpState,
    UnusualPacket,
};

/// One result. Connections have numbers in their part, which are used again: a number belongs to
/// the latest connection that began with it.
#[derive(Debug)]
pub(super) enum Found {
    /// A connection began with the latest packet. It reuses the ends of an earlier one, if that is
    /// still known.
    Begun {
        number: u32,
        reuses: Option<u32>,
    },
    Segment(FlowId, Box<Segment>),
    Ack(FlowId, Box<Ack>),
    Reset(FlowId, Box<BareReset>),
    Unusual(FlowId, Box<UnusualPacket>),
    Episode(FlowId, Box<Episode>),
    Stall(FlowId, Stall),
    Limit(FlowId, LimitPeriod),
    Spurious(FlowId, u64, Spurious),
    /// The states of client and server changed.
    States(u32, [Option<TcpState>; 2]),
    Connection(u32, Box<Connection>),
    /// The latest packet is of this connection; only if that is [logged](super::FrameLog).
    Owner(u32),
    /// This connection and another with the same ends are open at once; only if that is logged.
    PutAside(u32),
    /// A note on the packet in this frame.
    Remark(&'static str, u64),
}
