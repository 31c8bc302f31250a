//! The TCP packets of one capture.

use tcplab_units::Instant;
use tcplab_wire::{ChecksumState, Fragment, FrameView, LinkType, TcpPacket};

use crate::Frame;
use crate::fragments::Fragments;
use crate::packet::Packet;

/// Reads the packets of a capture; what was cut into fragments is put together.
#[derive(Debug, Default)]
pub(super) struct Packets {
    fragments: Fragments,
    frames: u64,
}

/// A packet, and whether its checksums are right where that can be told.
pub(super) struct CheckedPacket {
    pub(super) packet: Packet,
    pub(super) is_sound: Option<bool>,
}

impl Packets {
    /// The packet of the next frame, if it holds one, or is the last missing fragment of one.
    pub(super) fn next(&mut self, frame: &Frame<'_>) -> Option<CheckedPacket> {
        self.frames += 1;
        let view = FrameView::new(frame.link, frame.captured, frame.original_len);
        let fragment = view.ip().filter(|ip| ip.fragment() != Fragment::default());
        let Some(fragment) = fragment else {
            let tcp = view.tcp()?;
            return Some(CheckedPacket { packet: self.read(&tcp), is_sound: is_sound(&tcp) });
        };
        let at = (Instant::from_nanos(frame.time_ns), self.frames);
        let (whole, length) = self.fragments.add(&fragment, at)?;
        let tcp = FrameView::new(LinkType::RawIp, &whole, length).tcp()?;
        Some(CheckedPacket { packet: self.read(&tcp), is_sound: None })
    }

    fn read(&self, tcp: &TcpPacket<'_>) -> Packet {
        Packet::read(tcp, Instant::ZERO, self.frames, false)
    }
}

/// Whether the checksums of TCP (RFC 9293 section 3.1) and of IPv4's header (RFC 791 section 3.1)
/// are right; unknown where the capture cut the packet, or was before offloading.
fn is_sound(tcp: &TcpPacket<'_>) -> Option<bool> {
    if !tcp.ip().header_checksum_is_right() {
        return Some(false);
    }
    match tcp.checksum_state() {
        ChecksumState::Right => Some(true),
        ChecksumState::Wrong => Some(false),
        ChecksumState::Partial | ChecksumState::Unknown => None,
    }
}
