//! The size of full segments: negotiated, observed, reduced.

use proptest::prelude::*;
use tcplab_units::{Instant, Offset, Span};
use tcplab_wire::TcpFlags;

use super::FullSize;
use crate::observers::event::SendEvent;
use crate::packet::Packet;
use crate::tests::frames::{packet, sent};
use crate::{MssChange, SegmentKind};

/// A direction whose ends offered `mss`; none: no SYN was seen.
fn after_handshake(mss: Option<(u16, u16)>) -> FullSize {
    let mut size = FullSize::default();
    if let Some((own, peer)) = mss {
        let syn = |mss| Packet { flags: TcpFlags::SYN, mss: Some(mss), ..packet(Instant::ZERO) };
        size.on_send(&sent(&syn(own), 0, SegmentKind::New));
        size.on_peer_syn(&syn(peer));
    }
    size
}

/// Sends packets of these sizes, one each millisecond from frame 1 on; negative ones are pushed.
fn send(size: &mut FullSize, payloads: &[i64]) {
    let mut start = 1;
    for (&payload, frame) in payloads.iter().zip(1..) {
        let mut one = packet(Instant::ZERO + Span::from_millis(frame));
        (one.frame, one.payload) = (frame, payload.unsigned_abs() as u32);
        one.timestamps = Some((1, 1));
        if payload < 0 {
            one.flags |= TcpFlags::PSH;
        }
        size.on_send(&sent(&one, start, SegmentKind::New));
        start += payload.unsigned_abs();
    }
}

/// From, to, frame.
fn changes(size: &FullSize) -> Vec<(u64, u64, u64)> {
    let plain = |c: &MssChange| (c.from.as_u64(), c.to.as_u64(), c.frame);
    size.changes().iter().map(plain).collect()
}

#[test]
fn full_size_from_handshake_or_data() {
    for (name, mss, payloads, expected) in [
        ("nothing known yet", None, &[][..], None),
        ("the smaller of both, less the timestamps", Some((1_460, 8_960)), &[100], Some(1_448)),
        ("a large piece to be cut", Some((1_460, 1_460)), &[65_160], Some(1_448)),
        ("loopback", Some((65_495, 65_495)), &[65_483], Some(65_483)),
        ("no SYN: the largest", None, &[100, 1_208, 600], Some(1_208)),
        ("no SYN: several at once", None, &[14_480], Some(1_448)),
        ("no SYN: several at once, then one", None, &[2_896, 1_448], Some(1_448)),
        (
            "no SYN: one of a size that is not usual, then several",
            None,
            &[1_288, 2_576],
            Some(1_288),
        ),
        ("no SYN: a message, then one", None, &[724, 1_448], Some(1_448)),
        ("no SYN: messages", None, &[12, 25, 12], None),
        ("no SYN: messages, then one", None, &[12, 536], Some(536)),
        ("no SYN: a jumbo frame", None, &[8_948], Some(8_948)),
        ("no SYN: large, and no multiple", None, &[500, 30_001], Some(500)),
    ] {
        let mut size = after_handshake(mss);
        send(&mut size, payloads);
        assert_eq!(size.bytes(), expected, "{name}");
    }
}

#[test]
fn syn_without_mss_means_default() {
    let mut size = FullSize::default();
    let syn = Packet { flags: TcpFlags::SYN, ..packet(Instant::ZERO) };
    size.on_send(&sent(&syn, 0, SegmentKind::New));
    size.on_peer_syn(&Packet { mss: Some(1_460), ..syn });
    send(&mut size, &[100]);
    assert_eq!(size.bytes(), Some(536 - 12));
    let cut = Packet { flags: TcpFlags::SYN, options_cut: true, ..packet(Instant::ZERO) };
    let mut size = FullSize::default();
    size.on_send(&sent(&cut, 0, SegmentKind::New));
    send(&mut size, &[1_208]);
    assert_eq!(size.bytes(), Some(1_208), "a truncated option is not absent");
}

#[test]
fn full_size_lasting_reduction_reported() {
    let full = 1_448;
    for (name, payloads, expected) in [
        ("tails and short messages", &[full, 700, full, 700, full, 700, full, 700][..], vec![]),
        ("messages of one size, each pushed", &[full, -500, -500, -500, -500, -500], vec![]),
        ("smaller full size", &[full, full, 1_348, 1_348, 1_348, 1_348], vec![(1_448, 1_348, 3)]),
        ("with tails between", &[full, 1_348, 1_348, -20, 1_348, 1_348], vec![(1_448, 1_348, 2)]),
        ("never any larger", &[1_348, 1_348, 1_348, 1_348], vec![]),
        ("for a while", &[full, 1_348, 1_348, 1_348, 1_348, full], vec![]),
        ("growing", &[full, 1_000, 1_000, 1_000, 1_000, 1_200, 1_300], vec![(1_448, 1_300, 2)]),
        (
            "twice",
            &[full, 1_300, 1_300, 1_300, 1_300, 500, 500, 500, 500],
            vec![(1_448, 1_300, 2), (1_300, 500, 6)],
        ),
        ("large pieces first", &[14_480, 1_348, 1_348, 1_348, 1_348], vec![(1_448, 1_348, 2)]),
    ] {
        let mut size = after_handshake(Some((1_460, 1_460)));
        send(&mut size, payloads);
        assert_eq!(changes(&size), expected, "{name}");
    }
}

