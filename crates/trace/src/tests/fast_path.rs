//! The short ways through the common cases find what the long ones find.

use std::fmt::Write;

use proptest::prelude::*;
use tcplab_units::{Instant, Offset};

use super::drill::{Captured, MSS, analyze, drill};
use crate::Range;
use crate::direction::Transmission;
use crate::direction::{ReceivedAck, Scoreboard};
use crate::fast_path;

/// What may happen next in a transfer: mostly what happens mostly.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Sends `count` new segments; the one numbered `lost` never arrives.
    Send { count: u64, lost: Option<u64> },
    /// An acknowledgement of all that arrived, SACK blocks for what is above a gap.
    ReceivedAck,
    /// An acknowledgement in the middle of a segment.
    AnswerPart,
    /// The oldest segment again; it arrives, or is lost again.
    Repeat { arrives: bool },
    /// Any segment of the last ten again, with D-SACK if it had arrived.
    Spurious { back: u64 },
    /// A pause, in milliseconds.
    Wait(u64),
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let lost = prop::option::weighted(0.15, 0_u64..4);
    prop_oneof![
        6 => (1_u64..5, lost).prop_map(|(count, lost)| Step::Send { count, lost }),
        6 => Just(Step::ReceivedAck),
        1 => Just(Step::AnswerPart),
        2 => prop::bool::weighted(0.8).prop_map(|arrives| Step::Repeat { arrives }),
        1 => (0_u64..10).prop_map(|back| Step::Spurious { back }),
        2 => prop::sample::select(vec![1, 10, 40, 300]).prop_map(Step::Wait),
    ]
}

/// The transfer as packets; numbers of segments from 0.
pub(super) fn transfer(steps: &[Step], sack: bool, clocks: bool) -> Vec<Captured> {
    let no_sack = if sack { "" } else { " nosack" };
    let mut text = format!("0.000 > S{no_sack}\n0.010 < S{no_sack}\n0.0101 > ack 1\n");
    let place = |segment: u64| 1 + segment * MSS;
    let (mut at, mut next) = (0.02, 0_u64);
    let mut arrived: Vec<bool> = Vec::new();
    for step in steps {
        at += 0.0005;
        let clock = if clocks { format!(" clock {}", (at * 1e3) as u64) } else { String::new() };
        let mut send = |at: f64, segment: u64| {
            let (from, to) = (place(segment), place(segment + 1));
            let _ = writeln!(text, "{at:.6} > {from}:{to}{clock}");
        };
        let una = arrived.iter().take_while(|&&there| there).count() as u64;
        let mut answer = None;
        match *step {
            Step::Send { count, lost } => {
                for index in 0..count {
                    send(at, next);
                    arrived.push(lost != Some(index));
                    next += 1;
                }
            }
            Step::ReceivedAck => answer = Some(String::new()),
            Step::AnswerPart if una > 0 => {
                let _ = writeln!(text, "{at:.6} < ack {}", place(una) - MSS / 2);
            }
            Step::Repeat { arrives } if una < next => {
                send(at, una);
                arrived[una as usize] |= arrives;
            }
            Step::Spurious { back } if back < next => {
                let segment = next - 1 - back;
                send(at, segment);
                let had = std::mem::replace(&mut arrived[segment as usize], true);
                let block = format!(" dsack {}-{}", place(segment), place(segment + 1));
                answer = Some(if had && sack { block } else { String::new() });
            }
            // There is nothing to answer or to repeat yet.
            Step::AnswerPart | Step::Repeat { .. } | Step::Spurious { .. } => {}
            Step::Wait(millis) => at += millis as f64 / 1e3,
        }
        if let Some(dsack) = answer {
            at += 0.010;
            let una = arrived.iter().take_while(|&&there| there).count() as u64;
            let blocks = if sack { blocks(&arrived, una) } else { String::new() };
            let _ = writeln!(text, "{at:.6} < ack {}{dsack}{blocks}", place(una));
        }
    }
    drill(&text, u32::MAX - 20_000)
}

