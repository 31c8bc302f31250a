//! How the connection was opened.

use tcplab_units::{Bytes, Span};
use tcplab_wire::LinkType;

use super::super::drill::{analyze, connection, drill};
use crate::{Analyzer, EcnAgreement, FastOpen, Frame, Handshake, HandshakeKind};

fn handshake(text: &str) -> Handshake {
    connection(text).handshake
}

#[test]
fn every_kind() {
    use HandshakeKind::*;
    for (name, text, kind) in [
        ("opened before the capture", "0.1 > 1:1449\n0.11 < ack 1449", Unseen),
        ("no answer", "0 > S\n1 > S\n3 > S", Unanswered),
        ("client sends RST", "0 > S\n1 > R 1", Unanswered),
        ("refused", "0 > S\n0.01 < R 0 ack 1", Refused),
        ("refused, retried with the same ISN", "0 > S\n0.01 < R 0 ack 1\n0.5 > S", Refused),
        ("RST that acknowledges another SYN", "0 > S\n0.01 < R 0 ack 900", Unanswered),
        ("retry accepted", "0 > S\n0.01 < R 0 ack 1\n0.5 > S\n0.51 < S\n0.52 > ack 1", ThreeWay),
        ("client never answers", "0 > S\n0.01 < S\n1.01 < S", HalfOpen),
        ("client answers by RST", "0 > S\n0.01 < S\n0.02 > R 1", HalfOpen),
        ("three ways", "open 0.01 0.02", ThreeWay),
        ("third packet has data", "0 > S\n0.01 < S\n0.02 > 1:100", ThreeWay),
        ("SYN not captured", "0.01 < S\n0.02 > ack 1", ThreeWay),
        ("client only", "0 > S\n0.02 > ack 1\n0.03 > 1:100", ThreeWay),
        ("server only", "0.01 < S\n0.03 < 1:100", ThreeWay),
        ("SYN-ACK captured before SYN", "0 < S\n0.001 > S\n0.02 > ack 1", ThreeWay),
        ("ACK captured before SYN-ACK", "0 > S\n0.01 > ack 1\n0.011 < S", ThreeWay),
        ("simultaneous", "0 > S\n0.005 < S plain\n0.01 < S ack 1\n0.015 > S ack 1", Simultaneous),
        ("simultaneous, rest not captured", "0 > S\n0.005 < S plain", Simultaneous),
        (
            "SYN answered by SYN, then SYN-ACK",
            "0 > S\n0.01 < S plain\n0.02 > S ack 1\n0.03 < ack 1 at 1",
            Split,
        ),
        ("ACK, then SYN", "0 > S\n0.01 < ack 1 at 0\n0.02 < S plain\n0.03 > ack 1", Split),
    ] {
        assert_eq!(handshake(text).kind, kind, "{name}");
    }
}

/// SYN-ACKs after the client's ACK, until the server answers: it has not accepted the connection.
#[test]
fn not_accepted() {
    let data = "0.041 > 1:101\n0.3 > 1:101\n1.04 < S\n1.0401 > ack 1\n1.1 > 1:101";
    for (name, text, frames, accepted) in [
        ("at the client", format!("open 0.040\n{data}\n1.14 < ack 101"), &[6][..], Some(9)),
        ("at the server", format!("open 0.0001 0.040\n{data}\n1.1001 < ack 101"), &[6], Some(9)),
        ("twice", format!("open 0.040\n{data}\n3.1 < S\n3.2 < 1:9 acking 101"), &[6, 9], Some(10)),
        ("never", format!("open 0.040\n{data}"), &[6], None),
        ("refused in the end", format!("open 0.040\n{data}\n1.2 < R 1"), &[6], None),
        ("at once", "open 0.040\n0.041 > 1:101\n0.081 < 1:9 acking 101".to_owned(), &[], None),
        ("a copy of the SYN-ACK", "open 0.040\n0.041 < S\n0.05 > 1:101".to_owned(), &[], None),
        // The server's timer ran out while the ACK was on its way.
        ("a long way", "open 1.200\n2.200 < S\n2.2001 > ack 1".to_owned(), &[], None),
        ("a lost ACK", "0 > S\n0.0001 < S\n1.0001 < S\n1.04 > ack 1".to_owned(), &[], None),
    ] {
        let found = handshake(&text);
        assert_eq!(found.not_accepted.frames, frames, "{name}");
        assert_eq!(found.accepted.map(|(_, frame)| frame), accepted, "{name}");
    }
}

