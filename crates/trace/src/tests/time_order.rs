//! Frames a little out of time order, as captures on several queues have them: they get their
//! place, and keep their numbers.

use std::fmt::Write;

use tcplab_units::{Bytes, Span};

use super::drill::{Captured, analyze, connection, drill, feed};
use super::robustness::check;
use crate::{Analyzer, Connection, Flow, SegmentKind, Trace};

/// A sender that each acknowledgement lets send two segments, 20 µs later, by a window that does
/// not grow.
fn by_acknowledgements() -> String {
    let mut text = "open 0.010 0.0102\n0.0110 > 1:28961 every 0.000001\n".to_owned();
    for round in 0..300 {
        let (acked, next) = (1 + 2 * 1448 * (round + 1), 1 + 1448 * (20 + 2 * round));
        let at = 0.0210 + f64::from(round) * 0.001;
        let _ = writeln!(text, "{at:.6} < ack {acked}");
        let _ = writeln!(text, "{:.6} > {next}:{} every 0.000001", at + 0.00002, next + 2 * 1448);
    }
    text
}

/// What the server sends is written so much later than it was captured.
fn written(text: &str, late_ns: u64) -> Vec<Captured> {
    let mut packets = drill(text, 1_000);
    packets.sort_by_key(|packet| {
        let from_server = packet.bytes[12..16] == [10, 0, 0, 2];
        packet.time_ns + if from_server { late_ns } else { 0 }
    });
    packets
}

fn as_they_come(packets: &[Captured]) -> Trace {
    let mut analyzer = Analyzer::new().as_they_come();
    feed(&mut analyzer, packets);
    analyzer.finish()
}

fn notes(trace: &Trace, text: &str) -> usize {
    trace.notes.iter().filter(|note| note.frame.is_some() && note.text.contains(text)).count()
}

/// All of a direction but its frames.
fn but_frames(flow: &Flow) -> String {
    let mut text = String::new();
    for it in &flow.segments {
        let what = (it.at, it.range, it.kind, it.timer, it.in_flight, it.proof.by, it.proof.waited);
        let _ = writeln!(text, "{what:?}");
    }
    for it in &flow.acks {
        let _ = writeln!(text, "{:?}", (it.at, it.ack, it.duplicate, it.window, &it.sack));
    }
    for it in &flow.limits {
        let _ = writeln!(text, "{:?}", (it.limit, it.from, it.until, it.acked));
    }
    for it in &flow.stalls {
        let _ = writeln!(text, "{:?}", (it.from, it.until, it.cause));
    }
    for it in &flow.episodes {
        let _ = writeln!(text, "{:?}", (it.kind, it.evidence_at, it.repaired_at, it.lost.len()));
    }
    let _ = writeln!(text, "{:?} {:?} {:?}", flow.totals, flow.shares, flow.transfer);
    text
}

#[track_caller]
fn assert_equal_but_for_frames(found: &Connection, expected: &Connection) {
    assert_eq!(but_frames(&found.forward), but_frames(&expected.forward));
    assert_eq!(but_frames(&found.reverse), but_frames(&expected.reverse));
    assert_eq!(found.round_trip, expected.round_trip);
    assert_eq!(found.handshake.round_trip, expected.handshake.round_trip);
}

#[test]
fn acknowledgement_written_behind_the_data_that_it_released() {
    let text = by_acknowledgements();
    let expected = connection(&text);
    for late_us in [30, 170, 400, 3_000, 9_000] {
        let packets = written(&text, late_us * 1_000);
        let trace = analyze(&packets);
        check(&trace);
        let [found] = &trace.connections[..] else { panic!("one connection") };
        assert_equal_but_for_frames(found, &expected);
        // Frames are those of the capture.
        let epoch = packets[0].time_ns;
        for segment in &found.forward.segments {
            let captured = &packets[segment.frame as usize - 1];
            assert_eq!(captured.time_ns - epoch, segment.at.as_nanos(), "#{}", segment.frame);
            assert_eq!(found.forward.segment_in(segment.frame), Some(segment));
        }
        assert!(found.forward.acks.iter().all(|ack| found.forward.ack_in(ack.frame) == Some(ack)));
        assert!(notes(&trace, "analysed in order of time") > 0);
        assert_eq!(notes(&trace, "is out of time order"), 0, "{late_us} µs");
    }
    // As they were written, most limits are others.
    let wrong = as_they_come(&written(&text, 170_000));
    assert_ne!(but_frames(&wrong.connections[0].forward), but_frames(&expected.forward));
    assert!(notes(&wrong, "is out of time order") > 0);
}

