//! What a program finds in a capture, in one shape for all.

use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The TCP packets of a capture by frame, and its connections.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) packets: BTreeMap<u64, Packet>,
    pub(crate) connections: Vec<Connection>,
}

/// One TCP packet.
#[derive(Debug, Clone)]
pub(crate) struct Packet {
    /// The index of its connection.
    pub(crate) connection: usize,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    /// Data bytes.
    pub(crate) bytes: u64,
    pub(crate) is_reset: bool,
    pub(crate) is_retransmission: bool,
    /// What the program calls it.
    pub(crate) name: &'static str,
    /// Why, if it says so.
    pub(crate) evidence: String,
    /// What the frame itself shows.
    pub(crate) frame: FrameFacts,
}

/// What a frame shows before any analysis.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FrameFacts {
    pub(crate) oddity: Option<Oddity>,
    pub(crate) syn: bool,
    pub(crate) seq: u32,
    pub(crate) payload: u64,
    /// The analysis gave it a place in the stream.
    pub(crate) has_place: bool,
}

/// What makes programs read a frame differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// tcplab: the length in the IP header goes beyond the frame.
    BeyondFrame,
    /// tcplab: the TCP header's length is impossible.
    DamagedHeader,
    /// tcplab: an ACK whose IP header counts the zeros that fill an Ethernet frame as data.
    Padding,
    /// tshark: the length in the IP header goes beyond PPPoE's.
    BeyondSession,
    /// tshark: of several segments in the frame, this is the last.
    SeveralSegments,
    /// tshark: behind a header of Cisco's `FabricPath`.
    FabricPath,
}

/// Sums of one connection, in both directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Connection {
    /// The lower end first.
    pub(crate) ends: [SocketAddr; 2],
    pub(crate) first_frame: u64,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) resets: u64,
    pub(crate) retransmissions: Vec<u64>,
}

impl Found {
    /// Sums up the connections of packets.
    pub(crate) fn of(packets: BTreeMap<u64, Packet>) -> Found {
        let mut connections: BTreeMap<usize, Connection> = BTreeMap::new();
        for (&frame, packet) in &packets {
            let connection = connections.entry(packet.connection).or_insert_with(|| Connection {
                ends: [packet.from.min(packet.to), packet.from.max(packet.to)],
                first_frame: frame,
                packets: 0,
                bytes: 0,
                resets: 0,
                retransmissions: Vec::new(),
            });
            connection.packets += 1;
            connection.bytes += packet.bytes;
            connection.resets += u64::from(packet.is_reset);
            if packet.is_retransmission {
                connection.retransmissions.push(frame);
            }
        }
        Found { packets, connections: connections.into_values().collect() }
    }
}
