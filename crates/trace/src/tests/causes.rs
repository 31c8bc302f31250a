//! The kind of a segment, and its proof.

use tcplab_units::{Bytes, Span};

use super::drill::{connection, flow};
use crate::SegmentKind::{
    AfterTimeoutRetransmission, FastRetransmission, FillsGap, KeepAlive, NetworkDuplicate, New,
    OutOfOrder, TimeoutRetransmission, UnexplainedRetransmission, WindowProbe,
};
use crate::{CapturePoint, Confidence, Flow, SegmentKind, Sign, Spurious, Timer};

const AT_SENDER: &str = "0.000 > S id 1\n0.020 < S\n0.0201 > ack 1 id 2\n";
const WITHOUT_SACK: &str = "0.000 > S nosack id 1\n0.020 < S nosack\n0.0201 > ack 1 id 2\n";
const AT_RECEIVER: &str = "0.000 > S id 1\n0.0001 < S\n0.020 > ack 1 id 2\n";

/// From the middle of a connection, nothing known of RTT, IP ids or timestamps.
const MIDWAY: &str = "";

/// Segments that are not new data, with their proof.
fn judged(flow: &Flow) -> Vec<(u64, SegmentKind, Sign)> {
    let judged = flow.segments.iter().filter(|s| s.kind != New);
    judged.map(|s| (s.range.start.as_u64(), s.kind, s.proof.by)).collect()
}

/// The handshake at the capture point, a name, the packets, and the expected kinds.
type Case = (&'static str, &'static str, &'static str, &'static [(u64, SegmentKind, Sign)]);

