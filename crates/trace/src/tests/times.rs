//! Whatever a capture says of the time, nothing overflows.

use std::net::Ipv4Addr;

use tcplab_units::{Endpoint, Rng};
use tcplab_wire::{Ecn, Ipv4Repr, LinkType, SackBlock, SackBlocks, SeqNumber, TcpFlags, TcpRepr};

use super::drill::{analyze, drill};
use super::robustness::{TRANSFER, check};
use crate::join::{Joiner, Survey};
use crate::{Analyzer, Frame};

/// Times of the frames, by their number.
type Clock = fn(u64, &mut Rng) -> u64;

const CLOCKS: [(&str, Clock); 12] = [
    ("no time", |_, _| 0),
    ("the end of time", |_, _| u64::MAX),
    ("to and fro", |n, _| if n % 2 == 0 { 0 } else { u64::MAX }),
    ("fro and to", |n, _| if n % 2 == 0 { u64::MAX } else { 0 }),
    ("two and two", |n, _| if n % 4 < 2 { 0 } else { u64::MAX }),
    ("seldom", |n, _| if n % 7 < 6 { n } else { u64::MAX - n }),
    ("backwards", |n, _| u64::MAX - n * (1 << 50)),
    ("in leaps", |n, _| n.wrapping_mul(1 << 52)),
    ("to the middle", |n, _| if n % 3 == 0 { 0 } else { 1 << (60 + n % 4) }),
    ("anything", |_, rng| rng.next_u64()),
    ("anything of any size", |_, rng| rng.next_u64() >> rng.below(64)),
    ("small steps and large", |n, rng| n * 1_000_000 + (rng.below(4) / 3) * (rng.next_u64() >> 2)),
];

/// Anything that two ends may send one another; the windows are often closed.
fn anything(number: u64, rng: &mut Rng) -> Vec<u8> {
    let up = rng.below(2) == 0;
    let (client, server) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    let (src, dst) = if up { (client, server) } else { (server, client) };
    let (src_port, dst_port) = if up { (40_000, 80) } else { (80, 40_000) };
    let near = |rng: &mut Rng| SeqNumber::new((number * 20 + rng.below(2_000)) as u32);
    let flags =
        if rng.below(60) == 0 { rng.below(64) as u16 } else { 16 | (rng.below(2) as u16 * 8) };
    let left = near(rng);
    let block = SackBlock { left, right: left.advanced_by(rng.below(1_500) as u32) };
    let tcp = TcpRepr {
        src_port,
        dst_port,
        seq: near(rng),
        ack: near(rng),
        flags: TcpFlags::from_bits(if number < 3 { [2, 18, 16][number as usize] } else { flags }),
        window: [0, 1, 500, 65_535][rng.below(4) as usize],
        sack: (0..rng.below(3)).map(|_| block).collect::<SackBlocks>(),
        timestamps: (rng.below(2) == 0)
            .then(|| (rng.next_u64() as u32 >> rng.below(32), rng.next_u64() as u32)),
        ..TcpRepr::default()
    };
    let ip = Ipv4Repr { src, dst, id: rng.below(50) as u16, ttl: 64, ecn: Ecn::NotEct };
    tcp.to_packet(&ip.into(), &vec![0; rng.below(1_449) as usize])
}

fn conversations() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let mut rng = Rng::new(7, "times");
    let transfer = drill(TRANSFER, 1_000).into_iter().map(|packet| packet.bytes);
    vec![
        ("a transfer", transfer.collect()),
        ("anything", (0..400).map(|n| anything(n, &mut rng)).collect()),
        ("anything else", (0..400).map(|n| anything(n, &mut rng)).collect()),
    ]
}

fn frame(time_ns: u64, bytes: &[u8]) -> Frame<'_> {
    Frame::whole(time_ns, LinkType::RawIp, bytes)
}

#[test]
fn analysed_whatever_the_time() {
    for (what, packets) in conversations() {
        for (when, clock) in CLOCKS {
            for epoch in [None, Some(0), Some(u64::MAX)] {
                println!("{what}, {when}");
                let mut rng = Rng::new(1, when);
                let mut analyzer = Analyzer::new();
                if let Some(epoch) = epoch {
                    analyzer = analyzer.with_epoch(epoch);
                }
                for (number, bytes) in packets.iter().enumerate() {
                    analyzer.packet(&frame(clock(number as u64, &mut rng), bytes));
                }
                let trace = analyzer.finish();
                assert_eq!(trace.packets, packets.len() as u64);
                check(&trace);
            }
        }
    }
}

#[test]
fn joined_whatever_the_time() {
    for (what, packets) in conversations() {
        for (here, client) in CLOCKS {
            for (there, server) in CLOCKS {
                println!("{what}, {here} here, {there} there");
                let mut rng = Rng::new(1, here);
                let mut frames = Vec::new();
                for (number, bytes) in packets.iter().enumerate() {
                    let number = number as u64;
                    frames.push((Endpoint::Client, client(number, &mut rng), bytes));
                    // Some are lost.
                    if !number.is_multiple_of(11) {
                        frames.push((Endpoint::Server, server(number, &mut rng), bytes));
                    }
                }
                let mut survey = Survey::default();
                for (side, time, bytes) in &frames {
                    survey.frame(*side, &frame(*time, bytes));
                }
                let mut joiner = Joiner::new(survey.finish());
                for (side, time, bytes) in &frames {
                    joiner.frame(*side, &frame(*time, bytes));
                }
                let joined = joiner.finish();
                assert_eq!(joined.captures[0].packets, packets.len() as u64);
            }
        }
    }
}

/// Simple Packet Blocks, and captures whose times were removed.
#[test]
fn capture_without_times_has_no_round_trips() {
    let mut packets = drill(TRANSFER, 1_000);
    let whole = &analyze(&packets).connections[0];
    assert!(whole.round_trip.is_some() && whole.forward.round_trips.min.is_some());
    for packet in &mut packets {
        packet.time_ns = 0;
    }
    let trace = analyze(&packets);
    let texts: Vec<&str> = trace.notes.iter().map(|note| &note.text[..]).collect();
    let text =
        "all frames have the same time, or none: durations, round trips and rates are unknown";
    assert_eq!(texts, [text]);
    let connection = &trace.connections[0];
    assert_eq!((connection.round_trip, connection.handshake.round_trip), (None, None));
    for flow in [&connection.forward, &connection.reverse] {
        assert_eq!((flow.round_trips.min, flow.round_trips.timeout), (None, None));
    }
    assert_eq!(connection.forward.totals.unique, whole.forward.totals.unique);
}

/// Steps of a second are longer than round trips and stalls.
#[test]
fn times_in_seconds_are_noted() {
    let lines: Vec<String> = (0..1_100_u32)
        .map(|turn| format!("{} > {}:{}", turn / 100, 1 + turn * 10, 11 + turn * 10))
        .collect();
    let trace = analyze(&drill(&lines.join("\n"), 1_000));
    assert_eq!(trace.notes.len(), 1, "{:?}", trace.notes);
    assert!(trace.notes[0].text.contains("in steps of 0.1 s or more"), "{:?}", trace.notes);
}
