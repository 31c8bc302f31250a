//! Rules of stacks that are not Linux.

use super::bench::*;
use crate::Config;
use crate::SendCause::{AfterTimeout, FastRetransmit, New, Timeout};
use crate::config::{Detection, Reduction, TimeoutAction, TimeoutRule};
use crate::congestion::State;

/// xnu of 2011: SACK by counting duplicates, go-back-N after a timeout, and the bad
/// retransmission within one smoothed round trip.
fn xnu() -> Config {
    let mut config = exact();
    config.timeout.rule = TimeoutRule::Xnu;
    config.timeout.action = TimeoutAction::GoBack;
    config.timeout.bad_retransmit_eighths = 8;
    config.timeout.backoff = vec![1, 2, 4, 8, 16, 32, 64, 64, 64, 64, 64, 64, 64];
    config.timeout.most = millis(64_000);
    config.timeout.counts_retries = true;
    config.timeout.retries = 12;
    config.recovery.detection = Detection::Sack;
    config.recovery.dupthresh = 2;
    config.recovery.most_reordering = 2;
    config.recovery.counts_duplicates = true;
    config.recovery.reduction = Reduction::OneSegment;
    config.recovery.frto = false;
    config.recovery.undo = false;
    config.recovery.tail_loss_probe = false;
    config.recovery.limited_transmit = false;
    config.window.first_threshold = Some(5);
    config
}

/// Ten segments out that an interruption swallowed; the first timeout has retransmitted the first.
fn interrupted() -> Bench {
    let mut b = Bench::new(&xnu(), &agreed(), 40).full();
    // 200 + 100 + 4·50.
    assert_eq!(b.alarm(), Some(500));
    assert_eq!(b.ring_sends(), [(1, Timeout(1))]);
    assert_eq!((b.cwnd(), b.ssthresh()), (1, 5));
    b
}

#[test]
fn bad_retransmit_answer_within_rtt_is_spurious() {
    // The queue has drained, so the answer comes sooner than a smoothed round trip: all but the
    // first is believed to have arrived, and one segment is repaired for each timeout.
    let mut b = interrupted();
    let mut time = 500;
    for lost in 2..=5 {
        time += 40;
        b.at(time).ack(lost, &[]);
        assert_eq!((b.state(), b.sender.info().lost), (State::Open, 0));
        assert_eq!((b.cwnd(), b.ssthresh()), (10, 5));
        // One new segment leaves for the one that was acknowledged...
        let new = 9 + lost;
        assert_eq!(b.sent(), [(new, New)]);
        // ...and brings one duplicate, less than the two that it takes.
        assert_eq!(b.at(time + 40).ack_numbers(lost, &[(11, new)]), NOTHING);
        b.ring().unwrap();
        time = b.now.as_nanos() / 1_000_000;
        assert_eq!(b.sent(), [(lost, Timeout(1))]);
    }
    assert_eq!(b.sender.info().total_rto, 5);
}

#[test]
fn bad_retransmit_late_answer_slow_starts() {
    let mut b = interrupted();
    b.at(601).ack(2, &[]);
    assert_eq!(b.state(), State::Loss);
    assert_eq!(b.sent(), [(2, AfterTimeout), (3, AfterTimeout)]);
    b.at(702).ack(3, &[]);
    assert_eq!(b.ack_numbers(4, &[]), [4, 5, 6, 7]);
    assert_eq!(b.cwnd(), 4);
    // Go-back-N ignores what the peer holds: everything is retransmitted.
    b.at(803).ack(5, &[(7, 9)]);
    b.ack(6, &[(7, 9)]);
    let sent = b.numbers();
    assert_eq!(sent[..2], [8, 9]);
}

#[test]
fn bad_retransmit_only_first_timeout_counts() {
    let mut b = interrupted();
    assert_eq!(b.ring_sends(), [(1, Timeout(2))]);
    let at = b.now.as_nanos() / 1_000_000;
    // Backed off by the second factor.
    assert_eq!(at, 500 + 1_000);
    b.at(at + 20).ack(2, &[]);
    assert_eq!(b.state(), State::Loss);
    assert_eq!(b.ssthresh(), 2, "reduced at every timeout");
}

#[test]
fn xnu_two_duplicates_start_recovery() {
    let mut b = Bench::new(&xnu(), &agreed(), 40).full();
    // 1 and 3 are lost.
    assert_eq!(b.at(100).ack_numbers(1, &[(2, 2)]), NOTHING);
    assert_eq!(b.ack_sends(1, &[(4, 4), (2, 2)]), [(1, FastRetransmit)]);
    assert_eq!((b.state(), b.ssthresh()), (State::Recovery, 5));
    // Less than the threshold must be in flight before a duplicate brings another.
    b.ack(1, &[(4, 5), (2, 2)]);
    b.ack_sends(1, &[(4, 6), (2, 2)]);
    b.ack(1, &[(4, 8), (2, 2)]);
    b.ack_sends(1, &[(4, 10), (2, 2)]);
    assert_eq!(b.sender.info().total_retrans, 2);
    b.at(200).ack(11, &[]);
    assert_eq!((b.state(), b.cwnd()), (State::Open, 5));
}

#[test]
fn xnu_after_twelve_timeouts_gives_up() {
    let mut b = Bench::new(&xnu(), &agreed(), 1);
    b.leaving();
    assert_eq!(b.ring_until_given_up().0, 12);
}

#[test]
fn old_haiku_without_timestamps_waits_two_seconds() {
    let mut config = exact();
    config.timeout.rule = TimeoutRule::OldHaiku;
    config.recovery.tail_loss_probe = false;
    let mut b = Bench::new(&config, &agreed(), 40);
    b.leaving();
    // 100 + 2·50, the least 200.
    assert_eq!(b.alarm(), Some(200));
    b.at(100).ack_sends(2, &[]);
    assert_eq!(b.alarm(), Some(2_100));
}
