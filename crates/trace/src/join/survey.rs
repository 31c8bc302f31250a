//! A first pass over both captures: common packets, clock offset, the host at each capture point.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use tcplab_units::{Endpoint, Span};

use super::clock_steps::SenderClocks;
use super::difference;
use super::headers::Headers;
use super::packets::{CheckedPacket, Packets};
use super::piece::{Identity, acknowledged};
use crate::Frame;
use crate::analyzer::CaptureClock;
use crate::direction::COPIES_SHARE;
use crate::packet::{AT_ONCE, Ends, Packet, RecentPackets, mix};

/// The most packets sampled per capture: those whose hash ends in enough zeros.
const MOST: usize = 1 << 16;
/// The most directions whose largest packet is stored.
const DIRECTIONS: usize = 1 << 16;
/// The packets remembered to find copies.
const REMEMBERED: usize = 1 << 12;
/// A field was changed on the way if it differs in one packet of so many.
const CHANGED_SHARE: u32 = 16;

/// Sender and receiver.
type Way = (IpAddr, IpAddr);

/// A sampled packet.
#[derive(Debug, Clone, Copy)]
struct SampledPacket {
    at: u64,
    ends: Ends,
    from_low: bool,
    headers: Headers,
    /// Ambiguous: several equal packets.
    several: bool,
}

impl SampledPacket {
    fn way(&self) -> Way {
        let (low, high) = (self.ends.low().ip(), self.ends.high().ip());
        if self.from_low { (low, high) } else { (high, low) }
    }
}

#[derive(Debug)]
struct CaptureSample {
    zeros: u32,
    drawn: BTreeMap<u64, SampledPacket>,
    largest: BTreeMap<(Ends, bool), u32>,
    options_cut: bool,
    first: Option<u64>,
    packets: Packets,
    /// Packets with right checksums, and with a wrong one.
    sound: [u64; 2],
    recent: RecentPackets,
    copies: BTreeMap<Way, CopyCounts>,
    clocks: SenderClocks,
}

impl Default for CaptureSample {
    fn default() -> CaptureSample {
        CaptureSample {
            zeros: 0,
            drawn: BTreeMap::new(),
            largest: BTreeMap::new(),
            options_cut: false,
            first: None,
            packets: Packets::default(),
            sound: [0; 2],
            recent: RecentPackets::new(REMEMBERED),
            copies: BTreeMap::new(),
            clocks: SenderClocks::default(),
        }
    }
}

/// Samples both captures, frame by frame in any order, in bounded memory.
#[derive(Debug, Default)]
pub struct Survey {
    seen: [CaptureSample; 2],
}

impl Survey {
    /// A frame of one of the captures.
    pub fn frame(&mut self, side: Endpoint, frame: &Frame<'_>) {
        self.frame_by(side, frame, &mut CaptureClock::default());
    }

    /// A frame of one of the captures, whose time `clock` has read. Returns by how much the clock
    /// was set ahead before it, which the clock then takes back.
    pub(crate) fn frame_by(
        &mut self,
        side: Endpoint,
        frame: &Frame<'_>,
        clock: &mut CaptureClock,
    ) -> Option<Span> {
        let seen = &mut self.seen[side.index()];
        seen.first.get_or_insert(frame.time_ns);
        let mut read = seen.packets.next(frame)?;
        if let Some(is_damaged) = read.is_damaged {
            seen.sound[usize::from(is_damaged)] += 1;
        }
        let set = seen.clocks.explain(clock, &mut read.packet);
        seen.take(&read, read.packet.at.as_nanos());
        set
    }

