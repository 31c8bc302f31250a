//! Which transmissions were lost, decided from the sender's side alone.

use tcplab_units::Instant;

use super::drill::{Captured, analyze, drill, flow};
use crate::{EpisodeKind, Evidence, Flow};

const OPEN: &str = "open 0.010\n";

fn after_handshake(text: &str) -> Flow {
    flow(&format!("{OPEN}{text}"))
}

/// Start and frame-order place of each lost segment, episode by episode.
fn lost(flow: &Flow) -> Vec<Vec<(u64, u64)>> {
    let numbered =
        |frame: u64| flow.segments.iter().filter(|s| !s.syn && s.frame <= frame).count() as u64;
    let of = |episode: &crate::Episode| {
        episode.lost.iter().map(|l| (l.range.start.as_u64(), numbered(l.frame))).collect()
    };
    flow.episodes.iter().map(of).collect()
}

/// A name, the packets, and per episode the lost transmissions: start, and place in sending order.
type Case = (&'static str, &'static str, &'static [&'static [(u64, u64)]]);

const CASES: &[Case] = &[
    (
        "a lost retransmission counts as a loss",
        "0.100 > 1:14481 every 0.001
             0.110 < ack 1449
             0.112 < ack 1449 sack 2897-... 14481 every 0.001
             0.1121 > 1449:2897
             0.1131 > 14481:17377
             0.1231 < ack 1449 sack 2897-15929
             0.1232 > 1449:2897
             0.1233 < ack 1449 sack 2897-17377
             0.1332 < ack 17377
             0.134 > 17377:18825
             0.144 < ack 18825",
        &[&[(1_449, 2), (1_449, 11)]],
    ),
    (
        "spurious timeout: no loss",
        "0.100 > 1:5793 every 0.001
             0.350 > 1:1449
             0.355 < ack 1449
             0.356 < acks 2897 5793 every 0.001
             0.366 < ack 5793 dsack 1-1449
             0.367 > 5793:7241
             0.377 < ack 7241",
        &[],
    ),
    (
        "ACK lost, two retransmissions lost, the third a duplicate",
        "0.100 > 1:4345 every 0.001
             0.110 < ack 1449
             0.400 > 1449:2897
             0.900 > 1449:2897
             1.800 > 1449:2897
             1.810 < ack 2897 dsack 1449-2897
             1.8101 > 2897:4345
             1.8201 < ack 4345
             1.821 > 4345:5793
             1.831 < ack 5793",
        &[&[(2_897, 3), (1_449, 4), (1_449, 5)]],
    ),
    (
        "the same with timestamps: segments below the window are not echoed",
        "0.100 > 1:4345 every 0.001 clock 100
             0.110 < ack 1449 echo 100
             0.400 > 1449:2897 clock 400
             0.900 > 1449:2897 clock 900
             1.800 > 1449:2897 clock 1800
             1.810 < ack 2897 dsack 1449-2897 echo 100
             1.8101 > 2897:4345 clock 1810
             1.8201 < ack 4345 echo 1810
             1.821 > 4345:5793 clock 1821
             1.831 < ack 5793 echo 1821",
        &[&[(2_897, 3), (1_449, 4), (1_449, 5)]],
    ),
    (
        "an ACK that echoes the original's timestamp",
        "0.100 > 1:2897 every 0.001 clock 100
             0.110 < ack 1449 echo 100
             0.350 > 1449:2897 clock 350
             0.365 < ack 2897 echo 100
             0.380 < ack 2897 dsack 1449-2897 echo 100
             0.400 > 2897:4345 clock 400
             0.410 < ack 4345 echo 400",
        &[],
    ),
    (
        "reordering is not loss",
        "0.100 > 1:7241 every 0.001
             0.110 < ack 1449
             0.111 < ack 1449 sack 2897-4345
             0.112 < ack 4345
             0.113 < acks 5793 7241 every 0.001
             0.120 > 7241:8689
             0.130 < ack 8689",
        &[],
    ),
    (
        "reordering that triggers a retransmission is not loss",
        "0.100 > 1:10137 every 0.001
             0.110 < ack 1449
             0.111 < ack 1449 sack 2897-... 8689 every 0.001
             0.1141 > 1449:2897
             0.116 < ack 8689
             0.117 < ack 10137
             0.1242 < ack 10137 dsack 1449-2897
             0.130 > 10137:11585
             0.140 < ack 11585",
        &[],
    ),
    (
        "two interruptions with recovery between: two episodes",
        "0.100 > 1:7241 every 0.001
             0.110 < ack 1449
             0.112 < ack 1449 sack 2897-... 7241 every 0.001
             0.1121 > 1449:2897
             0.1221 < ack 7241
             0.200 > 7241:14481 every 0.001
             0.210 < ack 8689
             0.213 < ack 8689 sack 11585-... 14481 every 0.001
             0.2131 > 8689:11585
             0.2231 < ack 10137 sack 11585-14481
             0.2232 < ack 14481
             0.230 > 14481:15929
             0.240 < ack 15929",
        &[&[(1_449, 2)], &[(8_689, 8), (10_137, 9)]],
    ),
    (
        "second interruption before recovery",
        "0.100 > 1:7241 every 0.001
             0.110 < ack 1449
             0.112 < ack 1449 sack 2897-... 7241 every 0.001
             0.1121 > 1449:2897
             0.1122 > 7241:14481 every 0.001
             0.1221 < ack 7241
             0.1252 < ack 7241 sack 10137-... 14481 every 0.001
             0.1253 > 7241:10137
             0.1353 < ack 8689 sack 10137-14481
             0.1354 < ack 14481
             0.140 > 14481:15929
             0.150 < ack 15929",
        &[&[(1_449, 2)], &[(7_241, 7), (8_689, 8)]],
    ),
    (
        "a spurious probe",
        "0.100 > 1:5793 every 0.001
             0.110 < acks 1449 2897 every 0.001
             0.140 > 4345:5793
             0.150 < ack 5793 dsack 4345-5793
             0.160 > 5793:7241
             0.170 < ack 7241",
        &[],
    ),
    (
        "D-SACK of a probe after everything is acknowledged",
        "0.100 > 1:1449
             0.110 < ack 1449
             0.115 > 1449:2897
             0.150 > 1449:2897
             0.165 < ack 2897
             0.175 < ack 2897 dsack 1449-2897
             0.200 > 2897:4345
             0.210 < ack 4345",
        &[],
    ),
    (
        "capture ends unrecovered: the last retransmission is unknown",
        "0.100 > 1:4345 every 0.001
             0.110 < ack 1449
             0.400 > 1449:2897
             0.900 > 1449:2897",
        &[&[(1_449, 2), (1_449, 4)]],
    ),
    (
        "the last segment with its FIN",
        "0.100 > 1:2897 every 0.001
             0.110 < acks 1449 2897 every 0.001
             0.112 > 2897:3001 fin
             0.340 > 2897:3001 fin
             0.350 < ack 3001",
        &[&[(2_897, 3)]],
    ),
];

