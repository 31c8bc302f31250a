//! Captures that begin in the middle of a connection, or hold packets of one end only.

use tcplab_units::{Bytes, Endpoint, Span};

use super::drill::{Captured, analyze, connection, drill};
use crate::{
    CapturePoint, Confidence, Connection, ConnectionState, HandshakeKind, Limit, Roles,
    SegmentKind, ladder_between, listing,
};

/// Ten segments in each of four round trips, one of them lost, then a reset by the server.
const TRANSFER: &str = "0.000 > S\n0.020 < S\n0.0201 > ack 1
    0.030 > 1:14481 every 0.001
    0.050 < acks 1449 14481 every 0.001
    0.0601 > 14481:28961 every 0.001
    0.081 < acks 15929 28961 every 0.001
    0.0951 > 28961:43441 every 0.001
    0.360 > 28961:30409
    0.381 < ack 43441
    0.390 > 43441:57921 every 0.001
    0.411 < acks 44889 57921 every 0.001
    0.430 < R 1 ack 57921";

fn of_one_end(text: &str, client: bool) -> Vec<Captured> {
    let packets = drill(text, 1_000).into_iter();
    packets.filter(|packet| (packet.bytes[12..16] == [10, 0, 0, 1]) == client).collect()
}

/// Without the first packets.
fn late(skipped: usize) -> Connection {
    let packets = drill(TRANSFER, 1_000);
    analyze(&packets[skipped..]).connections.remove(0)
}

#[test]
fn reset_after_a_late_start_is_midstream() {
    let found = late(5);
    assert!(found.handshake.midstream);
    assert_eq!(found.handshake.kind, HandshakeKind::Unseen);
    // Zeek's opinion is kept, to compare with.
    assert_eq!(found.life.state, ConnectionState::Rstrh);
    assert!(!connection(TRANSFER).handshake.midstream);
    let lone = analyze(&drill("0.000 < R 1 ack 1", 1_000)).connections.remove(0);
    assert!(!lone.handshake.midstream);
}

#[test]
fn capture_that_starts_with_an_ack_keeps_client_and_server() {
    // The SYN, SYN-ACK, ACK and ten segments: the first packet left is an ACK of the server.
    let found = late(13);
    assert_eq!(found.roles, Roles::ByPorts);
    assert_eq!(found.client.ip().to_string(), "10.0.0.1", "{} {}", found.client, found.server);
    assert!(found.forward.totals.unique > found.reverse.totals.unique);
    assert_eq!(connection(TRANSFER).roles, Roles::BySyn);
}

#[test]
fn data_in_flight_before_the_capture_is_not_missed() {
    let found = connection(
        "0.050 < ack 1449
         0.0501 > 14481:15929
         0.051 < ack 2897
         0.0511 > 15929:17377
         0.060 < ack 14481
         0.070 < ack 17377",
    );
    assert!(found.forward.causes.acked_not_captured.is_empty());
    assert_eq!(found.forward.totals.unique, Bytes::new(2_896));
    assert_eq!(found.forward.causes.retransmissions(), 0);
}

#[test]
fn recovery_under_way_when_the_capture_begins_is_told_apart() {
    let text = "0.000 > 28961:30409 clock 5
        0.0001 < ack 1449 sack 28961-30409
        0.010 > 1449:2897 clock 15
        0.0101 < ack 2897 sack 28961-30409
        0.011 > 2897:4345 clock 16";
    let flow = connection(text).forward;
    assert_eq!(flow.causes.before_capture.frames, [3, 5]);
    assert_eq!(flow.totals.unique, Bytes::new(1_448));
    assert!(connection(TRANSFER).forward.causes.before_capture.is_empty());
}

#[test]
fn unknown_window_scale_lowers_the_confidence() {
    let cut = late(3).forward;
    assert!(!cut.windows.scale_negotiated);
    assert_eq!(cut.shares.confidence, Confidence::Low);
    assert_eq!(cut.limit_name(Limit::Congestion), "a window");
    assert_eq!(cut.limit_name(Limit::Timeout), "timeout");
    let whole = connection(TRANSFER).forward;
    assert_eq!(whole.limit_name(Limit::Congestion), "congestion window");
}

#[test]
fn one_direction_shows_neither_flight_nor_causes() {
    let found = analyze(&of_one_end(TRANSFER, true)).connections.remove(0);
    assert_eq!(found.one_way, Some(Endpoint::Client));
    let flow = &found.forward;
    assert_eq!(flow.totals.max_in_flight, Bytes::ZERO);
    assert!(flow.episodes.is_empty() && flow.limits.is_empty() && flow.stalls.is_empty());
    assert_eq!(flow.shares.largest(), None);
    let again: Vec<SegmentKind> =
        flow.segments.iter().map(|it| it.kind).filter(|it| it.is_retransmission()).collect();
    assert_eq!(again, [SegmentKind::UnexplainedRetransmission]);
    assert!(flow.causes.timeouts.is_empty());
    let found = analyze(&of_one_end(TRANSFER, false)).connections.remove(0);
    assert_eq!(found.one_way, Some(Endpoint::Server));
    assert_eq!(connection(TRANSFER).one_way, None);
}

