//! Whatever a capture holds, there is an answer.

use std::fmt::Write;

use proptest::prelude::*;
use tcplab_wire::LinkType;

use super::drill::{Captured, analyze, drill};
use crate::{Analyzer, Flow, Frame, Trace, ladder, listing};

pub(super) const TRANSFER: &str = "
    open 0.010
    0.100 > 1:14481 every 0.001
    0.110 < acks 1449 7241 every 0.001
    0.140 > 14481:15929
    0.150 < ack 7241 sack 14481-15929
    0.1501 > 7241:10137
    0.1601 < ack 8689 sack 14481-15929
    0.1602 < ack 10137 dsack 1449-2897 sack 14481-15929
    0.1603 > 10137:14481
    0.1703 < ack 15929
    0.171 > 15929:17377
    0.181 < ack 17377
    0.182 > 17377:17378 fin";

pub(super) fn check(trace: &Trace) {
    // Packets out of order keep their frames.
    let is_ordered = !trace.notes.iter().any(|note| {
        note.text.contains("time order") || note.text.contains("analysed in order of time")
    });
    for connection in &trace.connections {
        listing(0, connection, None);
        for flow in [&connection.forward, &connection.reverse] {
            let totals = &flow.totals;
            assert!(totals.unique <= totals.data && totals.retransmitted <= totals.data);
            let sent = flow.segments.iter().filter(|segment| !segment.kind.is_copy());
            let sum: u64 = sent.map(|segment| segment.payload.as_u64()).sum();
            assert_eq!(sum, totals.data.as_u64());
            check_shares(flow);
            assert!(flow.marks.ce_marks.count <= connection.packets, "{totals:?}");
            for episode in &flow.episodes {
                assert!(!episode.lost.is_empty());
                assert!(!is_ordered || episode.lost.is_sorted_by_key(|lost| lost.frame));
                assert!(ladder(flow, episode).len() <= 40);
            }
        }
    }
}

/// No part is larger than its whole.
fn check_shares(flow: &Flow) {
    let (totals, causes) = (&flow.totals, &flow.causes);
    assert!(totals.retransmissions <= totals.segments, "{totals:?}");
    assert!(totals.segments <= totals.wire_segments, "{totals:?}");
    let parts = causes.retransmissions() + causes.out_of_order.count + causes.gaps_filled.count;
    assert!(parts <= totals.wire_segments, "{parts} of {totals:?}");
    let is_plain = totals.segments == totals.wire_segments;
    assert!(!is_plain || causes.retransmissions() == totals.retransmissions, "{flow:?}");
    assert!(causes.lost_retransmissions.count <= causes.retransmissions(), "{causes:?}");
    assert!(causes.before_capture.count <= causes.retransmissions(), "{causes:?}");
    assert!(flow.shares.idle <= flow.shares.total(), "{:?}", flow.shares);
    let transfer = &flow.transfer;
    assert!(transfer.efficiency.is_none_or(|it| (0.0..=100.0).contains(&it)), "{transfer:?}");
    assert!(transfer.capacity.is_none_or(|it| transfer.goodput <= Some(it)), "{transfer:?}");
}

fn packets() -> impl Strategy<Value = Vec<Captured>> {
    Just(drill(TRANSFER, 1_000))
}

/// Which packet, which of its bytes, and what that becomes.
fn change() -> impl Strategy<Value = (prop::sample::Index, usize, u8)> {
    (any::<prop::sample::Index>(), 20_usize..72, any::<u8>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_order(packets in packets().prop_shuffle()) {
        check(&analyze(&packets));
    }

    #[test]
    fn any_part(packets in packets(), kept in prop::collection::vec(any::<bool>(), 60)) {
        let part: Vec<Captured> =
            packets.into_iter().zip(kept).filter(|(_, keep)| *keep).map(|(p, _)| p).collect();
        check(&analyze(&part));
    }

    #[test]
    fn any_byte_changed(
        packets in packets(),
        changes in prop::collection::vec(change(), 1..30),
    ) {
        let mut packets = packets;
        for (packet, at, value) in changes {
            let packet = packet.get_mut(&mut packets);
            if let Some(byte) = packet.bytes.get_mut(at) {
                *byte = value;
            }
        }
        check(&analyze(&packets));
    }

    #[test]
    fn any_bytes(
        frames in prop::collection::vec(
            (any::<u64>(), prop::collection::vec(any::<u8>(), 0..80), any::<u32>()), 0..20),
        link in prop::sample::select(vec![0_u16, 1, 101, 107, 113, 119, 127, 192, 258, 276, 999]),
    ) {
        let mut analyzer = Analyzer::new();
        for (time_ns, bytes, original_len) in &frames {
            analyzer.packet(&Frame {
                time_ns: *time_ns,
                link: LinkType::from_number(link),
                captured: bytes,
                original_len: *original_len,
                comment: None,
            });
        }
        check(&analyzer.finish());
    }

    /// A handful of ranges and acknowledgements that have nothing to do with one another.
    #[test]
    fn any_conversation(
        steps in prop::collection::vec(
            (0_u64..300, any::<bool>(), 0_u64..12, 1_u64..5, 0_u64..12, 0_u64..12), 1..120),
    ) {
        let mut text = String::from("open 0.010\n");
        let mut at = 0.02;
        for (wait, sends, start, len, left, right) in steps {
            at += wait as f64 / 1000.0;
            let (from, to) = (1 + start * 700, 1 + (start + len) * 700);
            let (left, right) = (1 + left * 700, 1 + right * 700);
            let _ = if sends {
                writeln!(text, "{at} > {from}:{to}")
            } else {
                writeln!(text, "{at} < ack {from} sack {left}-{right} {to}-{right}")
            };
        }
        check(&analyze(&drill(&text, u32::MAX - 4_000)));
    }
}

#[test]
fn capture_cut_at_any_packet_consistent() {
    let packets = drill(TRANSFER, 1_000);
    for len in 0..=packets.len() {
        check(&analyze(&packets[..len]));
    }
}

#[test]
fn foreign_sequence_number_noted_and_ignored() {
    let mut packets = drill(TRANSFER, 1_000);
    let plain = analyze(&packets);
    let mut stray = drill("0.112 > 1:1449", 0x9000_0000);
    packets.append(&mut stray);
    packets.sort_by_key(|p| p.time_ns);
    let trace = analyze(&packets);
    assert_eq!(trace.notes.len(), 1);
    assert_eq!(trace.connections[0].forward.totals, plain.connections[0].forward.totals);
}
