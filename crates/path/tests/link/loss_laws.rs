//! The laws of loss, each over a million packets in virtual time, against what theory says of it:
//! five standard deviations either way, which a right law exceeds once in two million times. The
//! seed is fixed, so a test that holds once holds for ever.

use crate::support::link;
use tcplab_path::{Cause, ElementPlan, Fate, GilbertElliott, LossBurst, LossPlan, Packet};
use tcplab_units::{Bytes, Instant, Probability};

const PACKETS: usize = 1_000_000;

/// For each packet in order, whether it is lost.
fn lost(plan: LossPlan) -> Vec<bool> {
    let mut link = link(&[ElementPlan::Loss(plan)]);
    let mut is_lost = |id| {
        link.handle_packet(Instant::ZERO, Packet::of_size(id, Bytes::ZERO));
        let verdict = link.poll(Instant::ZERO).expect("nothing holds it").verdict;
        match verdict.fate {
            Fate::Delivered => false,
            Fate::Dropped(Cause::Loss) => true,
            other => panic!("{other}"),
        }
    };
    (0..PACKETS as u64).map(&mut is_lost).collect()
}

fn percent(text: &str) -> Probability {
    text.parse().unwrap()
}

fn chain(p: &str, r: &str, good: &str, bad: &str) -> GilbertElliott {
    GilbertElliott { p: percent(p), r: percent(r), good: percent(good), bad: percent(bad) }
}

fn count(lost: &[bool]) -> f64 {
    lost.iter().filter(|lost| **lost).count() as f64
}

/// The lengths of the runs of losses and of the gaps between them; without the first and the last
/// of all, of which an end is cut off.
fn runs(lost: &[bool]) -> (Vec<u64>, Vec<u64>) {
    let runs: Vec<_> = lost.chunk_by(|a, b| a == b).collect();
    let whole = &runs[1..runs.len() - 1];
    let lengths =
        |of: bool| whole.iter().filter(|run| run[0] == of).map(|run| run.len() as u64).collect();
    (lengths(true), lengths(false))
}

#[track_caller]
fn within_five_sigma(what: &str, seen: f64, mean: f64, variance: f64) {
    let off = (seen - mean) / variance.sqrt();
    assert!(off.abs() <= 5.0, "{what}: {seen} is {off:.1} σ from {mean:.1}");
}

