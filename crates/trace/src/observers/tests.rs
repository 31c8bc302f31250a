//! Acknowledgements and what senders do, as packets in time.

use tcplab_units::{Bytes, Instant, Span};

use super::acking::Acking;
use super::marks::Marks;
use crate::tests::drill::{connection, flow};
use crate::tests::frames::{packet, sent};
use crate::{AckBehaviour, Flow, SegmentKind, SenderMarks};

/// At the sender's capture point.
const OPENED: &str = "open 0.020\n";
/// At the receiver's.
const BESIDE_RECEIVER: &str = "open 0.0001 0.020\n";

fn acking(text: &str) -> AckBehaviour {
    flow(&format!("{OPENED}{text}")).acking
}

fn marks(text: &str) -> SenderMarks {
    flow(&format!("{OPENED}{text}")).marks
}

#[test]
fn stretch_acks_counted() {
    for (name, acks, stretch, longest) in [
        ("each", "0.12 < ack 1449\n0.121 < ack 2897", 0, 1_448),
        ("every second", "0.12 < ack 2897\n0.121 < ack 5793", 0, 2_896),
        ("more than two", "0.12 < ack 2898\n0.121 < ack 5793", 1, 2_897),
        ("all at once", "0.12 < ack 7241", 1, 7_240),
    ] {
        let found = acking(&format!("0.100 > 1:7241 clock 1\n{acks}"));
        assert_eq!((found.stretch.count, found.longest), (stretch, Bytes::new(longest)), "{name}");
    }
}

#[test]
fn ack_closing_a_gap_is_no_stretch_ack() {
    for sack in ["", "nosack"] {
        let text = format!(
            "0.000 > S {sack}\n0.020 < S\n0.0201 > ack 1
             0.100 > 1:14481 clock 1
             0.120 < ack 1449
             0.121 < ack 1449\n0.122 < ack 1449\n0.123 < ack 1449
             0.124 > 1449:2897 clock 9
             0.144 < ack 14481"
        );
        let found = flow(&text).acking;
        assert_eq!((found.stretch.count, found.longest), (0, Bytes::new(1_448)), "{sack}");
        assert_eq!((found.acks, found.duplicates), (2, 3), "{sack}");
    }
}

#[test]
fn unnecessary_duplicate_acks_counted() {
    for (name, dup, unnecessary) in [
        ("of data above a gap", "ack 1449 sack 2897-4345", 0),
        ("of data received twice", "ack 1449 dsack 1-1449", 0),
        ("of nothing", "ack 1449", 1),
        ("of a closed window", "ack 1449 win 0", 0),
    ] {
        let text = format!("0.1 > 1:5793\n0.12 < ack 1449 win 500\n0.13 < {dup} win 500");
        assert_eq!(acking(&text).unnecessary, unnecessary, "{name}");
    }
    let answers = "0.1 > 1:5793\n0.12 < ack 1449\n0.2 > 1:1449\n0.22 < ack 1449\n0.23 < ack 1449";
    // The first answers the retransmission, though without a D-SACK.
    assert_eq!(acking(answers).unnecessary, 1);
    let unsure = "0.1 > 1:5793\n0.12 < ack 1449\n0.13 < ack 1449";
    assert_eq!(flow(unsure).acking.unnecessary, 0, "who knows whether SACK is in use");
}

#[test]
fn delayed_acks_counted_only_at_the_receiver() {
    let text = "0.100 > 1:1449 clock 1
        0.1001 < ack 1449
        0.200 > 1449:2897 clock 2
        0.240 < ack 2897
        0.300 > 2897:5793 clock 3
        0.340 < ack 5793
        0.400 > 5793:7241 clock 4
        0.600 < ack 7241";
    let found = flow(&format!("{BESIDE_RECEIVER}{text}")).acking;
    // Not the one that waited for nothing, and not that of two segments.
    assert_eq!((found.delayed.count, found.delay_max), (2, Span::from_millis(200)));
    let elsewhere = acking(text);
    assert_eq!((elsewhere.delayed.count, elsewhere.delay_max), (0, Span::ZERO));
}

