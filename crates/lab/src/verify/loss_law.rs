//! How many of some packets the laws of loss take, in closed form.

use tcplab_path::{GilbertElliott, LossBurst, LossPlan};
use tcplab_stats::binomial_range;

/// The confidence that a correct number is in its range: one correct path in a thousand fails.
pub(super) const CONFIDENCE: f64 = 0.999;
/// The quantile of the normal distribution that belongs to it.
const SCORE: f64 = 3.290_526_731;
/// With fewer bursts than this, their number is not even roughly normal.
const FEWEST_BURSTS: f64 = 20.0;

/// The share that is lost in the long run.
pub(super) fn share(laws: &[LossPlan]) -> f64 {
    1.0 - laws.iter().map(|law| 1.0 - mean(law)).product::<f64>()
}

/// The range of the number lost of the first `n` packets; or why it is not known.
pub(super) fn range(laws: &[LossPlan], n: u64) -> Result<(u64, u64), String> {
    if laws.iter().all(|law| matches!(law, LossPlan::Independent(_))) {
        return Ok(binomial_range(n, share(laws), CONFIDENCE));
    }
    if let [LossPlan::Every { every, first }] = laws {
        let exact = (n + every).saturating_sub(*first) / every;
        // A probe at the edge of an interruption may count or not.
        return Ok((exact.saturating_sub(1), (exact + 1).min(n)));
    }
    for law in laws {
        let expected = bursts(law) * n as f64;
        if expected < FEWEST_BURSTS {
            return Err(format!("about {expected:.0} bursts among {n} probes are too few"));
        }
    }
    let (count, p) = (n as f64, share(laws));
    // Each law thins out what the others do; how its own losses hang together adds to the variance.
    let dependence: f64 = laws
        .iter()
        .map(|law| {
            let others = (1.0 - p) / (1.0 - mean(law)).max(f64::MIN_POSITIVE);
            excess(law) * others * others
        })
        .sum();
    let variance = (count * (p * (1.0 - p) + dependence)).max(0.0);
    let start: f64 = laws.iter().map(shortfall).sum();
    let half = SCORE * variance.sqrt() + 1.0;
    let low = (count * p - start - half).max(0.0);
    Ok((low as u64, ((count * p + half) as u64).min(n)))
}

/// The longest loss run to expect by chance; a longer one has probability 10⁻⁴.
pub(super) fn longest_run(laws: &[LossPlan]) -> f64 {
    let geometric = |p: f64| if p > 0.0 { ((1e-4_f64).ln() / p.ln()).ceil().max(1.0) } else { 0.0 };
    let of = |law: &LossPlan| match law {
        LossPlan::Independent(probability) => geometric(probability.as_f64()),
        LossPlan::GilbertElliott(chain) => {
            let stays = (1.0 - chain.r.as_f64()) * chain.bad.as_f64();
            geometric(stays.max(chain.good.as_f64())) + 1.0
        }
        LossPlan::Every { .. } => 1.0,
        LossPlan::Burst(burst) => {
            f64::from(burst.length) * (1.0 + geometric(burst.probability.as_f64()))
        }
    };
    laws.iter().map(of).sum()
}

/// The share that one law takes.
fn mean(law: &LossPlan) -> f64 {
    match law {
        LossPlan::Independent(probability) => probability.as_f64(),
        LossPlan::GilbertElliott(chain) => {
            let bad = bad_share(chain);
            (1.0 - bad) * chain.good.as_f64() + bad * chain.bad.as_f64()
        }
        LossPlan::Every { every, .. } => 1.0 / *every as f64,
        LossPlan::Burst(burst) => {
            // A renewal: a geometric number of packets pass, then the burst takes its own.
            let (start, length) = (burst.probability.as_f64(), f64::from(burst.length));
            start * length / (start * length + 1.0 - start)
        }
    }
}

/// How many bursts begin per packet.
fn bursts(law: &LossPlan) -> f64 {
    match law {
        LossPlan::Independent(_) | LossPlan::Every { .. } => f64::INFINITY,
        LossPlan::GilbertElliott(chain) => (1.0 - bad_share(chain)) * chain.p.as_f64(),
        LossPlan::Burst(burst) => mean(law) / f64::from(burst.length.max(1)),
    }
}

