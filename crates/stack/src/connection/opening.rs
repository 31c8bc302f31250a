//! What a connection is opened with, and what its ends agree on.

use tcplab_wire::{SeqNumber, TcpFlags, TcpRepr};

use super::SocketOptions;
use crate::Segment;
use crate::config::{Config, Ecn};
use crate::congestion::CongestionControl;
use crate::range::LEAST_MSS;

/// Bytes of the TCP header without options, and of timestamps with their padding.
pub(super) const HEADER: u32 = 20;
pub(super) const TIMESTAMPS: u32 = 12;

/// What the peer takes if it does not say (RFC 9293 section 3.7.1).
pub(super) const DEFAULT_MSS: u32 = 536;

/// The least segment with its options that Linux sends, bytes: a packet of 68 less its headers
/// (`tcp_min_snd_mss`).
const LEAST_SENT: u32 = 48;

/// What the world decides when a connection is opened.
#[derive(Debug)]
pub struct Opening {
    /// The initial sequence number.
    pub initial_sequence: SeqNumber,
    /// What the timestamps of this connection begin with (RFC 7323 section 5.4).
    pub timestamp_offset: u32,
    /// The largest IP packet of the way out, bytes.
    pub mtu: u16,
    /// Length of the IP header: 20 or 40 bytes.
    pub ip_header: u8,
    /// What decides how much may be in flight.
    pub congestion: Box<dyn CongestionControl>,
}

/// What this end offers, and, once the peer has answered, what both agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Terms {
    /// The segment size that the SYN asks for, and that this end may send at most.
    pub(super) asked_mss: u32,
    /// The peer's largest segment, no larger than the application allows (`mss_clamp`); before the
    /// peer has said it, what the application allows.
    pub(super) peer_mss: u32,
    /// Data bytes of a full segment of this end, options taken off.
    pub(super) sending_mss: u32,
    /// The largest IP packet.
    pub(super) mtu: u16,
    /// Whether routers may cut packets, for the path takes less than they become.
    pub(super) fragments: bool,
    ip_header: u8,
    /// No segment is smaller, whatever the peer says: data and options, bytes.
    least_mss: u32,
    pub(super) sack: bool,
    pub(super) timestamps: bool,
    pub(super) scaling: bool,
    pub(super) ecn: bool,
    /// How the peer's window fields are shifted.
    pub(super) peer_scale: u8,
}

impl Terms {
    pub(super) fn offered(config: &Config, options: &SocketOptions, opening: &Opening) -> Terms {
        // Linux asks for so much where less fits; others for what the least MTU of IPv4 leaves.
        let least = if config.freebsd.is_some() { 68 - 40 } else { LEAST_MSS };
        let room =
            u32::from(opening.mtu).saturating_sub(u32::from(opening.ip_header) + HEADER).max(least);
        let wanted = options.max_segment.unwrap_or(config.handshake.mss);
        let asked_mss = if wanted == 0 { room } else { room.min(u32::from(wanted)) };
        Terms {
            asked_mss,
            peer_mss: if wanted == 0 { u32::MAX } else { u32::from(wanted) },
            sending_mss: asked_mss,
            mtu: opening.mtu,
            fragments: false,
            ip_header: opening.ip_header,
            least_mss: if config.freebsd.is_some() { LEAST_MSS } else { LEAST_SENT },
            sack: config.handshake.sack,
            timestamps: config.handshake.timestamps,
            scaling: config.handshake.window_scale.is_some(),
            ecn: matches!(config.handshake.ecn, Ecn::Asked | Ecn::AccurateOrClassic),
            peer_scale: 0,
        }
    }

    /// The peer's SYN or SYN-ACK answers what was offered: what both have counts
    /// (RFC 7323 sections 2.2 and 3.2, RFC 2018 section 2, RFC 9293 section 3.7.1).
    pub(super) fn agree(&mut self, syn: &TcpRepr) {
        self.sack &= syn.sack_permitted;
        self.timestamps &= syn.timestamps.is_some();
        self.scaling &= syn.window_scale.is_some();
        // RFC 7323 section 2.3: a larger shift counts as 14.
        self.peer_scale = if self.scaling { syn.window_scale.unwrap_or(0).min(14) } else { 0 };
        let said = syn.mss.filter(|mss| *mss > 0).map_or(DEFAULT_MSS, u32::from);
        self.peer_mss = self.peer_mss.min(said);
        let agreed = self.asked_mss.min(self.peer_mss.max(self.least_mss)) - self.options_len();
        self.sending_mss = agreed.min(self.room());
    }

    /// Whether it runs over IPv6.
    pub(super) fn is_v6(&self) -> bool {
        self.ip_header == 40
    }

    /// The SYN asks for no more than the path takes.
    pub(super) fn ask_for_less(&mut self) {
        let headers = u32::from(self.ip_header) + HEADER;
        let room = u32::from(self.mtu).saturating_sub(headers).max(LEAST_MSS);
        self.asked_mss = self.asked_mss.min(room);
    }

    /// Data bytes that the path has room for in a segment.
    pub(super) fn room(&self) -> u32 {
        let headers = u32::from(self.ip_header) + HEADER + self.options_len();
        u32::from(self.mtu).saturating_sub(headers).max(LEAST_MSS)
    }

    /// Room that options take in every segment.
    pub(super) fn options_len(&self) -> u32 {
        if self.timestamps { TIMESTAMPS } else { 0 }
    }

    /// The server's answer to ECN in a SYN (RFC 3168 section 6.1.1); a SYN that is itself
    /// ECN-capable is not trusted (`tcp_ecn_create_request`).
    pub(super) fn answer_ecn(&mut self, config: &Config, syn: &Segment) {
        let asked = syn.header.flags.contains(TcpFlags::ECE | TcpFlags::CWR)
            && (syn.ecn == tcplab_wire::Ecn::NotEct || syn.header.flags.contains(TcpFlags::AE));
        self.ecn = asked && config.handshake.ecn != Ecn::Off;
    }

    /// The client receives the server's answer (`tcp_ecn_rcv_synack`).
    pub(super) fn hear_ecn(&mut self, syn_ack: &Segment) {
        let flags = syn_ack.header.flags;
        self.ecn &= flags.contains(TcpFlags::ECE) && !flags.contains(TcpFlags::CWR);
    }
}
