//! What captures may hold that the textbook does not: numbers that wrap, ends that meet again,
//! a start in mid-stream, one direction alone, a clock that goes back.

use tcplab_units::{Bytes, Instant, Span};
use tcplab_wire::LinkType;

use super::drill::{Captured, analyze, drill, feed};
use super::robustness::{TRANSFER, check};
use crate::{Analyzer, Frame, HandshakeKind, SegmentKind, Trace};

/// A device that rewrote the addresses in what ICMP quotes, and not its checksum.
#[test]
fn icmp_with_a_wrong_checksum_is_noted() {
    let mut packets = drill("open 0.010\n0.100 > 1:2897\n0.101 < too big 1", 1_000);
    let notes = |packets: &[Captured]| {
        let notes = analyze(packets).notes.into_iter();
        notes.map(|note| (note.frame, note.text)).collect::<Vec<_>>()
    };
    assert_eq!(notes(&packets), []);
    packets.last_mut().unwrap().bytes[22] ^= 1;
    let text = "ICMP \"packet too big\" with a wrong checksum: ignored".to_owned();
    assert_eq!(notes(&packets), [(Some(6), text)]);
}

/// Data in one packet: as much as fits into what IP can say.
const LARGE: u64 = 65_000;

/// Packets of which only the headers are kept.
struct Headers {
    analyzer: Analyzer,
    data: Captured,
    ack: Captured,
    time_ns: u64,
}

impl Headers {
    fn new(isn: u32) -> Headers {
        let mut analyzer = Analyzer::new();
        let opening = drill("open 0.010", isn);
        feed(&mut analyzer, &opening);
        let mut data = drill("1.0 > 1:2", isn).remove(0);
        let total = 40 + LARGE as u16;
        data.bytes[2..4].copy_from_slice(&total.to_be_bytes());
        data.bytes.truncate(40);
        let ack = drill("1.0 < ack 1", isn).remove(0);
        Headers { analyzer, data, ack, time_ns: 1_000_000_000 }
    }

    /// Sends the data with this number.
    fn send(&mut self, isn: u32, number: u64) {
        let seq = isn.wrapping_add((1 + number * LARGE) as u32);
        self.data.bytes[24..28].copy_from_slice(&seq.to_be_bytes());
        self.time_ns += 10_000;
        self.data.time_ns = self.time_ns;
        take_in(&mut self.analyzer, &self.data, LARGE as u32);
    }

    /// Acknowledges this many.
    fn answer(&mut self, isn: u32, number: u64) {
        let ack = isn.wrapping_add((1 + number * LARGE) as u32);
        self.ack.bytes[28..32].copy_from_slice(&ack.to_be_bytes());
        self.time_ns += 10_000;
        self.ack.time_ns = self.time_ns;
        take_in(&mut self.analyzer, &self.ack, 0);
    }
}

fn take_in(analyzer: &mut Analyzer, packet: &Captured, left_out: u32) {
    let frame = Frame::whole(packet.time_ns, LinkType::RawIp, &packet.bytes);
    analyzer.packet(&Frame { original_len: frame.original_len + left_out, ..frame });
}

#[test]
fn numbers_wrap_twice_at_4_gb() {
    let isn = u32::MAX - 100_000;
    let mut capture = Headers::new(isn);
    let packets = (9 << 30) / LARGE;
    for number in 0..packets {
        capture.send(isn, number);
        capture.answer(isn, number + 1);
    }
    let trace = capture.analyzer.finish();
    assert_eq!((trace.connections.len(), &trace.notes[..]), (1, &[][..]));
    let flow = &trace.connections[0].forward;
    assert_eq!(flow.totals.data, Bytes::new(packets * LARGE));
    assert_eq!(flow.totals.unique, flow.totals.data);
    assert_eq!(flow.totals.retransmitted, Bytes::ZERO);
    let last = flow.segments.last().unwrap();
    assert_eq!(last.range.end.as_u64(), 1 + packets * LARGE);
    assert_eq!(last.in_flight, Bytes::new(LARGE));
    assert!(flow.segments.iter().skip(1).all(|segment| segment.kind == SegmentKind::New));
}

/// A segment that spans the wrap is lost and retransmitted: the gap is one, and 65 kB wide.
#[test]
fn loss_at_sequence_wrap_leaves_one_gap() {
    let isn = u32::MAX - (10 * LARGE) as u32 - 30_000;
    let mut capture = Headers::new(isn);
    for number in 0..10 {
        capture.send(isn, number);
        capture.answer(isn, number + 1);
    }
    for number in 10..16 {
        capture.send(isn, number);
    }
    for _ in 0..5 {
        capture.answer(isn, 10);
    }
    // Later than it could have been out of order by the others.
    capture.time_ns += 100_000_000;
    capture.send(isn, 10);
    capture.answer(isn, 16);
    let trace = capture.analyzer.finish();
    check(&trace);
    let flow = &trace.connections[0].forward;
    assert_eq!(
        (flow.totals.unique, flow.totals.retransmitted),
        (Bytes::new(16 * LARGE), Bytes::new(LARGE),)
    );
    assert_eq!((flow.episodes.len(), flow.episodes[0].lost.len()), (1, 1));
}