#[test]
fn flags_and_marks() {
    let found = marks(
        "0.100 > 1:2897 clock 1 psh
         0.101 > 2897:2900 clock 1 urg psh
         0.102 > 2900:4348 clock 1 ce
         0.120 < ack 4348",
    );
    assert_eq!(found.push, 3);
    assert_eq!((found.urgent.count, &found.urgent.frames[..]), (1, &[6][..]));
    assert_eq!((found.ce_marks.count, &found.ce_marks.frames[..]), (1, &[7][..]));
    assert_eq!(found.largest, Bytes::new(1_448));
}

#[test]
fn small_segments_in_flight() {
    for (name, text, small) in [
        ("alone", "0.1 > 1:101 clock 1", 0),
        ("after others", "0.1 > 1:101 clock 1\n0.101 > 101:201 clock 1", 1),
        ("after their ACK", "0.1 > 1:101 clock 1\n0.12 < ack 101\n0.121 > 101:201 clock 1", 0),
        ("a tail", "0.1 > 1:1600 clock 1", 1),
        ("sent again", "0.1 > 1:101 clock 1\n0.2 > 101:1549 clock 1\n0.9 > 1:101 clock 2", 0),
    ] {
        assert_eq!(marks(text).small_in_flight, small, "{name}");
    }
}

#[test]
fn nagle_against_delayed_acknowledgements() {
    // Write, write, read: the second write waits until the first is acknowledged, 40 ms late.
    let wait = "0.100 > 1:101 clock 1 psh\n0.160 < ack 101\n0.1601 > 101:201 clock 2 psh\n";
    let found = marks(wait);
    assert_eq!((found.nagle_waits.count, found.nagle_wait_time), (1, Span::from_micros(60_100)));
    for (name, text) in [
        ("not delayed", "0.1 > 1:101 clock 1\n0.121 < ack 101\n0.1211 > 101:201 clock 2"),
        ("sent later", "0.1 > 1:101 clock 1\n0.160 < ack 101\n0.165 > 101:201 clock 2"),
        ("a full one", "0.1 > 1:101 clock 1\n0.160 < ack 101\n0.1601 > 101:1549 clock 2"),
        ("reply", "0.1 > 1:101 clock 1\n0.160 < ack 101\n0.1601 < 1:50\n0.1602 > 101:201 clock 2"),
        ("while others fly", "0.1 > 1:201 clock 1\n0.160 < ack 101\n0.1601 > 201:301 clock 2"),
    ] {
        assert_eq!(marks(text).nagle_waits.count, 0, "{name}");
    }
}

/// What fills the window, or did not fit into the one before the ACK, did not wait by Nagle's rule.
#[test]
fn segment_that_waited_for_the_window_is_no_wait_by_nagle() {
    // Windows of 128 bytes each.
    for (name, before, after, waits) in [
        ("room", 8, 8, 1),
        ("fills the window", 8, 2, 0),
        ("within the window that was", 3, 8, 1),
        ("beyond the window that was", 2, 8, 0),
    ] {
        let text = format!(
            "0.050 > 1:1449 clock 1
             0.071 < ack 1449 win {before}
             0.100 > 1449:1549 clock 1
             0.160 < ack 1549 win {after}
             0.1601 > 1549:1805 clock 2"
        );
        assert_eq!(marks(&text).nagle_waits.count, waits, "{name}");
    }
}

