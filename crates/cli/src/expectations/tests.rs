use std::collections::BTreeMap;
use std::net::SocketAddr;

use tcplab_recording::{DirectionTraffic, WorldRecord};
use tcplab_trace::{Close, SegmentKind, Totals};
use tcplab_units::Offset;

use super::*;

fn millis(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

/// 1 MB in 800 ms, 10 of 1,000 segments sent twice.
fn seen() -> Seen {
    let data = DataTime { first: Some(millis(200)), last: millis(1_000), ends: BTreeMap::new() };
    let near = AtNear {
        connections: 1,
        opened: 1,
        resets: 0,
        lasting: Some((millis(0), millis(1_200))),
        acked: Bytes::new(1_000_000),
        data,
        datagrams: 0,
    };
    let mut sent = Sent::default();
    for (segments, retransmissions, rtt) in [(600, 10, 20), (400, 0, 40)] {
        let rtt = Some(Span::from_millis(rtt));
        sent.add(&Sent {
            segments,
            retransmissions,
            rtt_sum: rtt.map_or(0, |rtt| u128::from(rtt.as_nanos()) * 10),
            rtt_samples: 10,
            min: rtt,
            median: rtt,
            p95: rtt,
            max: rtt,
        });
    }
    Seen { near, sent }
}

fn traffic() -> Traffic {
    let forward = DirectionTraffic { packets_in: 200, dropped: 3, ..DirectionTraffic::default() };
    Traffic { at: millis(2_000), forward, reverse: DirectionTraffic::default() }
}

fn expectations(texts: &[&str]) -> Vec<Expectation> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn judged<'a>(all: &'a [Expectation], seen: &Result<Seen, String>) -> Vec<Judged<'a>> {
    let judged = |expectation| Judged {
        expectation,
        measured: measure(expectation, &traffic(), seen.as_ref()),
    };
    all.iter().map(judged).collect()
}

#[test]
fn each_quantity_is_judged() {
    let all = expectations(&[
        "goodput >= 10 Mbit/s",
        "goodput < 10 Mbit/s",
        "retransmissions <= 1 %",
        "retransmissions < 10",
        "rtt.mean == 30 ms",
        "rtt.median <= 30 ms",
        "rtt.min == 20 ms",
        "rtt.max == 40 ms",
        "connections == 1",
        "resets == 0",
        "drops == 1.5 %",
        "duration <= 1199999999 ns",
        "bytes == 1 MB",
    ]);
    assert_eq!(
        lines(&judged(&all, &Ok(seen())), false).join("\n"),
        "\
tcplab: quantity         expected          measured
tcplab: goodput          >= 10 Mbit/s      10.0 Mbit/s  ✓
tcplab: goodput          < 10 Mbit/s       10 Mbit/s    ✗
tcplab: retransmissions  <= 1 %            1.00 %       ✓
tcplab: retransmissions  < 10              10           ✗
tcplab: rtt.mean         == 30 ms          30 ms        ✓
tcplab: rtt.median       <= 30 ms          40 ms        ✗
tcplab: rtt.min          == 20 ms          20 ms        ✓
tcplab: rtt.max          == 40 ms          40 ms        ✓
tcplab: connections      == 1              1            ✓
tcplab: resets           == 0              0            ✓
tcplab: drops            == 1.5 %          1.50 %       ✓
tcplab: duration         <= 1.199999999 s  1.2 s        ✗
tcplab: bytes            == 1 MB           1.00 MB      ✓"
    );
}

/// Of 20 packets 12 are dropped, and of 40 copies 28.
#[test]
fn drops_of_copies_are_no_share_of_what_was_sent() {
    let forward = DirectionTraffic {
        packets_in: 20,
        packets_out: 20,
        made_out: 12,
        dropped: 40,
        made_dropped: 28,
        ..DirectionTraffic::default()
    };
    let traffic = Traffic { at: millis(1), forward, reverse: DirectionTraffic::default() };
    for (text, expected) in
        [("drops <= 60 %", Amount::Percent(60.0)), ("drops < 9", Amount::Count(12))]
    {
        let measured = measure(&text.parse().unwrap(), &traffic, Err(&"no capture".into()));
        assert_eq!(measured, Ok(expected), "{text}");
    }
}