const CASES: &[Case] = &[
    (
        AT_RECEIVER,
        "IP id older than that of the packet that showed the gap: out of order",
        "0.100 > 1:1449 id 3
         0.101 > 2897:4345 id 5
         0.180 > 1449:2897 id 4",
        &[(1_449, OutOfOrder, Sign::IpId)],
    ),
    (
        AT_RECEIVER,
        "IP id newer: retransmitted, even without delay",
        "0.100 > 1:1449 id 3
         0.101 > 2897:7241 id 5
         0.1011 < ack 1449 sack 2897-7241
         0.102 > 1449:2897 id 8",
        &[(1_449, UnexplainedRetransmission, Sign::IpId)],
    ),
    (
        AT_RECEIVER,
        "reordered retransmission",
        "0.100 > 1:1449 id 3
         0.101 > 2897:7241 id 5
         0.1011 < ack 1449 sack 2897-7241
         0.130 > 7241:8689 id 9
         0.131 > 1449:2897 id 8",
        &[(1_449, FastRetransmission, Sign::Sack)],
    ),
    (
        AT_RECEIVER,
        "without IP ids, by timestamp",
        "0.100 > 1:1449 clock 100
         0.101 > 2897:4345 clock 102
         0.180 > 1449:2897 clock 101",
        &[(1_449, OutOfOrder, Sign::Timestamp)],
    ),
    (
        AT_RECEIVER,
        "without both, by time: too soon for a retransmission",
        "0.100 > 1:1449
         0.101 > 2897:4345
         0.106 > 1449:2897",
        &[(1_449, OutOfOrder, Sign::Time)],
    ),
    (
        AT_RECEIVER,
        "same IP id and range: network duplicate",
        "0.100 > 1:4345 id 3 every 0.001
         0.1022 > 1449:2897 id 4
         0.110 > 4345:10137 id 6",
        &[(1_449, NetworkDuplicate, Sign::IpId)],
    ),
    (
        AT_SENDER,
        "at the sender, late data are retransmitted",
        "0.100 > 1:1449
         0.101 > 2897:7241
         0.121 < ack 1449 sack 2897-7241
         0.122 > 1449:2897",
        &[(1_449, FastRetransmission, Sign::Sack)],
    ),
    (
        AT_SENDER,
        "fewer than three segments above it: RACK",
        "0.100 > 1:4345 every 0.001
         0.121 < ack 1449
         0.122 < ack 1449 sack 2897-4345
         0.128 > 1449:2897",
        &[(1_449, FastRetransmission, Sign::Rack)],
    ),
    (
        AT_SENDER,
        "ICMP packet too big",
        "0.100 > 1:2897
         0.101 < too big 1
         0.101 < too big 1449
         0.1011 > 1:1349
         0.1011 > 1349:1449
         0.121 < ack 1349
         0.1211 > 1449:2797
         0.141 < ack 2797
         0.1411 > 2797:2897",
        &[
            (1, FastRetransmission, Sign::PacketTooBig),
            (1_349, FastRetransmission, Sign::PacketTooBig),
            (1_449, FastRetransmission, Sign::PacketTooBig),
            (2_797, FastRetransmission, Sign::PacketTooBig),
        ],
    ),
    (
        AT_SENDER,
        "ICMP ignored by the sender: timeout",
        "0.100 > 1:2897
         0.101 < too big 1
         0.400 > 1:1449",
        &[(1, TimeoutRetransmission, Sign::Silence)],
    ),
    (
        AT_SENDER,
        "ICMP about data not outstanding: ignored",
        "0.100 > 1:1449
         0.101 > 2897:7241
         0.121 < ack 1449 sack 2897-7241
         0.1211 < too big 1
         0.122 > 1449:2897",
        &[(1_449, FastRetransmission, Sign::Sack)],
    ),
    (
        AT_SENDER,
        "a timeout and go-back-N",
        "0.100 > 1:5793 every 0.001
         0.400 > 1:1449
         0.420 < ack 1449
         0.4201 > 1449:4345
         0.4401 < ack 5793",
        &[
            (1, TimeoutRetransmission, Sign::Silence),
            (1_449, AfterTimeoutRetransmission, Sign::AfterTimeout),
            (2_897, AfterTimeoutRetransmission, Sign::AfterTimeout),
        ],
    ),
    (
        "0.000 > S\n0.020 < S\n0.0204 > ack 1\n",
        "a second timeout, though the echoed timestamp is older than the last ACK's",
        "0.100 > 1:1449 clock 100 echo 7
         0.120 < ack 1449 clock 9
         0.1201 > 1449:4345 clock 101 echo 7
         0.600 > 1449:2897 clock 106 echo 7
         1.600 > 1449:2897 clock 116 echo 7
         1.620 < ack 2897 clock 20
         1.6201 > 2897:4345 clock 116 echo 20",
        &[
            (1_449, TimeoutRetransmission, Sign::Silence),
            (1_449, TimeoutRetransmission, Sign::Silence),
            (2_897, AfterTimeoutRetransmission, Sign::AfterTimeout),
        ],
    ),
    (
        AT_SENDER,
        "spurious timeout by F-RTO: an original is acknowledged",
        "0.100 > 1:10137 every 0.001
         0.121 < ack 1449
         0.350 > 1449:2897
         0.371 < ack 4345 sack 7241-10137
         0.3711 > 4345:5793",
        &[(1_449, TimeoutRetransmission, Sign::Silence), (4_345, FastRetransmission, Sign::Rack)],
    ),
    (
        AT_SENDER,
        "probes of a closed window, without data and with a byte",
        "0.100 > 1:1449
         0.120 < ack 1449 win 0
         0.320 > at 1448
         0.340 < ack 1449 win 0
         0.800 > 1449:1450
         0.820 < ack 1449 win 0
         1.800 > 1449:1450
         1.820 < ack 1450 win 500
         1.821 > 1450:2898",
        &[
            (1_448, WindowProbe, Sign::ZeroWindow),
            (1_449, WindowProbe, Sign::ZeroWindow),
            (1_449, WindowProbe, Sign::ZeroWindow),
        ],
    ),
    (
        AT_SENDER,
        "keep-alives, without data and with a byte",
        "0.100 > 1:1449
         0.120 < ack 1449
         2.120 > at 1448
         2.140 < ack 1449
         4.140 > 1448:1449
         4.160 < ack 1449",
        &[(1_448, KeepAlive, Sign::BelowAcknowledged), (1_448, KeepAlive, Sign::BelowAcknowledged)],
    ),
    (
        AT_RECEIVER,
        "keep-alives with a byte again and again, at even intervals",
        "0.100 > 1:97
         0.1001 < ack 97
         321.1 > 96:97
         321.1001 < ack 97
         642.1 > 96:97
         642.1001 < ack 97
         963.1 > 96:97
         963.1001 < ack 97",
        &[
            (96, KeepAlive, Sign::BelowAcknowledged),
            (96, KeepAlive, Sign::BelowAcknowledged),
            (96, KeepAlive, Sign::BelowAcknowledged),
        ],
    ),
    (
        AT_SENDER,
        "keep-alives beside a FIN that is not answered",
        "0.100 > 1:1449
         0.120 < ack 1449
         10.1 > 1449:1450 fin
         10.5 > 1449:1450 fin
         11.0 > 1448:1449
         12.0 > 1448:1449",
        &[
            (1_449, TimeoutRetransmission, Sign::Silence),
            (1_448, KeepAlive, Sign::BelowAcknowledged),
            (1_448, KeepAlive, Sign::BelowAcknowledged),
        ],
    ),
    (
        AT_SENDER,
        "a keep-alive with the only byte of the last write, whose ACK arrived",
        "0.100 > 1:2
         0.120 < ack 2
         2.120 > 1:2
         2.140 < ack 2
         4.120 > 1:2
         4.140 < ack 2",
        &[(1, KeepAlive, Sign::BelowAcknowledged), (1, KeepAlive, Sign::BelowAcknowledged)],
    ),
    (
        AT_RECEIVER,
        "the only byte of the last write again, whose ACK may be lost: a timeout",
        "0.100 > 1:2
         0.1001 < ack 2
         1.300 > 1:2
         1.3001 < ack 2",
        &[(1, TimeoutRetransmission, Sign::Silence)],
    ),
    (
        AT_RECEIVER,
        "the only byte of the last write again, later than any first timeout: a keep-alive",
        "0.100 > 1:2
         0.1001 < ack 2
         45.1 > 1:2
         45.1001 < ack 2
         90.1 > 1:2
         90.1001 < ack 2",
        &[(1, KeepAlive, Sign::BelowAcknowledged), (1, KeepAlive, Sign::BelowAcknowledged)],
    ),
    (
        AT_SENDER,
        "one lost byte: no keep-alive",
        "0.100 > 1:2
         0.120 < ack 2
         0.200 > 2:3
         0.440 > 2:3
         0.460 < ack 3",
        &[(2, TimeoutRetransmission, Sign::Silence)],
    ),
    (
        AT_RECEIVER,
        "an IP id absent after few others: the host may count other packets",
        "0.060 > at 1 id 3
         0.070 > at 1 id 4
         0.100 > 1:2 id 5
         0.1001 < ack 2
         0.300 > 2:3 id 6
         0.3001 < ack 3
         0.800 > 3:4 id 8
         0.8001 < ack 4",
        &[],
    ),
    (
        AT_SENDER,
        "an arrived retransmission shows losses before it without SACK above",
        "0.100 > 1:5793
         0.121 < ack 1 sack 2897-5793
         0.1211 > 1:1449
         0.1212 > 5793:8689
         0.1220 > 1449:2897
         0.1420 < ack 5793
         0.1480 > 5793:8689",
        &[
            (1, FastRetransmission, Sign::Rack),
            (1_449, FastRetransmission, Sign::Rack),
            (5_793, FastRetransmission, Sign::Rack),
            (7_241, FastRetransmission, Sign::PartialAck),
        ],
    ),
    (
        WITHOUT_SACK,
        "duplicates do not keep the timer from running out",
        "0.100 > 1:4345 every 0.001
         0.121 < ack 1449
         0.1211 > 4345:10137 every 0.02
         0.141 < ack 1449
         0.161 < ack 1449
         0.181 < ack 1449
         0.201 < ack 1449
         0.221 < ack 1449
         0.241 < ack 1449
         0.261 < ack 1449
         0.281 < ack 1449
         0.301 < ack 1449
         0.321 < ack 1449
         0.341 < ack 1449
         0.345 > 1449:2897",
        &[(1_449, TimeoutRetransmission, Sign::IgnoredAcks)],
    ),
    (
        AT_RECEIVER,
        "a pure ACK from a higher sequence number shows a loss before the capture point",
        "0.100 > 1:2 id 3
         0.1001 < ack 2
         0.200 > at 3 id 5
         0.400 > 2:3 id 6
         0.4001 < ack 3",
        &[(2, TimeoutRetransmission, Sign::Silence)],
    ),
    (
        AT_RECEIVER,
        "a pure ACK that overtakes data shows neither a loss nor data out of order",
        "0.100 > 1:2 id 3
         0.1001 < ack 2
         0.200 > at 3 id 5
         0.2002 > 2:3 id 4
         0.2003 < ack 3",
        &[],
    ),
    (
        AT_RECEIVER,
        "data absent may have been lost repeatedly: what follows is new",
        "0.100 > 1:1449 id 3
         0.101 > 4345:5793 id 6
         0.1012 > 7241:8689 id 8
         0.1013 < ack 1449 sack 7241-8689 4345-5793
         0.122 > 2897:4345 id 10
         0.1221 < ack 1449 sack 2897-5793 7241-8689
         0.143 > 5793:7241 id 12
         0.1431 < ack 1449 sack 2897-8689
         0.144 > 8689:10137 id 13",
        &[(2_897, FastRetransmission, Sign::Rack), (5_793, FastRetransmission, Sign::Rack)],
    ),
    (
        AT_RECEIVER,
        "IP id older than that of an ACK from behind the data: the ACK overtook them",
        "0.100 > 1:1449 id 3
         0.101 > ack 1 at 2897 id 5
         0.102 > 1449:2897 id 4",
        &[],
    ),
    (
        MIDWAY,
        "gap filled before any timer, RTT unknown: nothing decides",
        "0.100 > 1:1449
         0.101 > 2897:4345
         0.110 > 1449:2897",
        &[(1_449, FillsGap, Sign::Time)],
    ),
    (
        MIDWAY,
        "gap filled after a timer's silence: no packet is reordered for so long",
        "0.100 > 1:1449
         0.101 > 2897:4345
         0.400 > 1449:2897",
        &[(1_449, UnexplainedRetransmission, Sign::Time)],
    ),
    (
        AT_RECEIVER,
        "gap filled after an RTT, but without an ACK or a timer to prompt it: nothing decides",
        "0.100 > 1:1449
         0.101 > 2897:4345
         0.125 > 1449:2897",
        &[(1_449, FillsGap, Sign::Time)],
    ),
    (
        AT_SENDER,
        "sent again after less than an RTT, without an ACK: no timer runs out so soon",
        "0.100 > 1:1449
         0.113 > 1:1449
         0.130 < ack 1449",
        &[(1, UnexplainedRetransmission, Sign::Time)],
    ),
    (
        AT_RECEIVER,
        "gap filled after an RTT, on ACKs",
        "0.100 > 1:1449
         0.101 > 2897:7241
         0.1011 < ack 1449 sack 2897-7241
         0.125 > 1449:2897",
        &[(1_449, FastRetransmission, Sign::Sack)],
    ),
    (
        MIDWAY,
        "below the first captured byte: nothing decides",
        "0.100 > 1449:2897
         0.101 > 2897:4345
         0.110 > 1:1449",
        &[(0, FillsGap, Sign::None)],
    ),
    (
        MIDWAY,
        "below the first captured byte, by a newer IP id: retransmitted",
        "0.100 > 1449:2897 id 8
         0.101 > 2897:5793 id 9
         0.110 > 1:1449 id 11",
        &[(0, UnexplainedRetransmission, Sign::IpId)],
    ),
    (
        MIDWAY,
        "below the first captured byte, by an older IP id: out of order",
        "0.100 > 1449:2897 id 8
         0.101 > 2897:5793 id 9
         0.110 > 1:1449 id 7",
        &[(0, OutOfOrder, Sign::IpId)],
    ),
];