#[test]
fn time_while_the_other_end_spoke_last() {
    for (name, text, listened) in [
        ("no answer", "0.1 > 1:101\n0.3 > 101:201", 0),
        ("an answer", "0.1 > 1:101\n0.15 < 1:1449\n0.17 < 1449:2897\n0.3 > 101:201", 70),
        ("an answer, and no more", "0.1 > 1:101\n0.15 < 1:1449", 0),
        ("asked first", "0.1 < 1:101\n0.3 > 1:101", 0),
        (
            "again without news",
            "0.1 > 1:101\n0.12 < ack 101\n0.15 < 1:51 acking 101\n0.2 > 101:201",
            50,
        ),
    ] {
        assert_eq!(marks(text).listened, Span::from_millis(listened), "{name}");
    }
}

#[test]
fn keep_alives_not_counted_as_data() {
    let (mut marks, mut flow) = (Marks::default(), Flow::default());
    for payload in [0, 1] {
        let probe = crate::packet::Packet { payload, ..packet(Instant::ZERO) };
        marks.on_send(&sent(&probe, 100, SegmentKind::KeepAlive), Some(1_448));
    }
    marks.finish(&mut flow);
    assert_eq!((flow.marks.keep_alives.count, flow.marks.largest), (2, Bytes::ZERO));
}

#[test]
fn expected_duplicates_are_bounded() {
    // The answer to a retransmission is expected until data sent after it are acknowledged.
    let text = "0.1 > 1:1449 clock 1
        0.5 > 1:1449 clock 2
        0.52 < ack 1449
        0.53 > 1449:2897 clock 3\n0.55 < ack 2897
        0.56 > 2897:7241 clock 4\n0.58 < ack 4345\n0.59 < ack 4345";
    assert_eq!(acking(text).unnecessary, 1);
}

#[test]
fn directions_are_independent() {
    let both = connection(&format!("{OPENED}0.1 > 1:101 psh\n0.12 < ack 101\n0.2 < 1:51 psh"));
    assert_eq!((both.forward.marks.push, both.reverse.marks.push), (1, 1));
    assert_eq!((both.forward.acking.acks, both.reverse.acking.acks), (1, 1));
    let mut empty = Flow::default();
    Acking::default().finish(&mut empty);
    assert_eq!(empty.acking, AckBehaviour::default());
}

/// On a short path a receiver that delays its ACKs by a few milliseconds is found, too.
#[test]
fn nagle_against_delayed_acknowledgements_on_a_short_path() {
    let waits = |round_trip: u64, delay: u64| {
        let micros = |at: u64| at as f64 / 1e6;
        let mut text = format!("open {}\n", micros(round_trip));
        let mut at = 100_000;
        for start in [1, 201, 401] {
            let (half, end) = (start + 100, start + 200);
            let acked = at + round_trip + delay;
            let again = acked + 30 + round_trip;
            for (at, sent) in [
                (at, format!("> {start}:{half} psh")),
                (acked, format!("< ack {half}")),
                (acked + 30, format!("> {half}:{end} psh")),
                (again, format!("< ack {end}")),
            ] {
                text += &format!("{} {sent}\n", micros(at));
            }
            at = again + 5_000;
        }
        flow(&text).marks.nagle_waits.count
    };
    for (round_trip, delay, expected) in [
        (500, 10_000, 3),
        (500, 15_000, 3),
        (500, 2_000, 0),
        (2_000, 10_000, 3),
        (2_000, 7_000, 0),
        (30_000, 15_000, 0),
        (30_000, 25_000, 3),
    ] {
        assert_eq!(waits(round_trip, delay), expected, "{delay} µs at {round_trip} µs");
    }
}

/// Turns of client and server, in all and prompt ones, of `count` requests `pause` ms after the
/// answer before, captured so far from the client, of a round trip of 40 ms.
fn turns(from_client: u64, pause: u64, count: u64) -> [(u64, u64); 2] {
    let seconds = |at: u64| at as f64 / 1e3;
    let (there, back) = (40 - from_client, from_client);
    let mut text = format!("open {} {}\n", seconds(there), seconds(40));
    let mut at = 1_000;
    for number in 0..count {
        let (start, end) = (1 + 100 * number, 101 + 100 * number);
        text += &format!("{} > {start}:{end} acking {start}\n", seconds(at));
        text += &format!("{} < {start}:{end} acking {end}\n", seconds(at + there));
        at += there + back + pause;
    }
    let both = connection(&text);
    [both.forward, both.reverse].map(|flow| (flow.marks.turns.count, flow.marks.prompt_turns))
}