#[test]
fn round_trips() {
    let cases: &[(&str, &str, Option<u64>)] = &[
        ("at the client", "open 0.01", Some(10_100)),
        ("at the server", "open 0.0001 0.0101", Some(10_100)),
        ("in the middle", "open 0.004 0.0101", Some(10_100)),
        ("SYN retransmitted", "0 > S\n1 > S\n1.01 < S\n1.011 > ack 1", Some(11_000)),
        (
            "echo of the second SYN",
            "0 > S clock 100\n1 > S clock 1100\n1.01 < S clock 5 echo 1100\n1.011 > ack 1 echo 5",
            Some(11_000),
        ),
        (
            "echo of the first SYN: ambiguous",
            "0 > S clock 100\n1 > S clock 1100\n1.01 < S clock 5 echo 100\n1.011 > ack 1 echo 5",
            None,
        ),
        (
            "at the server, SYN-ACK lost",
            "0 > S\n0.0001 < S\n1.0001 < S\n1.0201 > ack 1",
            Some(20_100),
        ),
        (
            "at the server, echo of the second SYN-ACK",
            "0 > S clock 9\n0.0001 < S clock 100 echo 9\n1.0001 < S clock 1100 echo 9
             1.01 > S clock 1009\n1.0101 < S clock 1110 echo 1009\n1.0201 > ack 1 echo 1100",
            Some(20_100),
        ),
        ("SYN not captured", "0.01 < S\n0.011 > ack 1", None),
        ("no answer", "0 > S\n1 > S", None),
    ];
    for (name, text, micros) in cases {
        assert_eq!(handshake(text).round_trip, micros.map(Span::from_micros), "{name}");
    }
}

#[test]
fn syn_options_and_retransmissions_recorded() {
    let seen = handshake(
        "0 > S mss 1300 win 9
         1 > S mss 536 win 9
         1.01 < S noscale nosack clock 1 echo 0 win 77
         2.01 < S noscale nosack clock 2 echo 0 win 77
         2.02 > ack 1
         3.00 > S mss 9000",
    );
    assert_eq!((seen.client_repeats, seen.server_repeats), (2, 1));
    // The SYN that counts is the last before the handshake's end.
    assert_eq!((seen.client.mss, seen.client.window), (Some(536), 9));
    assert_eq!((seen.client.window_scale, seen.client.sack_permitted), (Some(7), true));
    assert_eq!((seen.server.window_scale, seen.server.sack_permitted), (None, false));
    assert_eq!((seen.server.timestamps, seen.client.timestamps), (true, false));
    assert_eq!(seen.server.window, 77);
    let times = [seen.syn, seen.syn_ack, seen.opened].map(|at| at.unwrap().as_nanos());
    assert_eq!(times, [0, 1_010_000_000, 2_020_000_000]);
}

/// A duplicate is no retransmission: a SYN's timer is a second (RFC 6298 section 2.1).
#[test]
fn syn_captured_twice_counts_once() {
    let copies = "0 > S\n0.0003 > S\n0.02 < S\n0.0203 < S\n0.0204 > ack 1";
    for (name, text, repeats, micros) in [
        ("duplicates", copies, (0, 0), 20_400),
        (
            "duplicates with an identification",
            "0 > S id 7\n0.005 > S id 7\n0.02 < S id 9\n0.0225 < S id 9\n0.023 > ack 1",
            (0, 0),
            23_000,
        ),
        ("SYN retransmitted", "0 > S\n1 > S\n1.02 < S\n1.0201 > ack 1", (1, 0), 20_100),
        ("SYN-ACK retransmitted", "0 > S\n0.02 < S\n1.02 < S\n1.0201 > ack 1", (0, 1), 20_100),
    ] {
        let seen = handshake(text);
        assert_eq!((seen.client_repeats, seen.server_repeats), repeats, "{name}");
        assert_eq!(seen.round_trip, Some(Span::from_micros(micros)), "{name}");
    }
}

#[test]
fn ecn() {
    use EcnAgreement::*;
    // The client's bits, the server's: AE, CWR, ECE (RFC 3168 6.1.1, RFC 9768 table 2).
    for (client, server, agreement) in [
        ("000", "000", NotAsked),
        ("000", "001", NotAsked),
        ("001", "001", NotAsked),
        ("011", "001", Classic),
        ("011", "000", Refused),
        ("011", "011", Refused),
        ("111", "010", Accurate),
        ("111", "011", Accurate),
        ("111", "100", Accurate),
        ("111", "110", Accurate),
        ("111", "101", Accurate),
        ("111", "001", Classic),
        ("111", "000", Refused),
        ("111", "111", Refused),
    ] {
        let text = format!("0 > S bits {client}\n0.01 < S bits {server}\n0.02 > ack 1");
        assert_eq!(handshake(&text).ecn, agreement, "{client} {server}");
    }
    assert_eq!(handshake("0.01 < S bits 001\n0.02 > ack 1").ecn, Unknown);
    assert_eq!(handshake("0 > S bits 011").ecn, Unknown);
    for (name, text, agreement) in [
        ("only the SYN without was answered", "0 > S bits 111\n1 > S\n1.1 < S", GivenUp),
        ("as Linux does", "0 > S bits 011\n1 > S bits 011\n3 > S\n3.1 < S", GivenUp),
        ("the first was answered late", "0 > S bits 011\n1 > S\n1.1 < S bits 001", Classic),
        (
            "the first was answered late, by timestamps",
            "0 > S bits 011 clock 5\n1 > S clock 9\n1.1 < S clock 1 echo 5",
            Refused,
        ),
        ("asked again", "0 > S bits 011\n1 > S bits 011\n1.1 < S", Refused),
        ("no answer", "0 > S bits 011\n1 > S", Unknown),
    ] {
        assert_eq!(handshake(&format!("{text}\n3.2 > ack 1")).ecn, agreement, "{name}");
    }
}

