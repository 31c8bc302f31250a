//! Retransmission timeouts: when, how often, what they mean.

use tcplab_units::Span;

use super::super::rto::{Measurement, Rto};
use super::super::{GivenUp, Negotiated};
use super::bench::*;
use crate::SendCause::{AfterTimeout, New, Timeout};
use crate::config::{TimeoutAction, TimeoutRule};
use crate::congestion::State;
use crate::{Config, config};

fn without_probe() -> Config {
    changed(|config| config.recovery.tail_loss_probe = false)
}

/// The estimator of a stack with that rule and that least timeout, ms.
fn rto(rule: TimeoutRule, least: u64) -> Rto {
    let config = config::Timeout { rule, least: millis(least), ..config::Timeout::default() };
    Rto::new(&config, config.least, Span::ZERO)
}

#[test]
fn timeout_doubles_until_given_up() {
    let mut b = Bench::new(&without_probe(), &agreed(), 2);
    assert_eq!(b.numbers(), [1, 2]);
    // One round trip of 100 ms: 100 + max(200, 4·50).
    let mut times = Vec::new();
    let end = loop {
        match b.ring() {
            Ok(()) => times.push(b.now.as_nanos() / 1_000_000),
            Err(end) => break end,
        }
        let nth = times.len() as u8;
        assert_eq!(b.sent(), [(1, Timeout(nth))]);
        assert_eq!(b.cwnd(), 1);
    };
    assert_eq!(
        times[..10],
        [300, 900, 2_100, 4_500, 9_300, 18_900, 38_100, 76_500, 153_300, 273_300]
    );
    // The first after 300 ms and 924.6 s, 120 s apart at last.
    assert_eq!(b.now.as_nanos() / 1_000_000, 273_300 + 6 * 120_000);
    assert_eq!(end, GivenUp::Retransmissions(15));
}

/// What a route asks for is no measure of patience: that is counted from TCP_RTO_MIN, 924.6 s
/// (`retransmits_timed_out`).
#[test]
fn asked_least_timeout_leaves_patience() {
    let config = changed(|config| {
        config.recovery.tail_loss_probe = false;
        config.timeout.asked_least = Some(millis(50));
    });
    let mut b = Bench::new(&config, &agreed(), 2);
    assert_eq!(b.numbers(), [1, 2]);
    assert_eq!(b.ring_until_given_up(), (15, GivenUp::Retransmissions(15)));
    assert_eq!(b.now.as_nanos() / 1_000_000, 273_300 + 6 * 120_000);
}

#[test]
fn rto_follows_policy() {
    // Round trips in ms and the timeout after the last, worked by hand.
    for (rule, least, trips, expected) in [
        // SRTT 100, deviation 4·50 = 200.
        (TimeoutRule::Linux, 200, &[100][..], 300),
        // Constant: SRTT + 200 for ever.
        (TimeoutRule::Linux, 200, &[100, 100, 100, 100], 300),
        // Error 300: SRTT 137.5; mdev·4 = 200 + 300 - 50 = 450.
        (TimeoutRule::Linux, 200, &[100, 400], 587),
        // RFC 6298: RTTVAR·4 = 200, then 150, 112.5...
        (TimeoutRule::Rfc6298, 200, &[100, 100], 250),
        (TimeoutRule::Rfc6298, 1_000, &[100, 100], 1_000),
        (TimeoutRule::Xnu, 200, &[100, 100], 450),
        (TimeoutRule::Xnu, 200, &[2], 230),
        // SRTT + 2·RTTVAR.
        (TimeoutRule::OldHaiku, 100, &[100, 100], 175),
        (TimeoutRule::Haiku, 200, &[100, 100], 250),
        (TimeoutRule::Haiku, 200, &[20, 20], 120),
    ] {
        let mut rto = rto(rule, least);
        for &measured in trips {
            rto.measure(Measurement { rtt: measured * 1_000, una: 1, nxt: 1 });
        }
        let measured = rto.measured().unwrap().as_micros() / 1_000;
        assert_eq!(measured, expected, "{rule:?} {trips:?}");
    }
}