#[test]
fn losses_are_recovered_the_same_way() {
    let text = "
        open 0.010 0.0102
        0.0110 > 1:28961 every 0.00001
        0.0210 < ack 1449
        0.0211 < ack 1449 sack 2897-... 14481 every 0.00002
        0.0215 > 1449:2897
        0.0216 > 28961:30409
        0.0300 < ack 1449 sack 2897-30409
        0.0320 < ack 30409
        0.0321 > 30409:31857
        0.2500 > 30409:31857
        0.2600 < ack 31857";
    let expected = connection(text);
    assert_eq!(expected.forward.totals.retransmissions, 2);
    for late_us in [60, 400, 2_000] {
        let trace = analyze(&written(text, late_us * 1_000));
        check(&trace);
        assert_equal_but_for_frames(&trace.connections[0], &expected);
    }
}

/// Where the clock may have been set, the order of the capture stands.
#[test]
fn larger_steps_stay_in_the_order_of_the_capture() {
    let text = by_acknowledgements();
    let packets = written(&text, 20_000_000);
    let trace = analyze(&packets);
    check(&trace);
    assert!(notes(&trace, "is out of time order") > 0);
    let packets = packets.len() as u64;
    assert_eq!((trace.packets, trace.connections[0].packets), (packets, packets));
}

/// No frame is lost or doubled, whatever the times.
#[test]
fn every_packet_is_analysed_once() {
    for period in [3, 40, 700] {
        let mut packets = drill(&by_acknowledgements(), 1_000);
        for (number, packet) in packets.iter_mut().enumerate() {
            let step = [0, 5_000, 9_999_000, 10_001_000, 90_000_000, 150_000_000];
            packet.time_ns += 1_000_000_000 - step[number / period % step.len()];
        }
        let trace = analyze(&packets);
        check(&trace);
        let connections = trace.connections.iter();
        let analysed: u64 = connections.map(|connection| connection.packets).sum();
        assert_eq!(analysed, packets.len() as u64, "{period}");
    }
}

/// By their times, which are right, data come behind the acknowledgement.
#[test]
fn data_captured_behind_their_acknowledgement_are_unique() {
    let text = "
        open 0.010 0.0102
        0.0200 > 1:1449
        0.0300 < ack 1449
        0.0301 < ack 4345
        0.0301001 > 1449:4345
        0.0310 < ack 7241
        0.0310001 > 4345:5793
        0.0310002 > 5793:7241
        0.0400 > 7241:7242 fin
        0.0500 < ack 7242";
    let totals = connection(text).forward.totals;
    assert_eq!((totals.unique, totals.retransmissions), (Bytes::new(7_240), 0));
    // What was captured twice is counted once.
    let twice = format!("{text}\n0.0310003 > 5793:7241\n0.0320 > 1449:4345");
    assert_eq!(connection(&twice).forward.totals.unique, Bytes::new(7_240));
}

/// A large packet that several acknowledgements were written before.
#[test]
fn super_packet_behind_its_acknowledgements_is_unique() {
    let text = "
        open 0.010 0.0102
        0.0200 > 1:1449
        0.0300 < ack 2897
        0.0301 < ack 4345
        0.0302 < ack 7241
        0.0302001 > 1449:7241 id 9
        0.0400 > 7241:7242 fin
        0.0500 < ack 7242";
    let flow = connection(text).forward;
    let first: Vec<_> = flow.segments.iter().map(|segment| segment.kind).collect();
    assert!(first.iter().all(|kind| *kind == SegmentKind::New), "{first:?}");
    assert_eq!(flow.totals.unique, Bytes::new(7_240));
    assert_eq!(flow.causes.acked_not_captured.count, 0);
}

#[test]
fn syn_ack_behind_its_acknowledgement_is_captured() {
    let text = "
        0 > S
        0.000024 > ack 1
        0.000031 < S
        0.0001 < 1:105
        0.0002 > ack 105";
    let connection = connection(text);
    let handshake = &connection.handshake;
    assert!(handshake.server.seen, "its options count");
    assert_eq!(handshake.round_trip, Some(Span::from_micros(31)));
    assert_eq!(connection.reverse.totals.unique, Bytes::new(104));
}
