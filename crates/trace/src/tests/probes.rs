//! What may be a tail loss probe, and what an application's write or a timeout is; SYNs that no
//! timer sent; refused bytes of zero-window probes.

use tcplab_units::{Bytes, Span};

use super::drill::{connection, flow};
use crate::{Limit, SegmentKind, Timer};

/// The timers that sent new data, by the first byte.
fn probes(text: &str) -> Vec<(u64, Timer)> {
    let flow = flow(text);
    let new = flow.segments.iter().filter(|segment| segment.kind == SegmentKind::New);
    new.filter_map(|segment| Some((segment.range.start.as_u64(), segment.timer?))).collect()
}

#[test]
fn new_data_is_a_probe_only_where_data_waited() {
    for (name, text, expected) in [
        (
            "a full segment, two RTTs after several",
            "open 0.010
             0.100 > 1:8689 every 0.001
             0.127 > 8689:10137",
            &[8_689][..],
        ),
        (
            "the rest of a write",
            "open 0.010
             0.100 > 1:8689 every 0.001
             0.127 > 8689:8800 psh",
            &[8_689],
        ),
        (
            "after the minimum timeout, behind one segment",
            "open 0.010
             0.100 > 1:8689 every 0.001
             0.120 < ack 8689
             0.1201 > 8689:10137
             0.331 > 10137:11585",
            &[10_137],
        ),
        (
            "a small segment that Nagle's rule held",
            "open 0.010
             0.100 > 1:101 psh
             0.110 < ack 101
             0.121 > 101:201 psh
             0.332 > 201:301 psh",
            &[201],
        ),
        (
            "a small segment without Nagle's rule",
            "open 0.010
             0.100 > 1:101 psh
             0.101 > 101:201 psh
             0.102 > 201:301 psh
             0.112 < ack 301
             0.121 > 301:401 psh
             0.332 > 401:501 psh",
            &[],
        ),
        (
            "another write",
            "open 0.010
             0.100 > 1:8689 every 0.001
             0.106 > 8689:8800 psh
             0.145 > 8800:8900 psh",
            &[],
        ),
        (
            "one byte behind one byte, before the delayed ACK, and more at once",
            "open 0.010
             0.100 > 1:2 psh
             0.145 > 2:3 psh
             0.1462 > 3:40 psh
             0.156 < ack 40",
            &[],
        ),
        (
            "a full segment behind one whose ACK is delayed",
            "open 0.010
             0.100 > 1:8689 every 0.001
             0.120 < ack 8689
             0.1201 > 8689:10137
             0.165 > 10137:11585",
            &[],
        ),
        (
            "the first FIN",
            "open 0.010
             0.100 > 1:8689 every 0.001
             0.127 > 8689:8690 fin",
            &[],
        ),
        (
            "before any RTT is known",
            "0.100 > 1:8689 every 0.001
             0.227 > 8689:10137",
            &[],
        ),
    ] {
        let expected: Vec<(u64, Timer)> =
            expected.iter().map(|start| (*start, Timer::Probe)).collect();
        assert_eq!(probes(text), expected, "{name}");
    }
}

#[test]
fn probe_is_not_seen_beside_the_receiver() {
    let far = "
        0.000 > S
        0.0001 < S
        0.0201 > ack 1
        0.100 > 1:8689 every 0.001
        0.147 > 8689:10137";
    assert_eq!(probes(far), []);
}

#[test]
fn syn_repeated_sooner_than_by_a_timer_is_none_of_its() {
    // When, and what the second SYN-ACK is.
    for (again, kind) in [
        ("0.010007", SegmentKind::RepeatedControl),
        ("0.010559", SegmentKind::RepeatedControl),
        ("1.010", SegmentKind::TimeoutRetransmission),
    ] {
        let text = format!(
            "0.000 > S id 7
             0.010 < S id 40
             {again} < S id 41
             1.020 > ack 1
             1.100 > 1:1449
             1.110 < ack 1449"
        );
        let connection = connection(&text);
        let syn_ack = &connection.reverse.segments[1];
        assert_eq!((syn_ack.kind, syn_ack.proof.frame.is_some()), (kind, true), "{again}");
        let is_timer = kind == SegmentKind::TimeoutRetransmission;
        let causes = &connection.reverse.causes;
        assert_eq!(
            (causes.timeouts.count, syn_ack.timer.is_some()),
            (u64::from(is_timer), is_timer)
        );
        assert_eq!(connection.reverse.totals.retransmissions, 1, "{again}");
        assert_eq!(causes.retransmissions(), 1, "{again}");
    }
}

#[test]
fn syn_ack_that_answers_a_repeated_syn_is_no_timeout() {
    let connection = connection(
        "0.000 > S id 7
         0.010 < S id 40
         1.000 > S id 8
         1.010 < S id 41
         1.020 > ack 1
         1.100 > 1:1449
         1.110 < ack 1449",
    );
    assert_eq!(connection.forward.causes.timeouts.count, 1);
    let syn_ack = &connection.reverse.segments[1];
    assert_eq!((syn_ack.kind, syn_ack.timer), (SegmentKind::RepeatedControl, None));
    assert_eq!(syn_ack.proof.frame, Some(3));
}

