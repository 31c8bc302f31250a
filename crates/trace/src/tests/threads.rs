//! Results do not depend on how many threads analyse, nor does their order.

use proptest::prelude::*;
use tcplab_wire::{LinkType, TcpFlags};

use super::bounded::{Step, frame, packet};
use super::drill::{Captured, drill};
use super::fragments::fragments;
use super::recorder::All;
use super::sinks::any_step;
use crate::{Analyzer, Connection, Frame, Sink};

/// What this many threads find.
fn found(
    (wants_packets, jobs): (bool, usize),
    prepare: &dyn Fn(Analyzer<All>) -> Analyzer<All>,
    feed: &dyn Fn(&mut Analyzer<All>),
) -> String {
    let mut analyzer = prepare(Analyzer::with_sink(All::new(wants_packets))).with_jobs(jobs);
    feed(&mut analyzer);
    let (trace, mut all) = analyzer.finish_into();
    all.note(trace);
    all.text()
}

/// What one thread finds, in sums only; others find the same.
#[track_caller]
fn assert_same(
    name: &str,
    prepare: &dyn Fn(Analyzer<All>) -> Analyzer<All>,
    feed: &dyn Fn(&mut Analyzer<All>),
) -> String {
    let [sums, _] = [false, true].map(|wants_packets| {
        let one = found((wants_packets, 1), prepare, feed);
        for jobs in [2, 3, 8] {
            let many = found((wants_packets, jobs), prepare, feed);
            let differing = one.lines().zip(many.lines()).find(|(one, many)| one != many);
            assert!(one == many, "{name}, {jobs} threads: {differing:?}");
        }
        one
    });
    sums
}

fn as_it_is(analyzer: Analyzer<All>) -> Analyzer<All> {
    analyzer
}

/// Frames from 0.1 ms to 0.1 ms, each with a comment.
fn steps(analyzer: &mut Analyzer<All>, steps: impl Iterator<Item = Step>) {
    for (number, step) in steps.enumerate() {
        let comment = format!("step {number}");
        let bytes = packet(&step);
        analyzer.packet(&Frame { comment: Some(&comment), ..frame(number as u64, &bytes) });
    }
}

/// `text` by many clients, each a millisecond after the last.
pub(super) fn by_many(count: u16, text: &str) -> Vec<Captured> {
    let one = drill(text, 1_000);
    let by = |number: u16| {
        one.iter().cloned().map(move |mut packet| {
            packet.time_ns += u64::from(number) * 1_000_000;
            // ICMP quotes the client's packet.
            let quoted = packet.bytes[9] == 1;
            let from_client = quoted || packet.bytes[12..16] == [10, 0, 0, 1];
            let at = if quoted { 48 } else { 20 } + if from_client { 0 } else { 2 };
            packet.bytes[at..at + 2].copy_from_slice(&(10_000 + number).to_be_bytes());
            packet
        })
    };
    let mut packets: Vec<Captured> = (0..count).flat_map(by).collect();
    packets.sort_by_key(|packet| packet.time_ns);
    packets
}

fn feed(analyzer: &mut Analyzer<All>, packets: &[Captured]) {
    for Captured { time_ns, bytes } in packets {
        analyzer.packet(&Frame::whole(*time_ns, LinkType::RawIp, bytes));
    }
}

pub(super) const LOSSY: &str = "
    open 0.010 0.011
    0.020 > 1:14481 every 0.0001
    0.030 < ack 1449
    0.0301 < ack 1449 sack 2897-14481
    0.330 > 1449:2897
    0.340 < ack 14481
    0.400 > 14481:14482 fin
    0.410 < 1:2 fin
    0.4101 < ack 14482
    0.411 > ack 2";

#[test]
fn closed_connections_by_thousands() {
    let mut packets = by_many(3_000, LOSSY);
    // Some have another packet while they are still tracked, others when they are not.
    let late = drill("0.5 < 1:2 fin", 1_000);
    for (number, after) in [(0, 100), (1, 2_000), (2_900, 3_000)] {
        let mut late = late.clone();
        late[0].time_ns += after * 1_000_000;
        late[0].bytes[22..24].copy_from_slice(&(10_000_u16 + number).to_be_bytes());
        packets.append(&mut late);
    }
    packets.sort_by_key(|packet| packet.time_ns);
    let sums = assert_same("closed", &as_it_is, &|analyzer| feed(analyzer, &packets));
    assert!(sums.contains("came after its connection"));
}

#[test]
fn fragments_reports_and_duplicates() {
    let text = "
        open 0.010
        0.1 > 1:1449
        0.2 < ack 1449
        0.3 > 1449:5793
        0.31 < too big 1449 mtu 1400
        0.32 > 1449:2797
        0.4 < ack 5793";
    let packets = by_many(200, text);
    assert_same("reports", &as_it_is, &|analyzer| feed(analyzer, &packets));
    let twice: Vec<Captured> =
        packets.iter().flat_map(|packet| [packet.clone(), packet.clone()]).collect();
    let sums = assert_same("duplicates", &as_it_is, &|analyzer| feed(analyzer, &twice));
    assert!(!sums.contains("network_duplicates: 1"), "{sums}");
    let cut = packets.iter().flat_map(|packet| {
        let pieces = fragments(&packet.bytes, 400).into_iter();
        pieces.map(|bytes| Captured { bytes, ..packet.clone() })
    });
    let cut: Vec<Captured> = cut.collect();
    assert_same("fragments", &as_it_is, &|analyzer| feed(analyzer, &cut));
}