#[test]
fn rto_deviation_decays_by_quarter_per_round() {
    let mut rto = rto(TimeoutRule::Linux, 200);
    let at = |una, nxt| Measurement { rtt: 400_000, una, nxt };
    rto.measure(at(1, 10));
    // 400 + 4·200 = 1200.
    assert_eq!(rto.measured(), Some(millis(1_200)));
    rto.measure(at(11, 20));
    // Within a round nothing comes down; the first of a round takes a quarter of what is above
    // the round's largest, which was 800 from the start.
    assert_eq!(rto.measured(), Some(millis(1_200)));
    rto.measure(at(21, 30));
    // The largest of the second round: 450 (800·¾·¾).
    assert_eq!(
        rto.measured(),
        Some(Span::from_micros(400_000 + 800_000 - (800_000 - 450_000) / 4))
    );
}

#[test]
fn rtt_of_retransmission_is_not_measured() {
    let mut b = Bench::new(&without_probe(), &agreed(), 1);
    assert_eq!(b.numbers(), [1]);
    b.ring_sends();
    b.at(400).ack(2, &[]);
    assert_eq!(b.sender.rto(), millis(600), "backed off until something is measured (Karn)");
    b.stream.end = start(3);
    b.at(500).leaving();
    b.at(600).ack(3, &[]);
    assert_eq!(b.sender.rto(), millis(300));
}

#[test]
fn rtt_of_retransmission_with_timestamps_is_measured() {
    let agreed = Negotiated { timestamps: true, ..agreed() };
    let mut b = Bench::new(&without_probe(), &agreed, 1);
    assert_eq!(b.numbers(), [1]);
    b.ring_sends();
    b.echo = Some(300);
    b.at(400).ack(2, &[]);
    assert_eq!(b.sender.rto(), millis(300));
}

#[test]
fn rto_after_unmeasured_handshake_is_three_seconds() {
    let agreed = Negotiated { rtt: None, retransmissions: 2, ..agreed() };
    let mut b = Bench::new(&without_probe(), &agreed, 5);
    assert_eq!(b.numbers(), [1], "two SYNs were lost: one segment");
    assert_eq!(b.alarm(), Some(3_000));
}

#[test]
fn timeout_is_followed_by_slow_start() {
    let mut b = Bench::new(&without_probe(), &agreed(), 20).full();
    assert_eq!(b.ring_sends(), [(1, Timeout(1))]);
    assert_eq!((b.state(), b.cwnd(), b.ssthresh()), (State::Loss, 1, 5));
    assert_eq!(b.sender.info().lost, 10);
    // F-RTO: an acknowledgement of progress brings new data first...
    assert_eq!(b.at(400).ack_sends(2, &[]), [(11, New), (12, New)]);
    // ...a SACK of it shows that the loss was real.
    assert_eq!(b.at(500).ack_sends(2, &[(11, 11)]), [(2, AfterTimeout)]);
    assert_eq!(b.at(510).ack_sends(2, &[(11, 12)]), [(3, AfterTimeout)]);
    assert_eq!(b.at(600).ack_sends(3, &[(11, 12)]), [(4, AfterTimeout), (5, AfterTimeout)]);
    b.at(700).ack(13, &[]);
    assert_eq!(b.state(), State::Open);
}

/// F-RTO, RFC 5682 section 3.1: the outage was only a delay.
#[test]
fn timeout_originals_arriving_undo_it() {
    for sack in [true, false] {
        let agreed = Negotiated { sack, ..agreed() };
        let mut b = Bench::new(&without_probe(), &agreed, 40).full();
        b.ring().unwrap();
        assert_eq!(b.numbers(), [1], "SACK {sack}");
        assert_eq!(b.at(350).ack_sends(2, &[]), [(11, New), (12, New)], "SACK {sack}");
        b.at(351).ack(3, &[]);
        assert_eq!((b.state(), b.cwnd()), (State::Open, 11), "SACK {sack}");
        assert_eq!((b.sender.info().lost, b.sender.undo.count), (0, 1), "SACK {sack}");
        assert_eq!(b.numbers(), [13], "ten are out, and one came back");
    }
}

