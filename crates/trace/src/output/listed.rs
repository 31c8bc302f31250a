//! The packets of a connection in the order of the capture.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use tcplab_units::{Instant, Span};
use tcplab_wire::TcpFlags;

use crate::{Ack, BareReset, Connection, Segment, UnusualPacket};

/// A packet beside those before it in its connection, by Wireshark's rules.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of its own")]
pub(crate) struct Beside {
    /// The time since the packet before it; zero of the first.
    pub(crate) waited: Span,
    /// The time since the data that it acknowledges, where it acknowledges up to their end.
    pub(crate) ack_rtt: Option<Span>,
    /// The time of the handshake, from the SYN to the client's ACK; of all packets after it.
    pub(crate) initial_rtt: Option<Span>,
    /// It ends where the window ends.
    pub(crate) fills_window: bool,
    /// It only advertises another window.
    pub(crate) updates_window: bool,
    /// Its data begin beyond what was captured before.
    pub(crate) is_after_gap: bool,
    /// It acknowledges more than was captured.
    pub(crate) acks_uncaptured: bool,
}

/// A packet, as far as it is stored: a segment, an ACK, a reset, several of these, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listed<'a> {
    /// The number of the connection.
    pub(crate) index: usize,
    pub(crate) connection: &'a Connection,
    pub(crate) frame: u64,
    pub(crate) at: Instant,
    pub(crate) from_client: bool,
    /// What it sends.
    pub(crate) segment: Option<&'a Segment>,
    /// What it acknowledges.
    pub(crate) ack: Option<&'a Ack>,
    /// A reset without the ACK flag.
    pub(crate) reset: Option<&'a BareReset>,
    /// What these do not show.
    pub(crate) unusual: Option<&'a UnusualPacket>,
    /// Beside the packets before it.
    pub(crate) beside: Beside,
}

impl<'a> Listed<'a> {
    /// All packets of `connection`, which has the number `index`; not yet beside one another.
    pub(crate) fn all(index: usize, connection: &'a Connection) -> Vec<Listed<'a>> {
        let of = (index, connection);
        let mut packets: BTreeMap<u64, Listed<'a>> = BTreeMap::new();
        for (flow, forward) in [(&connection.forward, true), (&connection.reverse, false)] {
            for segment in &flow.segments {
                let none = Listed::empty(of, segment.frame, segment.at, forward);
                packets.entry(segment.frame).or_insert(none).segment = Some(segment);
            }
            for ack in &flow.acks {
                let none = Listed::empty(of, ack.frame, ack.at, !forward);
                packets.entry(ack.frame).or_insert(none).ack = Some(ack);
            }
            for reset in flow.resets.iter().filter(|reset| reset.from_sender) {
                let none = Listed::empty(of, reset.frame, reset.at, forward);
                packets.entry(reset.frame).or_insert(none).reset = Some(reset);
            }
            for packet in &flow.unusual {
                let none = Listed::empty(of, packet.frame, packet.at, forward);
                packets.entry(packet.frame).or_insert(none).unusual = Some(packet);
            }
        }
        packets.into_values().collect()
    }

    fn empty(
        (index, connection): (usize, &'a Connection),
        frame: u64,
        at: Instant,
        from_client: bool,
    ) -> Listed<'a> {
        let (segment, ack, reset, unusual) = (None, None, None, None);
        let beside = Beside::default();
        Listed { index, connection, frame, at, from_client, segment, ack, reset, unusual, beside }
    }

    /// The flags in its header.
    pub(crate) fn flags(&self) -> TcpFlags {
        let unusual = self.unusual.map(|packet| packet.flags);
        let of_segment = || self.segment.map(|segment| segment.flags);
        let of_ack = || self.ack.map(|ack| ack.flags);
        let of_reset = || self.reset.map(|reset| reset.flags);
        unusual.or_else(of_segment).or_else(of_ack).or_else(of_reset).unwrap_or_default()
    }

    pub(crate) fn has(&self, flag: TcpFlags) -> bool {
        self.flags().contains(flag)
    }

    /// Its source and its destination.
    pub(crate) fn ends(&self) -> [SocketAddr; 2] {
        let Connection { client, server, .. } = *self.connection;
        if self.from_client { [client, server] } else { [server, client] }
    }
}