#[test]
fn reused_endpoints_separate_connections() {
    let mut packets = Vec::new();
    for round in 0..50_u64 {
        let mut next =
            drill(TRANSFER, 1_000_u32.wrapping_add(400_000_000_u32.wrapping_mul(round as u32)));
        for packet in &mut next {
            packet.time_ns += round * 1_000_000_000;
        }
        packets.append(&mut next);
    }
    let trace = analyze(&packets);
    check(&trace);
    let chain: Vec<Option<usize>> = trace.connections.iter().map(|c| c.reuses).collect();
    assert_eq!(chain, (0..50).map(|n: usize| n.checked_sub(1)).collect::<Vec<_>>());
    let first = &trace.connections[0].forward.totals;
    assert!(trace.connections.iter().all(|c| c.forward.totals == *first));
}

/// From any packet on: what can be known only from the SYNs is not known, and said not to be.
#[test]
fn capture_starting_mid_stream_is_analysed() {
    let packets = drill(TRANSFER, 1_000);
    for start in 3..packets.len() {
        let trace = analyze(&packets[start..]);
        check(&trace);
        let connection = &trace.connections[0];
        assert_eq!(trace.connections.len(), 1);
        assert_eq!(connection.handshake.kind, HandshakeKind::Unseen, "from packet {start}");
        assert!(!connection.handshake.client.seen && !connection.handshake.server.seen);
        let flows = [&connection.forward, &connection.reverse];
        let mut acks = flows.into_iter().flat_map(|flow| &flow.acks);
        assert!(acks.all(|ack| ack.window.is_none()), "no scale was seen");
    }
}

#[test]
fn one_direction_alone() {
    for (only_client, lacking) in [(true, "the server's"), (false, "the client's")] {
        let packets: Vec<Captured> = drill(TRANSFER, 1_000)
            .into_iter()
            .filter(|packet| (packet.bytes[12..16] == [10, 0, 0, 1]) == only_client)
            .collect();
        let trace = analyze(&packets);
        check(&trace);
        let connection = &trace.connections[0];
        assert_eq!(trace.connections.len(), 1);
        assert_eq!(connection.client.ip().to_string(), "10.0.0.1");
        assert_eq!(connection.handshake.client.seen, only_client, "{lacking} SYN");
        assert_eq!(connection.handshake.server.seen, !only_client, "{lacking} SYN");
        let totals = &connection.forward.totals;
        assert_eq!(totals.data > Bytes::ZERO, only_client);
        assert!(connection.forward.round_trips == connection.reverse.round_trips);
    }
}

/// Notes that a frame was captured before the one that precedes it.
fn backwards(trace: &Trace) -> Vec<u64> {
    let notes = trace.notes.iter();
    let notes = notes.filter(|note| note.text.starts_with("is out of time order"));
    notes.filter_map(|note| note.frame).collect()
}

#[test]
fn clock_set_back_is_noted() {
    let mut packets = drill(TRANSFER, 1_000);
    for packet in &mut packets {
        packet.time_ns += 10_000_000_000;
    }
    let whole = analyze(&packets);
    for step in [1_000, 1_000_000_000, 3_600_000_000_000] {
        let mut packets = packets.clone();
        for packet in &mut packets[10..] {
            packet.time_ns = packet.time_ns.saturating_sub(step);
        }
        let trace = analyze(&packets);
        check(&trace);
        let noted: &[u64] = if step < 1_000_000 { &[] } else { &[11] };
        assert_eq!(backwards(&trace), noted, "set back by {step} ns");
        assert_eq!(trace.connections.len(), 1);
        let captured = |trace: &Trace| -> Bytes {
            trace.connections[0].forward.segments.iter().map(|segment| segment.payload).sum()
        };
        assert_eq!(captured(&trace), captured(&whole));
    }
}

#[test]
fn time_running_backwards_noted() {
    let mut packets = drill(TRANSFER, 1_000);
    let count = packets.len() as u64;
    for (packet, number) in packets.iter_mut().zip(0..) {
        packet.time_ns = (count - number) * 1_000_000_000;
    }
    let trace = analyze(&packets);
    check(&trace);
    assert_eq!(backwards(&trace), (2..12).collect::<Vec<_>>());
    let text = &trace.notes.last().unwrap().text;
    assert!(text.ends_with(&format!(": {} more frames", count - 11)), "{text}");
    let connection = &trace.connections[0];
    assert!(connection.first <= connection.last);
}

