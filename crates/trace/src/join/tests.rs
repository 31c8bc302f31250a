//! Made-up packets between two captures whose clocks, losses and order are known.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use tcplab_units::Endpoint;
use tcplab_wire::{Ecn, Ipv4Repr, LinkType, SeqNumber, TcpFlags, TcpRepr};

use super::*;
use crate::Frame;

mod clock_set;
mod copies;
mod middlebox;

/// 2026-01-01, and a path of 20 ms there, 20 ms back.
const EPOCH: u64 = 1_767_225_600_000_000_000;
const ONE_WAY: u64 = 20_000_000;
const MSS: u32 = 1_460;

/// A frame at one of the captures, by the true time.
#[derive(Debug, Clone)]
struct TestFrame {
    at: u64,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Default)]
struct World {
    captures: [Vec<TestFrame>; 2],
    ids: [u16; 2],
    /// Which of several connections.
    connection: u16,
}

impl World {
    fn packet(&mut self, up: bool, seq: u32, ack: u32, len: u32, flags: TcpFlags) -> Vec<u8> {
        let (client, server) = (Ipv4Addr::new(10, 0, 0, 9), Ipv4Addr::new(10, 0, 0, 2));
        let (src, dst) = if up { (client, server) } else { (server, client) };
        let id = &mut self.ids[usize::from(!up)];
        *id += 1;
        let ip = Ipv4Repr { src, dst, id: *id, ttl: 64, ecn: Ecn::default() };
        let tcp = TcpRepr {
            src_port: if up { 40_000 + self.connection } else { 80 },
            dst_port: if up { 80 } else { 40_000 + self.connection },
            seq: SeqNumber::new(seq),
            ack: SeqNumber::new(ack),
            flags,
            window: 1_000,
            mss: flags.contains(TcpFlags::SYN).then_some(MSS as u16),
            ..TcpRepr::default()
        };
        tcp.to_packet(&ip.into(), &vec![0; len as usize])
    }
    /// Passes the sender's capture point at `at` and the other one `took` later, if it arrives.
    fn pass(&mut self, up: bool, at: u64, took: Option<u64>, bytes: Vec<u8>) {
        if let Some(took) = took {
            self.captures[usize::from(up)].push(TestFrame { at: at + took, bytes: bytes.clone() });
        }
        self.captures[usize::from(!up)].push(TestFrame { at, bytes });
    }
    fn data(&mut self, at: u64, took: Option<u64>, index: u32) {
        let bytes = self.packet(true, 1_001 + index * MSS, 5_001, MSS, TcpFlags::ACK);
        self.pass(true, at, took, bytes);
    }
    fn ack(&mut self, at: u64, took: Option<u64>, index: u32) {
        let bytes = self.packet(false, 5_001, 1_001 + index * MSS, 0, TcpFlags::ACK);
        self.pass(false, at, took, bytes);
    }
    fn open(&mut self) {
        let syn = self.packet(true, 1_000, 0, 0, TcpFlags::SYN);
        self.pass(true, 0, Some(ONE_WAY), syn);
        let answer = self.packet(false, 5_000, 1_001, 0, TcpFlags::SYN | TcpFlags::ACK);
        self.pass(false, ONE_WAY, Some(ONE_WAY), answer);
    }
    /// Joined, the server's clock being `offset` ahead and `skew` ppm faster.
    fn join(mut self, offset: i64, skew: f64) -> Joined {
        for tap in &mut self.captures {
            tap.sort_by_key(|seen| seen.at);
        }
        let time = |side: Endpoint, at: u64| match side {
            Endpoint::Client => EPOCH + at,
            Endpoint::Server => {
                let drift = (at as f64 * skew * 1e-6).round() as i64;
                (EPOCH + at).saturating_add_signed(offset + drift)
            }
        };
        let frame = |side: Endpoint, seen: &TestFrame| (time(side, seen.at), seen.bytes.clone());
        let mut survey = Survey::default();
        let frames = Endpoint::BOTH.map(|side| {
            self.captures[side.index()].iter().map(|s| frame(side, s)).collect::<Vec<_>>()
        });
        for side in Endpoint::BOTH {
            for seen in &frames[side.index()] {
                survey.frame(side, &view(seen));
            }
        }
        let mut joiner = Joiner::new(survey.finish());
        let mut all = Vec::new();
        for side in Endpoint::BOTH {
            let own = frames[side.index()].iter();
            all.extend(own.map(|seen| (joiner.shared(side, seen.0), side, seen)));
        }
        all.sort_by_key(|(at, side, _)| (*at, *side));
        for (_, side, seen) in all {
            joiner.frame(side, &view(seen));
        }
        joiner.finish()
    }
}

