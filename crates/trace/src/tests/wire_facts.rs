//! Numbers from headers: windows, wrapping, the handshake, duplicates, flight.

use std::net::Ipv4Addr;

use tcplab_units::{Bytes, Offset, Span};
use tcplab_wire::{Ecn, Ipv4Repr, LinkType, SeqNumber, TcpFlags, TcpRepr};

use super::drill::{analyze, connection, drill, flow};
use crate::{Analyzer, CapturePoint, Frame, Range, SegmentKind};

fn range(start: u64, end: u64) -> Range {
    Range { start: Offset::new(start), end: Offset::new(end) }
}

#[test]
fn handshake_and_windows() {
    let connection = connection(
        "open 0.010
         0.100 > 1:1449
         0.110 < ack 1449 win 500",
    );
    assert_eq!(connection.client.port(), 40_000);
    assert_eq!(connection.handshake.round_trip, Some(Span::from_micros(10_100)));
    assert_eq!(connection.handshake.client.window_scale, Some(7));
    let windows: Vec<_> = connection.forward.acks.iter().map(|a| a.window.unwrap()).collect();
    // The SYN-ACK's window is not scaled.
    assert_eq!(windows, [Bytes::new(500), Bytes::new(500 << 7)]);
    assert_eq!(connection.forward.capture_point, CapturePoint::Sender);
    assert_eq!(connection.reverse.capture_point, CapturePoint::Receiver);
}

#[test]
fn midstream_start_assumes_nothing() {
    let flow = flow(
        "0.100 > 28961:34753 every 0.001
         0.110 < ack 30409 win 500
         0.112 < ack 30409 sack 31857-34753
         0.1121 > 30409:31857
         0.1221 < ack 34753
         0.130 > 34753:36201
         0.140 < ack 36201",
    );
    assert_eq!(flow.segments[0].range, range(1, 1_449));
    assert!(flow.acks.iter().all(|ack| ack.window.is_none()));
    assert_eq!(flow.acks[1].sack, [range(2_897, 5_793)]);
    assert_eq!(flow.episodes.len(), 1);
}

#[test]
fn offsets_continue_across_wrap() {
    let text = "open 0.010
         0.100 > 1:14481 every 0.001
         0.110 < acks 1449 4345 every 0.001
         0.114 < ack 4345 sack 7241-... 14481 every 0.001
         0.1141 > 4345:7241
         0.1241 < ack 5793 sack 7241-14481
         0.1242 < ack 14481
         0.130 > 14481:15929
         0.140 < ack 15929";
    let analyzed = |isn| {
        let mut connection = analyze(&drill(text, isn)).connections.remove(0);
        let initial = connection.forward.initial_sequence.take();
        assert_eq!(initial, Some(SeqNumber::new(isn)));
        connection.reverse.initial_sequence = None;
        connection
    };
    let plain = analyzed(1_000);
    for isn in [u32::MAX, u32::MAX - 1, u32::MAX - 2_000, u32::MAX - 5_000, 1 << 31] {
        assert_eq!(analyzed(isn), plain, "{isn}");
    }
    assert_eq!(plain.forward.episodes[0].lost.len(), 2);
}

#[test]
fn in_flight_excludes_sacked() {
    let flow = flow(
        "open 0.010
         0.100 > 1:5793 every 0.001
         0.110 < ack 1449
         0.112 < ack 1449 sack 2897-4345
         0.1121 > 5793:7241
         0.1130 < ack 1449 sack 2897-5793
         0.1131 > 1449:2897",
    );
    let flights: Vec<u64> = flow.segments.iter().map(|s| s.in_flight.as_u64()).collect();
    assert_eq!(flights, [1, 1_448, 2_896, 4_344, 5_792, 4_344, 2_896]);
    let left = flow.acks.iter().map(|ack| ack.in_flight.as_u64()).collect::<Vec<_>>();
    assert_eq!(left, [0, 4_344, 2_896, 2_896]);
    assert_eq!(flow.totals.max_in_flight, Bytes::new(5_792));
    assert_eq!(flow.totals.unique, Bytes::new(7_240));
    assert_eq!(flow.totals.retransmitted, Bytes::new(1_448));
}

#[test]
fn duplicate_acks_follow_rfc_5681() {
    for (name, last, duplicate) in [
        ("the same again", "0.112 < ack 1449 win 500", true),
        ("another window", "0.112 < ack 1449 win 600", false),
        ("another window, but a new block", "0.112 < ack 1449 win 600 sack 2897-4345", true),
        ("it moves", "0.112 < ack 2897 win 500", false),
        ("it carries data", "0.112 < 1:100", false),
    ] {
        let text = format!(
            "open 0.010
             0.100 > 1:5793 every 0.001
             0.110 < ack 1449 win 500
             {last}"
        );
        assert_eq!(flow(&text).acks.last().unwrap().duplicate, duplicate, "{name}");
    }
    let nothing_outstanding = "0.100 > 1:1449\n0.110 < ack 1449\n0.111 < ack 1449";
    assert!(!flow(nothing_outstanding).acks[1].duplicate);
}

#[test]
fn dsack_first_block_below_or_inside() {
    for (ack, dsack, sack) in [
        ("ack 5793 dsack 1-1449", Some(range(1, 1_449)), vec![]),
        (
            "ack 1449 dsack 2897-4345 sack 2897-5793",
            Some(range(2_897, 4_345)),
            vec![range(2_897, 5_793)],
        ),
        ("ack 1449 sack 2897-4345", None, vec![range(2_897, 4_345)]),
        ("ack 1449 sack 4345-5793 2897-4345", None, vec![range(4_345, 5_793), range(2_897, 4_345)]),
    ] {
        let flow = flow(&format!("open 0.010\n0.100 > 1:5793\n0.110 < {ack}"));
        let last = flow.acks.last().unwrap();
        assert_eq!((last.dsack, &last.sack), (dsack, &sack), "{ack}");
    }
}

