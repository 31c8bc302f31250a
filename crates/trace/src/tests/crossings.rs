//! Retransmissions that an ACK of their data crosses, and what no timer can have sent.

use tcplab_units::Span;

use super::drill::{connection, flow};
use crate::{Segment, SegmentKind, Sign};

/// The retransmissions of the client in this drill.
fn retransmitted(text: &str) -> Vec<Segment> {
    let all = flow(text).segments.into_iter();
    all.filter(|segment| segment.kind.is_retransmission()).collect()
}

/// Two ACKs arrive together: SACK reveals the loss, and the other acknowledges the data, but the
/// sender retransmits before it reads that.
#[test]
fn retransmission_that_an_ack_crosses_is_prompted_by_the_sack_before() {
    let text = |away: f64| {
        format!(
            "open 0.060 0.0601
             0.100 > 1:1449
             0.1001 > 1449:1500
             0.1002 > 1500:2948
             0.160002 < ack 1449 sack 1500-2948
             0.160004 < ack 2948
             {} > 1449:1500",
            0.160_004 + away
        )
    };
    let again = retransmitted(&text(0.000_112));
    let [segment] = &again[..] else { panic!("{again:?}") };
    assert_eq!((segment.kind, segment.proof.by), (SegmentKind::FastRetransmission, Sign::Rack));
    assert_eq!((segment.timer, segment.proof.frame), (None, Some(7)));
    // Later it has read the ACK, and no timer is that short.
    let again = retransmitted(&text(0.012));
    let [segment] = &again[..] else { panic!("{again:?}") };
    assert_eq!((segment.kind, segment.timer), (SegmentKind::UnexplainedRetransmission, None));
}

/// Duplicate ACKs prompt the segment again and again, a few microseconds after one another.
#[test]
fn segment_repeated_at_once_without_sack_is_no_timers() {
    let mut text = String::from("open 0.020 nosack\n0.100 > 1:14481 every 0.0001\n");
    for at in [0.121, 0.150] {
        for nth in 0..4 {
            let at = at + f64::from(nth) * 1e-6;
            text += &format!("{at} < ack 1\n");
        }
        text += &format!("{} > 1:1449\n", at + 0.000_017);
    }
    let again = retransmitted(&text);
    assert_eq!(again.len(), 2);
    assert!(again.iter().all(|segment| segment.timer.is_none()), "{again:?}");
}

/// Packets of the peer do not make a timer's time short.
#[test]
fn timer_between_packets_of_the_peer_ran_since_the_data_were_sent() {
    let again = retransmitted(
        "open 0.020
         0.100 > 1:1449
         0.120 < ack 1449
         1.000 > 1449:2897
         1.500 < 1:2
         1.5005 > 1449:2897",
    );
    let [segment] = &again[..] else { panic!("{again:?}") };
    assert_eq!(segment.kind, SegmentKind::TimeoutRetransmission);
    assert_eq!(segment.proof.waited, Span::from_micros(500_500));
}

/// Beside a client without SACK, far from the server: the client's FIN is no duplicate ACK.
#[test]
fn fin_prompts_no_retransmission() {
    let connection = connection(
        "0.000 > S nosack
         0.148 < S nosack
         0.1481 > ack 1
         0.200 > 1:16
         0.360 < ack 16
         0.516 < 1:18
         0.663 > ack 18 at 16
         0.703 > 16:17 fin acking 18
         0.829 < 1:18",
    );
    let again = connection.reverse.segments.last().unwrap();
    assert_eq!((again.kind, again.timer), (SegmentKind::UnexplainedRetransmission, None));
}