/// When each segment is sent, its index and whether it arrives, in the order of time; and when the
/// receiver acknowledges what index.
type Transmissions = (Vec<(u64, u32, bool)>, Vec<(u64, u32)>);

/// Segment after segment, 1 ms apart, one in 20 lost and retransmitted.
fn lossy(count: u32) -> Transmissions {
    let mut sent = Vec::new();
    for index in 0..count {
        let (at, lost) = (100_000_000 + u64::from(index) * 1_000_000, index % 20 == 10);
        sent.push((at, index, !lost));
        if lost {
            sent.push((at + 60_400_000, index, true));
        }
    }
    sent.sort_unstable();
    let mut missing: std::collections::BTreeSet<u32> = (0..=count).collect();
    let mut acks = Vec::new();
    for (at, index, _) in sent.iter().filter(|it| it.2) {
        missing.remove(index);
        acks.push((at + ONE_WAY + 50_000, *missing.first().unwrap()));
    }
    (sent, acks)
}

fn view((time_ns, bytes): &(u64, Vec<u8>)) -> Frame<'_> {
    Frame::whole(*time_ns, LinkType::RawIp, bytes)
}

/// A segment and its acknowledgement every 5 ms, each delayed by what `late` says, in microseconds.
fn exchange(late: &[(u64, u64)]) -> World {
    let mut world = World::default();
    world.open();
    for (index, (up, down)) in (0_u32..).zip(late) {
        let at = 100_000_000 + u64::from(index) * 5_000_000;
        world.data(at, Some(ONE_WAY + up * 1_000), index);
        world.ack(at + ONE_WAY + up * 1_000 + 50_000, Some(ONE_WAY + down * 1_000), index + 1);
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Offset and skew are within their stated errors, also with clocks hours apart.
    #[test]
    fn join_clock_within_stated_error(
        late in proptest::collection::vec((0_u64..4_000, 0_u64..4_000), 1_500..2_500),
        offset in -10_000_000_000_000_i64..10_000_000_000_000,
        // Realistic, and too small to distinguish from zero.
        skew in prop_oneof![-300.0..300.0_f64, -12.0..12.0_f64],
    ) {
        let joined = exchange(&late).join(offset, skew);
        let clock = joined.clock;
        let error = clock.error.unwrap().as_nanos() as i64;
        prop_assert!((clock.offset_nanos.unwrap() - offset).abs() <= error, "{clock:?}");
        prop_assert!((clock.skew_ppm - skew).abs() <= clock.skew_error_ppm.unwrap(), "{clock:?}");
        let Crossing { sent, arrived, lost, reordered, delay, .. } = &joined.connections[0].forward;
        prop_assert_eq!((*sent, *arrived, *lost, *reordered), (late.len() as u64 + 1, *sent, 0, 0));
        // The least delay is that of the SYN, which nothing made late: half the round trip.
        let least = delay.unwrap().min.as_nanos() as i64 - ONE_WAY as i64;
        prop_assert!(least.abs() < 500_000, "{delay:?}");
    }
}

#[test]
fn join_counts_losses_copies_reordering() {
    let mut world = World::default();
    world.open();
    for index in 0..1_000_u32 {
        let at = 100_000_000 + u64::from(index) * 1_000_000;
        match index % 100 {
            // Lost, and retransmitted 60 ms later.
            10 => {
                world.data(at, None, index);
                world.data(at + 60_400_000, Some(ONE_WAY), index);
            }
            // Overtaken by the three that follow.
            20 => world.data(at, Some(ONE_WAY + 3_500_000), index),
            // Copied on the way.
            30 => {
                let bytes = world.packet(true, 1_001 + index * MSS, 5_001, MSS, TcpFlags::ACK);
                world.pass(true, at, Some(ONE_WAY), bytes.clone());
                world.captures[1].push(TestFrame { at: at + ONE_WAY + 200_000, bytes });
            }
            // Sent again although it arrived.
            40 => {
                world.data(at, Some(ONE_WAY), index);
                world.data(at + 300_000, Some(ONE_WAY), index);
            }
            _ => world.data(at, Some(ONE_WAY), index),
        }
    }
    let joined = world.join(7_000_000_000, 0.0);
    let Crossing {
        lost, duplicated, reordered, out_of_order_max, retransmissions, spurious, ..
    } = joined.connections[0].forward;
    assert_eq!((lost, duplicated, reordered, out_of_order_max), (10, 10, 10, 3));
    assert_eq!((retransmissions, spurious), (20, 10));
    let crossing = &joined.connections[0].forward;
    assert_eq!(
        (crossing.not_judged, crossing.not_captured_at_sender, crossing.not_captured_at_receiver),
        (0, 0, 0)
    );
    assert_eq!(crossing.losses.len(), 10);
}

/// Frames that a capture missed are not lost; packets outside the common time are not judged.
#[test]
fn join_uncaptured_is_not_lost() {
    let mut world = exchange(&[(0, 0); 500]);
    for tap in &mut world.captures {
        tap.sort_by_key(|seen| seen.at);
    }
    let data = |seen: &TestFrame| seen.bytes.len() > 1_000;
    // The server's capture misses segments 100 to 104, the client's 200 and 201.
    for (tap, missed) in [(1, 100..105), (0, 200..202)] {
        let mut index = 0;
        world.captures[tap].retain(|seen| {
            index += usize::from(data(seen));
            !(data(seen) && missed.contains(&(index - 1)))
        });
    }
    let whole = world.clone().join(-3_000_000, 0.0);
    let forward = &whole.connections[0].forward;
    assert_eq!(
        (forward.not_captured_at_receiver, forward.not_captured_at_sender, forward.lost),
        (5, 2, 0)
    );
    // The server's capture begins half a second later and ends half a second earlier.
    world.captures[1].retain(|seen| (600_000_000..2_000_000_000).contains(&seen.at));
    let part = world.join(-3_000_000, 0.0);
    for way in [&part.connections[0].forward, &part.connections[0].reverse] {
        assert_eq!(way.lost, 0);
        assert!(way.not_judged > 150, "{}", way.not_judged);
    }
}

/// Segmentation offload at the sender makes ten segments one, receive offload three.
#[test]
fn join_matches_offloaded_packets() {
    let mut world = World::default();
    world.open();
    for burst in 0..40_u32 {
        let at = 100_000_000 + u64::from(burst) * 30_000_000;
        let first = 1_001 + burst * 10 * MSS;
        let ids = world.ids[0];
        let large = world.packet(true, first, 5_001, 10 * MSS, TcpFlags::ACK);
        world.captures[0].push(TestFrame { at, bytes: large });
        // Arrive: 3 together, 1 lost, 4 together, 2 apart.
        for (from, count) in [(0, 3), (4, 4), (8, 1), (9, 1)] {
            world.ids[0] = ids + from as u16;
            let bytes = world.packet(true, first + from * MSS, 5_001, count * MSS, TcpFlags::ACK);
            let at = at + ONE_WAY + u64::from(from) * 100_000;
            world.captures[1].push(TestFrame { at, bytes });
        }
        world.ids[0] = ids + 10;
    }
    // One more, so that what was lost lies between packets that arrived.
    world.data(2_000_000_000, Some(ONE_WAY), 400);
    let joined = world.join(0, 0.0);
    let Crossing { sent, arrived, lost, lost_bytes, .. } = joined.connections[0].forward;
    assert_eq!((sent, arrived, lost), (402, 362, 40));
    assert_eq!(lost_bytes.as_u64(), 40 * u64::from(MSS));
}

/// A flipped bit: the receiver drops the packet, and no address or number in it counts.
#[test]
fn join_damaged_is_lost() {
    // In the payload, in the sequence number, in the source address, in the time to live.
    for (byte, strays) in [(100, 0), (26, 0), (14, 5), (8, 0)] {
        let mut world = World::default();
        world.open();
        for index in 0..200_u32 {
            let at = 100_000_000 + u64::from(index) * 1_000_000;
            world.data(at, Some(ONE_WAY), index);
            if index % 40 == 20 {
                world.captures[1].last_mut().unwrap().bytes[byte] ^= 0x40;
                world.data(at + 60_400_000, Some(ONE_WAY), index);
            }
        }
        let joined = world.join(0, 0.0);
        assert_eq!(joined.connections.len(), 1, "byte {byte}");
        let way = &joined.connections[0].forward;
        let Crossing { sent, arrived, lost, damaged, retransmissions, spurious, .. } = way;
        assert_eq!((*sent, *arrived, *lost, *damaged), (206, 201, 5, 5 - strays), "byte {byte}");
        assert_eq!((*retransmissions, *spurious), (5, 0), "byte {byte}");
        assert_eq!((way.not_captured_at_sender, way.duplicated), (0, 0), "byte {byte}");
        assert_eq!(joined.notes.len() as u64, strays / 5, "{:?}", joined.notes);
    }
}

/// Where checksums are those of a capture before offloading, they tell nothing.
#[test]
fn join_wrong_checksums_everywhere_are_no_damage() {
    let mut world = exchange(&[(0, 0); 50]);
    for seen in world.captures.iter_mut().flatten() {
        seen.bytes[36] ^= 0x40;
    }
    let joined = world.join(0, 0.0);
    let Crossing { sent, arrived, damaged, .. } = joined.connections[0].forward;
    assert_eq!((sent, arrived, damaged), (51, 51, 0));
}

/// What was cut into fragments on the way is one packet, however its fragments come.
#[test]
fn join_fragments_are_one_packet() {
    let mut world = World::default();
    world.open();
    for index in 0..100_u32 {
        let at = 100_000_000 + u64::from(index) * 1_000_000;
        world.data(at, None, index);
        let bytes = world.captures[0].last().unwrap().bytes.clone();
        let mut pieces = crate::tests::fragments::fragments(&bytes, 600);
        assert_eq!(pieces.len(), 3);
        pieces.rotate_left(index as usize % 3);
        // Of each tenth, the last one is lost.
        pieces.truncate(if index % 10 == 5 { 2 } else { 3 });
        for (place, bytes) in (0_u64..).zip(pieces) {
            world.captures[1].push(TestFrame { at: at + ONE_WAY + place * 100_000, bytes });
        }
    }
    let joined = world.join(0, 0.0);
    assert_eq!(joined.connections.len(), 1);
    let way = &joined.connections[0].forward;
    assert_eq!((way.sent, way.arrived, way.lost), (101, 91, 10));
    assert_eq!((way.not_captured_at_sender, way.not_captured_at_receiver), (0, 0));
}

/// A sender that learns of a smaller path sends smaller packets; the large one was lost as one.
#[test]
fn join_counts_too_big_packets_once() {
    let mut world = World::default();
    world.open();
    let at = |index: u32| 100_000_000 + u64::from(index) * 1_000_000;
    for index in 0..10 {
        world.data(at(index), None, index);
    }
    // The same data in packets of 1,000 bytes.
    for index in 0..15 {
        let len = if index == 14 { 600 } else { 1_000 };
        let bytes = world.packet(true, 1_001 + index * 1_000, 5_001, len, TcpFlags::ACK);
        world.pass(true, at(50 + index), Some(ONE_WAY), bytes);
    }
    let joined = world.join(0, 0.0);
    let way = &joined.connections[0].forward;
    assert_eq!((way.sent, way.arrived, way.lost, way.lost_data), (26, 16, 10, 10));
    assert_eq!(way.losses.len(), 10);
    assert_eq!(way.lost_bytes.as_u64(), 10 * u64::from(MSS));
    assert_eq!((way.retransmissions, way.spurious), (15, 0));
}

#[test]
fn join_swapped_or_unrelated_captures_noted() {
    let mut world = exchange(&[(0, 0); 50]);
    world.captures.swap(0, 1);
    let joined = world.join(0, 0.0);
    let connection = &joined.connections[0];
    assert_eq!(connection.client_at, Endpoint::Server);
    assert_eq!(connection.forward.sent, 51);
    assert_eq!(connection.forward.delay.unwrap().median.as_nanos(), ONE_WAY);

    let mut alone = exchange(&[(0, 0); 5]);
    alone.captures[1].clear();
    let joined = alone.join(0, 0.0);
    assert_eq!(joined.connections[0].forward.lost, 0);
    assert_eq!(joined.clock.offset_nanos, None);
}

/// One of two connections passed the client's capture point alone, in both directions.
#[test]
fn connection_of_one_capture_alone_is_not_judged() {
    let mut world = exchange(&[(0, 0); 20]);
    world.connection = 1;
    let syn = world.packet(true, 1_000, 0, 0, TcpFlags::SYN);
    let answer = world.packet(false, 5_000, 1_001, 0, TcpFlags::SYN | TcpFlags::ACK);
    for (up, bytes) in [(true, syn), (false, answer)] {
        let at = if up { 110_000_000 } else { 111_000_000 };
        world.captures[0].push(TestFrame { at, bytes });
    }
    // And one that nobody answered: lost.
    world.connection = 2;
    let syn = world.packet(true, 1_000, 0, 0, TcpFlags::SYN);
    world.pass(true, 112_000_000, None, syn);
    let joined = world.join(0, 0.0);
    let lost: Vec<_> =
        joined.connections.iter().map(|c| (c.forward.lost, c.forward.not_judged)).collect();
    assert_eq!(lost, [(0, 0), (0, 1), (1, 0)]);
}