#[test]
fn fast_open() {
    let asked = FastOpen::default();
    let cookie = FastOpen { cookie_sent: true, data: Bytes::new(100), ..asked };
    let given = FastOpen { cookie_given: true, ..asked };
    let accepted = FastOpen { accepted: true, ..cookie };
    let no_cookie = FastOpen { cookie_sent: false, ..accepted };
    for (name, text, expected) in [
        ("not asked for", "0 > S\n0.01 < S", None),
        ("asked for", "0 > S option 2202\n0.01 < S", Some(asked)),
        ("given", "0 > S option 2202\n0.01 < S option 220a0102030405060708", Some(given)),
        (
            "in the experimental form",
            "0 > S option fe04f989\n0.01 < S option fe0cf9890102030405060708",
            Some(given),
        ),
        (
            "data with a cookie, accepted",
            "0 > S option 220a0102030405060708 data 100\n0.01 < S ack 101",
            Some(accepted),
        ),
        (
            "data with a cookie, not accepted",
            "0 > S option 220a0102030405060708 data 100\n0.01 < S ack 1\n0.02 > 1:101",
            Some(cookie),
        ),
        (
            "retransmitted without, the first answered",
            "0 > S option 220a0102030405060708 data 100\n1 > S\n1.01 < S ack 101",
            Some(accepted),
        ),
        (
            "only the SYN without was answered",
            "0 > S option 220a0102030405060708 data 100\n1 > S\n1.01 < S\n1.02 > 1:101",
            Some(FastOpen { given_up: true, ..cookie }),
        ),
        (
            "retransmitted without, the first answered by timestamps",
            "0 > S option 220a0102030405060708 data 100 clock 5\n1 > S clock 9
             1.01 < S clock 1 echo 5\n1.02 > 1:101",
            Some(cookie),
        ),
        ("data without a cookie", "0 > S data 100\n0.01 < S ack 101", Some(no_cookie)),
        ("a cookie of 3 bytes is none", "0 > S option 2205010203\n0.01 < S", None),
        ("another experiment", "0 > S option fe04e2d4\n0.01 < S", None),
    ] {
        assert_eq!(handshake(text).fast_open, expected, "{name}");
    }
}

#[test]
fn multipath_needs_both_ends() {
    for (text, multipath) in [
        ("0 > S option 1e040001\n0.01 < S option 1e0c00010102030405060708", true),
        ("0 > S option 1e040001\n0.01 < S", false),
        ("0 > S\n0.01 < S", false),
    ] {
        assert_eq!(handshake(text).multipath, multipath, "{text}");
    }
}

/// Each option that the capture cut off is unknown; nothing is concluded from its absence.
#[test]
fn truncated_options_unknown() {
    let packets = drill("0 > S clock 1\n0.01 < S\n0.02 > ack 1\n0.03 < ack 1 win 3", 1_000);
    for kept in 40..=packets[0].bytes.len() {
        let mut analyzer = Analyzer::new();
        for (index, packet) in packets.iter().enumerate() {
            let len = if index == 0 { kept } else { packet.bytes.len() };
            let whole = Frame::whole(packet.time_ns, LinkType::RawIp, &packet.bytes);
            analyzer.packet(&Frame { captured: &packet.bytes[..len], ..whole });
        }
        let connection = analyzer.finish().connections.remove(0);
        let client = &connection.handshake.client;
        let whole = kept == packets[0].bytes.len();
        assert!(client.seen);
        assert_eq!(client.cut, !whole, "{kept}");
        // The last window is scaled by the server's 7 if the client's offer is known.
        let window = connection.forward.acks.last().unwrap().window;
        let known = client.window_scale.is_some();
        assert_eq!(window, known.then(|| Bytes::new(3 << 7)), "{kept}");
        assert!(known || !whole);
    }
    let whole = analyze(&packets).connections.remove(0);
    assert!(!whole.handshake.client.cut);
}

/// The IP header of the SYN claims 12 bytes that its frame has not.
#[test]
fn no_fast_open_by_bytes_that_no_frame_has() {
    let mut packets = drill("open 0.020\n0.100 > 1:101\n0.120 < ack 101", 1_000);
    let claimed = packets[0].bytes.len() as u16 + 12;
    packets[0].bytes[2..4].copy_from_slice(&claimed.to_be_bytes());
    let trace = analyze(&packets);
    let connection = &trace.connections[0];
    assert_eq!(connection.handshake.fast_open, None);
    assert_eq!(connection.forward.totals.data.as_u64(), 100);
    assert_eq!(trace.notes.len(), 1, "{:?}", trace.notes);
}