#[test]
fn losses_match_dropped_packets() {
    for (name, text, expected) in CASES {
        let flow = after_handshake(text);
        assert_eq!(lost(&flow), *expected, "{name}");
    }
}

#[test]
fn without_sack_duplicate_acks_are_evidence() {
    let flow = flow(
        "open 0.010 nosack
         0.100 > 1:8689 every 0.001
         0.110 < ack 1449
         0.112 < ack 1449
         0.113 < ack 1449
         0.114 < ack 1449
         0.1141 > 1449:2897
         0.1241 < ack 8689
         0.130 > 8689:10137
         0.140 < ack 10137",
    );
    assert_eq!(lost(&flow), [[(1_449, 2)]]);
    assert_eq!(flow.episodes[0].kind, EpisodeKind::WithoutTimeLag);
    assert!(matches!(flow.episodes[0].evidence, Evidence::DuplicateAcks { .. }));
    assert_eq!(flow.totals.duplicate_acks, 3);
}

#[test]
fn without_sack_no_tail_loss_probe() {
    // The only outstanding segment is retransmitted: with SACK a probe, without it a timeout.
    for (sack, probes) in [("", 1), (" nosack", 0)] {
        let flow = flow(&format!(
            "0.000 > S{sack}
             0.010 < S{sack}
             0.0101 > ack 1
             0.100 > 1:1449
             0.330 > 1:1449
             0.340 < ack 1449
             0.350 > 1449:2897
             0.360 < ack 2897"
        ));
        let episode = &flow.episodes[0];
        assert_eq!((episode.probes, episode.timeouts), (probes, 1), "{sack}");
        assert_eq!(lost(&flow), [[(1, 1)]]);
    }
}

