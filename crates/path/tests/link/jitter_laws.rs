//! Jitter against its laws, over a million packets.

use crate::support::link;
use tcplab_path::{
    DelayPlan, DelaySpec, ElementPlan, JitterLaw, JitterPlan, Link, Packet, TableLaw,
};
use tcplab_units::{Bytes, Instant, Probability, Span};

const PACKETS: u64 = 1_000_000;

/// Above what any law here asks for, so that nothing is cut at zero unless a test wants it.
const DELAY: Span = Span::from_millis(100);

const SCALE: Span = Span::from_millis(10);

/// What differs from law to law: where half of its values lie below, for one.
fn laws() -> [JitterLaw; 5] {
    let values = vec![-12_000, -5_000, -5_000, -300, 0, 1_234, 2_048, 9_999, 32_767];
    [
        JitterLaw::Uniform(SCALE),
        JitterLaw::Normal(SCALE),
        JitterLaw::Pareto(SCALE),
        JitterLaw::ParetoNormal(SCALE),
        JitterLaw::Table(TableLaw { name: "some.dist".into(), scale: SCALE, values }),
    ]
}

fn plan(law: JitterLaw, percent: u32) -> DelayPlan {
    let correlation = Probability::per_million(percent * 10_000);
    let jitter = Some(JitterPlan { law, correlation, reorder: false });
    DelayPlan { delay: DelaySpec::Constant(DELAY), jitter }
}

/// The delays of packets that come one by one, each when the one before has left.
fn delays(plan: &DelayPlan) -> Vec<u64> {
    let mut link = link(&[ElementPlan::Delay(plan.clone())]);
    let mut now = Instant::ZERO;
    (0..PACKETS).map(|id| single(&mut link, &mut now, id)).collect()
}

fn single(link: &mut Link, now: &mut Instant, id: u64) -> u64 {
    link.handle_packet(*now, Packet::of_size(id, Bytes::new(1500)));
    *now = link.poll_at().expect("it is under way");
    link.poll(*now).expect("it is due").verdict.time_on_link().as_nanos()
}

/// The greatest distance between the share of delays up to a value and its probability
/// (Kolmogorov and Smirnov), from above: reckoned at every hundredth value, between which neither
/// can move further apart than a hundredth packet's share. Both sides of a jump count.
fn distance(mut delays: Vec<u64>, plan: &DelayPlan) -> f64 {
    const STRIDE: usize = 100;
    delays.sort_unstable();
    let all = delays.len() as f64;
    let mut most: f64 = 0.0;
    for delay in delays.iter().step_by(STRIDE) {
        let below = delays.partition_point(|other| other < delay) as f64 / all;
        let upto = delays.partition_point(|other| other <= delay) as f64 / all;
        let at = |nanos| plan.cdf(Span::from_nanos(nanos));
        most = most.max((at(*delay) - upto).abs());
        if *delay > 0 {
            most = most.max((at(delay - 1) - below).abs());
        }
    }
    most + STRIDE as f64 / all
}

/// The distance that independent draws from the law exceed once in a thousand times.
fn critical(draws: usize) -> f64 {
    1.95 / (draws as f64).sqrt()
}

#[test]
fn independent_jitter_has_the_law_asked() {
    for law in laws() {
        let plan = plan(law, 0);
        let delays = delays(&plan);
        let found = distance(delays, &plan);
        assert!(found < critical(PACKETS as usize), "{:?}: {found}", plan.jitter);
    }
}