#[test]
fn what_was_not_measured_is_unknown() {
    let all = expectations(&["goodput < 1 Gbit/s", "rtt.max < 1 h", "resets == 0", "drops <= 3"]);
    let of =
        |seen| -> Vec<_> { judged(&all, &seen).iter().map(|one| one.verdict().sign()).collect() };
    let mut idle = seen();
    (idle.near.connections, idle.near.opened) = (0, 0);
    assert_eq!(of(Ok(idle)), ["unknown", "unknown", "✓", "✓"]);
    let mut few = seen();
    (few.near.acked, few.sent.max) = (Bytes::new(100), None);
    assert_eq!(of(Ok(few)), ["unknown", "unknown", "✓", "✓"]);
    assert_eq!(of(Err("no capture".into())), ["unknown", "unknown", "unknown", "✓"]);
    let unknown = judged(&all, &Err("no capture".into()));
    assert!(!unknown[0].is_kept());
    let quiet = lines(&unknown, true);
    assert_eq!(quiet.len(), 4, "the heading, and all but what was kept: {quiet:?}");
    assert!(lines(&unknown[3..], true).is_empty());
}

#[test]
fn document_has_numbers_with_units() {
    let all = expectations(&["rtt.min >= 25 ms", "retransmissions <= 1 %"]);
    let document = |seen| -> Vec<_> { judged(&all, &seen).iter().map(Judged::document).collect() };
    assert_eq!(
        document(Ok(seen()))[0],
        json!({
            "quantity": "rtt.min", "expectation": "rtt.min >= 25 ms", "verdict": "failed",
            "expected_ns": 25_000_000, "measured_ns": 20_000_000,
        })
    );
    assert_eq!(
        document(Err("no capture".into()))[1],
        json!({
            "quantity": "retransmissions", "expectation": "retransmissions <= 1 %",
            "verdict": "unknown", "expected_percent": 1.0, "not_measured": "no capture",
        })
    );
}

/// A FIN and what answers it are no data, and come when the program likes.
#[test]
fn data_last_until_the_last_is_acknowledged() {
    let flow = FlowId { connection: 3, forward: true };
    let segment = |at, range: (u64, u64), payload, fin| Segment {
        at: millis(at),
        frame: 1,
        flags: tcplab_wire::TcpFlags::NONE,
        range: tcplab_trace::Range { start: Offset::new(range.0), end: Offset::new(range.1) },
        payload: Bytes::new(payload),
        syn: false,
        fin,
        psh: false,
        kind: SegmentKind::New,
        timer: None,
        proof: tcplab_trace::Proof::default(),
        in_flight: Bytes::ZERO,
        comment: None,
        dropped: false,
    };
    let ack = |at, ack| Ack {
        at: millis(at),
        frame: 1,
        flags: tcplab_wire::TcpFlags::NONE,
        ack: Offset::new(ack),
        window: None,
        sack: Vec::new(),
        dsack: None,
        duplicate: false,
        copied: false,
        reset: false,
        zero: false,
        has_data: false,
        in_flight: Bytes::ZERO,
        comment: None,
        dropped: false,
    };
    let mut data = DataTime::default();
    data.segment(flow, &segment(0, (0, 1), 0, false));
    data.ack(flow, &ack(10, 1));
    data.segment(flow, &segment(20, (1, 1_001), 1_000, false));
    data.segment(flow, &segment(21, (1_001, 2_002), 1_000, true));
    data.ack(flow, &ack(30, 1_001));
    data.ack(flow, &ack(40, 2_001));
    data.ack(flow, &ack(900, 2_002));
    assert_eq!((data.first, data.last), (Some(millis(20)), millis(40)));
    data.forget(3);
    assert!(data.ends.is_empty());
}

/// Whoever connects: at each end what this end sends counts.
#[test]
fn each_capture_gives_what_its_end_sends() {
    let [near_side, far_side]: [SocketAddr; 2] =
        ["10.98.0.1:40000", "10.98.0.2:80"].map(|end| end.parse().unwrap());
    let sends = |segments| Flow {
        totals: Totals { segments, ..Totals::default() },
        round_trips: RoundTrips { min: Some(Span::from_millis(segments)), ..RoundTrips::default() },
        ..Flow::default()
    };
    let addresses = [near_side, far_side].map(|end| Some(end.ip()));
    for (end, ends, segments) in [
        (Endpoint::Client, (near_side, far_side), 7),
        (Endpoint::Server, (near_side, far_side), 5),
        (Endpoint::Client, (far_side, near_side), 5),
        (Endpoint::Server, (far_side, near_side), 7),
    ] {
        let mut connection = Connection::between(ends.0, ends.1);
        (connection.forward, connection.reverse) = (sends(7), sends(5));
        connection.handshake.kind = HandshakeKind::ThreeWay;
        connection.life.close = Some(Close {
            kind: CloseKind::Reset,
            by: Endpoint::Client,
            at: millis(0),
            frame: 1,
            reset_by: Some(Endpoint::Client),
            reset_at: Some(millis(0)),
            reset_frame: Some(1),
            reset_ttls: None,
            unread: None,
            idle: None,
            refused: None,
            reopened: None,
        });
        let mut sink = OneEnd::new(end, addresses);
        sink.connection(0, &connection);
        assert_eq!(sink.sent.segments, segments, "{end:?} of {ends:?}");
        assert_eq!(sink.sent.min, Some(Span::from_millis(segments)));
        assert_eq!((sink.all.connections, sink.all.opened, sink.all.resets), (1, 1, 1));
    }
}