/// By how much the variance of the number lost, per packet, exceeds that of independent losses of
/// the same share; in the limit of many packets.
fn excess(law: &LossPlan) -> f64 {
    let mean = mean(law);
    match law {
        LossPlan::Independent(_) => 0.0,
        // Without variance.
        LossPlan::Every { .. } => -mean * (1.0 - mean),
        // The covariance of two packets k apart falls as (1 − p − r)^k (Gilbert 1960).
        LossPlan::GilbertElliott(chain) => {
            let bad = bad_share(chain);
            let memory = 1.0 - chain.p.as_f64() - chain.r.as_f64();
            let step = chain.bad.as_f64() - chain.good.as_f64();
            2.0 * step * step * bad * (1.0 - bad) * memory / (1.0 - memory).max(1e-12)
        }
        // The central limit theorem of renewals: n σ² / μ³ bursts, each of its length.
        LossPlan::Burst(LossBurst { probability, length }) => {
            let (start, length) = (probability.as_f64(), f64::from(*length));
            let between = length + (1.0 - start) / start;
            let variance = (1.0 - start) / (start * start);
            length * length * variance / between.powi(3) - mean * (1.0 - mean)
        }
    }
}

/// How many fewer are lost because a chain starts in its good state.
fn shortfall(law: &LossPlan) -> f64 {
    let LossPlan::GilbertElliott(chain) = law else { return 0.0 };
    let memory = 1.0 - chain.p.as_f64() - chain.r.as_f64();
    let step = chain.bad.as_f64() - chain.good.as_f64();
    (step * bad_share(chain) * memory / (1.0 - memory).max(1e-12)).max(0.0)
}

/// The share of packets that meet the bad state.
fn bad_share(chain: &GilbertElliott) -> f64 {
    let (p, r) = (chain.p.as_f64(), chain.r.as_f64());
    if p + r > 0.0 { p / (p + r) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use tcplab_units::Probability;

    use super::*;

    fn per_cent(text: &str) -> Probability {
        format!("{text} %").parse().unwrap()
    }

    #[test]
    fn ranges_are_those_of_the_laws() {
        let chain = |p, r, good, bad| {
            let [p, r, good, bad] = [p, r, good, bad].map(per_cent);
            LossPlan::GilbertElliott(GilbertElliott { p, r, good, bad })
        };
        let independent = |p| LossPlan::Independent(per_cent(p));
        let burst = |p, length| LossPlan::Burst(LossBurst { probability: per_cent(p), length });
        for (laws, n, range) in [
            (vec![], 1000, (0, 0)),
            // scipy.stats.binom.interval(0.999, 500, 0.01).
            (vec![independent("1")], 500, (0, 14)),
            // 1 − 0.9 · 0.8 = 0.28: scipy.stats.binom.interval(0.999, 1000, 0.28).
            (vec![independent("10"), independent("20")], 1000, (234, 327)),
            (vec![LossPlan::Every { every: 10, first: 10 }], 1000, (99, 101)),
            (vec![LossPlan::Every { every: 10, first: 3 }], 2, (0, 1)),
            // Without memory: p + r = 1 is independent loss of p, ± 3.29 · √(n p q) + 1.
            (vec![chain("10", "90", "0", "100")], 10_000, (900, 1099)),
            // Bursts of one: q of the packets, as above.
            (vec![burst("10", 1)], 10_000, (900, 1099)),
        ] {
            assert_eq!(super::range(&laws, n).unwrap(), range, "{laws:?}");
        }
        assert!(super::range(&[burst("0.01", 10)], 1000).is_err(), "a tenth of a burst");
    }

    #[test]
    fn runs_of_losses_are_as_long_as_the_law_makes_them() {
        let chain = |r: &str| {
            let (p, r) = (per_cent("1"), per_cent(r));
            let (good, bad) = (Probability::NEVER, Probability::ALWAYS);
            LossPlan::GilbertElliott(GilbertElliott { p, r, good, bad })
        };
        for (laws, longest) in [
            (vec![], 0.0),
            (vec![LossPlan::Independent(per_cent("1"))], 2.0),
            (vec![LossPlan::Independent(per_cent("10"))], 4.0),
            (vec![chain("50")], 15.0),
            (vec![LossPlan::Every { every: 5, first: 5 }], 1.0),
        ] {
            assert!((longest_run(&laws) - longest).abs() < 1e-9, "{laws:?}");
        }
    }

    #[test]
    fn memory_widens_the_range() {
        // π = 1/6 bad; 5000 lost of 30000; covariance sum 2 · 5/36 · 0.94 / 0.06 per packet:
        // σ = √(30000 · (5/36 + 4.3519)) = 367.
        let chain = LossPlan::GilbertElliott(GilbertElliott {
            p: per_cent("1"),
            r: per_cent("5"),
            good: Probability::NEVER,
            bad: Probability::ALWAYS,
        });
        let (low, high) = super::range(&[chain], 30_000).unwrap();
        assert!((3780..=3795).contains(&low) && (6205..=6210).contains(&high), "{low} to {high}");
    }
}