#[test]
fn clock_set_meanwhile() {
    let text = "
        open 0.010
        0.1 > 1:1449 clock 100
        0.11 < ack 1449 clock 110 echo 100
        0.2 > 1449:2897 clock 200
        0.21 < ack 2897 clock 210 echo 200
        0.3 > 2897:4345 clock 300
        0.31 < ack 4345 clock 310 echo 300";
    let mut packets = by_many(50, text);
    let at = packets.len() * 9 / 10;
    packets[at..].iter_mut().for_each(|packet| packet.time_ns += 3_600_000_000_000);
    let mut later = by_many(50, "0.4 > 4345:5793 clock 400");
    for packet in &mut later {
        // Forward again, by what is a pause, and back.
        packet.time_ns += if packet.time_ns % 20_000_000 < 10_000_000 { 90_000_000_000 } else { 0 };
    }
    packets.append(&mut later);
    let sums = assert_same("clock", &as_it_is, &|analyzer| feed(analyzer, &packets));
    assert!(sums.contains("set ahead") && sums.contains("set back"), "{sums}");
}

#[test]
fn frames_out_of_time_order() {
    let mut packets = by_many(300, LOSSY);
    // Each third is written later than it was captured, by up to 2 ms.
    let written = |packet: &Captured| packet.time_ns + packet.time_ns / 100_000 % 3 * 1_000_000;
    packets.sort_by_key(written);
    let sums = assert_same("order", &as_it_is, &|analyzer| {
        for (number, Captured { time_ns, bytes }) in packets.iter().enumerate() {
            let comment = format!("packet {number}");
            let frame = Frame::whole(*time_ns, LinkType::RawIp, bytes);
            analyzer.packet(&Frame { comment: Some(&comment), ..frame });
        }
    });
    assert!(sums.contains("analysed in order of time"), "{sums}");
}

#[test]
fn flood_beyond_open_connections() {
    let flood = |number: u32| match number % 16 {
        0 => Step { flags: TcpFlags::ACK, seq: 1 + u64::from(number), len: 16, ..Step::default() },
        _ => Step { client: number % 20_000, flags: TcpFlags::SYN, ..Step::default() },
    };
    let prepare = |analyzer: Analyzer<All>| analyzer.with_max_open_connections(8_192);
    let sums = assert_same("flood", &prepare, &|analyzer| steps(analyzer, (0..24_000).map(flood)));
    assert!(sums.contains("an idle one is dropped"));
}

#[test]
fn ports_reused_again_and_again() {
    let step = |number: u32| {
        let seq = u64::from(number / 90) * 1_000_003;
        let syn = Step { client: number % 30, flags: TcpFlags::SYN, seq, ..Step::default() };
        let reset = TcpFlags::RST | TcpFlags::ACK;
        match number / 30 % 3 {
            0 => syn,
            1 if !number.is_multiple_of(4) => {
                Step { from_server: true, flags: reset, ack: seq + 1, ..syn }
            }
            1 => Step { from_server: true, flags: syn.flags | TcpFlags::ACK, ack: seq + 1, ..syn },
            _ => Step { flags: TcpFlags::ACK, seq: seq + 1, ack: 1, len: 100, ..syn },
        }
    };
    let sums = assert_same("reuse", &as_it_is, &|analyzer| steps(analyzer, (0..9_000).map(step)));
    assert!(sums.contains("reuses: Some("));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_packets_same_results_for_any_threads(
        steps in prop::collection::vec((any_step(), 0_u64..4), 1..600),
        most_open in prop::sample::select(vec![3, 20_000, 1 << 17]),
    ) {
        let prepare = |analyzer: Analyzer<All>| analyzer.with_max_open_connections(most_open);
        assert_same("any packets", &prepare, &|analyzer| {
            let mut number = 0;
            for (step, waits) in &steps {
                // 0.1 ms, or up to 10 s.
                number += [1, 1, 10, 100_000][*waits as usize];
                analyzer.packet(&frame(number, &packet(step)));
            }
        });
    }
}

/// A sink that cannot go on.
#[derive(Debug)]
struct Broken;

impl Sink for Broken {
    fn connection(&mut self, _: usize, _: &Connection) {
        panic!("the sink is broken");
    }
}

#[test]
#[should_panic(expected = "the sink is broken")]
fn panic_of_sink_ends_analysis() {
    let mut analyzer = Analyzer::with_sink(Broken).with_jobs(8);
    for Captured { time_ns, bytes } in by_many(3_000, LOSSY) {
        analyzer.packet(&Frame::whole(time_ns, LinkType::RawIp, &bytes));
    }
}
