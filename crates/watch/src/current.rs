//! The packet that is being analysed, as far as its own bytes tell.

use std::net::SocketAddr;

use tcplab_capture::{Direction, Record};
use tcplab_wire::{FrameView, LinkType};

/// The packet that is being analysed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Current {
    /// From 1.
    pub(crate) frame: u64,
    /// From which end to which.
    pub(crate) ends: Option<[SocketAddr; 2]>,
    /// Whether it was sent by the end that captured it, if the capture says so.
    pub(crate) is_sent: Option<bool>,
}

impl Current {
    pub(crate) fn of(record: &Record<'_>, frame: u64) -> Current {
        let tcp = FrameView::new(LinkType::RawIp, record.captured, record.original_len).tcp();
        let ends = |tcp: tcplab_wire::TcpPacket<'_>| {
            [(tcp.src(), tcp.src_port()).into(), (tcp.dst(), tcp.dst_port()).into()]
        };
        Current {
            frame,
            ends: tcp.map(ends),
            is_sent: record.direction().map(|it| it == Direction::Outbound),
        }
    }
}
