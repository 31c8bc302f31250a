//! Connections that are folded after each packet and unfolded for the next show the same.

use proptest::prelude::*;

use super::bounded::{Step, frame, packet};
use super::drill::{Captured, analyze};
use super::fast_path::{step, transfer};
use super::in_passing::{next_move, packets, results};
use super::recorder::All;
use super::sinks::any_step;
use crate::Analyzer;
use crate::bounds::always_folded;

/// The same with packets wanted and not.
fn assert_same(packets: &[Captured]) -> Result<(), TestCaseError> {
    let unfolded = results(packets);
    for folded in always_folded(|| results(packets)) {
        prop_assert_eq!(&unfolded, &folded);
    }
    let unfolded = analyze(packets);
    for folded in always_folded(|| analyze(packets)) {
        prop_assert_eq!(&unfolded, &folded);
    }
    Ok(())
}

fn of_steps(steps: &[Step]) -> String {
    let mut analyzer = Analyzer::with_sink(All::but_packets(false));
    for (number, step) in steps.iter().enumerate() {
        analyzer.packet(&frame(number as u64 * 40, &packet(step)));
    }
    let (trace, mut recorder) = analyzer.finish_into();
    recorder.note(trace);
    recorder.by_connection()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn folded_conversation_same_results(
        moves in prop::collection::vec(next_move(), 1..120),
        (opened, clocks, ids) in (prop::bool::weighted(0.8), any::<bool>(), any::<bool>()),
    ) {
        assert_same(&packets(&moves, opened, clocks, ids))?;
    }

    #[test]
    fn folded_lossy_transfer_same_results(
        steps in prop::collection::vec(step(), 1..80),
        sack in prop::bool::weighted(0.8),
        clocks: bool,
    ) {
        assert_same(&transfer(&steps, sack, clocks))?;
    }

    /// Anything by six clients: most are folded while others go on.
    #[test]
    fn folded_connections_same_results(steps in prop::collection::vec(any_step(), 1..300)) {
        let unfolded = of_steps(&steps);
        for folded in always_folded(|| of_steps(&steps)) {
            prop_assert_eq!(&unfolded, &folded);
        }
    }
}
