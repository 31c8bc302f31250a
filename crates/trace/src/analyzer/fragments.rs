//! Fragments of IP packets put together (RFC 791 section 3.2, RFC 8200 section 4.5).
//!
//! The analyser needs headers and lengths only, so of the first fragment the beginning is kept and
//! of the others their ranges.

use std::collections::VecDeque;
use std::net::IpAddr;

use tcplab_units::{Instant, Span};
use tcplab_wire::IpPacket;
use tcplab_wire::protocol::TCP;

use crate::Note;

/// The most packets waiting for fragments.
const WAITING: usize = 1_024;
/// The most separate ranges of one packet.
const RANGES: usize = 64;
/// A packet is given up after this time (Linux: `ipfrag_time`).
const PATIENCE: Span = Span::from_secs(30);
/// So many bytes of the first fragment are kept: headers, also behind a tunnel's.
const KEPT: usize = 512;
/// The longest payload of IP, bytes.
const LONGEST: u32 = 65_535;

/// The packets of which some fragments were captured.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    /// In the order of their first captured fragment.
    waiting: VecDeque<Packet>,
    /// The first frame of a TCP packet that was given up, and how many were.
    given_up: Option<(u64, u64)>,
}

/// What identifies the fragments of a packet.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    src: IpAddr,
    dst: IpAddr,
    id: u32,
    /// Of what was cut into fragments.
    protocol: u8,
}

#[derive(Debug)]
struct Packet {
    key: Key,
    since: Instant,
    /// The first captured fragment's frame.
    frame: u64,
    /// The first fragment's bytes, and where what was cut into fragments begins.
    first: Option<(Vec<u8>, usize)>,
    is_tcp: bool,
    /// The captured ranges of the payload, in order; none touch.
    ranges: Vec<(u32, u32)>,
    /// The length of the payload, by the last fragment.
    length: Option<u32>,
}

impl Fragments {
    /// Takes a fragment; the whole packet, without a link header, if it was the last missing one.
    /// Of its payload only the beginning is there: the second value is its length.
    pub(super) fn add(
        &mut self,
        ip: &IpPacket<'_>,
        (at, frame): (Instant, u64),
    ) -> Option<(Vec<u8>, u32)> {
        while self.waiting.front().is_some_and(|oldest| at.since(oldest.since) > PATIENCE) {
            self.give_up();
        }
        let (_, protocol) = ip.fragmentable();
        let key = Key { src: ip.src(), dst: ip.dst(), id: ip.fragment_id()?, protocol };
        let found = self.waiting.iter().rposition(|packet| packet.key == key);
        let index = found.unwrap_or_else(|| {
            if self.waiting.len() == WAITING {
                self.give_up();
            }
            self.waiting.push_back(Packet::new(key, at, frame));
            self.waiting.len() - 1
        });
        let packet = &mut self.waiting[index];
        packet.take(ip);
        let whole = packet.whole()?;
        self.waiting.remove(index);
        Some(whole)
    }

    fn give_up(&mut self) {
        let oldest = self.waiting.pop_front();
        if let Some(packet) = oldest.filter(|packet| packet.is_tcp) {
            self.given_up.get_or_insert((packet.frame, 0)).1 += 1;
        }
    }

    /// What the capture lacks, if anything.
    pub(super) fn finish(mut self) -> Option<Note> {
        while !self.waiting.is_empty() {
            self.give_up();
        }
        let (frame, count) = self.given_up?;
        let packets = if count == 1 { "packet lacks" } else { "packets lack" };
        let text = format!("{count} TCP/IP {packets} fragments in the capture: not analysed");
        Some(Note { frame: Some(frame), text })
    }
}

impl Packet {
    fn new(key: Key, since: Instant, frame: u64) -> Packet {
        let is_tcp = key.protocol == TCP;
        Packet { key, since, frame, first: None, is_tcp, ranges: Vec::new(), length: None }
    }

    fn take(&mut self, ip: &IpPacket<'_>) {
        let (fragment, (begin, _)) = (ip.fragment(), ip.fragmentable());
        let end = fragment.offset.saturating_add(ip.total_len() - begin as u32);
        if end > LONGEST {
            return;
        }
        if fragment.offset == 0 {
            let bytes = ip.bytes();
            self.first = Some((bytes[..bytes.len().min(KEPT)].to_vec(), begin));
            self.is_tcp |= ip.protocol() == TCP;
        }
        if !fragment.more {
            self.length = Some(end);
        }
        let at = self.ranges.partition_point(|range| range.0 < fragment.offset);
        self.ranges.insert(at, (fragment.offset, end));
        self.ranges.dedup_by(|later, earlier| {
            let touches = later.0 <= earlier.1;
            if touches {
                earlier.1 = earlier.1.max(later.1);
            }
            touches
        });
        self.ranges.truncate(RANGES);
    }

    /// The packet as if it had not been fragmented, if nothing is missing.
    fn whole(&mut self) -> Option<(Vec<u8>, u32)> {
        let length = self.length?;
        let covered = self.ranges.first().is_some_and(|range| range.0 == 0 && range.1 >= length);
        if !covered {
            return None;
        }
        let (first, begin) = self.first.as_ref()?;
        let payload = first.get(*begin..)?;
        let is_v4 = first[0] >> 4 == 4;
        let mut packet = first[..if is_v4 { *begin } else { 40 }].to_vec();
        let total = packet.len() as u32 + length;
        let told = if is_v4 { total } else { length };
        // Beyond 65,535 the header cannot tell; 0 stands for the length of the frame.
        let told = u16::try_from(told).unwrap_or(0).to_be_bytes();
        if is_v4 {
            packet[2..4].copy_from_slice(&told);
            packet[6..8].fill(0);
        } else {
            packet[4..6].copy_from_slice(&told);
            packet[6] = self.key.protocol;
        }
        packet.extend_from_slice(payload);
        Some((packet, total))
    }
}