#[test]
fn without_sack_second_retransmission_by_timer() {
    let flow = flow(
        "open 0.010 nosack
         0.100 > 1:8689 every 0.001
         0.110 < acks 1449 2897 every 0.001
         0.112 < ack 2897
         0.113 < ack 2897
         0.114 < ack 2897
         0.1141 > 2897:4345
         0.115 > 8689:89785 every 0.004
         0.125 < ack 2897
         0.145 < ack 2897
         0.165 < ack 2897
         0.3441 < ack 2897
         0.3442 > 2897:4345
         0.3542 < ack 89785
         0.360 > 89785:91233
         0.370 < ack 91233",
    );
    assert_eq!(lost(&flow), [[(2_897, 3), (2_897, 7)]]);
    assert_eq!(flow.episodes[0].timeouts, 1);
    assert_eq!(flow.episodes[0].kind, EpisodeKind::WithoutTimeLag);
}

#[test]
fn go_back_n_sender_no_false_losses() {
    // Without SACK: 1449:2897 is lost, the rest waits at the receiver. After the timeout the sender
    // also retransmits what had arrived; the ACK for all of it is in flight.
    let flow = flow(
        "open 0.010 nosack
         0.100 > 1:7241 every 0.001
         0.110 < ack 1449
         0.112 < ack 1449
         0.400 > 1449:2897
         0.4001 > 2897:5793
         0.410 < ack 7241
         0.4101 < ack 7241
         0.4102 < ack 7241
         0.420 > 7241:8689
         0.430 < ack 8689",
    );
    assert_eq!(lost(&flow), [[(1_449, 2)]]);
}

/// 1:1449 and 14481:15929 of 30 segments are lost. The sender goes back and repeats all: what it
/// repeats less than an RTT before the ACK for everything did not bring it.
#[test]
fn go_back_n_repeated_within_a_round_trip_no_false_losses() {
    let flow = flow(
        "open 0.040 nosack
         0.100 > 1:43441 every 0.001
         0.400 > 1:1449
         0.440 < ack 14481
         0.4401 > 14481:43441 every 0.0019
         0.4802 < ack 43441
         0.490 > 43441:44889
         0.530 < ack 44889",
    );
    assert_eq!(lost(&flow), [[(1, 1), (14_481, 11)]]);
}

/// A queue lengthens the RTT to 100 ms. Duplicate ACKs answer each segment, so that an ACK for 50
/// answers one: the others had arrived.
#[test]
fn go_back_n_in_a_queue_no_false_losses() {
    let flow = flow(
        "open 0.040 nosack
         0.100 > 1:86881 every 0.001
         0.140 < ack 1449
         0.401 > 1449:14481 every 0.001
         0.441 < ack 14481
         0.442 > 14481:86881 every 0.001
         0.530 < ack 14481
         0.531 < ack 14481
         0.532 < ack 14481
         0.542 < ack 86881
         0.600 > 86881:88329
         0.640 < ack 88329",
    );
    assert_eq!(lost(&flow).concat().iter().filter(|(start, _)| *start >= 14_481).count(), 1);
}

