//! Without SACK: duplicate and partial acknowledgements.

use super::super::Negotiated;
use super::bench::*;
use crate::SendCause::{AfterTimeout, FastRetransmit, LimitedTransmit};
use crate::config::{Detection, Reduction};
use crate::congestion::State;

fn plain() -> Negotiated {
    Negotiated { sack: false, ..agreed() }
}

#[test]
fn newreno_third_duplicate_and_partial_acks_repair_one_each() {
    let mut b = Bench::new(&exact(), &plain(), 30).full();
    // The first and the fourth are lost.
    assert_eq!(b.at(100).ack_sends(1, &[]), [(11, LimitedTransmit)]);
    assert_eq!(b.ack_sends(1, &[]), [(12, LimitedTransmit)]);
    assert_eq!(b.ack_sends(1, &[]), [(1, FastRetransmit)]);
    assert_eq!((b.state(), b.ssthresh()), (State::Recovery, 5));
    for _ in 0..6 {
        b.ack_sends(1, &[]);
    }
    b.at(200).ack(4, &[]);
    assert_eq!(b.sent()[0], (4, FastRetransmit));
    assert_eq!(b.state(), State::Recovery);
    // All that was out when it began is there: held until something above is acknowledged.
    b.at(300).ack(13, &[]);
    assert_eq!(b.state(), State::Recovery);
    assert_eq!(b.sender.info().total_retrans, 2);
    b.leaving();
    b.at(400).ack(14, &[]);
    assert_eq!((b.state(), b.cwnd()), (State::Open, 5));
}

#[test]
fn duplicates_without_limited_transmit_send_nothing() {
    let mut b =
        Bench::new(&changed(|config| config.recovery.limited_transmit = false), &plain(), 30)
            .full();
    b.at(100).ack(1, &[]);
    assert_eq!(b.ack_numbers(1, &[]), NOTHING);
    assert_eq!(b.ack_sends(1, &[]), [(1, FastRetransmit)]);
}

#[test]
fn inflation_matches_rfc_5681() {
    // Ten out, the first lost: ssthresh 5, cwnd 5 + 3 for three duplicates, one more for each.
    // Ten are out, so the third to seventh duplicate send nothing new, the others one each.
    let mut config = exact();
    config.recovery.reduction = Reduction::Inflation;
    config.recovery.limited_transmit = false;
    config.recovery.detection = Detection::NewReno;
    let mut b = Bench::new(&config, &plain(), 30).full();
    let sent: Vec<usize> = (1..=9)
        .map(|_| {
            b.at(100).ack(1, &[]);
            b.leaving().len()
        })
        .collect();
    // Duplicate 3 triggers the retransmission; 5 + n > 10 from the sixth on.
    assert_eq!(sent, [0, 0, 1, 0, 0, 1, 1, 1, 1]);
    assert_eq!(b.cwnd(), 5);
    // Deflated, and grown by one for what was delivered.
    b.at(200).ack(15, &[]);
    assert_eq!((b.cwnd(), b.ssthresh()), (6, 5));
}

#[test]
fn reno_first_progress_ends_recovery() {
    let mut config = exact();
    config.recovery.detection = Detection::Reno;
    config.recovery.reduction = Reduction::Inflation;
    let mut b = Bench::new(&config, &plain(), 10).full();
    for _ in 0..3 {
        b.at(100).ack(1, &[]);
    }
    assert_eq!(b.sent(), [(1, FastRetransmit)]);
    b.at(200).ack(4, &[]);
    assert_eq!((b.state(), b.numbers()), (State::Open, vec![]));
    assert_eq!(b.cwnd(), 5);
}

#[test]
fn tahoe_restarts_with_one_segment() {
    let mut config = exact();
    config.recovery.detection = Detection::Reno;
    config.recovery.reduction = Reduction::OneSegment;
    let mut b = Bench::new(&config, &plain(), 20).full();
    b.at(100).ack(1, &[]);
    b.ack_sends(1, &[]);
    assert_eq!(b.ack_sends(1, &[]), [(1, AfterTimeout)]);
    assert_eq!((b.cwnd(), b.ssthresh()), (1, 5));
    assert_eq!(b.at(200).ack_numbers(2, &[]), [2, 3]);
}

#[test]
fn timer_only_ignores_duplicates() {
    let mut b = Bench::new(
        &changed(|config| config.recovery.detection = Detection::TimerOnly),
        &agreed(),
        30,
    )
    .full();
    for n in 0..9 {
        assert_eq!(b.at(100 + n).ack_numbers(1, &[(2, 3 + n)]), NOTHING);
    }
    assert_eq!(b.alarm(), Some(300));
}
