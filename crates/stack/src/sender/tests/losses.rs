//! Losses found by SACK and time, and the window in recovery.

use super::super::{Ack, Block};
use super::bench::*;
use crate::SendCause::{FastRetransmit, LimitedTransmit, New, Rack, TailLossProbe};
use crate::config::Detection;
use crate::congestion::State;

#[test]
fn sack_third_segment_triggers_repair() {
    let mut b = Bench::linux(20);
    assert_eq!(b.numbers(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    b.at(100).ack(1, &[(2, 2)]);
    assert_eq!(b.state(), State::Disorder);
    assert_eq!(b.sent(), [(11, LimitedTransmit)]);
    // No reordering happened yet: a quarter of the shortest round trip and 2 ms, from now on.
    assert_eq!(b.alarm(), Some(127));
    assert_eq!(b.at(101).ack_sends(1, &[(2, 3)]), [(12, LimitedTransmit)]);
    assert_eq!(b.at(102).ack_sends(1, &[(2, 4)]), [(1, Rack)]);
    assert_eq!((b.state(), b.ssthresh()), (State::Recovery, 5));
    // All is there: the window is the threshold, and grows by what was acknowledged.
    b.at(202).ack(13, &[]);
    assert_eq!((b.state(), b.cwnd()), (State::Open, 6));
    assert_eq!(b.numbers(), [13, 14, 15, 16, 17, 18]);
}

#[test]
fn rack_one_sack_and_quarter_rtt_triggers_repair() {
    let mut b = Bench::linux(3);
    assert_eq!(b.numbers(), [1, 2, 3]);
    assert_eq!(b.at(100).ack_numbers(1, &[(2, 3)]), NOTHING);
    assert_eq!(b.alarm(), Some(127));
    assert_eq!(b.ring_sends(), [(1, Rack)]);
    assert_eq!(b.state(), State::Recovery);
    // A timeout after the retransmission, not after the original.
    assert_eq!(b.alarm(), Some(127 + 300));
}

#[test]
fn proportional_reduction_sends_on_every_second_ack() {
    // RFC 6937 section 4, the first example: 20 segments, the first lost, ssthresh 10.
    let mut b = Bench::new(&changed(|config| config.window.initial = 20), &agreed(), 60);
    assert_eq!(b.numbers().len(), 20);
    let mut sent = String::new();
    for arrived in 2..=20 {
        b.at(100 + arrived).ack(1, &[(2, arrived)]);
        match b.sent()[..] {
            [] => sent.push('.'),
            [(1, Rack)] => sent.push('R'),
            [(_, New | LimitedTransmit)] => sent.push('N'),
            ref other => panic!("{other:?}"),
        }
    }
    assert_eq!(sent, "NNR.N.N.N.N.N.N.N..");
    assert_eq!(b.sender.info().unacked, 29);
    // Less than the threshold is in flight: as many leave as arrive.
    for arrived in 21..=22 {
        b.at(182 + arrived).ack(1, &[(2, arrived)]);
        assert_eq!(b.numbers().len(), 1);
        assert_eq!(b.cwnd(), 10);
    }
}

#[test]
fn hole_filled_late_widens_reordering() {
    let mut b = Bench::linux(40).full();
    b.at(100).ack(1, &[(2, 2)]);
    b.ack(1, &[(2, 3)]);
    b.ack(4, &[]);
    assert_eq!(b.state(), State::Open);
    assert_eq!(b.sender.info().reord_seen, 1);
    assert_eq!(b.sender.info().total_retrans, 0);
    b.leaving();
    // Now three SACKs are no proof any more: time is waited for.
    b.at(101).ack(4, &[(5, 7)]);
    assert!(b.sent().iter().all(|s| s.1 != Rack));
    assert_eq!(b.state(), State::Disorder);
    // 25 ms from the sending of the seventh and a round trip of 101 ms on: at 126, and 2 ms.
    assert_eq!(b.alarm(), Some(128));
    b.ring().unwrap();
    assert_eq!(b.sent()[0], (4, Rack));
}

#[test]
fn reordering_distance_becomes_threshold() {
    let mut b = Bench::linux(40).full();
    b.at(100).ack_sends(2, &[(9, 9), (3, 3)]);
    // All segments between arrive without retransmission: eight segments late.
    b.at(101).ack(10, &[]);
    assert_eq!(b.sender.info().reordering, 8);
}

#[test]
fn retransmission_lost_is_retransmitted() {
    let mut b = Bench::linux(40).full();
    b.at(100).ack(1, &[(2, 4)]);
    assert!(b.sent().contains(&(1, Rack)));
    // A segment sent after the retransmission arrives, the retransmission does not.
    b.at(110).ack(1, &[(2, 10)]);
    assert!(b.sent().iter().all(|s| s.0 > 10));
    b.at(215).ack(1, &[(2, 12)]);
    assert!(b.sent().contains(&(1, Rack)));
    assert_eq!(b.sender.info().total_retrans, 2);
}

#[test]
fn sack_counting_marks_segments_with_three_above() {
    let mut config = exact();
    config.recovery.detection = Detection::Sack;
    config.recovery.tail_loss_probe = false;
    let mut b = Bench::new(&config, &agreed(), 10).full();
    b.at(100).ack(1, &[(2, 2)]);
    assert_eq!(b.ack_numbers(1, &[(4, 4), (2, 2)]), NOTHING);
    b.ack(1, &[(6, 6), (4, 4), (2, 2)]);
    // Three above the first; two above the third.
    assert_eq!(b.sender.info().lost, 1);
    assert_eq!(b.sent(), [(1, FastRetransmit)]);
    b.ack(1, &[(6, 7), (4, 4), (2, 2)]);
    assert_eq!(b.sender.info().lost, 2);
    b.ack(1, &[(6, 8), (4, 4), (2, 2)]);
    assert_eq!(b.sender.info().lost, 3);
    b.leaving();
    b.at(200).ack(5, &[(6, 8)]);
    assert_eq!(b.state(), State::Recovery);
    b.leaving();
    assert_eq!(b.sender.info().total_retrans, 3);
    b.at(300).ack(11, &[]);
    assert_eq!(b.state(), State::Open);
}

#[test]
fn old_ack_with_sack_still_counts() {
    let mut b = Bench::linux(10).full();
    b.at(100).ack(4, &[]);
    assert_eq!(b.ack(2, &[(6, 8)]).acked, 0);
    assert_eq!((b.sender.una(), b.sender.info().sacked), (start(4), 3));
    // The window comes down with the next acknowledgement only.
    assert_eq!(b.sent(), [(4, Rack), (5, Rack)]);
    assert_eq!((b.state(), b.cwnd()), (State::Recovery, 13));
}

#[test]
fn reneging_discarded_data_is_retransmitted() {
    let mut b = Bench::linux(10).full();
    b.at(100).ack_sends(1, &[(3, 10)]);
    // The head is acknowledged up to what was SACKed, and not beyond: half a round trip is given.
    b.at(150).ack(3, &[]);
    let alarm = b.alarm().unwrap();
    assert!((200..=203).contains(&alarm), "{alarm}");
    b.ring().unwrap();
    assert_eq!(b.state(), State::Loss);
    assert_eq!(b.sender.info().sacked, 0);
    assert_eq!(b.numbers(), [3]);
    assert_eq!(b.at(300).ack_numbers(4, &[]), [4, 5]);
}

#[test]
fn sack_invalid_blocks_are_ignored() {
    let mut b = Bench::linux(10).full();
    for (left, right) in [(0, u64::MAX), (5, 2), (9_000, 30_000), (0, 500), (1, 1)] {
        let ack = Ack { sack: &[Block { start: left, end: right }; 4], ..bare_ack() };
        b.at(100);
        b.hear(&ack);
        assert_eq!(b.sender.info().sacked, 0);
    }
    // A part of a segment is none.
    let part = [Block { start: start(2) + 1, end: start(4) - 1 }];
    let ack = Ack { sack: &part, ..bare_ack() };
    b.hear(&ack);
    assert_eq!(b.sender.info().sacked, 0);
    assert!(b.sent().iter().all(|s| s.1 != TailLossProbe));
}
