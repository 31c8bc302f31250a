//! The packets of a connection in the order of the capture.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use tcplab_units::Instant;

use crate::{Ack, BareReset, Connection, Segment};

/// A packet, as far as it is stored: a segment, an ACK, a reset, or several of these.
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
        }
        packets.into_values().collect()
    }

    fn empty(
        (index, connection): (usize, &'a Connection),
        frame: u64,
        at: Instant,
        from_client: bool,
    ) -> Listed<'a> {
        let (segment, ack, reset) = (None, None, None);
        Listed { index, connection, frame, at, from_client, segment, ack, reset }
    }

    /// Its source and its destination.
    pub(crate) fn ends(&self) -> [SocketAddr; 2] {
        let Connection { client, server, .. } = *self.connection;
        if self.from_client { [client, server] } else { [server, client] }
    }
}
