//! How much leaves at once, and what is held back.

use super::super::*;
use super::bench::*;
use crate::config::Nagle;

fn lengths(b: &mut Bench) -> Vec<u32> {
    b.leaving().iter().map(|s| s.len).collect()
}

#[test]
fn burst_size_follows_pacing_rate_and_rtt() {
    let mut config = exact();
    config.sending.burst = 65_536;
    let wide = Negotiated { mss: 1_448, ..agreed() };
    // The handshake's round trip gives the first pace: ten segments per 100 ms make bursts of the
    // least size.
    let mut b = Bench::new(&config, &wide, 0);
    b.stream.end = 1 + 1_448 * 100;
    assert_eq!(lengths(&mut b), [2_896; 5]);
    // At 100 ms the distance allows nothing, a window of 11 per 100 ms less than two segments.
    b.at(100);
    let ack = Ack { position: 1 + 1_448, ..bare_ack() };
    b.hear(&ack);
    assert_eq!(lengths(&mut b), [2_896]);
    b.sender.audit();
}

/// A burst of 2,600 bytes in segments of 1,000: after an acknowledgement within the first, the rest
/// is cut from there on, and counts as one segment less where it needs one less.
#[test]
fn burst_acknowledged_within_first_segment_is_cut_anew() {
    let mut config = exact();
    config.sending.burst = 65_536;
    config.sending.least_burst = 3;
    let plain = Negotiated { sack: false, ..agreed() };
    for (acked, outstanding, again) in
        [(500, 3, (501, 1_000)), (700, 2, (701, 1_000)), (1_000, 2, (1_001, 1_000))]
    {
        let mut b = Bench::new(&config, &plain, 0);
        b.stream.end = 1 + 2_600;
        assert_eq!(lengths(&mut b), [2_600]);
        b.at(100);
        b.hear(&Ack { position: 1 + acked, ..bare_ack() });
        assert_eq!(b.sender.info().unacked, outstanding, "{acked}");
        b.ring().unwrap();
        let sent = b.leaving();
        assert_eq!((sent[0].start, sent[0].len), again, "{acked}");
    }
}

#[test]
fn nagle_holds_small_segment() {
    for (rule, nodelay, expected) in [
        // 2.5 segments, then 0.2: Plain holds each part while anything is out.
        (Nagle::Plain, false, (vec![1_000, 1_000], vec![])),
        // Minshall lets one small segment go, not a second.
        (Nagle::Minshall, false, (vec![1_000, 1_000, 500], vec![])),
        (Nagle::Minshall, true, (vec![1_000, 1_000, 500], vec![200])),
        (Nagle::Off, false, (vec![1_000, 1_000, 500], vec![200])),
    ] {
        let mut b = Bench::new(&changed(|config| config.sending.nagle = rule), &agreed(), 0);
        b.stream.nodelay = nodelay;
        b.stream.end = 1 + 2_500;
        let first = lengths(&mut b);
        b.stream.end += 200;
        assert_eq!((first, lengths(&mut b)), expected, "{rule:?} {nodelay}");
        let all = b.sender.sent();
        let ack = Ack { position: all, ..bare_ack() };
        b.at(100);
        b.hear(&ack);
        b.leaving();
        assert_eq!(b.sender.sent(), b.stream.end, "nothing is out: nothing is held");
    }
}

#[test]
fn cork_holds_small_segment_for_one_timeout() {
    let mut b = Bench::linux(0);
    b.stream.corked = true;
    b.stream.end = 1 + 2_300;
    assert_eq!(lengths(&mut b), [1_000, 1_000]);
    b.at(100).ack(3, &[]);
    assert_eq!(lengths(&mut b), [0; 0]);
    // As `tcp_check_probe_timer` has it.
    assert_eq!(b.alarm(), Some(400));
    b.ring().unwrap();
    assert_eq!(lengths(&mut b), [300]);
}

#[test]
fn fin_leaves_with_last_data() {
    let mut b = Bench::linux(0);
    b.stream.end = 1 + 1_000 + 1;
    b.stream.fin = true;
    let sent = b.leaving();
    assert_eq!((sent.len(), sent[0].len, sent[0].fin), (1, 1_000, true));
    assert_eq!(b.sender.info().unacked, 1);
    // Alone where the data has left.
    let mut b = Bench::linux(2);
    assert_eq!(b.leaving().len(), 2);
    b.stream.end += 1;
    b.stream.fin = true;
    let sent = b.leaving();
    assert_eq!((sent.len(), sent[0].len, sent[0].fin), (1, 0, true));
    // Retransmitted as it is.
    b.at(100).ack(3, &[]);
    b.ring().unwrap();
    let sent = b.leaving();
    assert_eq!((sent.len(), sent[0].len, sent[0].fin), (1, 0, true));
    let end = Ack { position: b.stream.end, ..bare_ack() };
    assert_eq!(b.hear(&end).acked, 1);
    assert_eq!(b.alarm(), None);
}

#[test]
fn pacing_spreads_window_over_rtt() {
    let mut b = Bench::new(&changed(|config| config.sending.paced = true), &agreed(), 1_000);
    assert_eq!(b.leaving().len(), 10, "the first ten are free");
    b.at(100).ack(11, &[]);
    // 20 segments per 100 ms, twice as fast: one each 2.5 ms.
    let mut times = Vec::new();
    for _ in 0..8 {
        times.push((b.now.as_nanos() / 100_000, b.leaving().len()));
        b.ring().unwrap();
    }
    let spans: Vec<u64> = times.windows(2).map(|w| w[1].0 - w[0].0).collect();
    assert!(times.iter().all(|t| t.1 == 1), "{times:?}");
    // The first makes up for the pause before.
    assert_eq!(spans[1..], [25; 6]);
}