/// Everything behind 1449 is lost, and each ACK is for two segments: none of them had arrived.
#[test]
fn go_back_n_after_a_lost_window_all_losses_found() {
    let flow = flow(
        "open 0.040 nosack
         0.100 > 1:7241 every 0.001
         0.140 < ack 1449
         0.400 > 1449:2897
         0.440 < ack 2897
         0.4401 > 2897:5793 every 0.0001
         0.4803 < ack 5793
         0.4804 > 5793:7241
         0.5205 < ack 7241
         0.530 > 7241:8689
         0.570 < ack 8689",
    );
    assert_eq!(lost(&flow), [[(1_449, 2), (2_897, 3), (4_345, 4), (5_793, 5)]]);
}

/// 1:1449 is lost, and in its recovery 46337:47785. Duplicate ACKs of 1 go on meanwhile; they tell
/// nothing of the second loss.
#[test]
fn without_sack_evidence_is_of_the_segment_and_a_round_trip_later() {
    let flow = flow(
        "open 0.040 nosack
         0.100 > 1:43441 every 0.001
         0.141 < ack 1
         0.142 < ack 1
         0.143 < ack 1
         0.1431 > 1:1449
         0.150 > 43441:57921 every 0.001
         0.1511 < ack 1
         0.1531 < ack 1
         0.160 < ack 1
         0.184 < ack 43441
         0.191 < ack 46337
         0.193 < ack 46337
         0.194 < ack 46337
         0.195 < ack 46337
         0.1951 > 46337:47785
         0.2352 < ack 57921
         0.240 > 57921:59369
         0.280 < ack 59369",
    );
    assert_eq!(lost(&flow), [[(1, 1)], [(46_337, 34)]]);
    let second = &flow.episodes[1];
    assert!(matches!(second.evidence, Evidence::DuplicateAcks { .. }), "{second:?}");
    assert_eq!(second.evidence_at, Instant::from_nanos(193_000_000));
    assert_eq!(second.kind, EpisodeKind::WithoutTimeLag);
}

/// A retransmission in other boundaries: what is reported twice is only its end, so that its
/// beginning was needed.
#[test]
fn partly_reported_retransmission_was_needed() {
    let whole = "open 0.020
        0.100 > 1:1449
        0.1001 > 1449:2001
        0.121 < ack 1 sack 1449-2001
        0.320 > 1:1349
        0.341 < ack 1349 sack 1449-2001
        0.3411 > 1349:2001
        0.362 < ack 2001 dsack DSACK";
    for (dsack, spurious) in [("1449-2001", 0), ("1349-2001", 1)] {
        let flow = flow(&whole.replace("DSACK", dsack));
        assert_eq!(flow.causes.spurious_by_dsack.count, spurious, "{dsack}");
    }
}

/// Ten segments in a packet that the sender hands to its card, the third of which is lost: this one
/// is missing, and one of thirteen segments on the wire, with the SYN, is a retransmission.
#[test]
fn of_a_super_packet_the_missing_piece_is_lost() {
    let text = "open 0.020
        0.100 > 1:14481
        0.120 < ack 2897
        0.1201 < ack 2897 sack 4345-7241
        0.1202 < ack 2897 sack 4345-14481
        0.121 > 2897:4345
        0.141 < ack 14481
        0.142 > 14481:15929
        0.162 < ack 15929";
    let mut packets = drill(text, 1_000);
    packets.drain(4..13);
    let whole = &mut packets[3].bytes;
    whole.resize(whole.len() + 9 * 1_448, 0);
    let length = whole.len() as u16;
    whole[2..4].copy_from_slice(&length.to_be_bytes());
    packets.iter_mut().for_each(Captured::seal);
    let flow = analyze(&packets).connections.remove(0).forward;
    let [episode] = &flow.episodes[..] else { panic!("{:?}", flow.episodes) };
    let [lost] = &episode.lost[..] else { panic!("{episode:?}") };
    assert_eq!((lost.frame, lost.to_string().as_str()), (4, "2897:4345(1448)"));
    assert_eq!((flow.totals.wire_segments, flow.causes.retransmissions()), (13, 1));
    assert_eq!(flow.totals.wire_data_segments(), 12);
    assert!((flow.retransmitted_share() - 1.0 / 13.0).abs() < 1e-12);
}