/// The last two islands above `una`.
fn blocks(arrived: &[bool], una: u64) -> String {
    let mut islands: Vec<(u64, u64)> = Vec::new();
    for (segment, _) in arrived.iter().enumerate().filter(|(s, there)| *s as u64 > una && **there) {
        let segment = segment as u64;
        match islands.last_mut() {
            Some(last) if last.1 == segment => last.1 += 1,
            _ => islands.push((segment, segment + 1)),
        }
    }
    let written: Vec<String> = islands
        .iter()
        .rev()
        .take(2)
        .map(|(from, to)| format!("{}-{}", 1 + from * MSS, 1 + to * MSS))
        .collect();
    if written.is_empty() { String::new() } else { format!(" sack {}", written.join(" ")) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn fast_path_scoreboard_same_effect(
        steps in prop::collection::vec(step(), 1..80),
        sack in prop::bool::weighted(0.8),
        clocks: bool,
    ) {
        let packets = transfer(&steps, sack, clocks);
        let short = analyze(&packets);
        let long = fast_path::disabled(|| analyze(&packets));
        prop_assert_eq!(short, long);
    }

    #[test]
    fn fast_path_any_packets_same_results(
        steps in prop::collection::vec(step(), 1..80),
        order in any::<prop::sample::Index>(),
        kept in prop::collection::vec(prop::bool::weighted(0.9), 400),
    ) {
        let mut packets = transfer(&steps, true, true);
        let mut kept = kept.into_iter().chain(std::iter::repeat(true));
        packets.retain(|_| kept.next() == Some(true));
        if packets.len() > 1 {
            let at = order.index(packets.len() - 1);
            packets.swap(at, at + 1);
        }
        let short = analyze(&packets);
        let long = fast_path::disabled(|| analyze(&packets));
        prop_assert_eq!(short, long);
    }
}

/// A scoreboard fed with transmissions and ACKs; numbers count segments.
#[derive(Debug, Clone)]
enum BoardStep {
    Sent { from: u64, count: u64, repeat: bool },
    AckEvent { ack: u64, sack: Option<(u64, u64)>, dsack: Option<u64> },
}

fn board_step() -> impl Strategy<Value = BoardStep> {
    let sent = |repeat| move |(from, count)| BoardStep::Sent { from, count, repeat };
    let block = (0_u64..30, 1_u64..6).prop_map(|(from, count)| (from, from + count));
    prop_oneof![
        4 => (0_u64..3, 1_u64..3).prop_map(sent(false)),
        1 => (0_u64..8, 1_u64..3).prop_map(sent(true)),
        4 => (0_u64..5).prop_map(|ack| BoardStep::AckEvent { ack, sack: None, dsack: None }),
        2 => (0_u64..5, block).prop_map(|(ack, b)| {
            BoardStep::AckEvent { ack, sack: Some(b), dsack: None }
        }),
        1 => (0_u64..3, 0_u64..9).prop_map(|(ack, again)| {
            BoardStep::AckEvent { ack, sack: None, dsack: Some(again) }
        }),
    ]
}

/// Everything that the board knows after each step.
fn board_after_each(steps: &[BoardStep], without_sack: bool) -> Vec<String> {
    let place = |segment: u64| Offset::new(1 + segment * MSS);
    let range = |from: u64, to: u64| Range { start: place(from), end: place(to) };
    let mut board = Scoreboard::default();
    board.without_sack = without_sack;
    board.start_at(place(0));
    let mut states = Vec::new();
    let (mut una, mut next) = (0, 0);
    for (step, number) in steps.iter().zip(1..) {
        let at = Instant::from_nanos(number * 1_700_000);
        let said = match *step {
            BoardStep::Sent { from, count, repeat } => {
                let start = if repeat { (una + from).min(next) } else { next + from / 2 };
                let repeat = repeat && start < next;
                next = next.max(start + count);
                let range = range(start, start + count);
                let plain = Transmission::new(range, at, number, count * MSS);
                board.sent(Transmission { repeat, ..plain });
                None
            }
            BoardStep::AckEvent { ack, sack, dsack } => {
                una = (una + ack).min(next);
                let sack: Vec<Range> =
                    sack.into_iter().map(|(from, to)| range(una + from, una + to)).collect();
                let dsack = dsack.map(|again| range(una.saturating_sub(again + 1), una));
                let ack = place(una);
                Some(board.on_ack(&ReceivedAck { at, ack, sack: &sack, dsack, echo: None }))
            }
        };
        if number % 7 == 0 {
            board.forget_acknowledged();
        }
        states.push(format!("{said:?} {board:?}"));
    }
    states
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn fast_path_same_state(
        steps in prop::collection::vec(board_step(), 1..40),
        without_sack in prop::bool::weighted(0.2),
    ) {
        let short = board_after_each(&steps, without_sack);
        let long = fast_path::disabled(|| board_after_each(&steps, without_sack));
        prop_assert_eq!(short, long);
    }
}
