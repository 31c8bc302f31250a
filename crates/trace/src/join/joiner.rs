//! Joins the frames of both captures.

use std::collections::BTreeMap;

use tcplab_units::Endpoint;
use tcplab_units::rounded::counted;
use tcplab_wire::SackBlock;

use super::clock::Clock;
use super::delays::RawDelays;
use super::direction::{CaptureTime, CaptureTimes, DirectionJoiner};
use super::packets::{CheckedPacket, Packets};
use super::piece::{full_segment, pieces};
use super::{CaptureSummary, Crossing, FARTHEST, Joined, JoinedConnection, Rough, difference};
use crate::Frame;
use crate::bounds::PAIRS;
use crate::packet::Ends;
use crate::packet::Packet;
use crate::time_order::TimeOrder;

/// Times of captures are multiples of so many nanoseconds, or of a thousandth, a millionth ….
const COARSEST: u64 = 1_000_000_000;
/// Where no packet is in both captures, neither can be placed in the other's time.
const NOTHING: CaptureTime = CaptureTime { first: i64::MAX / 2, last: i64::MIN / 2 };

/// Number and segment size of the SYNs: the lower end's, the other's.
type Syns = [Option<(u32, Option<u16>)>; 2];

#[derive(Debug)]
struct Pair {
    ends: Ends,
    /// The end with the lower address is beside the client's capture point.
    low_at_client: bool,
    /// The lower end opened it.
    low_is_client: bool,
    /// As each capture has them.
    syns: [Syns; 2],
    first_frames: [Option<u64>; 2],
    /// Towards the server's capture point, towards the client's.
    directions: [DirectionJoiner; 2],
}

/// Connections between the same ends, and which of them each capture point sees now.
#[derive(Debug, Default)]
struct Generations {
    pairs: Vec<usize>,
    current: [Option<usize>; 2],
}

/// A packet that may have to wait for earlier ones, and what both captures covered when it came.
#[derive(Debug)]
struct Held {
    side: Endpoint,
    at: i64,
    read: CheckedPacket,
    covered: [CaptureTime; 2],
}

/// Joins two captures, frame by frame.
#[derive(Debug)]
pub struct Joiner {
    rough: Rough,
    epoch: u64,
    captures: [CaptureSummary; 2],
    packets: [Packets; 2],
    covered: [CaptureTime; 2],
    order: TimeOrder<Held>,
    /// So many were held.
    held: u64,
    pairs: Vec<Pair>,
    by_ends: BTreeMap<Ends, Generations>,
    /// Packets of connections that were too many.
    left_out: u64,
    /// Damaged packets whose ends, as far as readable, have no connection.
    strays: u64,
    /// Of what the times of each capture are multiples, nanoseconds.
    resolution: [u64; 2],
    /// Packets that a capture held more than once, beyond the first.
    copies: [u64; 2],
    /// The frame of each capture before which its clock was first set.
    clock_set: [Option<u64>; 2],
}

impl Joiner {
    /// Starts with no packets.
    pub fn new(rough: Rough) -> Joiner {
        let epoch = match rough.epochs {
            [Some(epoch), _] => epoch,
            [None, Some(epoch)] => epoch.saturating_add_signed(-rough.offset_nanos()),
            [None, None] => 0,
        };
        let mut joiner = Joiner {
            rough,
            epoch,
            captures: [CaptureSummary::default(); 2],
            packets: [Packets::default(), Packets::default()],
            covered: [CaptureTime::default(); 2],
            order: TimeOrder::default(),
            held: 0,
            pairs: Vec::new(),
            by_ends: BTreeMap::new(),
            left_out: 0,
            strays: 0,
            resolution: [COARSEST; 2],
            copies: [0; 2],
            clock_set: [None; 2],
        };
        for side in Endpoint::BOTH {
            let first = joiner.rough.epochs[side.index()].map(|first| joiner.shared(side, first));
            let covered = first.filter(|_| joiner.rough.is_joined());
            joiner.covered[side.index()] =
                covered.map_or(NOTHING, |at| CaptureTime { first: at, last: at });
        }
        joiner
    }

    /// A time of one of the captures, in nanoseconds of the time that both share, roughly; at most
    /// 36 years before or after its zero. Frames are to be given in its order.
    pub fn shared(&self, side: Endpoint, time_ns: u64) -> i64 {
        let since = difference(time_ns, self.epoch);
        let ahead = if side == Endpoint::Client { 0 } else { self.rough.offset_nanos() };
        (since - ahead).clamp(-FARTHEST, FARTHEST)
    }