/// A split handshake: the client's SYN is acknowledged, then the server sends its own, which the
/// client answers with SYN-ACK 0.6 ms later.
/// The server's timer repeats the SYN-ACK just before the client's repeats the SYN.
#[test]
fn repeated_syn_after_a_syn_ack_is_a_timeout() {
    let client = flow(
        "0.000 > S
         0.0001 < S
         1.016 > S
         1.0161 < S
         3.006 < S
         3.016 > S
         3.0161 < S
         3.036 > ack 1",
    );
    let again: Vec<_> = client.segments.iter().filter(|it| it.kind != SegmentKind::New).collect();
    let why = |it: &&crate::Segment| (it.kind, it.timer, it.proof.frame, it.proof.waited);
    let timeout = |frame, waited| {
        let timer = Some(Timer::Retransmission);
        (SegmentKind::TimeoutRetransmission, timer, Some(frame), Span::from_millis(waited))
    };
    let found: Vec<_> = again.iter().map(why).collect();
    assert_eq!(found, [timeout(1, 1_016), timeout(3, 2_000)]);
    assert_eq!((client.causes.spurious.timeouts, client.causes.spurious.after_timeout), (2, 0));
}

/// Beside a server that took longer to answer the SYN than it takes to answer an ACK.
#[test]
fn retransmission_at_once_behind_an_ack_answers_it() {
    let server = connection(
        "0.000 > S
         0.000032 < S
         0.0866 > ack 1
         0.100 < 1:4345 every 0.00001
         3.000 < 1:1449
         3.0866 > ack 1449
         3.08662 < 1449:2897",
    )
    .reverse;
    let again: Vec<_> = server.segments.iter().filter(|it| it.kind != SegmentKind::New).collect();
    let found: Vec<_> = again.iter().map(|it| (it.kind, it.proof.frame)).collect();
    let (timeout, after) =
        (SegmentKind::TimeoutRetransmission, SegmentKind::AfterTimeoutRetransmission);
    assert_eq!(found, [(timeout, Some(6)), (after, Some(8))]);
}

#[test]
fn syn_ack_of_a_split_handshake_is_no_timeout() {
    let connection = connection(
        "0.000 > S
         0.0008 < ack 1
         0.0014 < S plain
         0.0020 > S ack 1
         0.0025 < ack 1
         0.0030 > 1:1449
         0.0038 < ack 1449",
    );
    let syn_ack = &connection.forward.segments[1];
    assert_eq!((syn_ack.kind, syn_ack.timer), (SegmentKind::New, None));
    assert_eq!(connection.forward.causes.timeouts.count, 0);
}

/// BSD acknowledges the peer's FIN with its own once more; Linux's timer takes 200 ms at least.
#[test]
fn fin_repeated_with_an_answer_is_no_timers() {
    for (again, kind, timer) in [
        ("0.1301", SegmentKind::RepeatedControl, None),
        ("0.351", SegmentKind::TimeoutRetransmission, Some(Timer::Probe)),
    ] {
        let flow = flow(&format!(
            "open 0.030
             0.060 > 1:1449
             0.090 < ack 1449
             0.120 > 1449:1450 fin
             0.130 < 1:2 fin acking 1449
             {again} > 1449:1450 fin acking 2
             0.400 < ack 1450 at 2"
        ));
        let fin = flow.segments.last().unwrap();
        assert_eq!((fin.kind, fin.timer), (kind, timer), "{again}");
    }
}

/// A refused byte is not lost: with the window open, it is sent as new data, even alone.
#[test]
fn refused_window_probe_is_not_lost() {
    let flow = flow(
        "open 0.020
         0.100 > 1:1449
         0.120 < ack 1449 win 0
         0.320 > 1449:1450
         0.340 < ack 1449 win 0
         0.720 > 1449:1450
         0.740 < ack 1449 win 0
         1.520 > 1449:1450
         1.540 < ack 1449 win 0
         2.540 < ack 1449 win 100
         2.541 < ack 1449 win 500
         2.5411 > 1449:1450
         2.561 < ack 1450
         2.5611 > 1450:2898
         2.581 < ack 2898",
    );
    let kinds: Vec<SegmentKind> = flow.segments.iter().map(|segment| segment.kind).collect();
    let (new, probe) = (SegmentKind::New, SegmentKind::WindowProbe);
    assert_eq!(kinds, [new, new, probe, probe, probe, new, new]);
    assert_eq!((flow.episodes.len(), flow.totals.retransmissions), (0, 0));
    assert_eq!(flow.totals.unique, Bytes::new(2_897));
    let all = flow.shares.total();
    assert!(flow.shares.of(Limit::ReceiveWindow) * 10 >= all * 9, "{:?}", flow.shares);
}

/// RFC 8985 section 7.2: a probe comes two RTTs after the last packet, later with a delayed ACK.
#[test]
fn silence_longer_than_any_probes_is_a_timeout() {
    for (again, timer) in
        [("0.330", Timer::Probe), ("0.450", Timer::Probe), ("5.600", Timer::Retransmission)]
    {
        let flow = flow(&format!("open 0.020\n0.100 > 1:1449\n{again} > 1:1449"));
        assert_eq!(flow.segments.last().unwrap().timer, Some(timer), "{again}");
    }
}

/// What was acknowledged between two timeouts got through: their row ends.
#[test]
fn acknowledgement_between_timeouts_ends_their_row() {
    for (between, rows) in [("", 1), ("0.900 < ack 2897", 0)] {
        let flow = flow(&format!(
            "0.000 > S nosack
             0.020 < S nosack
             0.0201 > ack 1
             0.100 > 1:2897
             0.400 > 1:1449
             {between}
             1.400 > 1:1449
             1.420 < ack 2897"
        ));
        assert_eq!(flow.causes.timeouts.count, 2);
        assert_eq!(flow.causes.backoffs.segments, rows);
    }
}