#[test]
fn turns_counted_at_any_capture_point() {
    for from_client in [0, 5, 20, 39] {
        assert_eq!(turns(from_client, 1, 30), [(29, 29), (30, 30)], "{from_client} ms");
        // Somebody types.
        assert_eq!(turns(from_client, 100, 30), [(29, 0), (30, 30)], "{from_client} ms");
    }
}

#[test]
fn no_turns_where_data_flow_in_both_directions() {
    for (name, text) in [
        (
            "several requests in flight",
            "0.1 > 1:101\n0.101 > 101:201\n0.12 < 1:101 acking 101\n0.1201 > 201:301 acking 101
             0.1211 < 101:201 acking 201\n0.1212 > 301:401 acking 201",
        ),
        (
            "credit for a download, beside its receiver",
            "0.1 > 1:101\n0.12 < 1:2897 acking 101\n0.1205 > 101:131 acking 2897
             0.121 < 2897:5793 acking 101\n0.1215 > 131:161 acking 5793
             0.122 < 5793:8689 acking 101",
        ),
        (
            "beside its sender",
            "0.1 < 1:5793\n0.110 > 1:31 acking 2897\n0.1101 < 5793:8689 acking 31
             0.111 > 31:61 acking 5793\n0.1111 < 8689:11585 acking 61",
        ),
    ] {
        let both = connection(&format!("{OPENED}{text}"));
        let counts = [&both.forward, &both.reverse].map(|flow| flow.marks.turns.count);
        assert!(counts.iter().all(|&count| count <= 1), "{name}: {counts:?}");
    }
}

/// Beside the receiver what waited for the ACK arrives a round trip of 19.9 ms after it.
#[test]
fn nagle_against_delayed_acknowledgements_at_receiver() {
    for (second, waits) in [(0.1750, 0), (0.1799, 1), (0.1810, 1), (0.1850, 0)] {
        let text = format!(
            "{BESIDE_RECEIVER}
             0.120 > 1:101 clock 1 psh\n0.160 < ack 101\n{second} > 101:201 clock 2 psh"
        );
        assert_eq!(flow(&text).marks.nagle_waits.count, waits, "{second}");
    }
}

/// Only where classic ECN was agreed: Accurate ECN counts with the same bits (RFC 9768). And only
/// after an echoed mark: a window that a loss reduced has CWR, too (RFC 3168 section 6.1.2).
#[test]
fn window_reductions_counted_if_a_mark_was_echoed() {
    for (client, server, echo, reductions) in [
        ("011", "001", " ece", 1),
        ("011", "001", "", 0),
        ("111", "010", " ece", 0),
        ("000", "000", " ece", 0),
    ] {
        let text = format!(
            "0 > S bits {client}\n0.020 < S bits {server}\n0.0201 > ack 1
             0.100 > 1:2897 clock 1\n0.120 < ack 2897{echo}
             0.121 > 2897:4345 clock 2 cwr\n0.141 < ack 4345\n0.142 > 4345:5793 clock 3 cwr"
        );
        let found = flow(&text).marks.reductions;
        assert_eq!(found.count, reductions, "{client} {server}{echo}");
    }
}

/// An ACK without data may be marked, too: with data, or again and again without news.
#[test]
fn marks_of_acks_are_counted() {
    let text = "open 0.020\n0.100 > 1:2897\n0.120 < ack 1449 ce\n0.121 < ack 2897 ce
        0.122 < ack 2897 ce win 400\n0.200 > 2897:4345 ce\n0.220 < ack 4345";
    let connection = connection(text);
    let of = |flow: &crate::Flow| (flow.marks.ce_marks.count, flow.marks.marked_data);
    assert_eq!((of(&connection.forward), of(&connection.reverse)), ((1, true), (3, false)));
    assert!(connection.forward.marks.marked_data_acked);
}