/// Behind the far end of an inner shell is an outer path.
#[test]
fn rtt_is_of_senders_that_stand_here() {
    let [near_side, outer]: [SocketAddr; 2] =
        ["10.98.128.1:40000", "10.98.0.2:80"].map(|end| end.parse().unwrap());
    let ends = ["10.98.128.1", "10.98.128.2"].map(|end| end.parse().ok());
    let rtt = Some(Span::from_millis(10));
    let flow = Flow {
        totals: Totals { segments: 5, ..Totals::default() },
        round_trips: RoundTrips { min: rtt, ..RoundTrips::default() },
        ..Flow::default()
    };
    let mut connection = Connection::between(near_side, outer);
    (connection.forward, connection.reverse) = (flow.clone(), flow);
    for (end, seen) in [(Endpoint::Client, rtt), (Endpoint::Server, None)] {
        let mut sink = OneEnd::new(end, ends);
        sink.connection(0, &connection);
        assert_eq!((sink.sent.segments, sink.sent.min), (5, seen), "{end:?}");
    }
}

#[test]
fn capture_without_its_beginning_is_not_judged() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("client.pcapng");
    std::fs::write(&file, [0; 64]).unwrap();
    assert!(is_whole(&file).unwrap_err().to_string().contains("use --capture DIR"));
    std::fs::write(&file, [0x0a, 0x0d, 0x0d, 0x0a]).unwrap();
    is_whole(&file).unwrap();
    let all = expectations(&["connections == 0"]);
    let (traffic, world) = (traffic(), WorldRecord::default());
    let summary = Summary { traffic, world, warnings: Vec::new() };
    let judged = judge(&all, &summary, Some(home.path()));
    assert_eq!(judged[0].verdict(), Verdict::Unknown, "there is one capture alone");
}

/// Of captures whose beginning was given back to the disk, nothing is judged but what was counted.
#[test]
fn part_of_the_packets_decides_nothing() {
    let home = tempfile::tempdir().unwrap();
    for end in ["client", "server"] {
        let file = File::create(home.path().join(format!("{end}.pcapng"))).unwrap();
        // A hole, as `testbed::trimmed` leaves it.
        file.set_len(100 << 20).unwrap();
    }
    let all =
        expectations(&["drops <= 3", "bytes >= 1 kB", "retransmissions <= 1 %", "rtt.min >= 0s"]);
    let summary =
        Summary { traffic: traffic(), world: WorldRecord::default(), warnings: Vec::new() };
    let judged = judge(&all, &summary, Some(home.path()));
    let verdicts: Vec<Verdict> = judged.iter().map(Judged::verdict).collect();
    assert_eq!(verdicts, [Verdict::Passed, Verdict::Unknown, Verdict::Unknown, Verdict::Unknown]);
    let why = "too many packets to keep all headers: use --capture DIR";
    for one in &judged[1..] {
        assert_eq!(one.document()["not_measured"], why);
    }
}

/// `iperf3 -u` has a TCP connection, too, which carries next to nothing.
#[test]
fn quantities_of_tcp_name_udp_that_does_not_count() {
    let mut seen = seen();
    seen.near.acked = Bytes::new(700);
    let why = |seen: &Seen| seen.near.goodput().unwrap_err();
    assert_eq!(why(&seen), "less than 5.84 kB of TCP data have no rate");
    seen.near.datagrams = 893;
    let udp = "; 893 packets of UDP do not count: `drops` has them";
    assert_eq!(why(&seen), format!("less than 5.84 kB of TCP data have no rate{udp}"));
    seen.near.connections = 0;
    let all =
        expectations(&["goodput >= 5 Mbit/s", "rtt.p95 <= 1 s", "bytes >= 1 kB", "drops < 5"]);
    let known = Ok(seen);
    let judged = judged(&all, &known);
    for one in &judged[..3] {
        let why = one.measured.as_ref().unwrap_err();
        assert_eq!(*why, format!("there was no TCP connection{udp}"));
    }
    assert!(judged[3].is_kept());
}
