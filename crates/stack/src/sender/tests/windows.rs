//! The congestion window where nothing is lost.

use super::super::{Ack, Negotiated};
use super::bench::*;

#[test]
fn slow_start_with_full_window_doubles() {
    let mut b = Bench::linux(10_000);
    let mut sent = Vec::new();
    let mut next = 1;
    for round in 1..=5 {
        let count = b.leaving().len() as u64;
        sent.push(count);
        for _ in 0..count {
            next += 1;
            b.at(round * 100).ack(next, &[]);
            // All leave with the next round.
        }
    }
    assert_eq!(sent, [10, 20, 40, 80, 160]);
}

#[test]
fn cwnd_unused_does_not_grow() {
    let mut b = Bench::linux(0);
    for round in 0..20 {
        b.stream.end += 2 * MSS;
        assert_eq!(b.at(round * 100).leaving().len(), 2);
        let all = start_of(&b);
        b.at(round * 100 + 99).ack(all, &[]);
    }
    assert_eq!(b.cwnd(), 10);
}

fn start_of(b: &Bench) -> u64 {
    (b.sender.sent() - 1) / MSS + 1
}

#[test]
fn cwnd_after_idle_halves_per_timeout() {
    for (idle, expected) in [(300, 80), (301, 40), (650, 20), (950, 10), (60_000, 10)] {
        let mut b = Bench::linux(0);
        let mut time = 0;
        for round in [10, 20, 40] {
            b.stream.end += round * MSS;
            assert_eq!(b.at(time).leaving().len() as u64, round);
            time += 100;
            let all = start_of(&b);
            b.at(time).ack(all, &[]);
        }
        assert_eq!(b.cwnd(), 80);
        // The last left 100 ms before.
        b.stream.end += 200 * MSS;
        assert_eq!(b.at(time - 100 + idle).leaving().len(), expected, "{idle}");
    }
}

#[test]
fn cwnd_idle_time_ends_when_data_can_leave() {
    // Written into a closed window, the data does not touch the congestion window; when it opens
    // after ten timeouts, that is small.
    let mut b = Bench::linux(26);
    b.leaving();
    b.at(100).ack(11, &[]);
    assert_eq!(b.leaving().len(), 16);
    b.window = 0;
    b.at(200).ack(27, &[]);
    assert_eq!(b.cwnd(), 36);
    b.stream.end += 20 * MSS;
    assert_eq!(b.numbers(), NOTHING);
    for _ in 0..3 {
        b.ring_sends();
        assert_eq!(b.cwnd(), 36);
    }
    b.window = 1_000_000;
    b.at(3_200).ack(27, &[]);
    assert_eq!(b.leaving().len(), 10);
}

#[test]
fn cwnd_without_idle_rule_stays() {
    let mut b =
        Bench::new(&changed(|config| config.window.slow_start_after_idle = false), &agreed(), 10);
    b.leaving();
    b.at(100).ack(11, &[]);
    b.stream.end += 100 * MSS;
    assert_eq!(b.at(60_000).leaving().len(), 20);
}

#[test]
fn cwnd_growth_limit_is_respected() {
    // RFC 3465: ten acknowledged at once bring two.
    let mut b = Bench::new(&changed(|config| config.window.growth_limit = 2), &agreed(), 100);
    b.leaving();
    b.at(100).ack(11, &[]);
    assert_eq!(b.cwnd(), 12);
}

#[test]
fn peer_window_bounds_flight_and_segment_size() {
    let agreed = Negotiated { window: 5_000, ..agreed() };
    let mut b = Bench::new(&exact(), &agreed, 20);
    assert_eq!(b.numbers(), [1, 2, 3, 4, 5]);
    // Of a window of 1500 bytes a segment takes half, or the receiver waits for a second for ever.
    let agreed = Negotiated { window: 1_500, ..agreed };
    let mut b = Bench::new(&exact(), &agreed, 20);
    let sent: Vec<u32> = b.leaving().iter().map(|s| s.len).collect();
    assert_eq!(sent, [750, 750]);
}

#[test]
fn peer_window_of_old_segment_is_ignored() {
    let mut b = Bench::linux(20);
    b.leaving();
    let mut ack = Ack {
        position: start(2),
        sequence: 500,
        window: 900_000,
        carries_data: true,
        ..bare_ack()
    };
    b.at(100);
    assert!(b.hear(&ack).window_changed);
    assert_eq!(b.sender.peer_window(), 900_000);
    ack.sequence = 400;
    ack.window = 10;
    assert!(!b.hear(&ack).window_changed);
    assert_eq!(b.sender.peer_window(), 900_000);
}

#[test]
fn unacked_limit_bounds_segments() {
    let mut b = Bench::new(&changed(|config| config.sending.unacked = Some(3)), &agreed(), 20);
    assert_eq!(b.numbers(), [1, 2, 3]);
    assert_eq!(b.at(100).ack_numbers(2, &[]), [4]);
}