/// A tunnel's segments, merged from the start: only their packets vary in size.
#[test]
fn full_size_of_merged_segments_does_not_change() {
    let mut size = after_handshake(None);
    send(&mut size, &[1_288, 2_576, 2_576, 1_288, 1_288, 1_288, 1_288, 1_288]);
    assert_eq!((changes(&size), size.bytes()), (vec![], Some(1_288)));
}

/// Without a SYN: merged from the first packet on, each with the tail of a message, or among
/// others.
#[test]
fn merged_packets_before_single_segments_are_no_larger_size() {
    for payloads in [
        &[2_576, 1_288, 1_288, 1_288, 1_288][..],
        &[1_400, 1_400, 1_388, -12, 1_388, -12, 1_388, -12, 1_388, -12],
        &[1_440, 4_096, 1_440, 1_440, 1_440, 1_440],
    ] {
        let mut size = after_handshake(None);
        send(&mut size, payloads);
        let full = payloads.last().filter(|&&last| last > 0).unwrap_or(&1_388);
        assert_eq!(
            (changes(&size), size.bytes()),
            (vec![], Some(full.unsigned_abs())),
            "{payloads:?}"
        );
    }
}

/// Without a SYN a usual size is a full one if there are several, or if a smaller one repeats it.
#[test]
fn reduction_without_a_syn_needs_full_segments_or_a_loss() {
    let smaller = [1_348; 4];
    for (full, then, expected) in [
        (1, &[][..], vec![]),
        (4, &[], vec![(1_448, 1_348, 5)]),
        // An application's writes vary.
        (4, &[1_360], vec![]),
        (4, &[1_360, 1_365, 1_395], vec![]),
    ] {
        let mut size = after_handshake(None);
        let payloads = [&vec![1_448; full][..], &smaller, then].concat();
        send(&mut size, &payloads);
        assert_eq!(changes(&size), expected, "{payloads:?}");
    }
    let mut size = after_handshake(None);
    send(&mut size, &[1_448]);
    let mut one = packet(Instant::ZERO + Span::from_millis(300));
    (one.frame, one.payload) = (2, 1_348);
    size.on_send(&sent(&one, 1, SegmentKind::TimeoutRetransmission));
    for start in [1_349, 2_697, 4_045] {
        size.on_send(&sent(&one, start, SegmentKind::New));
    }
    assert_eq!(changes(&size), [(1_448, 1_348, 2)], "a retransmission cut smaller");
}

/// Beside the receiver of data that the path took only in smaller pieces.
#[test]
fn full_segments_that_never_arrived_were_full() {
    for (missing, expected) in [(1_448, vec![(1_448, 536, 2)]), (1_400, vec![])] {
        let mut size = after_handshake(Some((1_460, 1_460)));
        let mut one = packet(Instant::ZERO);
        one.timestamps = Some((1, 1));
        (one.frame, one.payload, one.flags) = (1, 500, one.flags | TcpFlags::PSH);
        size.on_send(&SendEvent {
            high: Offset::new(1),
            ..sent(&one, 1 + missing, SegmentKind::New)
        });
        (one.frame, one.payload, one.flags) = (2, 536, TcpFlags::ACK);
        for start in [1, 537, 1_949, 2_485] {
            let event = sent(&one, start, SegmentKind::New);
            size.on_send(&SendEvent { high: event.range.end, ..event });
        }
        assert_eq!(changes(&size), expected, "{missing} B missing");
    }
}

/// Messages, the longer ones first: none was a full segment.
#[test]
fn messages_below_a_full_segment_are_no_reduction() {
    for (first, then) in [(176, 46), (900, 780)] {
        let mut size = after_handshake(Some((1_460, 1_412)));
        send(&mut size, &[first, then, then, then, then]);
        assert_eq!(changes(&size), [], "{first} B, then {then} B");
    }
}

#[test]
fn full_size_ignores_one_repeated_segment() {
    let mut size = after_handshake(Some((1_460, 1_460)));
    send(&mut size, &[1_448]);
    for _ in 0..10 {
        let again = Packet { payload: 700, ..packet(Instant::ZERO) };
        size.on_send(&sent(&again, 1_449, SegmentKind::TimeoutRetransmission));
    }
    assert_eq!((changes(&size), size.bytes()), (vec![], Some(1_448)));
}

proptest! {
    /// Sizes go down from change to change, the last is in use, and their number is bounded.
    #[test]
    fn full_size_changes_only_decrease(payloads in prop::collection::vec(
        prop::sample::select(vec![1_448_i64, 1_348, 1_208, 700, 536, -100, 14_480]), 0..400,
    )) {
        let mut size = after_handshake(Some((1_460, 1_460)));
        send(&mut size, &payloads);
        let found = changes(&size);
        prop_assert!(found.len() <= super::CHANGES);
        prop_assert!(found.iter().all(|&(from, to, _)| from > to));
        prop_assert!(found.windows(2).all(|pair| pair[0].1 == pair[1].0));
        if let Some(&(_, to, _)) = found.last() {
            prop_assert_eq!(size.bytes(), Some(to));
        }
    }
}
