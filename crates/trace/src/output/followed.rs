//! What a packet is beside the packets before it, by Wireshark's rules.
//!
//! The analyser does not need these; users of Wireshark filter by them (`packet-tcp.c`, version 4).

use std::collections::BTreeMap;

use tcplab_units::{Bytes, Instant, Span};
use tcplab_wire::TcpFlags;

use super::listed::{Beside, Listed};
use crate::Connection;

/// All packets of `connection`, which has the number `index`, each beside those before it.
pub(crate) fn packets(index: usize, connection: &Connection) -> Vec<Listed<'_>> {
    let mut packets = Listed::all(index, connection);
    let mut followed = Followed::default();
    for packet in &mut packets {
        packet.beside = followed.next(packet);
    }
    packets
}

/// The packets of a connection so far.
#[derive(Debug, Default)]
struct Followed {
    last: Option<Instant>,
    /// The client's last SYN.
    syn: Option<Instant>,
    initial_rtt: Option<Span>,
    /// The client, the server.
    ends: [FollowedEnd; 2],
}

#[derive(Debug, Default)]
struct FollowedEnd {
    /// Behind the highest that it sent.
    next: Option<u64>,
    /// What it acknowledged last, and its window then, if known.
    ack: Option<(u64, Option<u64>)>,
    /// Where each segment that is not acknowledged ends, and when it was sent first.
    unacknowledged: BTreeMap<u64, Instant>,
}

impl Followed {
    fn next(&mut self, packet: &Listed<'_>) -> Beside {
        let waited = packet.at.since(self.last.unwrap_or(packet.at));
        self.last = Some(packet.at);
        let mut beside = Beside { waited, ..Beside::default() };
        self.handshake(packet);
        beside.initial_rtt = self.initial_rtt.filter(|_| !packet.has(TcpFlags::SYN));
        let [client, server] = &mut self.ends;
        let (own, other) = if packet.from_client { (client, server) } else { (server, client) };
        own.sent(packet, other, &mut beside);
        own.acknowledged(packet, other, &mut beside);
        beside
    }

    fn handshake(&mut self, packet: &Listed<'_>) {
        if !packet.from_client || self.initial_rtt.is_some() {
            return;
        }
        if packet.has(TcpFlags::SYN) {
            self.syn = Some(packet.at);
        } else if packet.ack.is_some() {
            self.initial_rtt = self.syn.map(|syn| packet.at.since(syn));
        }
    }
}

impl FollowedEnd {
    fn sent(&mut self, packet: &Listed<'_>, other: &FollowedEnd, beside: &mut Beside) {
        let Some(segment) = packet.segment else { return };
        let (start, end) = (segment.range.start.as_u64(), segment.range.end.as_u64());
        beside.is_after_gap = self.next.is_some_and(|next| start > next);
        let is_data = segment.payload.as_u64() > 0 && !segment.syn && !segment.fin;
        let window_end = other.ack.and_then(|(ack, window)| Some(ack + window?));
        beside.fills_window = is_data && window_end == Some(end);
        if start < end {
            self.unacknowledged.entry(end).or_insert(packet.at);
        }
        self.next = self.next.max(Some(end));
    }

    fn acknowledged(&mut self, packet: &Listed<'_>, other: &mut FollowedEnd, beside: &mut Beside) {
        let Some(ack) = packet.ack else { return };
        let number = ack.ack.as_u64();
        beside.acks_uncaptured = other.next.is_some_and(|next| number > next);
        let sent = other.unacknowledged.remove(&number);
        beside.ack_rtt = sent.map(|sent| packet.at.since(sent));
        other.unacknowledged = other.unacknowledged.split_off(&number);
        let window = ack.window.map(Bytes::as_u64);
        if packet.segment.is_none() && !ack.reset {
            let is_other = |before: u64| window.is_some_and(|it| it > 0 && it != before);
            beside.updates_window = self
                .ack
                .is_some_and(|(before, known)| before == number && known.is_some_and(is_other));
        }
        // The window of a SYN is not scaled.
        self.ack = Some((number, window.filter(|_| !packet.has(TcpFlags::SYN))));
    }
}