/// Pearson's chi-square of lengths against a geometric law: P(length = n) = (1 − end)ⁿ⁻¹ · end. The
/// statistic becomes a normal deviate by Wilson and Hilferty (1931).
#[track_caller]
fn is_geometric(what: &str, lengths: &[u64], end: f64) {
    let total = lengths.len() as f64;
    let mut bins = Vec::new();
    let (mut first, mut rest) = (1, 1.0);
    // Bins of at least a hundred lengths, and all that is longer in the last.
    while rest * total > 200.0 && bins.len() < 60 {
        let (mut last, mut share) = (first, rest * end);
        while share * total < 100.0 {
            last += 1;
            share = rest * (1.0 - (1.0 - end).powi((last + 1 - first) as i32));
        }
        bins.push((first..=last, share));
        (first, rest) = (last + 1, rest - share);
    }
    bins.push((first..=u64::MAX, rest));
    let square = |(bin, share): &(std::ops::RangeInclusive<u64>, f64)| {
        let seen = lengths.iter().filter(|length| bin.contains(length)).count() as f64;
        (seen - share * total).powi(2) / (share * total)
    };
    let freedom = (bins.len() - 1) as f64;
    assert!(freedom >= 3.0, "{what}: {} lengths are too few", lengths.len());
    let chi_square: f64 = bins.iter().map(square).sum();
    let spread = 2.0 / (9.0 * freedom);
    let normal = ((chi_square / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
    assert!(normal <= 5.0, "{what}: χ² = {chi_square:.1} with {freedom} degrees of freedom");
}

/// Mean and variance of how often something happens in all packets, exactly, by recursion over the
/// chain of (state, whether the packet was lost), which starts good.
fn moments(chain: GilbertElliott, happens: impl Fn(bool, bool) -> bool) -> (f64, f64) {
    let [p, r, good, bad] = [chain.p, chain.r, chain.good, chain.bad].map(Probability::as_f64);
    let states = [(false, false), (false, true), (true, false), (true, true)];
    let step = |(was_bad, _): (bool, bool), (is_bad, is_lost): (bool, bool)| {
        let to_bad = if was_bad { 1.0 - r } else { p };
        let to_lost = if is_bad { bad } else { good };
        (if is_bad { to_bad } else { 1.0 - to_bad }) * if is_lost { to_lost } else { 1.0 - to_lost }
    };
    let steps = states
        .map(|from| states.map(|to| (step(from, to), f64::from(u8::from(happens(from.1, to.1))))));
    // Per state its probability, and in it the first and the second moment of the count less its
    // mean so far, which keeps the numbers small.
    let mut now = [(1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)];
    let mut mean = 0.0;
    for _ in 0..PACKETS {
        let mut next = [(0.0, 0.0, 0.0); 4];
        for ((share, first, second), steps) in now.iter().zip(&steps) {
            for ((by, one), sums) in steps.iter().zip(&mut next) {
                sums.0 += by * share;
                sums.1 += by * (first + one * share);
                sums.2 += by * (second + 2.0 * one * first + one * share);
            }
        }
        let gained: f64 = next.iter().map(|(_, first, _)| first).sum();
        for (share, first, second) in &mut next {
            *second += gained * (gained * *share - 2.0 * *first);
            *first -= gained * *share;
        }
        mean += gained;
        now = next;
    }
    (mean, now.iter().map(|(_, _, second)| second).sum())
}

#[test]
fn independent_losses_and_the_gaps_between_them_are_geometric() {
    for (text, p) in [("0.5 %", 0.005), ("10 %", 0.1), ("70 %", 0.7)] {
        let lost = lost(LossPlan::Independent(percent(text)));
        within_five_sigma(text, count(&lost), 1e6 * p, 1e6 * p * (1.0 - p));
        let (losses, gaps) = runs(&lost);
        is_geometric("gaps", &gaps, p);
        if p > 0.01 {
            is_geometric("losses", &losses, 1.0 - p);
        }
    }
}

#[test]
fn recursion_matches_closed_form() {
    // Without memory (p + r = 1) it is a binomial: a state is as likely after a good one as after a
    // bad one.
    let (mean, variance) = moments(chain("30 %", "70 %", "0 %", "100 %"), |_, lost| lost);
    assert!((mean - 3e5).abs() < 1e-3 && (variance - 2.1e5).abs() < 1e-3, "{mean} {variance}");
    // With memory: N π (1 − π) (1 + λ) / (1 − λ) for large N, where λ = 1 − p − r.
    let (mean, variance) = moments(chain("1 %", "9 %", "0 %", "100 %"), |_, lost| lost);
    assert!((mean / 1e5 - 1.0).abs() < 1e-4, "{mean}");
    assert!((variance / (1e6 * 0.09 * 1.9 / 0.1) - 1.0).abs() < 1e-4, "{variance}");
}

#[test]
fn bad_state_losing_all_shows_markov_chain() {
    for (name, p, r) in [("1 %", 0.01, 0.25), ("0.2 %", 0.002, 0.05), ("40 %", 0.4, 0.5)] {
        let plan = GilbertElliott { p: percent(name), ..chain("1 %", "25 %", "0 %", "100 %") };
        let plan = GilbertElliott { r: Probability::per_million((r * 1e6) as u32), ..plan };
        let lost = lost(LossPlan::GilbertElliott(plan));
        let (mean, variance) = moments(plan, |_, lost| lost);
        within_five_sigma("share", count(&lost), mean, variance);

        // Each packet in a state is a trial of whether the next is in the other.
        for (was_bad, chance) in [(false, p), (true, r)] {
            let from = lost.windows(2).filter(|pair| pair[0] == was_bad).count() as f64;
            let to = lost.windows(2).filter(|pair| pair[0] == was_bad && pair[1] != was_bad);
            let variance = from * chance * (1.0 - chance);
            within_five_sigma("transitions", to.count() as f64, from * chance, variance);
        }
        let (bursts, gaps) = runs(&lost);
        is_geometric("bursts", &bursts, r);
        is_geometric("gaps", &gaps, p);
        let number = bursts.len() as f64;
        let mean = bursts.iter().sum::<u64>() as f64 / number;
        within_five_sigma("mean burst", mean, 1.0 / r, (1.0 - r) / (r * r) / number);
    }
}

/// It starts good, and turns before the packet meets it.
#[test]
fn loss_state_changes_before_each_packet() {
    let lost = lost(LossPlan::GilbertElliott(chain("100 %", "100 %", "0 %", "100 %")));
    assert!(lost.iter().zip(0..).all(|(lost, index)| *lost == (index % 2 == 0)));
}

#[test]
fn all_four_parameters_count() {
    for plan in [
        chain("1 %", "10 %", "0.1 %", "60 %"),
        chain("0.1 %", "0.5 %", "1 %", "30 %"),
        chain("50 %", "20 %", "5 %", "6 %"),
        chain("0 %", "10 %", "2 %", "60 %"), // never bad
    ] {
        let lost = lost(LossPlan::GilbertElliott(plan));
        let (mean, variance) = moments(plan, |_, lost| lost);
        within_five_sigma("losses", count(&lost), mean, variance);
        // Bursts distinguish the chain from independent loss of the same rate.
        let pairs = lost.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64;
        let (mean, variance) = moments(plan, |before, lost| before && lost);
        within_five_sigma("pairs", pairs, mean, variance);
    }
}

#[test]
fn every_nth_is_exact() {
    let places = |every, first| {
        let lost = lost(LossPlan::Every { every, first });
        (1..=PACKETS as u64).filter(|nth| lost[*nth as usize - 1]).collect::<Vec<_>>()
    };
    for (every, first) in [(1, 1), (2, 2), (7, 3), (100, 100), (100, 250), (5, 999_999)] {
        let expected: Vec<_> = (first..=PACKETS as u64).step_by(every as usize).collect();
        assert_eq!(places(every, first), expected, "{every} from {first}");
    }
    assert_eq!(places(u64::MAX, 2), [2]);
    assert!(places(3, u64::MAX).is_empty());
}

#[test]
fn bursts_begin_by_chance_and_last_as_long_as_asked() {
    for (text, q, length) in [("0.5 %", 0.005, 10), ("20 %", 0.2, 3), ("2 %", 0.02, 1)] {
        let burst = LossBurst { probability: percent(text), length };
        let lost = lost(LossPlan::Burst(burst));
        // Renewals: a packet that may begin a burst takes 1 + (length − 1) · (does it) places.
        let (n, more) = (f64::from(length), f64::from(length) - 1.0);
        let cycle = 1.0 + more * q;
        let mean = 1e6 * n * q / cycle;
        let variance = 1e6 * n * n * q * (1.0 - q) / cycle.powi(3);
        within_five_sigma("share", count(&lost), mean, variance);

        let (losses, gaps) = runs(&lost);
        let whole = |run: &u64| run.is_multiple_of(u64::from(length));
        assert!(losses.iter().all(whole), "bursts are whole");
        is_geometric("gaps", &gaps, q);
        if q > 0.1 {
            let in_a_row: Vec<_> = losses.iter().map(|run| run / u64::from(length)).collect();
            is_geometric("bursts in a row", &in_a_row, 1.0 - q);
        }
    }
}

#[test]
fn parameters_do_not_shift_later_draws() {
    let ge = |bad| lost(LossPlan::GilbertElliott(chain("1 %", "10 %", "0 %", bad)));
    let (some, all) = (ge("30 %"), ge("100 %"));
    assert!(some.iter().zip(&all).all(|(some, all)| all >= some), "the states are the same");

    let burst = |length| lost(LossPlan::Burst(LossBurst { probability: percent("1 %"), length }));
    let (single, long) = (burst(1), burst(5));
    assert!(single.iter().zip(&long).all(|(single, long)| long >= single));
    let starts = (1..PACKETS).filter(|at| long[*at] && !long[at - 1]);
    assert!(starts.clone().count() > 1000 && starts.into_iter().all(|at| single[at]));
}