    /// The next frame of one of the captures. One that is a little out of order gets its place.
    pub fn frame(&mut self, side: Endpoint, frame: &Frame<'_>) {
        let at = self.shared(side, frame.time_ns);
        if self.order.passes(at.abs_diff(i64::MIN)) {
            if self.order.stays() {
                self.join_all();
            } else {
                self.order.sort();
            }
        }
        let tap = &mut self.captures[side.index()];
        tap.packets += 1;
        tap.first_nanos.get_or_insert(frame.time_ns);
        tap.last_nanos = tap.last_nanos.max(Some(frame.time_ns));
        let resolution = &mut self.resolution[side.index()];
        while !frame.time_ns.is_multiple_of(*resolution) {
            *resolution /= 1_000;
        }
        let covered = &mut self.covered[side.index()];
        if self.rough.is_joined() {
            covered.last = covered.last.max(at);
        }
        let Some(read) = self.packets[side.index()].next(frame) else { return };
        tap.tcp += 1;
        self.held += 1;
        self.order.hold(self.held, Held { side, at, read, covered: self.covered });
        while let Some(held) = self.order.ready() {
            self.join(held);
        }
    }

    /// Joins what is held, before all that follows.
    fn join_all(&mut self) {
        while let Some(held) = self.order.next() {
            self.join(held);
        }
        self.order.restart();
    }

    fn join(&mut self, Held { side, at, read, covered }: Held) {
        let CheckedPacket { packet, headers, is_damaged } = read;
        let is_damaged = is_damaged == Some(true) && self.rough.checksums_count(side);
        if is_damaged && !self.is_known(side, &packet) {
            self.strays += 1;
            return;
        }
        let Some(index) = self.pair_of(side, &packet, is_damaged) else {
            self.left_out += 1;
            return;
        };
        let pair = &mut self.pairs[index];
        pair.first_frames[side.index()].get_or_insert(packet.frame);
        if packet.syn() && !is_damaged {
            let own = &mut pair.syns[side.index()][usize::from(!packet.from_low)];
            own.get_or_insert((packet.seq.as_u32(), packet.mss));
        }
        let to_server = packet.from_low == pair.low_at_client;
        let departs = to_server == (side == Endpoint::Client);
        let agreed = pair.agreed_segment(&packet, self.rough.do_stamps_differ(&packet));
        let seen = self.rough.segment(&packet.ends, packet.from_low);
        let segment = agreed.map_or(seen, |agreed| agreed.min(seen));
        let is_one = agreed.is_some_and(|agreed| packet.payload <= agreed);
        let identity = self.rough.identity(&packet);
        let cut = pieces(&packet, headers, at, segment, is_one, identity);
        let copies = self.rough.has_copies(side, &packet.ends);
        let [own, opposite] = pair.ways_from(to_server);
        let mut is_new = false;
        for (index, piece) in cut.enumerate() {
            if copies && own.is_copy(&piece, !departs) {
                continue;
            }
            is_new = true;
            if departs {
                own.depart(piece);
            } else if !is_damaged || packet.payload > segment {
                // What was merged on arrival may keep a checksum of its first segment.
                own.arrive(piece);
            } else if index == 0 {
                own.arrive_damaged();
            }
        }
        self.copies[side.index()] += u64::from(!is_new);
        if departs && let Some(ack) = packet.ack.filter(|_| !packet.rst()) {
            let edges = |block: &SackBlock| (block.left.as_u32(), block.right.as_u32());
            opposite.acknowledged(ack.as_u32(), packet.sack.as_slice().iter().map(edges));
        }
        for to_server in [true, false] {
            let captures = captures(&covered, to_server, false);
            pair.directions[usize::from(!to_server)].settle(&captures);
        }
    }

    /// Before which frame a capture's clock was first set, if it was: times after it are corrected
    /// as far as the capture itself shows, which is too rough for delays.
    pub(crate) fn clock_was_set(&mut self, side: Endpoint, before: Option<u64>) {
        self.clock_set[side.index()] = before;
    }

