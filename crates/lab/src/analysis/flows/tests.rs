use proptest::prelude::*;

use super::sharing::{Arrivals, common, convergence, fairness, jain};
use tcplab_units::{Instant, Span};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// A flow that gets so many bytes every 10 ms, as the list says: (from, until, bytes).
fn flow(parts: &[(u64, u64, u64)]) -> Arrivals {
    let segments: Vec<_> = parts
        .iter()
        .flat_map(|(from, until, bytes)| {
            (*from..*until).step_by(10).map(move |millis| (at(millis), *bytes))
        })
        .collect();
    Arrivals::of_bytes(&segments)
}

/// By hand, and the example of the paper's section 5: of 1, 2 and so on to n, and of one that has
/// nothing.
#[test]
fn jains_index_is_as_computed_by_hand() {
    for (shares, index) in [
        (&[1.0][..], 1.0),
        (&[5.0, 5.0], 1.0),
        (&[1.0, 0.0], 0.5),
        (&[1.0, 3.0], 0.8),
        (&[1.0, 2.0, 3.0], 36.0 / 42.0),
        (&[1.0, 0.0, 0.0, 0.0], 0.25),
        // A fraction of 3 in 4 share evenly, the rest get nothing: the index is that fraction.
        (&[2.0, 2.0, 2.0, 0.0], 0.75),
    ] {
        let found = jain(shares).unwrap();
        assert!((found - index).abs() < 1e-12, "{shares:?}: {found}");
    }
    assert_eq!(jain(&[]), None);
    assert_eq!(jain(&[0.0, 0.0]), None);
}

#[test]
fn fairness_counts_common_time_only() {
    // The first has all for 5 s; then each gets the same; then the second is alone.
    let one = flow(&[(0, 5_000, 1_000), (5_000, 10_000, 500)]);
    let other = flow(&[(5_000, 10_000, 500), (10_000, 20_000, 1_000)]);
    let flows = [one.clone(), other];
    assert_eq!(common(&flows), Some((at(5_000), at(9_990))));
    assert!((fairness(&flows).unwrap() - 1.0).abs() < 1e-9);
    // 1 to 3 while both are there.
    let uneven = [one, flow(&[(5_000, 10_000, 1_500)])];
    assert!((fairness(&uneven).unwrap() - 0.8).abs() < 1e-3);
}

#[test]
fn streams_together_are_the_sum_of_them() {
    let parts = [flow(&[(0, 100, 10)]), Arrivals::default(), flow(&[(50, 200, 3)])];
    let both = Arrivals::together(parts.iter().cloned());
    for millis in [0, 40, 50, 95, 300] {
        let each: u64 = parts.iter().map(|one| one.until(at(millis))).sum();
        assert_eq!(both.until(at(millis)), each, "{millis}");
    }
    assert_eq!(both.total(), 100 + 45);
}

#[test]
fn flows_without_overlap_have_no_fairness() {
    assert_eq!(fairness(&[flow(&[(0, 1_000, 10)])]), None);
    let apart = [flow(&[(0, 1_000, 10)]), flow(&[(2_000, 3_000, 10)])];
    assert_eq!((fairness(&apart), convergence(&apart, at(2_000))), (None, None));
    assert_eq!(fairness(&[Arrivals::default(), Arrivals::default()]), None);
}

#[test]
fn convergence_is_start_of_lasting_fairness() {
    // From 10 s on the second is there with a tenth, from 14 s on with 40 %: fair is within 25 %
    // and 75 %. Two seconds that begin at 13 s hold half of each: (10 + 40)/2 = 25 %.
    let flows = [
        flow(&[(0, 10_000, 1_000), (10_000, 14_000, 900), (14_000, 30_000, 600)]),
        flow(&[(10_000, 14_000, 100), (14_000, 30_000, 400)]),
    ];
    let found = convergence(&flows, at(10_000)).unwrap();
    assert_eq!(found, Span::from_millis(3_000));
    // Fair at first, then not: this counts as never.
    let again = [
        flow(&[(0, 20_000, 500), (20_000, 30_000, 950)]),
        flow(&[(0, 20_000, 500), (20_000, 30_000, 50)]),
    ];
    assert_eq!(convergence(&again, at(0)), None);
    // Fair from the first moment on.
    let even = [flow(&[(0, 9_000, 500)]), flow(&[(0, 9_000, 500)])];
    assert_eq!(convergence(&even, at(0)), Some(Span::ZERO));
    // Too short to judge.
    let short = [flow(&[(0, 1_500, 500)]), flow(&[(0, 1_500, 500)])];
    assert_eq!(convergence(&short, at(0)), None);
}

proptest! {
    #[test]
    fn jains_index_is_between_one_nth_and_one(
        shares in prop::collection::vec(0.0..1e9_f64, 1..20),
    ) {
        prop_assume!(shares.iter().sum::<f64>() > 0.0);
        let index = jain(&shares).unwrap();
        let least = 1.0 / shares.len() as f64;
        prop_assert!((least - 1e-9..=1.0 + 1e-9).contains(&index), "{index}");
        // It does not depend on the unit.
        let scaled: Vec<f64> = shares.iter().map(|share| share * 8.0).collect();
        prop_assert!((jain(&scaled).unwrap() - index).abs() < 1e-9);
    }

    /// Whatever the order in which ranges come, and however they overlap, each byte counts once.
    #[test]
    fn duplicate_bytes_count_once(ranges in prop::collection::vec((0_u64..200, 1_u64..60), 0..40)) {
        let all: std::collections::BTreeSet<u64> =
            ranges.iter().flat_map(|(start, len)| *start..start + len).collect();
        prop_assert_eq!(super::sharing::covered(&ranges), all.len() as u64);
    }
}