#[test]
fn extreme_times_no_overflow() {
    for order in [[0, u64::MAX], [u64::MAX, 0]] {
        let mut packets = drill(TRANSFER, 1_000);
        for (packet, at) in packets.iter_mut().zip(order.into_iter().cycle()) {
            packet.time_ns = at;
        }
        let trace = analyze(&packets);
        check(&trace);
        let noted = trace.notes.iter().any(|note| note.text.contains("36 years after the first"));
        assert_eq!(noted, order[0] == 0);
        let latest = Instant::ZERO + Span::from_nanos(1 << 60);
        assert!(trace.connections.iter().all(|connection| connection.last <= latest));
    }
}

/// Fifty segments, one each 10 ms, answered at once; the capture clock is set before the tenth, the
/// twentieth is lost and retransmitted by a timer.
fn with_a_clock_set(by: f64, in_truth: bool) -> Trace {
    let mut text = String::from("100.0 > S clock 1 echo 0\n100.02 < S clock 9 echo 1\n");
    let mut set = 0.0;
    for turn in 0..50_u32 {
        let real = 100.1 + 0.01 * f64::from(turn) + if turn > 20 { 0.3 } else { 0.0 };
        set = if turn >= 10 { by } else { set };
        let waited = if in_truth { set } else { 0.0 };
        let tick = ((real - 100.0 + waited) * 1e3) as u32 + 1;
        let (start, end) = (1 + 1448 * turn, 1449 + 1448 * turn);
        let lost = if turn == 20 { 0.27 } else { 0.0 };
        if turn == 20 {
            text += &format!("{} > {start}:{end} clock {tick} echo 9\n", real + set);
        }
        let tick = tick + (lost * 1e3) as u32;
        text += &format!("{} > {start}:{end} clock {tick} echo 9\n", real + set + lost);
        text +=
            &format!("{} < ack {end} clock {} echo {tick}\n", real + set + lost + 0.005, tick + 9);
    }
    // In the order of the text: a capture is in the order of capture.
    let packets: Vec<_> = text.lines().flat_map(|line| drill(line, 1_000)).collect();
    analyze(&packets)
}

#[test]
fn clock_set_ahead_makes_no_stall() {
    let whole = &with_a_clock_set(0.0, false).connections[0].forward.stalls.len();
    for by in [-60.0, -3.0, 5.0, 600.0] {
        let trace = with_a_clock_set(by, false);
        check(&trace);
        let text = if by < 0.0 { crate::analyzer::SET_BACK } else { crate::analyzer::SET_AHEAD };
        let notes: Vec<_> = trace.notes.iter().filter(|note| note.text == text).collect();
        assert_eq!(notes.len(), 1, "{by} s: {:?}", trace.notes);
        let connection = &trace.connections[0];
        let took = connection.last.since(connection.first);
        assert!(took > Span::from_millis(850) && took < Span::from_millis(950), "{by} s: {took:?}");
        let flow = &connection.forward;
        assert_eq!((flow.causes.retransmissions(), &flow.stalls.len()), (1, whole), "{by} s");
        let again = flow.segments.iter().find(|s| s.kind.is_retransmission()).unwrap();
        assert_eq!(again.kind, crate::SegmentKind::TimeoutRetransmission, "{by} s");
    }
}

#[test]
fn real_pause_is_kept() {
    let trace = with_a_clock_set(600.0, true);
    assert!(trace.notes.is_empty(), "{:?}", trace.notes);
    let connection = &trace.connections[0];
    assert!(connection.last.since(connection.first) > Span::from_secs(600));
    let whole = &with_a_clock_set(0.0, false).connections[0].forward.stalls.len();
    assert_eq!(connection.forward.stalls.len(), whole + 1);
}

/// The first frame, or one in the middle, has a time decades away; the others' times are kept.
#[test]
fn time_decades_away_erases_no_other() {
    let mut packets = drill(TRANSFER, 1_000);
    for packet in &mut packets {
        packet.time_ns += 1_700_000_000_000_000_000;
    }
    let whole = analyze(&packets);
    let length = |trace: &Trace| {
        let connection = &trace.connections[0];
        connection.last.since(connection.first)
    };
    for (place, time_ns) in [(0, 0), (0, 7_000), (1, u64::MAX / 2), (5, u64::MAX / 2), (5, 0)] {
        let mut packets = packets.clone();
        packets[place].time_ns = time_ns;
        let trace = analyze(&packets);
        check(&trace);
        let text = if place == 5 && time_ns == 0 {
            crate::analyzer::SET_BACK
        } else {
            crate::analyzer::DECADES_AHEAD
        };
        let noted: Vec<_> = trace.notes.iter().filter(|note| note.text == text).collect();
        assert_eq!(noted.len(), 1, "{place}: {:?}", trace.notes);
        let lost = length(&whole).as_nanos() - length(&trace).as_nanos();
        let expected = if place == 0 { 10_000_000 } else { 0 };
        assert_eq!(lost, expected, "frame {place} at {time_ns}");
    }
}