    /// The clock of the server's capture beside that of the client's, by the delays towards both;
    /// none if no offset holds for all of both captures, and a note then.
    fn clock(&self, delays: &[RawDelays; 2], notes: &mut Vec<String>) -> Option<Clock> {
        let [there, back] = delays;
        let mut is_steady = true;
        for (side, before) in Endpoint::BOTH.into_iter().zip(self.clock_set) {
            let Some(frame) = before else { continue };
            is_steady = false;
            let name = side.name();
            notes.push(format!(
                "the clock of the {name}'s capture was set before frame {frame}, or its frames are \
                 out of time order (`reordercap` sorts them): delays and the clocks' offset are \
                 unknown"
            ));
        }
        if !is_steady || self.rough.one_clock {
            return is_steady.then(|| Clock::one(there, back));
        }
        let resolution = self.resolution.iter().sum::<u64>() as f64;
        let clock = Clock::estimate(there, back, resolution);
        if clock.is_none() {
            notes.push(
                "no offset of the clocks fits the delays of both directions: a clock was set or \
                 ran unevenly during the capture, so delays and the offset are unknown"
                    .to_owned(),
            );
        }
        clock
    }

    /// Whether a damaged packet belongs to a connection; one that departs may open one, too.
    fn is_known(&self, side: Endpoint, packet: &Packet) -> bool {
        let low_is_client = self.rough.low_is_client(&packet.ends);
        let departs = |low| (packet.from_low == low) == (side == Endpoint::Client);
        self.by_ends.contains_key(&packet.ends) || low_is_client.is_some_and(departs)
    }

    /// The index of a packet's connection; none beyond the limit of connections.
    fn pair_of(&mut self, side: Endpoint, packet: &Packet, is_damaged: bool) -> Option<usize> {
        let full = self.pairs.len() >= PAIRS.most();
        if full && !self.by_ends.contains_key(&packet.ends) {
            return None;
        }
        let known = self.by_ends.entry(packet.ends).or_default();
        let [here, there] = [side, side.other()].map(Endpoint::index);
        let opens = packet.syn() && packet.ack.is_none() && !is_damaged;
        let own = usize::from(!packet.from_low);
        let is_it = |pair: &Pair| {
            let mut syns = pair.syns.iter().filter_map(|syns| syns[own]);
            !opens || syns.all(|(number, _)| number == packet.seq.as_u32())
        };
        // The one seen last at this capture point, or at the other while this one had none.
        let from = known.current[here].or(known.current[there]).unwrap_or(0);
        let found = (from..known.pairs.len()).find(|&at| is_it(&self.pairs[known.pairs[at]]));
        if full && found.is_none() {
            return None;
        }
        let at = found.unwrap_or_else(|| {
            known.pairs.push(self.pairs.len());
            self.pairs.push(Pair::new(side, packet, &self.rough));
            known.pairs.len() - 1
        });
        known.current[here] = Some(at);
        Some(known.pairs[at])
    }

    /// Everything, when no more frames come.
    pub fn finish(mut self) -> Joined {
        self.join_all();
        let mut sums = [RawDelays::default(), RawDelays::default()];
        let mut found = Vec::new();
        let mut gave_up = false;
        for mut pair in std::mem::take(&mut self.pairs) {
            let [mut there, mut back] = std::mem::take(&mut pair.directions);
            there.settle(&captures(&self.covered, true, true));
            back.settle(&captures(&self.covered, false, true));
            gave_up |= there.gave_up() || back.gave_up();
            let directions = [there.into_found(), back.into_found()];
            found.push((pair, directions));
        }
        for (index, sum) in sums.iter_mut().enumerate() {
            sum.gather(found.iter().map(|(_, directions)| &directions[index].1));
        }
        let same_ends =
            self.by_ends.values().any(|known| known.current.iter().all(Option::is_some));
        let mut notes = notes(&self.rough, &self.captures, same_ends);
        let clock = self.clock(&sums, &mut notes);
        let rough = self.rough.offset_nanos();
        let connections = found
            .into_iter()
            .map(|(pair, directions)| pair.joined(directions, clock.as_ref()))
            .collect();
        for side in Endpoint::BOTH {
            let (copies, name) = (self.copies[side.index()], side.name());
            if copies > 0 {
                let copies = counted(copies as usize, "packet", "packets");
                notes.push(format!(
                    "the {name}'s capture holds packets more than once, as captures of several \
                     interfaces or of mirrored ports do: {copies} left out"
                ));
            }
        }
        if self.left_out > 0 {
            let (left_out, most) = (self.left_out, PAIRS.most());
            notes.push(format!(
                "only the first {most} connections are joined: {left_out} packets are of others"
            ));
        }
        if self.strays > 0 {
            let strays = counted(self.strays as usize, "packet", "packets");
            notes.push(format!("{strays} with wrong checksums: of no connection"));
        }
        if gave_up {
            notes.push(
                "too many open gaps in a direction: its losses and spurious retransmissions may be \
                 wrong"
                    .to_owned(),
            );
        }
        Joined {
            epoch_nanos: self.epoch,
            captures: self.captures,
            clock: clock.map(|clock| clock.result(rough)).unwrap_or_default(),
            connections,
            notes,
        }
    }
}