/// A hundred segments whose identifications are consecutive, a silence, and data after ten missing
/// identifications: a lost flight that a timer sends again, or a host that numbered ten packets of
/// others meanwhile. Only what fills a gap was surely sent before.
#[test]
fn missing_identifications_prove_no_retransmission() {
    let flow = flow(&format!(
        "{AT_RECEIVER}
         0.100 > 1:144801 id 3 every 0.1
         10.0025 < ack 144801
         10.400 > 144801:146249 id 113
         10.4001 < ack 146249
         10.4201 > 159281:160729 id 114
         10.4202 < ack 146249 sack 159281-160729
         10.4203 > 146249:147697 id 115"
    ));
    assert_eq!(judged(&flow).iter().map(|it| it.0).collect::<Vec<_>>(), [146_249]);
    assert_eq!(flow.totals.retransmissions, 1);
}

/// The byte of a zero-window probe had no place: sent again with the data after it, it is new.
#[test]
fn data_behind_a_window_probe_are_new() {
    let flow = flow(&format!(
        "{AT_SENDER}0.100 > 1:1449
         0.120 < ack 1449 win 0
         0.320 > 1449:1450
         0.340 < ack 1449 win 0
         0.720 > 1449:1450
         0.740 < ack 1449 win 0
         0.741 < ack 1449 win 500
         0.742 > 1449:4345
         0.762 < ack 4345"
    ));
    let probe = (1_449, WindowProbe, Sign::ZeroWindow);
    assert_eq!(judged(&flow), [probe, probe]);
    assert_eq!(flow.totals.unique, Bytes::new(4_344));
}