/// A host that slept: its clock stood still most of a minute, the capture's was right.
#[test]
fn clock_of_a_sleeping_host_sets_no_clock() {
    let trace = analyze(&drill(
        "100.0 > S clock 1000 echo 0
         100.02 < S clock 0 echo 1000
         100.0201 > ack 1 clock 1020 echo 0
         100.1 > 1:101 clock 1100 echo 0
         100.12 < ack 101 clock 9120 echo 1100
         160.0 > 101:201 clock 15400 echo 9120
         160.02 < ack 201 clock 69020 echo 15400",
        1_000,
    ));
    assert!(trace.notes.is_empty(), "{:?}", trace.notes);
    let connection = &trace.connections[0];
    assert!(connection.last.since(connection.first) > Span::from_secs(60));
    // Nor is an empty field an echo.
    let trips = &connection.forward.round_trips;
    assert!(trips.smoothed.unwrap() <= trips.max.unwrap(), "{trips:?}");
}

/// Only SYN, FIN and RST were captured: the FIN answers no SYN-ACK.
#[test]
fn fin_is_no_third_step() {
    for (third, round_trip) in
        [("> 83457:83458 fin", None), ("> 1:2 fin", None), ("> ack 1", Some(78.1))]
    {
        let text = format!(
            "0.000 > S\n0.078 < S\n{} {third}",
            if third == "> ack 1" { 0.0781 } else { 8.3 }
        );
        let trace = analyze(&drill(&text, 1_000));
        let connection = &trace.connections[0];
        let found = connection.handshake.round_trip.map(Span::as_millis_f64);
        assert_eq!(found, round_trip, "{third}");
        assert_eq!(connection.round_trip.map(Span::as_millis_f64), round_trip, "{third}");
    }
}

#[test]
fn single_wrong_time_does_not_set_clock() {
    let mut packets = drill(TRANSFER, 1_000);
    for packet in &mut packets {
        packet.time_ns += 10_000_000_000;
    }
    let whole = analyze(&packets);
    packets[10].time_ns -= 5_000_000_000;
    let trace = analyze(&packets);
    assert_eq!(trace.connections[0].last, whole.connections[0].last);
}

/// Questions and answers, one each 0.1 s; an answer takes 50 ms. The capture clock is set back
/// before the tenth answer. The time that passed is that of the timestamps, or else of the round
/// trip.
#[test]
fn clock_set_back_shortens_no_round_trip() {
    let with = |back: f64, has_clocks: bool| {
        let clocks = |at: f64, echo: f64| {
            let [value, echo] = [at, echo].map(|at| (at * 1e3) as u32);
            if has_clocks { format!("clock {value} echo {echo}") } else { String::new() }
        };
        let mut text = format!("100.0 > S {}\n", clocks(100.0, 0.0));
        text += &format!("100.05 < S {}\n", clocks(100.05, 100.0));
        text += &format!("100.0501 > ack 1 {}\n", clocks(100.05, 100.05));
        for turn in 0..20_u32 {
            let at = 100.1 + 0.1 * f64::from(turn);
            let [asked, answered, acked] = [0.0, 0.05, 0.0501].map(|later| at + later);
            let [before, after] = [9, 10].map(|from| if turn < from { 0.0 } else { back });
            let [start, end] = [1 + turn * 100, 101 + turn * 100];
            text += &format!("{} > {start}:{end} {}\n", asked - after, clocks(asked, answered));
            text += &format!("{} < {start}:{end} {}\n", answered - before, clocks(answered, asked));
            text += &format!("{} > ack {end} {}\n", acked - before, clocks(acked, answered));
        }
        let packets: Vec<_> = text.lines().flat_map(|line| drill(line, 1_000)).collect();
        analyze(&packets)
    };
    for has_clocks in [true, false] {
        for back in [0.0, 5.0] {
            let trace = with(back, has_clocks);
            check(&trace);
            assert_eq!(trace.notes.len(), if back > 0.0 { 2 } else { 0 }, "{:?}", trace.notes);
            let connection = &trace.connections[0];
            let least = connection.forward.round_trips.min.unwrap();
            assert!(least >= Span::from_millis(49), "{has_clocks}, {back}: {least}");
            let stalls = connection.reverse.stalls.len() + connection.forward.stalls.len();
            let usual = &with(0.0, has_clocks).connections[0];
            assert_eq!(stalls, usual.reverse.stalls.len() + usual.forward.stalls.len());
        }
    }
}
