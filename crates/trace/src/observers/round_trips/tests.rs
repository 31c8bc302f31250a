//! Samples, quantiles and the timeout, against sequences worked by hand and plain references.

use proptest::prelude::*;
use tcplab_units::{Instant, Offset, Span};

use super::estimator::Estimator;
use super::quantiles::Quantiles;
use super::timestamps::Timestamps;
use crate::tests::drill::flow;
use crate::tests::frames::packet;

fn millis(n: u64) -> Span {
    Span::from_millis(n)
}

#[test]
fn rto_matches_tcp_rtt_estimator_by_hand() {
    let mut estimator = Estimator::default();
    // Sample, acknowledged, highest; then smoothed, variation and timeout in microseconds.
    for (step, (sample, una, high), after) in [
        ("first sample: margin at least 200 ms", (100, 1, 1), [100_000, 50_000, 300_000]),
        ("far above: margin follows at once", (500, 1_449, 14_481), [150_000, 137_500, 700_000]),
        ("in the same flight the margin stays", (150, 2_897, 14_481), [150_000, 103_125, 700_000]),
        ("a flight later: a quarter forgotten", (150, 14_482, 28_961), [150_000, 77_343, 665_625]),
        ("far below: an eighth of the deviation", (70, 14_483, 28_961), [140_000, 77_426, 655_625]),
    ] {
        estimator.sample(millis(sample), Offset::new(una), Offset::new(high));
        let found = [estimator.smoothed(), estimator.variation(), estimator.timeout()];
        assert_eq!(found.map(Span::as_micros), after, "{step}");
    }
}

#[test]
fn timeouts_at_their_bounds() {
    for (first, timeout) in [(0, 200_000), (1, 201_000), (300, 900_000), (60_000, 120_000_000)] {
        let mut estimator = Estimator::default();
        estimator.sample(millis(first), Offset::new(1), Offset::new(1));
        assert_eq!(estimator.timeout().as_micros(), timeout, "{first} ms");
    }
    // No round trip is so long, and nothing overflows.
    let mut estimator = Estimator::default();
    for _ in 0..100 {
        estimator.sample(Span::MAX, Offset::new(1), Offset::new(1));
    }
    assert_eq!(estimator.timeout(), Span::from_secs(120));
}

/// RFC 6298 section 2, in seconds: SRTT and RTTVAR.
fn rfc_6298(samples: &[u64]) -> (f64, f64) {
    let (mut srtt, mut rttvar) = (0.0, 0.0);
    for (index, &sample) in samples.iter().enumerate() {
        let sample = sample as f64;
        if index == 0 {
            (srtt, rttvar) = (sample, sample / 2.0);
        } else {
            rttvar = 0.75 * rttvar + 0.25 * f64::abs(srtt - sample);
            srtt = 0.875 * srtt + 0.125 * sample;
        }
    }
    (srtt, rttvar)
}

fn estimated(samples: &[u64]) -> Estimator {
    let mut estimator = Estimator::default();
    for (&sample, una) in samples.iter().zip(1..) {
        estimator.sample(Span::from_micros(sample), Offset::new(una), Offset::new(una));
    }
    estimator
}

proptest! {
    /// The fixed point loses less than a unit a step, of which seven eighths remain the next.
    #[test]
    fn smoothed_as_rfc_6298_has_it(samples in prop::collection::vec(1_u64..5_000_000, 1..80)) {
        let (srtt, _) = rfc_6298(&samples);
        let smoothed = estimated(&samples).smoothed().as_micros() as f64;
        prop_assert!((smoothed - srtt).abs() <= 2.0, "{smoothed} {srtt}");
    }

    /// Where no sample lies below the smoothed RTT Linux has the RFC's deviation.
    #[test]
    fn deviation_of_rising_samples_as_rfc_6298_has_it(
        mut samples in prop::collection::vec(1_u64..5_000_000, 1..80),
    ) {
        samples.sort_unstable();
        let (srtt, rttvar) = rfc_6298(&samples);
        let estimator = estimated(&samples);
        let deviation = estimator.variation().as_micros() as f64;
        prop_assert!((deviation - rttvar).abs() <= 4.0, "{deviation} {rttvar}");
        let least = srtt + (4.0 * rttvar).max(200_000.0);
        prop_assert!(estimator.timeout().as_micros() as f64 >= least.min(120e6) - 20.0);
    }

    /// Each of the quantiles is one of the samples, within two per cent.
    #[test]
    fn quantiles_within_two_per_cent(
        samples in prop::collection::vec((0_u32..27, 1_024_u64..2_048), 1..300),
    ) {
        let mut samples: Vec<u64> = samples.iter().map(|&(octave, n)| n << octave).collect();
        let mut quantiles = Quantiles::default();
        for &sample in &samples {
            quantiles.add(sample);
        }
        samples.sort_unstable();
        for (part, of) in [(1, 2), (19, 20), (1, 100), (1, 1)] {
            let rank = (samples.len() as u64 * part).div_ceil(of).max(1);
            let exact = samples[rank as usize - 1] as f64;
            let found = quantiles.quantile(part, of).unwrap().as_nanos() as f64;
            prop_assert!((found - exact).abs() <= 0.02 * exact, "{part}/{of}: {found} {exact}");
        }
    }
}

#[test]
fn quantiles_of_very_many_samples_that_take_turns() {
    // Two quick ones, then one held back: every third is another thing, as every second may be.
    let mut quantiles = Quantiles::default();
    for turn in 0..400_000_u64 {
        let sample = if turn % 3 == 2 { 40_000_000 } else { 1_000_000 };
        quantiles.add(sample + turn % 1_000);
    }
    for (part, of, exact) in [(1, 2, 1e6), (65, 100, 1e6), (68, 100, 40e6), (19, 20, 40e6)] {
        let found = quantiles.quantile(part, of).unwrap().as_nanos() as f64;
        assert!((found - exact).abs() <= 0.02 * exact, "{part}/{of}: {found}");
    }
}