#[test]
fn unanswered_end_is_not_one_direction() {
    for text in [
        "0.000 > S\n1.000 > S\n3.000 > S",
        "0.000 > S\n1.000 > R 1",
        // The path is gone when the capture begins: nothing shows an answer.
        "0.000 > 1:1449\n0.300 > 1:1449\n0.900 > 1:1449",
    ] {
        assert_eq!(connection(text).one_way, None, "{text}");
    }
}

/// As tshark lists them (`[RST] Seq=101`), whatever else was captured of their sender.
#[test]
fn resets_without_ack_are_listed_and_drawn() {
    let lines = |text: &str| -> Vec<String> {
        let shown = listing(0, &connection(text), None);
        shown.lines().skip(1).map(|line| line.trim().to_owned()).collect()
    };
    let opened = "0.000 > S\n0.010 < S\n0.020 > ack 1\n0.030 > 1:101\n0.040 < ack 101";
    let aborted = format!("{opened}\n0.050 > R 101");
    assert_eq!(lines(&aborted)[5], "0.050000 #6 > RST 101:101(0)");
    let refused = format!("{opened}\n0.050 < R 1");
    assert_eq!(lines(&refused)[5], "0.050000 #6 < RST 1:1(0)");
    // Half open, as a scan leaves it.
    let scanned = lines("0.000 > S\n0.010 < S\n0.020 > R 1");
    assert_eq!(scanned[2], "0.020000 #3 > RST 1:1(0)");
    // Nothing else was captured of its sender.
    assert_eq!(lines("0.000 > 1:21\n0.010 < R 1")[1], "0.010000 #2 < RST 1:1(0)");
    assert_eq!(lines("0.000 > R 500"), ["0.000000 #1 > RST 1:1(0)"]);
    // One with an acknowledgement is listed once.
    assert_eq!(lines("0.000 > S\n0.010 < R 0 ack 1")[1], "0.010000 #2 < RST ack 1");
    let drawn = |text: &str| {
        let rungs = ladder_between(&connection(text).forward, 1, 6);
        rungs.last().map(|line| (line.label.clone(), line.from_sender))
    };
    assert_eq!(drawn(&aborted), Some(("RST 101:101(0)".into(), true)));
    assert_eq!(drawn(&refused), Some(("RST 1:1(0)".into(), false)));
    let stray = format!("{opened}\n0.050 > at 2000000000");
    let label = "flags [.] (0) outside the connection".into();
    assert_eq!(drawn(&stray), Some((label, true)));
}

#[test]
fn beside_the_receiver_the_round_trip_is_of_the_whole_path() {
    let found = connection(
        "0.000 > S
         0.0001 < S
         0.020 > ack 1
         0.030 > 1:14481 every 0.0005
         0.0351 < acks 1449 14481 every 0.0001",
    );
    let flow = &found.forward;
    assert_eq!(flow.capture_point, CapturePoint::Receiver);
    assert_eq!(found.path_round_trip(flow), Some(Span::from_millis(20)));
    assert!(flow.round_trips.min.unwrap() < Span::from_millis(10));
}

/// A download beside the client, without SYNs and timestamps: the client acknowledges after 20 µs
/// what comes through routers, and the server after 79 ms. What the server sends 27 ms after three
/// duplicate ACKs left the client can only have been sent before they arrived there.
#[test]
fn capture_point_by_acks_and_routers() {
    let download = |far: u8, delay: &str| {
        connection(&format!(
            "0.000000 > 1:10 ttl 128
             {delay} < ack 10 ttl {far}
             0.090650 < 1:2897 acking 10 ttl {far} every 0.0004
             0.091070 > ack 2897 at 10 ttl 128
             0.092000 < 4345:5793 acking 10 ttl {far}
             0.092020 > ack 2897 sack 4345-5793 at 10 ttl 128
             0.092500 < 5793:7241 acking 10 ttl {far}
             0.092520 > ack 2897 sack 4345-7241 at 10 ttl 128
             0.093000 < 7241:8689 acking 10 ttl {far}
             0.093020 > ack 2897 sack 4345-8689 at 10 ttl 128
             0.120100 < 2897:4345 acking 10 ttl {far}
             0.220700 < 2897:4345 acking 10 ttl {far}
             0.220720 > ack 8689 at 10 ttl 128"
        ))
    };
    let found = download(47, "0.079320");
    assert_eq!(found.reverse.capture_point, CapturePoint::Receiver);
    assert_eq!(found.forward.capture_point, CapturePoint::Sender);
    assert_eq!(found.round_trip, Some(Span::from_micros(79_340)));
    let timers: Vec<_> = found.reverse.segments.iter().map(|it| it.timer).collect();
    assert_eq!(timers[5], None, "{:?}", found.reverse.segments[5]);
    assert_eq!(found.reverse.transfer.baseline, None);
    // On one network the server may delay its ACKs, and near servers tell nothing.
    for (far, delay) in [(64, "0.079320"), (47, "0.000390")] {
        assert_eq!(download(far, delay).round_trip, None, "{far} {delay}");
    }
}
