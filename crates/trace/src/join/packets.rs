//! The TCP packets of one capture.

use tcplab_units::Instant;
use tcplab_wire::{Fragment, FrameView, LinkType, TcpPacket};

use crate::Frame;
use crate::fragments::Fragments;
use crate::packet::Packet;

/// Reads the packets of a capture; what was cut into fragments is put together.
#[derive(Debug, Default)]
pub(super) struct Packets {
    fragments: Fragments,
    frames: u64,
}

/// A packet, and whether its checksums are wrong where that can be told.
pub(super) struct CheckedPacket {
    pub(super) packet: Packet,
    pub(super) is_damaged: Option<bool>,
}

impl Packets {
    /// The packet of the next frame, if it holds one, or is the last missing fragment of one.
    pub(super) fn next(&mut self, frame: &Frame<'_>) -> Option<CheckedPacket> {
        self.frames += 1;
        let view = FrameView::new(frame.link, frame.captured, frame.original_len);
        let fragment = view.ip().filter(|ip| ip.fragment() != Fragment::default());
        let Some(fragment) = fragment else {
            let tcp = view.tcp()?;
            return Some(CheckedPacket { packet: self.read(&tcp), is_damaged: tcp.is_damaged() });
        };
        let at = (Instant::from_nanos(frame.time_ns), self.frames);
        let (whole, length) = self.fragments.add(&fragment, at)?;
        let tcp = FrameView::new(LinkType::RawIp, &whole, length).tcp()?;
        Some(CheckedPacket { packet: self.read(&tcp), is_damaged: None })
    }

    fn read(&self, tcp: &TcpPacket<'_>) -> Packet {
        Packet::read(tcp, Instant::ZERO, self.frames, false)
    }
}