/// Two network queues: the SYN is captured after the SYN-ACK that answers it.
#[test]
fn syn_captured_after_its_answer_is_new() {
    let flow = flow("0.000 < S\n0.0002 > S\n0.020 > ack 1\n0.021 > 1:1449\n0.041 < ack 1449");
    assert_eq!(judged(&flow), []);
    assert_eq!(flow.totals.retransmissions, 0);
}

#[test]
fn causes_each_kind_has_evidence() {
    for (place, name, text, expected) in CASES {
        assert_eq!(judged(&flow(&format!("{place}{text}"))), *expected, "{name}");
    }
}

#[test]
fn acked_not_captured_is_not_lost() {
    let connection = connection(
        "0.000 > S id 1
         0.020 < S
         0.0201 > ack 1 id 2
         0.100 > 1:1449 id 3
         0.101 > 4345:7241 id 6
         0.121 < ack 1449
         0.122 < ack 7241
         0.130 > 7241:8689 id 8
         0.150 < ack 10137
         0.160 > 10137:11585 id 10
         0.180 < ack 11585",
    );
    let causes = &connection.forward.causes;
    assert_eq!(
        (causes.acked_not_captured.count, causes.acked_not_captured_bytes),
        (2, Bytes::new(4_344))
    );
    assert_eq!(causes.retransmissions(), 0);
    assert!(connection.forward.episodes.is_empty());
    assert_eq!(connection.forward.capture_point, CapturePoint::Sender);
}

