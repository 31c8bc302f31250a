//! The packets of a connection in the order of the capture.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use tcplab_units::Instant;
use tcplab_wire::TcpFlags;

use crate::{Ack, BareReset, Connection, Segment, UnusualPacket};

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
}

impl<'a> Listed<'a> {
    /// All packets of `connection`, which has the number `index`.
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
        Listed { index, connection, frame, at, from_client, segment, ack, reset, unusual }
    }

    /// Whether it has this flag: one of SYN, FIN, RST, PSH and ACK.
    pub(crate) fn has(&self, flag: TcpFlags) -> bool {
        if let Some(packet) = self.unusual {
            return packet.flags.contains(flag);
        }
        let of_segment = |is: fn(&Segment) -> bool| self.segment.is_some_and(is);
        match flag {
            TcpFlags::SYN => of_segment(|segment| segment.syn),
            TcpFlags::FIN => of_segment(|segment| segment.fin),
            TcpFlags::PSH => of_segment(|segment| segment.psh),
            TcpFlags::ACK => self.ack.is_some(),
            _ => self.reset.is_some() || self.ack.is_some_and(|ack| ack.reset),
        }
    }

    /// Its source and its destination.
    pub(crate) fn ends(&self) -> [SocketAddr; 2] {
        let Connection { client, server, .. } = *self.connection;
        if self.from_client { [client, server] } else { [server, client] }
    }
}
