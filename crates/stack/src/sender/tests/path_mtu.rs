//! Packets that are too large for the path, with and without ICMP.

use super::bench::*;
use crate::SendCause;
use crate::config::{BlackHole, TimeoutAction};
use crate::congestion::State;

/// Where each segment that leaves begins, and how long it is; of a burst, each of its segments.
fn pieces(b: &mut Bench) -> Vec<(u64, u32)> {
    let mss = b.sender.mss();
    let cut = |start: u64, len: u32| {
        let begins = (0..len).step_by(mss as usize);
        begins.map(move |at| (start + u64::from(at), mss.min(len - at)))
    };
    b.leaving().into_iter().flat_map(|sent| cut(sent.start, sent.len)).collect()
}

#[test]
fn path_mtu_smaller_retransmits_in_pieces() {
    let mut b = Bench::linux(10).full();
    b.at(50);
    let (cwnd, ssthresh) = (b.cwnd(), b.ssthresh());
    b.set_mss(400);
    let again = b.leaving();
    // One by one they left, one by one they are cut.
    let sizes: Vec<(u64, u32)> = again.iter().map(|s| (s.start, s.len)).collect();
    assert_eq!(sizes[..4], [(1, 400), (401, 400), (801, 200), (1_001, 400)]);
    assert_eq!(sizes.len(), 10, "as many as the window allows");
    assert!(again.iter().all(|sent| sent.cause == SendCause::PathMtu));
    assert_eq!(b.sender.info().unacked, 30);
    // It is no congestion (RFC 1191 section 6.4).
    assert_eq!((b.state(), b.cwnd(), b.ssthresh()), (State::Loss, cwnd, ssthresh));
}

/// As Linux 6.18 does it: bursts of two segments of 1448 B became 1348, 1348 and 200 B.
#[test]
fn path_mtu_burst_is_cut_as_one() {
    let mut config = exact();
    config.sending.burst = 65_536;
    config.sending.paced = false;
    let mut b = Bench::new(&config, &agreed(), 10);
    let bursts: Vec<u32> = b.leaving().iter().map(|sent| sent.len).collect();
    assert_eq!(bursts, [2_000; 5]);
    b.at(50).ack(1, &[(6, 6)]);
    assert_eq!(b.leaving(), []);
    b.set_mss(900);
    let whole = |from: u64| [(from, 900), (from + 900, 900), (from + 1_800, 200)];
    // What was SACKed is left out, and the first half of its burst is alone.
    let halved = [(4_001, 900), (4_901, 100)];
    let expected = [&whole(1)[..], &whole(2_001), &halved, &whole(6_001)[..2]].concat();
    assert_eq!(pieces(&mut b), expected, "as many as the window allows");
}

#[test]
fn path_mtu_go_back_cuts_as_new() {
    let mut b =
        Bench::new(&changed(|config| config.timeout.action = TimeoutAction::GoBack), &agreed(), 10)
            .full();
    b.set_mss(900);
    let again = pieces(&mut b);
    assert_eq!(again.len(), 10);
    assert!(again.iter().enumerate().all(|(n, piece)| *piece == (1 + 900 * n as u64, 900)));
}

#[test]
fn path_mtu_fin_stays_with_last_byte() {
    let mut b = Bench::linux(2);
    b.stream.end += 1;
    b.stream.fin = true;
    assert_eq!(b.leaving().len(), 2);
    b.set_mss(500);
    let again: Vec<_> = b.leaving().iter().map(|s| (s.start, s.len, s.fin)).collect();
    let expected = [(1, 500, false), (501, 500, false), (1_001, 500, false), (1_501, 500, true)];
    assert_eq!(again, expected);
}

#[test]
fn path_mtu_fitting_segments_stay() {
    let mut b = Bench::linux(3);
    b.stream.end -= 700;
    assert_eq!(b.leaving().len(), 3);
    b.set_mss(1_000);
    assert_eq!((b.leaving(), b.state()), (vec![], State::Open));
    // Of these, only the last is small enough: it is not retransmitted.
    b.set_mss(500);
    assert_eq!(pieces(&mut b), [(1, 500), (501, 500), (1_001, 500), (1_501, 500)]);
}

/// The lengths of what each timeout sends, until the connection is given up.
fn at_timeouts(mut b: Bench, count: usize) -> Vec<u32> {
    let _ = b.leaving();
    let mut sent = Vec::new();
    while sent.len() < count {
        b.ring().expect("it is not given up so soon");
        let leaving = b.leaving();
        assert_eq!(leaving.len(), 1);
        sent.push(leaving[0].len);
    }
    sent
}

/// Seen of Linux 6.18 with `tcp_mtu_probing = 1`: the fourth timeout, the first after the 3 s that
/// three retries would take, sends `tcp_base_mss`.
#[test]
fn path_mtu_linux_suspects_black_hole() {
    let mut config = exact();
    config.recovery.tail_loss_probe = false;
    let ignored = at_timeouts(Bench::new(&config, &agreed(), 4), 8);
    assert_eq!(ignored, [1_000; 8]);
    config.path_mtu.black_hole = BlackHole::Linux;
    config.path_mtu.base_mss = 512;
    let lengths = [1_000, 1_000, 1_000, 512, 256, 128, 64, 48, 48];
    let sent = at_timeouts(Bench::new(&config, &agreed(), 4), lengths.len());
    assert_eq!(sent, lengths);
    config.path_mtu.discovery = false;
    assert_eq!(at_timeouts(Bench::new(&config, &agreed(), 4), 8), [1_000; 8]);
}