#[test]
fn timestamp_clock_gives_age_across_wrap() {
    let mut clock = Timestamps::default();
    let at = |ms: u64| Instant::ZERO + millis(ms);
    let mut read = |ms: u64, value: u32| {
        clock.sent(&crate::packet::Packet { timestamps: Some((value, 0)), ..packet(at(ms)) });
        clock.age(u32::MAX, at(ms + 50))
    };
    assert_eq!(read(0, u32::MAX - 10), None, "one reading says nothing of a tick");
    assert_eq!(read(90, u32::MAX - 1), None, "nor does one so near");
    // 200 ticks of 10 ms, across the wrap.
    assert_eq!(read(2_000, 189), Some(millis(50 + 1_900)));
    assert_eq!(clock.age(189, at(2_000)), Some(millis(10)), "a tick at least");
    assert_eq!(clock.age(190, at(2_000)), None, "not yet shown");
}

const OPENED: &str = "open 0.020\n";

/// Samples by acknowledgement, SACK and timestamp; smallest and largest in microseconds.
fn samples(text: &str) -> ([u64; 3], Option<(u64, u64)>) {
    let trips = flow(&format!("{OPENED}{text}")).round_trips;
    let extremes = trips.min.zip(trips.max).map(|(a, b)| (a.as_micros(), b.as_micros()));
    ([trips.by_ack, trips.by_sack, trips.by_timestamp], extremes)
}

#[test]
fn rtt_samples_obey_karns_rule() {
    for (name, text, expected) in [
        ("the handshake alone", "", ([1, 0, 0], (20_000, 20_000))),
        (
            "the newer of two acknowledged together",
            "0.100 > 1:2897 every 0.005\n0.127 < ack 2897",
            ([2, 0, 0], (20_000, 22_000)),
        ),
        (
            "retransmitted data are ambiguous",
            "0.100 > 1:1449\n0.400 > 1:1449\n0.423 < ack 1449",
            ([1, 0, 0], (20_000, 20_000)),
        ),
        (
            "data acknowledged with them, too",
            "0.100 > 1:2897\n0.400 > 1:1449\n0.425 < ack 2897",
            ([1, 0, 0], (20_000, 20_000)),
        ),
        (
            "data after them are not",
            "0.100 > 1:1449\n0.400 > 1:1449\n0.420 < ack 1449\n0.421 > 1449:2897\n0.446 < ack 2897",
            ([2, 0, 0], (20_000, 25_000)),
        ),
        (
            "timestamp of the second transmission",
            "0.100 > 1:1449 clock 5\n0.400 > 1:1449 clock 8\n0.424 < ack 1449 echo 8",
            ([1, 0, 1], (20_000, 24_000)),
        ),
        (
            "timestamp of the first: spurious",
            "0.100 > 1:1449 clock 5\n0.400 > 1:1449 clock 8\n0.424 < ack 1449 echo 5",
            ([1, 0, 1], (20_000, 324_000)),
        ),
        (
            "both with the same timestamp",
            "0.100 > 1:1449 clock 5\n0.400 > 1:1449 clock 5\n0.424 < ack 1449 echo 5",
            ([1, 0, 0], (20_000, 20_000)),
        ),
        (
            "SACK gives one sample",
            "0.100 > 1:4345\n0.121 < ack 1 sack 1449-2897\n0.122 < ack 1 sack 1449-4345
             0.1221 > 1:1449\n0.150 < ack 4345",
            ([1, 2, 0], (20_000, 22_000)),
        ),
        (
            "each part of a large segment",
            "0.100 > 1:1449\n0.121 < ack 701\n0.123 < ack 1449",
            ([3, 0, 0], (20_000, 23_000)),
        ),
        (
            "no sample from duplicate ACKs",
            "0.100 > 1:1449\n0.121 < ack 1449\n0.130 < ack 1449\n0.131 < ack 1449",
            ([2, 0, 0], (20_000, 21_000)),
        ),
    ] {
        let (counted, (least, most)) = expected;
        assert_eq!(samples(text), (counted, Some((least, most))), "{name}");
    }
}

#[test]
fn rtt_no_sample_of_data_above_a_gap() {
    let flow = flow(
        "0.000 > S nosack
         0.0001 < S
         0.020 > ack 1
         0.100 > 1:1449
         0.1001 < ack 1449
         0.101 > 2897:5793
         0.1011 < ack 1449
         0.130 > 1449:2897
         0.1301 < ack 5793
         0.140 > 5793:7241
         0.1403 < ack 7241",
    );
    let trips = flow.round_trips;
    assert_eq!((trips.samples(), trips.max), (3, Some(Span::from_micros(300))));
    assert_eq!(trips.timeout, None, "unknown at the receiver");
}

#[test]
fn mean_and_quantiles_of_few() {
    let text = format!(
        "{OPENED}0.100 > 1:1449\n0.110 < ack 1449\n0.200 > 1449:2897\n0.230 < ack 2897
         0.300 > 2897:4345\n0.340 < ack 4345"
    );
    let trips = flow(&text).round_trips;
    let found = [trips.min, trips.mean, trips.median, trips.p95, trips.max];
    assert_eq!(
        found.map(|span| span.unwrap().as_micros()),
        [10_000, 25_000, 20_000, 40_000, 40_000]
    );
    // By hand: 20, 20 + (10-20)/8 = 18.75, 18.75 + (30-18.75)/8 = 20.156, and 40: 22.636 ms.
    assert_eq!(trips.smoothed.unwrap().as_micros(), 22_636);
}
