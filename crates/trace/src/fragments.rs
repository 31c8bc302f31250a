//! Fragments of IP packets put together (RFC 791 section 3.2, RFC 8200 section 4.5).
//!
//! The analyser needs headers and lengths only, so of a packet its beginning is kept, and of the
//! rest which parts came. A header may itself be cut into fragments.

use std::collections::VecDeque;
use std::net::IpAddr;

use tcplab_units::{Instant, Span};
use tcplab_wire::protocol::TCP;
use tcplab_wire::{Fragment, IpPacket};

use crate::Note;

/// The most packets waiting for fragments.
const WAITING: usize = 1_024;
/// The most separate ranges of one packet, and the most of its frames that are known.
const RANGES: usize = 64;
/// A packet is given up after this time (Linux: `ipfrag_time`).
const PATIENCE: Span = Span::from_secs(30);
/// So many bytes of the payload are kept: headers, also behind a tunnel's.
const KEPT: usize = 512;
/// The longest payload of IP, bytes.
const LONGEST: u32 = 65_535;

/// The packets of which some fragments were captured; `T`: what is known of each frame.
#[derive(Debug)]
pub(crate) struct Fragments<T> {
    /// In the order of their first captured fragment.
    waiting: VecDeque<Packet<T>>,
    /// Those that became whole last, and when: a copy of a fragment lacks nothing.
    whole: VecDeque<(Key, Instant)>,
    /// The first frame of a TCP packet that was given up, and how many were.
    given_up: Option<(u64, u64)>,
}

/// A packet without a link header, put together.
#[derive(Debug)]
pub(crate) struct WholePacket<T> {
    /// Of its payload only the beginning.
    pub(crate) bytes: Vec<u8>,
    pub(crate) length: u32,
    /// What is known of its frames but the last.
    pub(crate) frames: Vec<T>,
}

/// What identifies the fragments of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    src: IpAddr,
    dst: IpAddr,
    id: u32,
    /// Of what was cut into fragments.
    protocol: u8,
}

#[derive(Debug)]
struct Packet<T> {
    key: Key,
    since: Instant,
    /// The first captured fragment's frame.
    frame: u64,
    /// The first fragment's headers up to what was cut into fragments.
    header: Option<Vec<u8>>,
    is_tcp: bool,
    /// All of it was captured before.
    is_copy: bool,
    /// The beginning of the payload, where `kept` says so.
    payload: Vec<u8>,
    kept: Ranges,
    /// What was sent in the captured fragments.
    sent: Ranges,
    /// The length of the payload, by the last fragment.
    length: Option<u32>,
    frames: Vec<T>,
}

impl<T> Default for Fragments<T> {
    fn default() -> Fragments<T> {
        Fragments { waiting: VecDeque::new(), whole: VecDeque::new(), given_up: None }
    }
}

impl<T> Fragments<T> {
    /// Takes a fragment, of whose frame this is known; the whole packet if it was the last missing
    /// one.
    pub(crate) fn add(
        &mut self,
        ip: &IpPacket<'_>,
        (at, frame): (Instant, u64),
        known: T,
    ) -> Option<WholePacket<T>> {
        while self.waiting.front().is_some_and(|oldest| at.since(oldest.since) > PATIENCE) {
            self.give_up();
        }
        while self.whole.front().is_some_and(|&(_, since)| at.since(since) > PATIENCE) {
            self.whole.pop_front();
        }
        let (_, protocol) = ip.fragmentable();
        let key = Key { src: ip.src(), dst: ip.dst(), id: ip.fragment_id()?, protocol };
        let found = self.waiting.iter().rposition(|packet| packet.key == key);
        let index = found.unwrap_or_else(|| {
            if self.waiting.len() == WAITING {
                self.give_up();
            }
            let is_copy = self.whole.iter().any(|(whole, _)| *whole == key);
            self.waiting.push_back(Packet { is_copy, ..Packet::new(key, at, frame) });
            self.waiting.len() - 1
        });
        let packet = &mut self.waiting[index];
        packet.take(ip);
        let Some((bytes, length)) = packet.whole() else {
            if packet.frames.len() < RANGES {
                packet.frames.push(known);
            }
            return None;
        };
        let frames = self.waiting.remove(index).map(|packet| packet.frames).unwrap_or_default();
        if self.whole.len() == WAITING {
            self.whole.pop_front();
        }
        self.whole.push_back((key, at));
        Some(WholePacket { bytes, length, frames })
    }