#[test]
fn data_captured_after_its_ack_is_new() {
    let flow = flow(&format!(
        "{AT_SENDER}
         0.100 > 1:1449 id 3
         0.12000 < ack 2897
         0.12001 > 1449:2897 id 4
         0.130 > 2897:4345 id 5"
    ));
    assert_eq!(judged(&flow), []);
    assert!(flow.causes.acked_not_captured.is_empty());
}

#[test]
fn spurious_by_dsack_and_timestamp() {
    let flow = flow(&format!(
        "{AT_SENDER}
         0.100 > 1:1449 clock 100
         0.350 > 1:1449 clock 350
         0.360 < ack 1449 echo 100
         0.375 < ack 1449 dsack 1-1449 echo 100"
    ));
    assert_eq!(flow.causes.spurious_by_timestamp.count, 1);
    assert_eq!(flow.causes.spurious_by_dsack.count, 1);
    let again = flow.segments.last().unwrap();
    assert_eq!((again.kind, again.timer), (TimeoutRetransmission, Some(Timer::Probe)));
    assert!(matches!(again.proof.spurious, Some(Spurious::DSack { frame: 7 })), "{again:?}");
    assert!(again.proof.waited > Span::from_millis(200));
}

/// Where the network makes copies of most packets, a D-SACK of a retransmission may be of a copy.
#[test]
fn dsack_proves_nothing_where_the_network_makes_copies() {
    let mut text = AT_SENDER.to_owned();
    for segment in 0..4_u64 {
        let (start, at) = (1 + segment * 1_448, 0.100 + segment as f64 * 0.05);
        let end = start + 1_448;
        text += &format!("\n{at:.3} > {start}:{end}\n{:.4} < ack {end}", at + 0.025);
        text += &format!("\n{:.4} < ack {end} dsack {start}-{end}", at + 0.0251);
    }
    text += "\n0.400 > 5793:7241\n0.700 > 5793:7241\n0.725 < ack 7241\n0.7251 < ack 7241 dsack 5793-7241";
    assert_eq!(flow(&text).causes.spurious.sent.count, 0);
}

#[test]
fn capture_point_found_without_handshake() {
    for (name, near, far, expected) in [
        ("at the sender", 0.020, 0.0001, (CapturePoint::Sender, Confidence::High)),
        ("at the receiver", 0.0001, 0.020, (CapturePoint::Receiver, Confidence::High)),
        ("in the middle", 0.010, 0.010, (CapturePoint::Middle, Confidence::Medium)),
        ("on a short wire", 0.000_05, 0.000_05, (CapturePoint::Unknown, Confidence::None)),
    ] {
        let mut text = String::new();
        for turn in 0..6_u32 {
            let at = 0.1 + (near + far) * f64::from(turn);
            let (start, clock) = (1 + 1_448 * turn, 100 * turn + 1_000);
            let end = start + 1_448;
            text += &format!("{at} > {start}:{end} clock {clock} echo {}\n", clock - 50);
            text += &format!("{} < ack {end} clock {} echo {clock}\n", at + near, clock + 50);
        }
        let flow = flow(&text);
        assert_eq!((flow.capture_point, flow.capture_point_confidence), expected, "{name}");
    }
}

/// A sender retransmits nothing older than a window: the number belongs elsewhere, as in a capture
/// that lacks gigabytes.
#[test]
fn far_below_acknowledged_data_is_no_retransmission() {
    let flow = flow(&format!(
        "{AT_SENDER}0.100 > 600000001:600001449
         0.120 < ack 600001449
         0.500 > 1:1449"
    ));
    assert_eq!(judged(&flow), []);
    assert_eq!(flow.totals.retransmissions, 0);
}