/// `same_ends`: connections between the same ends are in both captures.
fn notes(rough: &Rough, captures: &[CaptureSummary; 2], same_ends: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !rough.is_joined() && captures.iter().all(|tap| tap.tcp > 0) {
        notes.push(
            if same_ends {
                "no packet is in both captures, though both have connections between the same \
                 ends: sequence numbers are translated between the captures, or the captures are \
                 not of the same time"
            } else {
                "no packet is in both captures, and no connection between the same ends: \
                 addresses or ports are translated between the captures, or they are of other \
                 connections"
            }
            .to_owned(),
        );
    }
    if !rough.with_options && rough.is_joined() {
        notes.push(
            "TCP options are truncated in a capture: only IP identifications distinguish \
             retransmissions within one window"
                .to_owned(),
        );
    }
    let changed = rough.changed_fields();
    if !changed.is_empty() {
        let changed = changed.join(" and ");
        notes.push(format!(
            "a device between the captures changes or removes {changed}: packets are recognised \
             without them"
        ));
    }
    notes
}

/// The captures from the point of view of one direction.
fn captures(covered: &[CaptureTime; 2], to_server: bool, over: bool) -> CaptureTimes {
    let [client, server] = *covered;
    let (sender, receiver) = if to_server { (client, server) } else { (server, client) };
    CaptureTimes { sender, receiver, over }
}

impl Pair {
    fn new(side: Endpoint, packet: &Packet, rough: &Rough) -> Pair {
        let answers = packet.syn() && packet.ack.is_some();
        let low_at_client = rough.low_is_client(&packet.ends).unwrap_or_else(|| {
            // Unknown hosts: the client opens at its side; the first packet seen is from there.
            let by_client = if packet.syn() { !answers } else { side == Endpoint::Client };
            packet.from_low == by_client
        });
        let low_is_client = if packet.syn() { packet.from_low != answers } else { low_at_client };
        Pair {
            ends: packet.ends,
            low_at_client,
            low_is_client,
            syns: [[None; 2]; 2],
            first_frames: [None; 2],
            directions: Default::default(),
        }
    }

    /// How much data a segment like this has at most, by the handshake as its sender saw it:
    /// devices on the way may change segment sizes.
    fn agreed_segment(&self, packet: &Packet, stripped: bool) -> Option<u32> {
        let beside = usize::from(packet.from_low != self.low_at_client);
        let agreed = |syns: &Syns| {
            let [Some((_, Some(low))), Some((_, Some(high)))] = *syns else { return None };
            Some(full_segment(low.min(high), packet, stripped))
        };
        agreed(&self.syns[beside]).or_else(|| agreed(&self.syns[1 - beside]))
    }

    fn ways_from(&mut self, to_server: bool) -> [&mut DirectionJoiner; 2] {
        let [there, back] = &mut self.directions;
        if to_server { [there, back] } else { [back, there] }
    }

    /// Whether one capture shows packets of both ends, and the other one nothing: then none of them
    /// came by there.
    fn passed_elsewhere(&self, directions: &[(Crossing, RawDelays); 2]) -> bool {
        let is_missing = self.first_frames.iter().any(Option::is_none);
        let answered = directions.iter().any(|(way, _)| way.not_captured_at_sender > 0);
        is_missing && answered && directions.iter().any(|(way, _)| way.sent > 0)
    }

    fn joined(
        self,
        directions: [(Crossing, RawDelays); 2],
        clock: Option<&Clock>,
    ) -> JoinedConnection {
        let elsewhere = self.passed_elsewhere(&directions);
        let mut sign = 1.0;
        let [there, back] = directions.map(|(mut crossing, raw)| {
            if let Some(clock) = clock {
                let (slope, offset) = (clock.slope * sign, clock.offset * sign);
                crossing.delay = raw.corrected(slope, offset);
                crossing.series = raw.series(slope, offset);
            }
            sign = -sign;
            if elsewhere { crossing.unjudged() } else { crossing }
        });
        let (low, high) = (self.ends.low(), self.ends.high());
        let (client, server) = if self.low_is_client { (low, high) } else { (high, low) };
        let near = self.low_is_client == self.low_at_client;
        let (forward, reverse) = if near { (there, back) } else { (back, there) };
        let client_at = if near { Endpoint::Client } else { Endpoint::Server };
        JoinedConnection {
            client,
            server,
            client_at,
            first_frames: self.first_frames,
            forward,
            reverse,
        }
    }
}
