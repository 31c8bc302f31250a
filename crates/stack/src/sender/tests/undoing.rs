//! Undone reductions of the congestion window.

use super::super::{Ack, Negotiated};
use super::bench::*;
use crate::SendCause::Rack;
use crate::congestion::State;

/// The first of ten is repaired at 100 ms though it was only late.
fn hasty(timestamps: bool) -> Bench {
    let agreed = Negotiated { timestamps, ..agreed() };
    let mut b = Bench::new(&exact(), &agreed, 40).full();
    b.echo = timestamps.then_some(0);
    b.at(100).ack(1, &[(2, 4)]);
    assert!(b.sent().contains(&(1, Rack)));
    assert_eq!((b.state(), b.ssthresh()), (State::Recovery, 5));
    b
}

#[test]
fn undo_older_timestamp_undoes_recovery() {
    // Eifel, RFC 3522: the original was echoed.
    let mut b = hasty(true);
    b.at(110).ack(5, &[]);
    // Nothing else was retransmitted.
    assert_eq!(b.state(), State::Open);
    assert_eq!(b.sender.undo.count, 1);
    assert!(b.ssthresh() > 1_000 && b.cwnd() >= 10);
}

#[test]
fn undo_newer_timestamp_keeps_recovery() {
    let mut b = hasty(true);
    b.echo = Some(100);
    b.at(200).ack(12, &[]);
    assert_eq!((b.state(), b.ssthresh(), b.cwnd()), (State::Open, 5, 6));
    assert_eq!(b.sender.undo.count, 0);
}

#[test]
fn undo_dsack_undoes_recovery() {
    // RFC 3708.
    let mut b = hasty(false);
    b.at(110).ack_sends(5, &[]);
    assert_eq!(b.state(), State::Recovery);
    let heard = b.at(205).ack(5, &[(1, 1)]);
    assert!(heard.dsack);
    assert_eq!(b.sender.undo.count, 1);
    assert!(b.ssthresh() > 1_000 && b.cwnd() >= 10);
    assert_eq!(b.state(), State::Open);
}

#[test]
fn undo_disabled_keeps_recovery() {
    let mut config = exact();
    config.recovery.undo = false;
    let agreed = Negotiated { timestamps: true, ..agreed() };
    let mut b = Bench::new(&config, &agreed, 40);
    b.leaving();
    b.echo = Some(0);
    b.at(100).ack_sends(1, &[(2, 4)]);
    b.at(110).ack(12, &[(1, 1)]);
    assert_eq!((b.sender.undo.count, b.ssthresh()), (0, 5));
}

#[test]
fn undo_unexplained_dsack_is_ignored() {
    let mut b = Bench::linux(40).full();
    let heard = b.at(100).ack(3, &[(1, 1)]);
    assert!(!heard.dsack, "nothing was sent twice: the network copied it");
    assert_eq!(b.sender.info().dsack_dups, 1);
}

#[test]
fn ecn_reduces_once_per_window_and_sends_cwr() {
    let agreed = Negotiated { ecn: true, ..agreed() };
    let mut b = Bench::new(&exact(), &agreed, 60);
    assert!(b.leaving().iter().all(|s| s.ect && !s.cwr));
    let marked = |b: &mut Bench, next| {
        let ack = Ack { position: start(next), ece: true, ..bare_ack() };
        b.hear(&ack);
    };
    b.at(100);
    marked(&mut b, 2);
    // The window was reduced from where it had grown to by then.
    assert_eq!((b.state(), b.ssthresh()), (State::Cwr, 5));
    let mut first = Vec::new();
    for next in 3..=10 {
        marked(&mut b, next);
        first.extend(b.leaving());
    }
    assert_eq!(b.ssthresh(), 5);
    assert!(first[0].cwr && first[1..].iter().all(|s| !s.cwr));
    // Held until something above what was out is acknowledged.
    b.at(200).ack(11, &[]);
    assert_eq!(b.state(), State::Cwr);
    b.leaving();
    b.at(210).ack(13, &[]);
    assert_eq!((b.state(), b.cwnd()), (State::Open, 5));
}