    fn give_up(&mut self) {
        let oldest = self.waiting.pop_front();
        if let Some(packet) = oldest.filter(|packet| packet.is_tcp && !packet.is_copy) {
            self.given_up.get_or_insert((packet.frame, 0)).1 += 1;
        }
    }

    /// What the capture lacks, if anything.
    pub(crate) fn finish(mut self) -> Option<Note> {
        while !self.waiting.is_empty() {
            self.give_up();
        }
        let (frame, count) = self.given_up?;
        let packets = if count == 1 { "packet lacks" } else { "packets lack" };
        let text = format!("{count} TCP/IP {packets} fragments in the capture: not analysed");
        Some(Note { frame: Some(frame), text })
    }
}

impl<T> Packet<T> {
    fn new(key: Key, since: Instant, frame: u64) -> Packet<T> {
        let is_tcp = key.protocol == TCP;
        let (kept, sent) = (Ranges::default(), Ranges::default());
        let (header, payload, length, frames) = (None, Vec::new(), None, Vec::new());
        let is_copy = false;
        Packet { key, since, frame, header, is_tcp, is_copy, payload, kept, sent, length, frames }
    }

    fn take(&mut self, ip: &IpPacket<'_>) {
        let (Fragment { offset, more }, (begin, _)) = (ip.fragment(), ip.fragmentable());
        let end = offset.saturating_add(ip.total_len() - begin as u32);
        if end > LONGEST {
            return;
        }
        let (header, captured) = ip.bytes().split_at(begin);
        if offset == 0 {
            self.header = Some(header.to_vec());
            self.is_tcp |= ip.protocol() == TCP;
        }
        if !more {
            self.length = Some(end);
        }
        self.sent.add(offset, end);
        let at = offset as usize;
        if at < KEPT {
            let captured = &captured[..captured.len().min(KEPT - at)];
            self.payload.resize(self.payload.len().max(at + captured.len()), 0);
            self.payload[at..at + captured.len()].copy_from_slice(captured);
            self.kept.add(offset, offset + captured.len() as u32);
        }
    }

    /// The packet as if it had not been fragmented, if nothing is missing.
    fn whole(&mut self) -> Option<(Vec<u8>, u32)> {
        let length = self.length?;
        if self.sent.beginning() < length {
            return None;
        }
        let header = self.header.as_ref()?;
        let is_v4 = self.key.src.is_ipv4();
        let mut packet = header[..if is_v4 { header.len() } else { 40 }].to_vec();
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
            // The end of a route, whose header is left out.
            if let IpAddr::V6(dst) = self.key.dst {
                packet[24..40].copy_from_slice(&dst.octets());
            }
        }
        packet.extend_from_slice(&self.payload[..self.kept.beginning() as usize]);
        Some((packet, total))
    }
}

/// Ranges of bytes, in order; none touch.
#[derive(Debug, Default)]
struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    fn add(&mut self, from: u32, to: u32) {
        let at = self.0.partition_point(|range| range.0 < from);
        self.0.insert(at, (from, to));
        self.0.dedup_by(|later, earlier| {
            let touches = later.0 <= earlier.1;
            if touches {
                earlier.1 = earlier.1.max(later.1);
            }
            touches
        });
        self.0.truncate(RANGES);
    }

    /// How many bytes from the first on are all there.
    fn beginning(&self) -> u32 {
        self.0.first().filter(|range| range.0 == 0).map_or(0, |range| range.1)
    }
}
