//! The ground truth of each packet, from two captures of the same transfer: nothing is lost or
//! reordered before the sender's capture point, and IP identifications match packets between both.
//! The analyser is not involved.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use tcplab_wire::{FrameView, LinkType, TcpFlags};

/// One packet with data, SYN or FIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    ports: (u16, u16),
    id: Option<u16>,
    seq: u32,
    len: u32,
    flags: u16,
    clock: Option<u32>,
}

/// A packet and its position in a capture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) frame: u64,
    pub(crate) key: Key,
    /// The place in the stream of its first byte, and of the byte after its last.
    start: u64,
    end: u64,
}

/// What a packet at the receiver's capture point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Sent once, in order.
    Plain,
    /// Retransmitted; its frame at the sender.
    Again(u64),
    /// Sent once, reordered.
    OutOfOrder,
    /// Seen before.
    Copy,
    /// Retransmitted, and the first captured packet of its connection: undetectable.
    Hidden,
}

/// The packets that `from` sent, in the order of the capture.
pub(crate) fn sent(capture: &Path, from: IpAddr) -> Vec<Sent> {
    let mut reader = tcplab_capture::open(capture).unwrap();
    let (mut packets, mut frame) = (Vec::new(), 0);
    let mut highest: BTreeMap<(u16, u16), u64> = BTreeMap::new();
    let mut links = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        frame += 1;
        let (interface, captured) = (record.interface as usize, record.captured.to_vec());
        let original = record.original_len;
        if interface >= links.len() {
            links = reader.interfaces().iter().map(|i| i.link_type).collect();
        }
        let link = LinkType::from_number(links[interface]);
        let Some(tcp) = FrameView::new(link, &captured, original).tcp() else { continue };
        let flags = tcp.flags();
        if tcp.src() != from || tcp.sequence_len() == 0 || flags.contains(TcpFlags::RST) {
            continue;
        }
        let ports = (tcp.src_port(), tcp.dst_port());
        let clock = tcp.options().find_map(|option| match option {
            tcplab_wire::TcpOption::Timestamps { value, .. } => Some(value),
            _ => None,
        });
        let seq = tcp.seq().as_u32();
        let key = Key {
            ports,
            id: tcp.ip().id(),
            seq,
            len: tcp.payload_len(),
            flags: flags.bits(),
            clock,
        };
        // The nearest place with this number: streams are longer than the numbers go.
        let near = highest.get(&ports).copied().unwrap_or(1 << 40);
        let start = near.wrapping_add_signed(i64::from(seq.wrapping_sub(near as u32) as i32));
        let start = if flags.contains(TcpFlags::SYN) { (1 << 40) + u64::from(seq) } else { start };
        let end = start + u64::from(tcp.sequence_len());
        if flags.contains(TcpFlags::SYN) {
            highest.insert(ports, end);
        }
        let high = highest.entry(ports).or_insert(end);
        *high = end.max(*high);
        packets.push(Sent { frame, key, start, end });
    }
    packets
}

/// The frames that repeat something, in the sender's own capture.
pub(crate) fn repeats(sent: &[Sent]) -> Vec<u64> {
    let mut highest: BTreeMap<(u16, u16), u64> = BTreeMap::new();
    let mut again = Vec::new();
    for packet in sent {
        let high = highest.entry(packet.key.ports).or_insert(0);
        if packet.start < *high {
            again.push(packet.frame);
        }
        *high = packet.end.max(*high);
    }
    again
}

/// Whether packets can be matched: without identifications and clocks, retransmissions cannot.
pub(crate) fn are_marked(sent: &[Sent]) -> bool {
    sent.iter().all(|packet| packet.key.id.is_some() || packet.key.clock.is_some())
}

/// What each packet of the receiver's capture is, by its frame there.
pub(crate) fn roles(sent: &[Sent], received: &[Sent]) -> BTreeMap<u64, Role> {
    let again = repeats(sent);
    let mut by_key: BTreeMap<Key, u64> = BTreeMap::new();
    for packet in sent {
        by_key.insert(packet.key, packet.frame);
    }
    let mut seen: BTreeMap<Key, u64> = BTreeMap::new();
    let mut highest: BTreeMap<(u16, u16), u64> = BTreeMap::new();
    let mut roles = BTreeMap::new();
    for packet in received {
        let first = !highest.contains_key(&packet.key.ports);
        let high = highest.entry(packet.key.ports).or_insert(0);
        let below = packet.start < *high;
        *high = packet.end.max(*high);
        let frame = by_key.get(&packet.key).copied();
        let role = if seen.insert(packet.key, packet.frame).is_some() {
            Role::Copy
        } else if let Some(frame) = frame.filter(|frame| again.binary_search(frame).is_ok()) {
            if first { Role::Hidden } else { Role::Again(frame) }
        } else if below {
            Role::OutOfOrder
        } else {
            Role::Plain
        };
        roles.insert(packet.frame, role);
    }
    roles
}

/// The frames of the sender's capture that are not in the receiver's.
pub(crate) fn lost(sent: &[Sent], received: &[Sent]) -> Vec<u64> {
    let mut arrived: BTreeMap<Key, u64> = BTreeMap::new();
    for packet in received {
        *arrived.entry(packet.key).or_default() += 1;
    }
    let mut missing = Vec::new();
    for packet in sent {
        match arrived.get_mut(&packet.key) {
            Some(count) if *count > 0 => *count -= 1,
            // The handshake's affair.
            _ if packet.key.flags & TcpFlags::SYN.bits() != 0 => {}
            _ => missing.push(packet.frame),
        }
    }
    missing
}