    /// The comparison of both samples.
    pub fn finish(self) -> Rough {
        let [client, server] = &self.seen;
        let mut pairs: BTreeMap<(IpAddr, IpAddr), [Vec<i64>; 2]> = BTreeMap::new();
        let mut changes: BTreeMap<Way, Changes> = BTreeMap::new();
        for (mark, there) in &client.drawn {
            let Some(here) = server.drawn.get(mark) else { continue };
            if there.several || here.several {
                continue;
            }
            let hosts = (there.ends.low().ip(), there.ends.high().ip());
            let ahead = difference(here.at, there.at);
            pairs.entry(hosts).or_default()[usize::from(!there.from_low)].push(ahead);
            changes.entry(there.way()).or_default().add(&there.headers, &here.headers);
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
        let copies = Endpoint::BOTH.map(|side| {
            let own = |hosts: Way| {
                let low_is_client = low_is_client.get(&hosts);
                low_is_client.map(|low| *low == (side == Endpoint::Client))
            };
            self.seen[side.index()].copied_hosts(own)
        });
        let stamps_differ = changes.iter().filter(|(_, it)| is_usual(it.stamps, it.packets));
        let stamps_differ = stamps_differ.map(|(way, _)| *way).collect();
        let changed = changes.into_iter().map(|(way, changes)| (way, changes.identity()));
        let identities = changed.filter(|(_, identity)| *identity != Identity::WHOLE).collect();
        let [client, server] = self.seen.map(|seen| seen.largest);
        let mut segments = client;
        segments.retain(|way, _| server.contains_key(way));
        for (way, largest) in &mut segments {
            *largest = server[way].min(*largest);
        }
        Rough {
            offset,
            low_is_client,
            segments,
            with_options,
            identities,
            stamps_differ,
            copies,
            checksums,
            epochs,
            one_clock: false,
        }
    }
}

/// How many packets differ in window, timestamps and SACK blocks between the captures.
#[derive(Debug, Clone, Copy, Default)]
struct Changes {
    packets: u32,
    /// Of these, those whose options both captures have whole.
    whole: u32,
    differing: [u32; 3],
    /// Timestamps are changed, removed, or cut off by one capture.
    stamps: u32,
}

impl Changes {
    fn add(&mut self, there: &Headers, here: &Headers) {
        self.packets += 1;
        self.whole += u32::from(there.is_whole() && here.is_whole());
        self.stamps += u32::from(there.stamps_differ(here));
        for (count, differs) in self.differing.iter_mut().zip(there.differ(here)) {
            *count += u32::from(differs);
        }
    }

    fn identity(&self) -> Identity {
        let [window, timestamps, sack] = self.differing;
        Identity {
            window: !is_usual(window, self.packets),
            timestamps: !is_usual(timestamps, self.whole),
            sack: !is_usual(sack, self.whole),
        }
    }
}

/// Whether so many of the packets differ that a device changes them.
fn is_usual(differing: u32, packets: u32) -> bool {
    differing > 0 && differing.saturating_mul(CHANGED_SHARE) >= packets
}

/// Two hosts, the lower address first.
fn hosts_of((from, to): Way) -> Way {
    (from.min(to), from.max(to))
}

impl CaptureSample {
    fn take(&mut self, read: &CheckedPacket, at: u64) {
        let CheckedPacket { packet, headers, .. } = read;
        self.count_copies(packet);
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
        // Without the length, so that the first piece of a large packet matches; and without what
        // devices on the way change.
        let ports = (packet.src().port(), packet.dst().port());
        let marked = mix(acknowledged(packet), u64::from(packet.seq.as_u32()));
        let marked = mix(marked, u64::from(ports.0) << 16 | u64::from(ports.1));
        let control = (u64::from(packet.syn()) << 2) | (u64::from(packet.rst()) << 1);
        let mark = mix(marked, control | u64::from(packet.payload == 0) << 3);
        if mark.trailing_zeros() < self.zeros {
            return;
        }
        let Packet { ends, from_low, .. } = *packet;
        let drawn = SampledPacket { at, ends, from_low, headers: *headers, several: false };
        let is_copy = |old: &SampledPacket| {
            at.abs_diff(old.at) <= AT_ONCE.as_nanos()
                && !old.headers.differ(headers).contains(&true)
        };
        self.drawn.entry(mark).and_modify(|old| old.several |= !is_copy(old)).or_insert(drawn);
        while self.drawn.len() > MOST {
            self.zeros += 1;
            let zeros = self.zeros;
            self.drawn.retain(|mark, _| mark.trailing_zeros() >= zeros);
        }
    }
}

impl CaptureSample {
    fn count_copies(&mut self, packet: &Packet) {
        let is_copy = self.recent.holds(packet);
        let way = (packet.src().ip(), packet.dst().ip());
        if self.copies.len() < DIRECTIONS || self.copies.contains_key(&way) {
            let counts = self.copies.entry(way).or_default();
            counts.packets += 1;
            if RecentPackets::can_tell(packet) {
                counts.copies += u64::from(is_copy);
            } else {
                counts.equal_acks += u64::from(is_copy);
            }
        }
    }

