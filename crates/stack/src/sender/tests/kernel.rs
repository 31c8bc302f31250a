//! What Linux 6.18 does with the same packets at the same times (packetdrill, Reno,
//! segments of 1000 bytes, a round trip of 100 ms), worked here with exact timers.

use super::super::Negotiated;
use super::bench::*;
use crate::SendCause::{
    AfterTimeout, FastRetransmit, LimitedTransmit, New, Rack, TailLossProbe, Timeout,
};
use crate::congestion::{NO_THRESHOLD, State};

/// A machine that hands down bursts.
fn kernel(sack: bool, timestamps: bool, segments: u64) -> Bench {
    let mut config = exact();
    config.sending.burst = 65_536;
    config.sending.least_burst = 10;
    Bench::new(&config, &Negotiated { sack, timestamps, ..agreed() }, segments)
}

#[test]
fn delay_longer_than_probe_and_timeout_is_undone() {
    let mut b = kernel(true, false, 40);
    let sent: Vec<u32> = b.leaving().iter().map(|s| s.len).collect();
    assert_eq!(sent, [5_000, 5_000], "half the window at once");
    assert_eq!(b.ring_sends(), [(11, TailLossProbe)]);
    assert_eq!(b.ring_sends(), [(1, Timeout(1))]);
    assert_eq!((b.sender.info().lost, b.cwnd(), b.ssthresh()), (11, 1, 5));
    assert_eq!(b.at(552).ack_sends(2, &[]), [(12, New), (13, New)]);
    b.at(553).ack(3, &[]);
    assert_eq!((b.state(), b.cwnd(), b.sender.info().lost), (State::Open, 11, 0));
    assert_eq!(b.at(563).ack_sends(4, &[]), [(14, New)]);
    assert_eq!((b.sender.sent(), b.cwnd()), (start(16), 12));
}

#[test]
fn no_sack_partial_ack_waits_for_window() {
    let mut b = kernel(false, false, 30);
    b.leaving();
    assert_eq!(b.at(100).ack_sends(1, &[]), [(11, LimitedTransmit)]);
    assert_eq!(b.at(102).ack_sends(1, &[]), [(12, LimitedTransmit)]);
    assert_eq!(b.at(104).ack_sends(1, &[]), [(1, FastRetransmit)]);
    assert_eq!(b.cwnd(), 9);
    let more: Vec<Vec<u64>> = (0..4)
        .map(|n| {
            b.at(106 + 2 * n).ack(1, &[]);
            b.numbers()
        })
        .collect();
    assert_eq!(more, [vec![], vec![13], vec![], vec![14]]);
    // Six are in flight and the threshold is five: in proportion, nothing is due. The hole waits
    // for the timeout.
    assert_eq!(b.at(202).ack_numbers(5, &[]), NOTHING);
    assert_eq!(b.ring_sends(), [(5, Timeout(1))]);
    assert_eq!(b.now.as_nanos() / 1_000_000, 502);
}

#[test]
fn no_sack_second_duplicate_leads_to_timeout() {
    let mut b = kernel(false, false, 40);
    b.leaving();
    assert_eq!(b.ring_sends(), [(1, Timeout(1))]);
    assert_eq!(b.at(400).ack_sends(2, &[]), [(11, New), (12, New)]);
    assert_eq!(b.at(500).ack_sends(2, &[]), [(2, AfterTimeout)]);
    assert_eq!(b.at(502).ack_sends(2, &[]), [(3, AfterTimeout)]);
    assert_eq!(b.at(602).ack_numbers(3, &[]), NOTHING);
    assert_eq!(b.ring_sends(), [(3, Timeout(1))]);
    assert_eq!(b.now.as_nanos() / 1_000_000, 1_202);
}

#[test]
fn probe_waits_no_longer_than_first_timeout() {
    let mut b = kernel(true, false, 10);
    b.leaving();
    b.at(100).ack(10, &[]);
    assert_eq!(b.cwnd(), 19);
    b.stream.end = start(12);
    assert_eq!(b.at(250).numbers(), [11]);
    // The tenth left at 0 and its timer was restarted at 100; the probe is due at its time.
    b.ring().unwrap();
    assert_eq!((b.now.as_nanos() / 1_000_000, b.sent()), (300, vec![(11, TailLossProbe)]));
    assert_eq!(b.ring_sends(), [(10, Timeout(1))]);
    assert_eq!((b.sender.info().lost, b.ssthresh()), (2, 9));
}

#[test]
fn eifel_ack_of_retransmission_undoes() {
    let mut b = kernel(true, true, 20);
    b.leaving();
    b.echo = Some(0);
    assert_eq!(b.at(100).ack_sends(1, &[(2, 4)]), [(1, Rack), (11, New)]);
    assert_eq!((b.state(), b.ssthresh()), (State::Recovery, 5));
    b.at(110).ack(5, &[]);
    assert_eq!((b.state(), b.cwnd(), b.ssthresh()), (State::Open, 11, NO_THRESHOLD));
}

#[test]
fn burst_waits_for_due_ack() {
    // Within a millisecond of the last, one segment is held back where a third of the window may
    // come soon; nothing else comes, so the probe brings it.
    let mut b = kernel(true, false, 40);
    b.leaving();
    assert_eq!(b.at(100).ack_numbers(1, &[(2, 2)]), [11]);
    assert_eq!(b.ack_numbers(1, &[(2, 3)]), NOTHING);
    b.at(103).ack(1, &[(2, 3), (5, 5)]);
    assert_eq!(b.sent()[0], (1, Rack));
}
