//! Retransmissions that answer what was captured just before: no timer ran out.

use super::drill::{connection, flow};
use crate::SegmentKind::{FastRetransmission, RepeatedControl, TimeoutRetransmission};
use crate::{EpisodeKind, Flow, SegmentKind};

/// Frame and kind of what is not new data.
fn judged(flow: &Flow) -> Vec<(u64, SegmentKind)> {
    let judged = flow.segments.iter().filter(|s| s.kind != SegmentKind::New);
    judged.map(|s| (s.frame, s.kind)).collect()
}

/// BSD acknowledges with its FIN again. Its SYN-ACK took longer than any other answer, but what an
/// ACK covers had been heard.
#[test]
fn fin_that_acknowledges_what_came_just_before_is_no_timeout() {
    let connection = connection(
        "0.0000 > S
         0.0095 < S
         0.0400 > ack 1
         0.0600 > 1:275
         0.0602 < ack 275
         0.0607 < 1:2 fin acking 275
         0.1402 > 275:1723
         0.1404 < 1:2 fin acking 1723
         0.2302 > 1723:3171
         0.2317 < 1:2 fin acking 3171
         0.3103 > 3171:4619
         0.3105 < 1:2 fin acking 4619
         0.3199 > ack 2 at 4619",
    );
    let again = [8, 10, 12].map(|frame| (frame, RepeatedControl));
    assert_eq!(judged(&connection.reverse), again);
    let causes = &connection.reverse.causes;
    assert_eq!((causes.timeouts.count, causes.backoffs.segments), (0, 0));
}

/// The answer came a little sooner than that to the SYN-ACK: 2.43 ms after the report, not 2.5 ms.
#[test]
fn retransmission_a_little_sooner_than_the_least_reaction_is_prompted() {
    let flow = flow(
        "0.0000 > S
         0.4100 < S
         0.4125 > ack 1
         0.5000 > 1:1449
         0.9100 < ack 1449
         1.0000 > 1449:2897
         1.2000 > 2897:4345
         1.2001 > 4345:4445 psh
         1.6110 < ack 1449 sack 2897-4345
         1.6110 < ack 1449 sack 2897-4445
         1.61343 > 1449:2897
         2.0240 < ack 4445",
    );
    assert_eq!(judged(&flow), [(11, FastRetransmission)]);
    assert_eq!(flow.episodes[0].kind, EpisodeKind::WithoutTimeLag);
}

/// The client's ACK of the SYN-ACK took 110 ms. A sender without the ACK of what lies before would
/// have repeated that; with it, it had the report, too: its timer ran for less than a round trip.
#[test]
fn retransmission_from_the_cumulative_ack_on_shows_that_it_was_heard() {
    let flow = flow(
        "0.000 > S
         0.100 < S
         0.210 > ack 1
         0.300 > 1:1449
         0.380 > 1449:2057
         0.3825 > 2057:2691
         0.3850 > 2691:3319
         0.4876 < ack 1449
         0.4877 < ack 1449 sack 2057-2691
         0.5561 < ack 1449 sack 2057-3319
         0.5582 > 1449:2057
         0.6608 < ack 3319",
    );
    assert_eq!(judged(&flow), [(11, FastRetransmission)]);
    assert!(flow.causes.timeouts.is_empty());
}

/// Bytes of padding taken for data, by a device that made each ACK one of data before its SYN's
/// number: nothing waited.
#[test]
fn data_at_the_place_of_the_syn_are_no_repeated_syn() {
    let connection = connection(
        "0.0000 > S
         0.0116 < S
         0.0117 > 1:497
         0.0234 < 1:7 acking 497
         0.0245 < 0:6 acking 497
         0.0245 < 0:6 acking 497
         0.0245 < 0:6 acking 497
         0.0246 < 0:6 acking 497",
    );
    let flow = &connection.reverse;
    assert!(flow.causes.timeouts.is_empty() && flow.causes.backoffs.longest.is_none());
    assert!(judged(flow).iter().all(|&(_, kind)| kind != TimeoutRetransmission));
}