    /// Hosts of whose packets the capture itself holds many more than once. Of what comes over the
    /// network the network may have made copies; so the packets sent beside the capture decide,
    /// where `own` knows whether the lower host is there.
    fn copied_hosts(&self, own: impl Fn(Way) -> Option<bool>) -> BTreeSet<Way> {
        let is_copied = |&(from, to): &Way| {
            let [there, back] = [(from, to), (to, from)]
                .map(|way| self.copies.get(&way).copied().unwrap_or_default());
            match own((from, to)) {
                Some(true) => there.are_of_capture(&back),
                Some(false) => back.are_of_capture(&there),
                None => there.are_usual() || back.are_usual(),
            }
        };
        self.copies.keys().map(|way| hosts_of(*way)).filter(is_copied).collect()
    }
}

/// Equal packets at once, from one host to another.
#[derive(Debug, Clone, Copy, Default)]
struct CopyCounts {
    packets: u64,
    copies: u64,
    /// ACKs without identifications: copies, or sent so.
    equal_acks: u64,
}

impl CopyCounts {
    fn are_usual(&self) -> bool {
        self.copies > 1 && self.copies * COPIES_SHARE >= self.packets
    }

    /// Of packets sent beside the capture, where `others` come over the network.
    fn are_of_capture(&self, others: &CopyCounts) -> bool {
        let equal = self.copies + self.equal_acks;
        self.are_usual() || equal * COPIES_SHARE >= self.packets.max(1) && others.are_usual()
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
    /// Where devices on the way change what else would distinguish packets.
    identities: BTreeMap<Way, Identity>,
    /// Where timestamps are changed or removed on the way, or cut off by one capture.
    stamps_differ: BTreeSet<Way>,
    /// Hosts of whose packets a capture holds copies.
    copies: [BTreeSet<(IpAddr, IpAddr)>; 2],
    /// A wrong checksum is damage: most of the capture's are right, so they are not those of a
    /// capture before offloading.
    checksums: [bool; 2],
    pub(crate) epochs: [Option<u64>; 2],
    /// Both captures have one clock.
    pub(crate) one_clock: bool,
}

impl Rough {
    /// That both captures have one clock.
    pub(crate) fn by_one_clock(self) -> Rough {
        Rough { offset: self.offset.map(|_| 0), one_clock: true, ..self }
    }

    /// How far the server capture's clock is ahead, roughly, nanoseconds; 0 if unknown.
    pub fn offset_nanos(&self) -> i64 {
        self.offset.unwrap_or(0)
    }
    /// Whether any packet occurs in both captures.
    pub fn is_joined(&self) -> bool {
        self.offset.is_some()
    }
    /// What distinguishes packets like this one.
    pub(crate) fn identity(&self, packet: &Packet) -> Identity {
        let way = (packet.src().ip(), packet.dst().ip());
        let Identity { window, timestamps, sack } =
            self.identities.get(&way).copied().unwrap_or(Identity::WHOLE);
        let whole = self.with_options;
        Identity { window, timestamps: timestamps && whole, sack: sack && whole }
    }
    /// Whether the timestamps of packets like this one are changed or removed on the way, or cut
    /// off by one capture.
    pub(crate) fn do_stamps_differ(&self, packet: &Packet) -> bool {
        self.stamps_differ.contains(&(packet.src().ip(), packet.dst().ip()))
    }
    /// What devices on the way change, so that it does not distinguish packets.
    pub(crate) fn changed_fields(&self) -> Vec<&'static str> {
        let any = |of: fn(&Identity) -> bool| self.identities.values().any(|it| !of(it));
        let fields = [
            (any(|it| it.window), "windows"),
            (any(|it| it.timestamps), "timestamps"),
            (any(|it| it.sack), "SACK blocks"),
        ];
        fields.into_iter().filter_map(|(is, name)| is.then_some(name)).collect()
    }
    /// Whether a capture holds many packets of these hosts more than once.
    pub(crate) fn has_copies(&self, side: Endpoint, ends: &Ends) -> bool {
        self.copies[side.index()].contains(&hosts_of((ends.low().ip(), ends.high().ip())))
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