#[test]
fn receiver_retransmission_without_episode() {
    let connection = connection(
        "open 0.0001 0.010
         0.100 > 1:1449
         0.1001 < ack 1449
         0.102 > 2897:7241 every 0.001
         0.1021 < ack 1449 sack 2897-... 7241 every 0.001
         0.120 > 1449:2897
         0.1201 < ack 7241
         0.130 > 7241:8689
         0.1301 < ack 8689",
    );
    let flow = &connection.forward;
    assert_eq!(flow.capture_point, CapturePoint::Receiver);
    let again: Vec<_> = flow
        .segments
        .iter()
        .filter(|s| s.kind == SegmentKind::FastRetransmission)
        .map(|s| s.range)
        .collect();
    assert_eq!(again, [range(1_449, 2_897)]);
    assert!(flow.episodes.is_empty());
    assert_eq!((flow.totals.retransmissions, flow.totals.unique), (1, Bytes::new(8_688)));
}

#[test]
fn another_syn_is_another_connection() {
    let mut packets = drill("open 0.010 0.020\n0.1 > 1:1449", 1_000);
    packets.extend(drill("0.5 > S\n1.5 > S\n1.510 < S\n1.520 > ack 1\n1.6 > 1:1449", 900_000));
    let trace = analyze(&packets);
    assert_eq!(trace.connections.len(), 2);
    assert_eq!(trace.connections[1].handshake.round_trip, Some(Span::from_millis(20)));
    assert!(trace.connections.iter().all(|c| c.forward.totals.data == Bytes::new(1_448)));
}

#[test]
fn with_epoch_captures_share_zero() {
    let packets = drill("open 0.010\n", 1_000);
    let (zero, later) = (Span::from_secs(1).as_nanos(), Span::from_millis(1_050).as_nanos());
    let mut analyzer = Analyzer::new().with_epoch(zero);
    for packet in &packets {
        analyzer.packet(&Frame::whole(packet.time_ns + later, LinkType::RawIp, &packet.bytes));
    }
    let trace = analyzer.finish();
    assert_eq!(trace.epoch_nanos, zero);
    assert_eq!(trace.connections[0].first.as_nanos(), Span::from_millis(50).as_nanos());
}

/// The keep-alive of "TCP Socket Options in Android" (V. Geraskin), test 1b, without Ethernet.
const DOCUMENTED_KEEP_ALIVE: [u8; 52] = [
    0x45, 0x00, 0x00, 0x34, 0x38, 0xe5, 0x40, 0x00, 0x40, 0x06, 0x7f, 0xbf, 0xc0, 0xa8, 0x00, 0x6a,
    0xc0, 0xa8, 0x00, 0x65, 0xa1, 0x99, 0x22, 0x6b, 0x2e, 0x46, 0x64, 0x28, 0x9b, 0x5e, 0xec, 0x7e,
    0x80, 0x10, 0x00, 0xe5, 0xec, 0x51, 0x00, 0x00, 0x01, 0x01, 0x08, 0x0a, 0x02, 0xa2, 0x60, 0x00,
    0x08, 0x52, 0xbe, 0x21,
];

/// By the text it is packet 4, after the handshake; alone it is an ordinary ACK.
#[test]
fn documented_keep_alive_one_below_next_byte() {
    let client = (Ipv4Addr::new(192, 168, 0, 106), 41_369);
    let server = (Ipv4Addr::new(192, 168, 0, 101), 8_811);
    let packet = |from: (Ipv4Addr, u16), to: (Ipv4Addr, u16), seq, ack, flags: TcpFlags| {
        let tcp = TcpRepr {
            src_port: from.1,
            dst_port: to.1,
            seq: SeqNumber::new(seq),
            ack: SeqNumber::new(ack),
            flags,
            window: 14_600,
            window_scale: flags.contains(TcpFlags::SYN).then_some(6),
            ..TcpRepr::default()
        };
        let ip = Ipv4Repr { src: from.0, dst: to.0, id: 0, ttl: 64, ecn: Ecn::NotEct };
        tcp.to_packet(&ip.into(), &[])
    };
    let handshake = [
        packet(client, server, 0x2e46_6428, 0, TcpFlags::SYN),
        packet(server, client, 0x9b5e_ec7d, 0x2e46_6429, TcpFlags::SYN | TcpFlags::ACK),
        packet(client, server, 0x2e46_6429, 0x9b5e_ec7e, TcpFlags::ACK),
    ];
    let kinds = |before: &[Vec<u8>]| {
        let times = [0, 100_000, 200_000, 7_200_000_000_000];
        let packets = before.iter().map(Vec::as_slice).chain([&DOCUMENTED_KEEP_ALIVE[..]]);
        let captured = times[4 - before.len() - 1..]
            .iter()
            .zip(packets)
            .map(|(&time_ns, bytes)| super::drill::Captured { time_ns, bytes: bytes.to_vec() });
        let trace = analyze(&captured.collect::<Vec<_>>());
        let flow = &trace.connections[0].forward;
        flow.segments.iter().filter(|s| !s.syn).map(|s| s.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&handshake), [SegmentKind::KeepAlive]);
    assert_eq!(kinds(&[]), []);
}
