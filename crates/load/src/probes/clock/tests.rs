//! Clocks of known offset and drift.

use proptest::prelude::*;

use super::*;

const SECOND: i64 = 1_000_000_000;

/// A sample of a path that takes so long each way, by a clock with this offset.
fn sample(at: i64, there: i64, back: i64, offset: i64) -> Sample {
    Sample { at, there: there + offset, back: back - offset }
}

#[test]
fn nothing_is_known_without_samples() {
    assert_eq!(Clock::estimate(&[]), None);
}

#[test]
fn sample_with_least_rtt_decides() {
    let far = 1_700_000_000 * SECOND;
    let samples = [
        sample(0, 9_000_000, 1_000_000, far),
        sample(SECOND, 1_000_000, 1_000_000, far),
        sample(2 * SECOND, 1_000_000, 7_000_000, far),
    ];
    let clock = Clock::estimate(&samples).unwrap();
    // In two seconds a clock drifts by 0.1 ms at 50 ppm.
    assert_eq!((clock.offset_ns, clock.bound_ns), (far, 1_100_000));
    assert_eq!(clock.drift_ppb, None, "two seconds are too short");
    assert_eq!(clock.ways(&samples[0]), (9_000_000, 1_000_000));
    assert_eq!(clock.ways(&samples[2]), (1_000_000, 7_000_000));
}

#[test]
fn one_clock_is_exact_on_an_asymmetric_path() {
    let samples = [sample(0, 10_000_000, 40_000_000, 0)];
    assert_eq!(Clock::same().ways(&samples[0]), (10_000_000, 40_000_000));
    let clock = Clock::estimate(&samples).unwrap();
    // The sum is measured, the division is half by half and says how wrong it may be.
    assert_eq!(clock.ways(&samples[0]), (25_000_000, 25_000_000));
    assert_eq!(clock.bound_ns, 25_000_000);
}

#[test]
fn steady_drift_over_hours_is_found() {
    // 40 ppm: 0.58 s in four hours.
    let drift = 40e-6;
    let samples: Vec<Sample> = (0..4 * 3_600_i64)
        .map(|second| {
            let at = second * SECOND;
            // A queue there in most probes, also for an hour without end.
            let queue =
                if (3_600..7_200).contains(&second) { 80_000_000 } else { second % 7 * 9_000 };
            sample(at, 5_000_000 + queue, 5_000_000, (at as f64 * drift) as i64)
        })
        .collect();
    let clock = Clock::estimate(&samples).unwrap();
    assert!((clock.drift_ppb.unwrap() - 40_000.0).abs() < 1.0, "{clock:?}");
    for found in samples.iter().map(|it| clock.ways(it)) {
        assert!((found.1 - 5_000_000).abs() < 20_000, "{found:?}");
    }
}

#[test]
fn drift_that_the_time_was_too_short_to_measure_is_within_the_bound() {
    // 50 ppm over 4.9 s: 0.245 ms, on a path with an RTT of 60 µs.
    let samples: Vec<Sample> = (0..50)
        .map(|index| sample(index * SECOND / 10, 30_000, 30_000, index * SECOND / 10 / 20_000))
        .collect();
    let clock = Clock::estimate(&samples).unwrap();
    assert_eq!((clock.drift_ppb, clock.bound_ns), (None, 30_000 + 245_000));
    for found in samples.iter().map(|it| clock.ways(it)) {
        assert!((found.0 - 30_000).abs() <= clock.bound_ns, "{found:?}");
    }
}

#[test]
fn times_at_their_ends_do_not_overflow() {
    let extreme = Sample { at: i64::MAX, there: i64::MAX, back: i64::MAX };
    let clock = Clock::estimate(&[Sample { at: 0, there: i64::MIN, back: 0 }, extreme]);
    clock.unwrap().ways(&extreme);
}

proptest! {
    /// Whatever the queues do: once a probe met none, each way is wrong by at most half of the
    /// least RTT and what the drift may be wrong by.
    #[test]
    fn each_way_is_within_its_bound(
        offset in -1_000 * SECOND..1_000 * SECOND,
        drift in -100e-6..100e-6_f64,
        there in 100_000..50_000_000_i64,
        back in 100_000..50_000_000_i64,
        free in 0..200_usize,
        queues in prop::collection::vec((0..30_000_000_i64, 0..30_000_000_i64), 200),
    ) {
        let samples: Vec<Sample> = queues
            .iter()
            .enumerate()
            .map(|(index, queue)| {
                // Half of the probes meet nearly no queue.
                let scale = if index % 2 == 0 { 1_000 } else { 1 };
                let (more, less) = if index == free { (0, 0) } else { *queue };
                let at = index as i64 * SECOND / 4;
                let now = offset + (at as f64 * drift) as i64;
                sample(at, there + more / scale, back + less / scale, now)
            })
            .collect();
        let clock = Clock::estimate(&samples).unwrap();
        // The last probe is 49.75 s after the first: 2,487,500 ns at 50 ppm.
        let assumed = if clock.drift_ppb.is_none() { 2_487_500 } else { 0 };
        prop_assert_eq!(2 * (clock.bound_ns - assumed), (there + back) & !1);
        // The last probe is 50 s after the first.
        let wrong = match (clock.drift_ppb, clock.drift_bound_ppb) {
            (Some(found), Some(bound)) => {
                // Nothing above the bound may be called a drift, so the truth is twice as near.
                prop_assert!((found - drift * 1e9).abs() <= 2.0 * bound + 1.0, "{:?}", clock);
                (2.0 * bound + 1.0) / 1e9
            }
            _ => drift.abs(),
        };
        let allowed = clock.bound_ns + (wrong * 50e9) as i64 + 100;
        for (index, sample) in samples.iter().enumerate() {
            let now = offset + (sample.at as f64 * drift) as i64;
            let true_there = sample.there - now;
            let found = clock.ways(sample);
            prop_assert!((found.0 - true_there).abs() <= allowed, "{}: {:?}", index, clock);
            prop_assert!((found.0 + found.1 - sample.rtt()).abs() <= 1);
        }
    }
}
