//! Two captures, joined.

use tcplab_trace::join::{
    Audit, CaptureSummary, Change, ChangedField, ClockEstimate, Crossing, Joined, JoinedConnection,
};
use tcplab_units::Endpoint;

use super::*;

fn joined(clock: ClockEstimate, connections: Vec<JoinedConnection>, note: &str) -> String {
    let capture = CaptureSummary { packets: 606, tcp: 606, ..CaptureSummary::default() };
    let notes = vec![note.to_owned()];
    let captures = [capture; 2];
    let joined = Joined { captures, clock, connections, notes, ..Joined::default() };
    let names = ["c.pcap".to_owned(), "s.pcap".to_owned()];
    joined_text(&joined, &Audit::default(), &names, 10, NARROW)
}

fn connection(frames: [Option<u64>; 2], forward: Crossing, reverse: Crossing) -> JoinedConnection {
    JoinedConnection {
        client: end("10.0.0.1:40000"),
        server: end("10.0.0.2:80"),
        client_at: Endpoint::Client,
        first_frames: frames,
        forward,
        reverse,
    }
}

#[test]
fn joined_changes_on_the_way() {
    use ChangedField as F;
    let change = |(field, sent, arrived, packets): (F, Option<u32>, Option<u32>, u64)| Change {
        field,
        sent,
        arrived,
        packets,
        frame: 1_004,
        arrived_frame: 1_003,
    };
    let all = [
        (F::Ttl, Some(64), Some(57), 1_204),
        (F::Dscp, Some(46), Some(0), 1),
        (F::Ecn, Some(2), Some(3), 12),
        (F::EcnFlags, Some(3), Some(0), 1),
        (F::Window, None, None, 9),
        (F::Timestamps, Some(1), None, 8),
        (F::Timestamps, Some(1), Some(1), 8),
        (F::Sack, Some(2), Some(2), 7),
        (F::Mss, Some(1_460), Some(1_360), 1),
        (F::WindowScale, Some(7), None, 1),
        (F::SackPermitted, Some(1), None, 1),
        (F::FastOpen, None, Some(1), 1),
        (F::Multipath, Some(1), None, 1),
    ];
    let changes: Vec<Change> = all.into_iter().map(change).collect();
    let crossing = Crossing { sent: 404, arrived: 404, ..Crossing::default() };
    let forward = Crossing { changes: changes.clone(), not_judged: 3, ..crossing.clone() };
    let clock = ClockEstimate {
        offset_nanos: Some(0),
        error: Some(ms(10)),
        least_round_trip: Some(ms(20)),
        is_one: false,
        skew_ppm: 0.0,
        skew_error_ppm: Some(0.009),
    };
    let one = connection([Some(1), Some(1)], forward, crossing);
    insta::assert_snapshot!("joined_changes", joined(clock, vec![one], "a note"));
}

#[test]
fn joined_nothing_in_common() {
    let seen = Crossing { sent: 404, not_judged: 404, ..Crossing::default() };
    let came = Crossing { not_judged: 202, ..Crossing::default() };
    let both = Crossing { sent: 1, not_judged: 2, ..Crossing::default() };
    let connections = vec![
        connection([Some(1), None], seen.clone(), came.clone()),
        connection([None, Some(1)], came, seen),
        connection([Some(7), Some(9)], both.clone(), both),
    ];
    let text = joined(ClockEstimate::default(), connections, "no packet is in both captures");
    insta::assert_snapshot!("joined_nothing", text);
}

#[test]
fn joined_by_one_clock_assumes_nothing() {
    let clock = ClockEstimate {
        offset_nanos: Some(0),
        error: Some(Span::ZERO),
        least_round_trip: Some(ms(40)),
        is_one: true,
        ..ClockEstimate::default()
    };
    let text = joined(clock, Vec::new(), "a note");
    let line = "Both captures were taken by one clock: delays are measured, none is assumed.";
    assert!(text.contains(line), "{text}");
    assert!(!text.contains('±'), "{text}");
}