/// Packets so far apart that their correlation, 0.5²⁰, is none are as good as independent.
#[test]
fn correlated_jitter_has_the_law_asked_and_the_correlation() {
    for law in laws() {
        let plan = plan(law, 50);
        let delays = delays(&plan);
        let apart: Vec<u64> = delays.iter().copied().step_by(20).collect();
        let found = distance(apart.clone(), &plan);
        assert!(found < critical(apart.len()), "{:?}: {found}", plan.jitter);

        // Whatever the law, two normal scores of correlation ρ lie on the same side of the median
        // with a probability of 1/2 + asin(ρ)/π (Sheppard 1899). The middle entry of the table, a
        // ninth of its values, lies on neither side.
        if matches!(&plan.jitter, Some(JitterPlan { law: JitterLaw::Table(_), .. })) {
            continue;
        }
        let above = |nanos: u64| plan.cdf(Span::from_nanos(nanos)) > 0.5;
        let pairs = delays.chunks_exact(20);
        let count = pairs.len() as f64;
        let same = pairs.filter(|pair| above(pair[0]) == above(pair[1])).count() as f64;
        let p = 0.5 + 0.5_f64.asin() / std::f64::consts::PI;
        let sigma = (count * p * (1.0 - p)).sqrt();
        assert!((same - count * p).abs() < 5.0 * sigma, "{:?}: {same}", plan.jitter);
    }
}

/// Of a stationary chain, the estimate of ρ deviates by √((1 − ρ²)/n) (Bartlett 1946).
#[test]
fn normal_jitter_correlation_is_as_configured() {
    for percent in [0, 25, 90] {
        let delays = delays(&plan(JitterLaw::Normal(SCALE), percent));
        let score = |nanos: &u64| (*nanos as f64 - 100e6) / 10e6;
        let scores: Vec<f64> = delays.iter().map(score).collect();
        let products = scores.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        let found = products / scores.iter().map(|score| score * score).sum::<f64>();
        let asked = f64::from(percent) / 100.0;
        let sigma = ((1.0 - asked * asked) / PACKETS as f64).sqrt();
        assert!((found - asked).abs() < 5.0 * sigma, "{found} for {asked}");
    }
}

/// Mean and standard deviation in units of the scale, of the law (by quadrature with 40 digits) and
/// of the table that iproute2 makes. The one-in-4096 steps of the table are worth 0.0013.
#[test]
fn pareto_laws_have_the_moments_of_netem() {
    for (law, mean, deviation, table_mean, table_deviation) in [
        (JitterLaw::Pareto(SCALE), -0.032_923, 0.820_855, -0.033_491, 0.819_677),
        (JitterLaw::ParetoNormal(SCALE), -0.024_694, 0.834_940, -0.025_301, 0.833_945),
    ] {
        let delays = delays(&plan(law, 0));
        let offsets = delays.iter().map(|nanos| (*nanos as f64 - 100e6) / 10e6);
        let n = PACKETS as f64;
        let (sum, squares) =
            offsets.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        let found_mean = sum / n;
        let found_deviation = (squares / n - found_mean * found_mean).sqrt();
        // Five σ of the mean. The fourth moments are near 10 σ⁴, so that the deviation deviates by
        // σ·√((10 − 1)/4n), one and a half times as much.
        let sigma = deviation / n.sqrt();
        assert!((found_mean - mean).abs() < 5.0 * sigma, "{found_mean}");
        assert!((found_deviation - deviation).abs() < 7.5 * sigma, "{found_deviation}");
        assert!((mean - table_mean).abs() < 0.0013 && (deviation - table_deviation).abs() < 0.0013);
    }
}

/// A third of these would be negative: they are zero, and the law knows.
#[test]
fn delay_is_never_negative() {
    let jitter = plan(JitterLaw::Normal(SCALE), 0).jitter;
    let plan = DelayPlan { delay: DelaySpec::Constant(Span::from_nanos(4_307_273)), jitter };
    let delays = delays(&plan);
    // Φ(−0.4307273) = 0.33333 (tables of the normal distribution: 0.4307 for a third).
    assert!((plan.cdf(Span::ZERO) - 1.0 / 3.0).abs() < 1e-7);
    let none = delays.iter().filter(|delay| **delay == 0).count() as f64;
    let sigma = (PACKETS as f64 * 2.0 / 9.0).sqrt();
    assert!((none - PACKETS as f64 / 3.0).abs() < 5.0 * sigma, "{none}");
    assert!(distance(delays, &plan) < critical(PACKETS as usize));
}
