//! Tail loss probes and window probes.

use super::super::GivenUp;
use super::bench::*;
use crate::SendCause::{New, Rack, TailLossProbe, Timeout, WindowProbe};
use crate::congestion::State;

#[test]
fn loss_probe_leaves_after_two_rtts() {
    let mut b = Bench::linux(3);
    assert_eq!(b.numbers(), [1, 2, 3]);
    assert_eq!(b.alarm(), Some(202));
    assert_eq!(b.ring_sends(), [(3, TailLossProbe)]);
    assert_eq!((b.state(), b.cwnd()), (State::Open, 10));
    // One probe; then the timeout, from the probe on.
    assert_eq!(b.alarm(), Some(502));
    assert_eq!(b.ring_sends(), [(1, Timeout(1))]);
}

#[test]
fn loss_probe_of_single_segment_waits_for_delayed_ack() {
    let mut b = Bench::linux(1);
    b.leaving();
    // 200 + 200 ms, but never after the timeout.
    assert_eq!(b.alarm(), Some(300));
    assert_eq!(b.ring_sends(), [(1, TailLossProbe)]);
    assert_eq!(b.alarm(), Some(600));
}

#[test]
fn loss_probe_prefers_new_data() {
    let mut b = Bench::linux(20).full();
    assert_eq!(b.ring_sends(), [(11, TailLossProbe)]);
    assert_eq!(b.alarm(), Some(502));
}

#[test]
fn loss_probe_that_repairs_reduces_window() {
    let mut b = Bench::linux(3);
    b.leaving();
    b.at(100).ack(3, &[]);
    let probe = b.alarm().unwrap();
    assert_eq!(b.ring_sends(), [(3, TailLossProbe)]);
    b.at(probe + 100).ack(4, &[]);
    assert_eq!(b.ssthresh(), crate::congestion::NO_THRESHOLD, "the original may have arrived");
    b.stream.end = start(5);
    assert_eq!(b.numbers(), [4]);
    b.at(probe + 200).ack(5, &[]);
    assert_eq!((b.state(), b.ssthresh(), b.cwnd()), (State::Open, 5, 5));
}

#[test]
fn loss_probe_with_dsack_is_spurious() {
    let mut b = Bench::linux(3);
    b.leaving();
    assert_eq!(b.ring_sends(), [(3, TailLossProbe)]);
    b.at(210).ack(4, &[]);
    b.at(302).ack(4, &[(3, 3)]);
    b.stream.end = start(5);
    b.leaving();
    b.at(402).ack(5, &[]);
    assert_eq!((b.state(), b.cwnd()), (State::Open, 10));
}

#[test]
fn loss_probe_sack_starts_recovery() {
    let mut b = Bench::linux(10).full();
    // 8, 9 and 10 are lost.
    b.at(100).ack(8, &[]);
    let at = b.alarm().unwrap();
    assert_eq!(at, 302);
    assert_eq!(b.ring_sends(), [(10, TailLossProbe)]);
    b.at(at + 100).ack(8, &[(10, 10)]);
    // One delivered, one leaves; then in slow start.
    assert_eq!(b.sent(), [(8, Rack)]);
    assert_eq!(b.sender.info().lost, 2);
    assert_eq!(b.at(at + 200).ack_sends(9, &[(10, 10)]), [(9, Rack)]);
}

#[test]
fn window_probe_interval_doubles() {
    let mut b = Bench::linux(20).full();
    b.window = 0;
    assert_eq!(b.at(100).ack_numbers(11, &[]), NOTHING);
    let mut times = Vec::new();
    for _ in 0..11 {
        b.ring().unwrap();
        let probe = b.leaving();
        assert_eq!((probe.len(), probe[0].cause, probe[0].len), (1, WindowProbe, 0));
        assert_eq!(probe[0].start, start(11) - 1);
        times.push(b.now.as_nanos() / 1_000_000);
        // It is answered, still closed.
        assert_eq!(b.ack_numbers(11, &[]), NOTHING);
    }
    // From 300 ms on, doubled up to 120 s.
    let spans: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    assert_eq!(times[0], 400);
    assert_eq!(spans, [600, 1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 76_800, 120_000, 120_000]);
    b.window = 1_000_000;
    b.ack(11, &[]);
    assert_eq!(b.sent()[0], (11, New));
}

#[test]
fn window_probe_without_answer_gives_up() {
    let mut b = Bench::linux(20);
    b.leaving();
    b.window = 0;
    b.at(100).ack_sends(11, &[]);
    assert_eq!(b.ring_until_given_up(), (15, GivenUp::Probes(15)));
}

#[test]
fn window_probe_fills_small_window() {
    let mut b = Bench::linux(20);
    b.leaving();
    b.window = 700;
    assert_eq!(b.at(100).ack_numbers(11, &[]), NOTHING, "silly windows are not filled at once");
    b.ring().unwrap();
    let sent = b.leaving();
    assert_eq!((sent.len(), sent[0].len, sent[0].start), (1, 700, start(11)));
}

#[test]
fn window_shrunk_to_zero_turns_retransmissions_into_probes() {
    let mut b = Bench::linux(10);
    b.leaving();
    b.window = 0;
    b.at(100).ack_sends(2, &[]);
    for _ in 0..30 {
        b.ring().unwrap();
        let sent = b.sent();
        assert!(sent.is_empty() || matches!(sent[..], [(2, WindowProbe)]), "{sent:?}");
        b.ack(2, &[]);
    }
    b.window = 1_000_000;
    b.ack(3, &[]);
    assert!(!b.leaving().is_empty());
}
