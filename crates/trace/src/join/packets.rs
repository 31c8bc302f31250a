//! The TCP packets of one capture.

use tcplab_units::Instant;
use tcplab_wire::{Fragment, FrameView, LinkType, TcpPacket};

use super::headers::Headers;
use crate::Frame;
use crate::fragments::Fragments;
use crate::packet::Packet;

/// Reads the packets of a capture; what was cut into fragments is put together.
#[derive(Debug, Default)]
pub(super) struct Packets {
    fragments: Fragments<()>,
    frames: u64,
}

/// A packet, and whether its checksums are wrong where that can be told.
#[derive(Debug)]
pub(super) struct CheckedPacket {
    pub(super) packet: Packet,
    pub(super) headers: Headers,
    pub(super) is_damaged: Option<bool>,
}

impl Packets {
    /// The packet of the next frame, if it holds one, or is the last missing fragment of one.
    pub(super) fn next(&mut self, frame: &Frame<'_>) -> Option<CheckedPacket> {
        self.frames += 1;
        let view = FrameView::new(frame.link, frame.captured, frame.original_len);
        let fragment = view.ip().filter(|ip| ip.fragment() != Fragment::default());
        let at = Instant::from_nanos(frame.time_ns);
        let Some(fragment) = fragment else {
            let tcp = view.tcp()?;
            return Some(self.read(&tcp, at, tcp.is_damaged()));
        };
        let whole = self.fragments.add(&fragment, (at, self.frames), ())?;
        let tcp = FrameView::new(LinkType::RawIp, &whole.bytes, whole.length).tcp()?;
        Some(self.read(&tcp, at, None))
    }

    fn read(&self, tcp: &TcpPacket<'_>, at: Instant, is_damaged: Option<bool>) -> CheckedPacket {
        let packet = Packet::read(tcp, at, self.frames, false);
        CheckedPacket { packet, headers: Headers::of(&packet, tcp), is_damaged }
    }
}
