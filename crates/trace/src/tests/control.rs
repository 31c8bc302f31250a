//! SYNs and FINs that are sent again, and packets with the same identification.

use super::drill::{connection, flow};
use crate::{HandshakeKind, Limit, SegmentKind};

/// A client that hears nothing leaves options out at last; the server had answered the first SYN.
#[test]
fn options_are_those_of_the_syn_that_was_answered() {
    let text = "0.000 > S
        1.000 > S noscale nosack
        1.020 < S
        1.0201 > ack 1 win 500
        1.100 > 1:1449
        1.120 < ack 1449 win 500";
    let handshake = connection(text).handshake;
    assert!(handshake.client.sack_permitted && handshake.client.window_scale.is_some());
    // 500 × 128.
    assert_eq!(flow(text).totals.max_window.map(tcplab_units::Bytes::as_u64), Some(64_000));
    // An answer that takes up nothing is one to the second.
    let plain = connection(&text.replace("1.020 < S", "1.020 < S noscale nosack")).handshake;
    assert!(!plain.client.sack_permitted && plain.client.window_scale.is_none());
}

/// Windows tries a refused port three times: these are no timeouts, and the path did nothing.
#[test]
fn syn_after_a_refusal_is_another_attempt() {
    let connection = connection(
        "0.000 > S
         0.0002 < R 0 ack 1
         0.500 > S
         0.5002 < R 0 ack 1
         1.000 > S
         1.0002 < R 0 ack 1",
    );
    let forward = &connection.forward;
    let kinds: Vec<_> = forward.segments.iter().map(|s| (s.kind, s.timer)).collect();
    let again = (SegmentKind::RepeatedControl, None);
    assert_eq!(kinds, [(SegmentKind::New, None), again, again]);
    assert_eq!((forward.causes.timeouts.count, forward.causes.spurious.sent.count), (0, 0));
    assert_eq!(connection.handshake.kind, HandshakeKind::Refused);
}

/// RFC 9293 figure 7: the SYN-ACK is the answer to the other's SYN; a second one is sent again.
#[test]
fn syn_ack_that_answers_a_crossing_syn_is_no_retransmission() {
    let text = "0.000 > S\n0.001 < S plain\n0.020 < S ack 1\n0.021 > S ack 1";
    let opened = connection(text);
    for flow in [&opened.forward, &opened.reverse] {
        let kinds: Vec<_> = flow.segments.iter().map(|segment| segment.kind).collect();
        assert_eq!(kinds, [SegmentKind::New; 2]);
        assert_eq!(flow.totals.retransmissions, 0);
        assert!(flow.causes.syn_retransmissions.is_empty());
    }
    let again = connection(&format!("{text}\n1.020 < S ack 1"));
    assert_eq!(again.reverse.totals.retransmissions, 1);
}

/// The ACK before the SYN has the SYN's number: that is no byte of the stream.
#[test]
fn split_handshake_places_the_syn_at_zero() {
    let split = connection(
        "0.000 > S
         0.010 < ack 1 at 0
         0.0101 < S plain
         0.0102 > S ack 1
         0.020 < ack 1 at 1
         0.030 > 1:101
         0.040 < 1:301 acking 101
         0.0401 > ack 301 at 101",
    );
    let places =
        |flow: &crate::Flow| flow.segments.iter().map(|s| s.range.start.as_u64()).collect();
    let [client, server]: [Vec<u64>; 2] = [places(&split.forward), places(&split.reverse)];
    assert_eq!((client, server), (vec![0, 0, 1], vec![0, 1]));
    assert_eq!(split.reverse.transfer.acked.as_u64(), 300);
    assert_eq!(split.forward.totals.retransmissions, 0);
}

/// The ends close at once, and BSD repeats its FIN with the ACK of the other one.
#[test]
fn fins_that_cross_are_not_lost() {
    let connection = connection(
        "open 0.030
         0.060 > 1:1449
         0.090 < ack 1449
         0.120 > 1449:1450 fin
         0.121 < 1:2 fin acking 1449
         0.1211 > 1449:1450 fin acking 2
         0.1501 < 1:2 fin acking 1450
         0.1502 > ack 2 at 1450",
    );
    for flow in [&connection.forward, &connection.reverse] {
        assert_eq!(flow.segments.last().unwrap().kind, SegmentKind::RepeatedControl);
        assert_eq!(flow.episodes, []);
        assert_eq!(flow.causes.spurious.sent.count, 0);
    }
}

/// A sender that retransmits with the identification of the original: no copy comes so late.
#[test]
fn same_identification_after_a_timeout_is_a_retransmission() {
    let flow = flow(
        "open 0.020
         0.100 > 1:101 id 40
         0.120 < ack 101
         0.200 > 101:201 id 41
         1.700 > 101:201 id 41
         4.700 > 101:201 id 41",
    );
    let again: Vec<_> = flow.segments[flow.segments.len() - 2..].iter().map(|s| s.kind).collect();
    assert_eq!(again, [SegmentKind::TimeoutRetransmission; 2]);
    assert_eq!((flow.causes.network_duplicates.count, flow.causes.timeouts.count), (0, 2));
}

/// Small writes into a window smaller than a segment: it always had room for them.
#[test]
fn window_below_a_segment_does_not_limit_what_fits() {
    let mut text = "open 0.010 0.0101 noscale\n0.0102 < ack 1 win 1400\n".to_owned();
    for write in 0..60_u64 {
        let (start, at) = (1 + write * 100, 0.100 + write as f64 * 0.05);
        text += &format!("{at:.3} > {start}:{}\n", start + 100);
        text += &format!("{:.3} < ack {} win 1400\n", at + 0.010, start + 100);
    }
    let shares = flow(&text).shares;
    assert_eq!(shares.largest(), Some(Limit::Application), "{shares:?}");
    assert!(shares.of(Limit::ReceiveWindow).as_nanos() * 20 < shares.total().as_nanos());
}

/// A large packet of which the ACK covers a part: the SACKs still reveal the rest's loss.
#[test]
fn loss_of_the_rest_of_a_large_packet_is_revealed_by_sack() {
    let flow = flow(
        "open 0.020
         0.100 > 1:1449
         0.120 < ack 1449
         0.121 > 1449:8689
         0.141 < ack 2897
         0.1412 < ack 2897 sack 4345-5793
         0.1414 < ack 2897 sack 4345-7241
         0.1416 < ack 2897 sack 4345-8689
         0.1417 > 2897:4345
         0.162 < ack 8689
         0.163 > 8689:10137
         0.183 < ack 10137",
    );
    let [episode] = &flow.episodes[..] else { panic!("{:?}", flow.episodes) };
    assert!(matches!(episode.evidence, crate::Evidence::Sack { .. }), "{:?}", episode.evidence);
}
