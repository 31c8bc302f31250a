//! A first pass over both captures: common packets, clock offset, the host at each capture point.

use std::collections::BTreeMap;
use std::net::IpAddr;

use tcplab_units::Endpoint;

use super::difference;
use super::packets::Packets;
use super::piece::{mix, rest};
use crate::Frame;
use crate::packet::Ends;
use crate::packet::Packet;

/// The most packets sampled per capture: those whose hash ends in enough zeros.
const MOST: usize = 1 << 16;
/// The most directions whose largest packet is stored.
const DIRECTIONS: usize = 1 << 16;

/// A sampled packet.
#[derive(Debug, Clone, Copy)]
struct SampledPacket {
    at: u64,
    ends: Ends,
    from_low: bool,
    /// Ambiguous: several equal packets.
    several: bool,
}

#[derive(Debug, Default)]
struct CaptureSample {
    zeros: u32,
    drawn: BTreeMap<u64, SampledPacket>,
    largest: BTreeMap<(Ends, bool), u32>,
    options_cut: bool,
    first: Option<u64>,
    packets: Packets,
    /// Packets with right checksums, and with a wrong one.
    sound: [u64; 2],
}

/// Samples both captures, frame by frame in any order, in bounded memory.
#[derive(Debug, Default)]
pub struct Survey {
    seen: [CaptureSample; 2],
}

impl Survey {
    /// A frame of one of the captures.
    pub fn frame(&mut self, side: Endpoint, frame: &Frame<'_>) {
        let seen = &mut self.seen[side.index()];
        seen.first.get_or_insert(frame.time_ns);
        let Some(read) = seen.packets.next(frame) else { return };
        if let Some(is_damaged) = read.is_damaged {
            seen.sound[usize::from(is_damaged)] += 1;
        }
        seen.take(&read.packet, frame.time_ns);
    }

    /// The comparison of both samples.
    pub fn finish(self) -> Rough {
        let [client, server] = &self.seen;
        let mut pairs: BTreeMap<(IpAddr, IpAddr), [Vec<i64>; 2]> = BTreeMap::new();
        for (mark, there) in &client.drawn {
            let Some(here) = server.drawn.get(mark) else { continue };
            if there.several || here.several {
                continue;
            }
            let hosts = (there.ends.low().ip(), there.ends.high().ip());
            let ahead = difference(here.at, there.at);
            pairs.entry(hosts).or_default()[usize::from(!there.from_low)].push(ahead);
        }
        let mut low_is_client = BTreeMap::new();
        let (mut there, mut back) = (Vec::new(), Vec::new());
        for (hosts, [from_low, from_high]) in pairs {
            let medians = (median(&from_low), median(&from_high));
            if let (Some(up), Some(down)) = medians
                && up != down
                && hosts.0 != hosts.1
            {
                // Packets from the client's side appear later at the server's, by offset and delay.
                low_is_client.insert(hosts, up > down);
                let (out, home) = if up > down { (up, down) } else { (down, up) };
                there.push(out);
                back.push(home);
            } else {
                there.extend(medians.0.or(medians.1));
                back.extend(medians.1.or(medians.0));
            }
        }
        let epochs = [client.first, server.first];
        let offset = match (median(&there), median(&back)) {
            (Some(there), Some(back)) => Some(there.midpoint(back)),
            _ => None,
        };
        let with_options = !client.options_cut && !server.options_cut;
        let checksums = [client, server].map(|seen| seen.sound[0] > seen.sound[1]);
        let [client, server] = self.seen.map(|seen| seen.largest);
        let mut segments = client;
        segments.retain(|way, _| server.contains_key(way));
        for (way, largest) in &mut segments {
            *largest = server[way].min(*largest);
        }
        Rough { offset, low_is_client, segments, with_options, checksums, epochs }
    }
}

impl CaptureSample {
    fn take(&mut self, packet: &Packet, at: u64) {
        self.options_cut |= packet.options_cut;
        if packet.payload > 0 {
            let way = (packet.ends, packet.from_low);
            let room = self.largest.len() < DIRECTIONS;
            match self.largest.get_mut(&way) {
                Some(largest) => *largest = packet.payload.max(*largest),
                None if room => _ = self.largest.insert(way, packet.payload),
                None => {}
            }
        }
        // Without the length, so that the first piece of a large packet matches.
        let ports = (packet.src().port(), packet.dst().port());
        let marked = mix(rest(packet, true), u64::from(packet.seq.as_u32()));
        let marked = mix(marked, u64::from(ports.0) << 16 | u64::from(ports.1));
        let control = (u64::from(packet.syn()) << 2) | (u64::from(packet.rst()) << 1);
        let mark = mix(marked, control | u64::from(packet.payload == 0) << 3);
        if mark.trailing_zeros() < self.zeros {
            return;
        }
        let Packet { ends, from_low, .. } = *packet;
        let drawn = SampledPacket { at, ends, from_low, several: false };
        self.drawn.entry(mark).and_modify(|old| old.several = true).or_insert(drawn);
        while self.drawn.len() > MOST {
            self.zeros += 1;
            let zeros = self.zeros;
            self.drawn.retain(|mark, _| mark.trailing_zeros() >= zeros);
        }
    }
}

fn median(values: &[i64]) -> Option<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

/// The result of a [`Survey`].
#[derive(Debug, Clone, Default)]
pub struct Rough {
    /// How far the server capture's clock is ahead, nanoseconds; none if no packet occurs in both.
    pub(crate) offset: Option<i64>,
    /// Of two hosts, whether the one with the lower address is beside the client's capture point.
    low_is_client: BTreeMap<(IpAddr, IpAddr), bool>,
    /// The largest packet of a direction, at the capture point where that is less.
    segments: BTreeMap<(Ends, bool), u32>,
    pub(crate) with_options: bool,
    /// A wrong checksum is damage: most of the capture's are right, so they are not those of a
    /// capture before offloading.
    checksums: [bool; 2],
    pub(crate) epochs: [Option<u64>; 2],
}

impl Rough {
    /// How far the server capture's clock is ahead, roughly, nanoseconds; 0 if unknown.
    pub fn offset_nanos(&self) -> i64 {
        self.offset.unwrap_or(0)
    }
    /// Whether any packet occurs in both captures.
    pub fn is_joined(&self) -> bool {
        self.offset.is_some()
    }
    pub(crate) fn checksums_count(&self, side: Endpoint) -> bool {
        self.checksums[side.index()]
    }
    pub(crate) fn low_is_client(&self, ends: &Ends) -> Option<bool> {
        self.low_is_client.get(&(ends.low().ip(), ends.high().ip())).copied()
    }
    pub(crate) fn segment(&self, ends: &Ends, from_low: bool) -> u32 {
        self.segments.get(&(*ends, from_low)).copied().unwrap_or(u32::MAX)
    }
}
