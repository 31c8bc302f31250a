//! Compares the fast path of plain packets with the slow path.

use std::fmt::Write;

use proptest::prelude::*;

use super::drill::{Captured, MSS, drill, feed};
use super::recorder::All;
use crate::Analyzer;
use crate::fast_path;

/// All that is found in these packets, for a sink that wants none of them and for one that does.
pub(super) fn results(packets: &[Captured]) -> String {
    let found = |wants_packets| {
        let mut analyzer = Analyzer::with_sink(All::new(wants_packets));
        feed(&mut analyzer, packets);
        let (trace, mut all) = analyzer.finish_into();
        all.note(trace);
        all.text()
    };
    [false, true].map(found).concat()
}

/// What one end does next; the client where `client` is set.
#[derive(Debug, Clone, Copy)]
pub(super) enum Move {
    /// New segments, with or without a new ACK; before them skipped IP ids and bytes.
    Send { client: bool, count: u64, last: u64, acks: bool, skips: (u16, u64), word: &'static str },
    /// An acknowledgement of all but the last so many segments, with this window, from so many
    /// bytes beside the place where the end's stream is; the last three times.
    Ack { client: bool, but: u64, window: u32, beside: i64, times: u8 },
    /// A block above what is acknowledged, or a D-SACK below it.
    Blocks { client: bool, again: bool },
    /// One of the last segments again.
    Again { client: bool, back: u64 },
    /// A pause, in microseconds.
    Wait(u64),
}

pub(super) fn next_move() -> impl Strategy<Value = Move> {
    let client = || prop::bool::weighted(0.8);
    let words = prop::sample::select(vec!["", "", "", "", "", "psh", "urg", "ce", "fin"]);
    let skips =
        prop_oneof![12 => Just((0, 0)), 1 => (0_u16..5, Just(0)), 1 => (0_u16..5, Just(MSS))];
    let last = prop_oneof![4 => Just(MSS), 1 => 1_u64..MSS];
    let windows = prop::sample::select(vec![9_000, 9_000, 9_000, 9_000, 8_000, 300, 0]);
    prop_oneof![
        10 => (client(), 1_u64..5, last, any::<bool>(), skips, words).prop_map(
            |(client, count, last, acks, skips, word)| {
                Move::Send { client, count, last, acks, skips, word }
            }
        ),
        8 => (client(), 0_u64..3, windows, prop_oneof![9 => Just(0), 1 => -1_i64..2], 1_u8..3)
            .prop_map(|(client, but, window, beside, times)| Move::Ack {
                client: !client, but, window, beside, times
            }),
        1 => (client(), any::<bool>())
            .prop_map(|(client, again)| Move::Blocks { client: !client, again }),
        1 => (client(), 0_u64..8).prop_map(|(client, back)| Move::Again { client, back }),
        4 => prop::sample::select(vec![5, 60, 700, 12_000, 25_000, 300_000, 2_100_000])
            .prop_map(Move::Wait),
    ]
}

/// Where the streams are.
#[derive(Debug, Clone, Copy)]
struct End {
    next: u64,
    /// The cumulative ACK so far.
    acked: u64,
    id: u16,
}

/// The packets of these moves; `clocks`: with timestamps, `ids`: with IP identifications.
pub(super) fn packets(moves: &[Move], opened: bool, clocks: bool, ids: bool) -> Vec<Captured> {
    let mut text = String::new();
    if opened {
        let clock = if clocks { " clock 1" } else { "" };
        text = format!("0.000 > S{clock}\n0.010 < S{clock}\n0.0101 > ack 1\n");
    }
    let mut micros = 20_000;
    let mut ends = [End { next: 1, acked: 1, id: 1_000 }; 2];
    for &step in moves {
        micros += 20;
        let client = match step {
            Move::Wait(more) => {
                micros += more;
                continue;
            }
            Move::Send { client, .. }
            | Move::Ack { client, .. }
            | Move::Blocks { client, .. }
            | Move::Again { client, .. } => client,
        };
        let (mut own, other) = (ends[usize::from(!client)], ends[usize::from(client)]);
        let (way, at) = (if client { '>' } else { '<' }, micros as f64 / 1e6);
        let mut tail = String::new();
        if clocks {
            let _ = write!(tail, " clock {} echo {}", micros / 1_000, micros / 1_000 - 10);
        }
        if ids {
            let skipped = if let Move::Send { skips, .. } = step { skips.0 } else { 0 };
            own.id = own.id.wrapping_add(skipped).max(1);
            let _ = write!(tail, " id {}", own.id);
            own.id = own.id.wrapping_add(1);
        }
        match step {
            Move::Send { count, last, acks, skips, word, .. } => {
                let from = own.next + skips.1;
                own.next = from + (count - 1) * MSS + last;
                own.acked = if acks { other.next } else { own.acked };
                let (to, acked) = (own.next, own.acked);
                own.id = own.id.wrapping_add(count as u16 - 1);
                let _ = writeln!(text, "{at:.6} {way} {from}:{to} acking {acked}{tail} {word}");
            }
            Move::Ack { but, window, beside, times, .. } => {
                own.acked = other.next.saturating_sub(but * MSS).max(1);
                let place = own.next.saturating_add_signed(beside);
                for _ in 0..times {
                    let acked = own.acked;
                    let _ =
                        writeln!(text, "{at:.6} {way} ack {acked} win {window} at {place}{tail}");
                }
            }
            Move::Blocks { again, .. } => {
                let (acked, name) = (own.acked, if again { "dsack" } else { "sack" });
                let from = if again { acked.saturating_sub(MSS) } else { acked + MSS };
                let to = from + MSS;
                let _ = writeln!(text, "{at:.6} {way} ack {acked} {name} {from}-{to}{tail}");
            }
            Move::Again { back, .. } => {
                let from = own.next.saturating_sub((back + 1) * MSS).max(1);
                let (to, acked) = (from + MSS, own.acked);
                let _ = writeln!(text, "{at:.6} {way} {from}:{to} acking {acked}{tail}");
            }
            Move::Wait(_) => {}
        }
        ends[usize::from(!client)] = own;
    }
    drill(&text, u32::MAX - 20_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn fast_path_same_results(
        moves in prop::collection::vec(next_move(), 1..120),
        (opened, clocks, ids) in (prop::bool::weighted(0.8), any::<bool>(), any::<bool>()),
    ) {
        let packets = packets(&moves, opened, clocks, ids);
        // Within all bounds: where one is met, the long way looks at less than there is.
        let find = || results(&packets);
        let (short, long) = (find(), fast_path::disabled(find));
        prop_assert_eq!(short, long);
    }
}