#[test]
fn timeout_no_sack_duplicate_confirms_it() {
    let agreed = Negotiated { sack: false, ..agreed() };
    let mut b = Bench::new(&without_probe(), &agreed, 40).full();
    b.ring_sends();
    assert_eq!(b.at(400).ack_sends(2, &[]), [(11, New), (12, New)]);
    // The new data arrived, the second did not.
    assert_eq!(b.at(500).ack_sends(2, &[]), [(2, AfterTimeout)]);
    assert_eq!(b.state(), State::Loss);
}

#[test]
fn frto_without_new_data_repairs_at_once() {
    let mut b = Bench::new(&without_probe(), &agreed(), 10).full();
    b.ring_sends();
    assert_eq!(b.at(400).ack_sends(2, &[]), [(2, AfterTimeout), (3, AfterTimeout)]);
}

#[test]
fn timeout_all_unsacked_marks_all_lost() {
    let mut config = without_probe();
    config.timeout.action = TimeoutAction::AllUnsacked;
    config.recovery.frto = false;
    let mut b = Bench::new(&config, &agreed(), 10).full();
    b.at(100).ack_sends(1, &[(9, 10)]);
    while b.state() != State::Loss {
        b.ring_sends();
    }
    assert_eq!(b.sender.info().lost, 8);
    assert_eq!(b.sender.info().sacked, 2);
    let at = b.now.as_nanos() / 1_000_000;
    assert_eq!(b.at(at + 100).ack_numbers(2, &[(9, 10)]), [2, 3]);
}

#[test]
fn timeout_rack_spares_recent_segments() {
    let mut b = Bench::new(&without_probe(), &agreed(), 11).full();
    assert_eq!(b.at(100).ack_numbers(10, &[]), [11]);
    assert_eq!(b.alarm(), Some(400));
    b.stream.end = start(13);
    // One that leaves 50 ms before the timeout may well be under way.
    assert_eq!(b.at(350).numbers(), [12]);
    b.ring().unwrap();
    assert_eq!(b.sender.info().lost, 2);
    assert_eq!(b.cwnd(), 2);
}

#[test]
fn retransmission_joins_small_segments() {
    let mut b = Bench::new(&without_probe(), &agreed(), 0);
    b.stream.nodelay = true;
    for _ in 0..5 {
        b.stream.end += 300;
        assert_eq!(b.leaving().len(), 1);
    }
    b.stream.end += 1;
    b.stream.fin = true;
    assert!(b.leaving()[0].fin);
    b.ring().unwrap();
    let sent = b.leaving();
    assert_eq!((sent.len(), sent[0].start, sent[0].len), (1, 1, 900));
    // Three became one.
    assert_eq!((b.sender.info().unacked, b.sender.info().lost), (4, 4));
    b.ring().unwrap();
    assert_eq!(b.leaving()[0].len, 900);
}

#[test]
fn user_timeout_ends_retransmissions() {
    let mut b = Bench::new(&without_probe(), &agreed(), 1);
    b.sender.set_user_timeout(millis(5_000));
    b.leaving();
    let (_, end) = b.ring_until_given_up();
    // Timeouts at 0.3, 0.9, 2.1 and 4.5 s; the next at 5 s after the first.
    assert_eq!((end, b.now.as_nanos() / 1_000_000), (GivenUp::Retransmissions(4), 5_300));
}

#[test]
fn rto_expires_on_kernel_ticks() {
    let mut config = without_probe();
    config.host = crate::config::Host::default();
    let mut b = Bench::new(&config, &agreed(), 1);
    b.at(1).leaving();
    // 300 ms are 75 ticks of 4 ms; from the tick at 0; the second level has a grain of 32 ms.
    assert_eq!(b.alarm(), Some(320));
}