/// RFC 3168 sections 6.1.2 and 6.1.3: the receiver echoes until CWR, the sender answers once.
#[test]
fn echoes_and_missing_answers_are_counted() {
    let agreed = "0 > S bits 011\n0.020 < S bits 001\n0.0201 > ack 1";
    for (name, text, echoes, not_reduced) in [
        (
            "answered",
            "0.100 > 1:101\n0.120 < ack 101 ece\n0.121 > 101:201 cwr\n0.3 > 201:301",
            1,
            0,
        ),
        (
            "not answered",
            "0.100 > 1:101\n0.120 < ack 101 ece\n0.121 > 101:201\n0.141 < ack 201 ece
             0.3 > 201:301\n0.32 < ack 301 ece\n0.4 > 301:401",
            3,
            2,
        ),
        // The handshake's ECE is no echo.
        ("no echo", "0.100 > 1:101\n0.120 < ack 101\n0.4 > 101:201", 0, 0),
    ] {
        let marks = flow(&format!("{agreed}\n{text}")).marks;
        assert_eq!((marks.echoes.count, marks.not_reduced.count), (echoes, not_reduced), "{name}");
    }
}

/// RFC 9768 sections 3.1.2 and 3.2.2: the SYN-ACK and the ACK behind it say how the SYN and the
/// SYN-ACK came; then AE, CWR and ECE count marked packets from 5 on, modulo 8.
#[test]
fn counter_of_accurate_ecn_is_read() {
    for (name, syn_ack, text, reported) in [
        ("none", "010", "0.0201 > ack 1 bits 010\n0.1 > 1:2897\n0.12 < ack 2897 bits 101", 0),
        ("two", "010", "0.0201 > ack 1 bits 010\n0.1 > 1:2897\n0.12 < ack 2897 bits 111", 2),
        ("through zero", "010", "0.0201 > ack 1\n0.1 > 1:7241\n0.12 < ack 7241 bits 001", 4),
        ("of the SYN", "110", "0.0201 > ack 1\n0.1 > 1:2897\n0.12 < ack 2897 bits 110", 1),
        (
            "one after the other, and an old ACK late",
            "011",
            "0.0201 > ack 1\n0.1 > 1:4345\n0.12 < ack 1449 bits 110\n0.121 < ack 4345 bits 111
             0.122 < ack 2897 bits 110\n0.2 > 4345:5793\n0.22 < ack 5793 bits 000",
            3,
        ),
        (
            "without news",
            "010",
            "0.0201 > ack 1\n0.1 > 1:1449\n0.12 < ack 1449 bits 101
             0.2 < 1:101 acking 1449 bits 101\n0.201 > ack 101 at 1449
             0.3 < ack 1449 at 101 bits 110",
            1,
        ),
    ] {
        let opened = format!("0 > S bits 111\n0.020 < S bits {syn_ack}\n{text}");
        let marks = flow(&opened).marks;
        assert_eq!(marks.reported.count, reported, "{name}");
        assert_eq!(marks.echoes.count, 0, "{name}");
        let classic = opened.replace("S bits 111", "S bits 011").replace(syn_ack, "001");
        assert_eq!(flow(&classic).marks.reported.count, 0, "{name}");
    }
    // The client's third packet, and what it counts for the server.
    let text = "0 > S bits 111\n0.02 < S bits 010\n0.0201 > ack 1 bits 110
        0.1 < 1:1449\n0.101 > ack 1449 bits 111\n0.102 > ack 1449 bits 111";
    let reported = connection(text).reverse.marks.reported;
    assert_eq!((reported.count, &reported.frames[..]), (2, &[3, 5][..]));
}
