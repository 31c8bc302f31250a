//! How flows share a path: evenness, and how long it takes until it is there.

use std::collections::BTreeMap;

use tcplab_trace::Segment;
use tcplab_units::{Bytes, Instant, Span};

/// Shares are looked at over so long: a few sawteeth of what crosses a continent.
const WINDOW: Span = Span::from_secs(2);
/// And so often.
const STEP: Span = Span::from_millis(250);
/// A share within so much of the fair one counts as fair: δ of RFC 5166 section 2.3.
const BAND: f64 = 0.5;

/// Data as they arrived, each byte once: when, and how many so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Arrivals(Vec<(Instant, u64)>);

impl Arrivals {
    /// The segments of one direction as they passed its receiver.
    pub(super) fn of(segments: &[Segment]) -> Arrivals {
        let mut covered = Covered::default();
        let mut arrivals = Vec::new();
        let mut total = 0;
        for segment in segments.iter().filter(|segment| segment.payload > Bytes::ZERO) {
            let start = segment.range.start.as_u64() + u64::from(segment.syn);
            let new = covered.add(start, start + segment.payload.as_u64());
            if new > 0 {
                total += new;
                arrivals.push((segment.at, total));
            }
        }
        Arrivals(arrivals)
    }

    /// Those of several streams.
    pub(super) fn together(all: impl Iterator<Item = Arrivals>) -> Arrivals {
        let mut pieces = Vec::new();
        for Arrivals(one) in all {
            let before = [0].into_iter().chain(one.iter().map(|(_, total)| *total));
            pieces
                .extend(one.iter().zip(before).map(|((at, total), before)| (*at, total - before)));
        }
        pieces.sort_by_key(|(at, _)| *at);
        let mut total = 0;
        for (_, bytes) in &mut pieces {
            total += *bytes;
            *bytes = total;
        }
        Arrivals(pieces)
    }

    /// When the first and the last came.
    pub(super) fn span(&self) -> Option<(Instant, Instant)> {
        Some((self.0.first()?.0, self.0.last()?.0))
    }

    /// How many came until `at`, it included.
    pub(super) fn until(&self, at: Instant) -> u64 {
        let upto = self.0.partition_point(|(came, _)| *came <= at);
        upto.checked_sub(1).map_or(0, |last| self.0[last].1)
    }

    /// How many came after `from`, until `to`.
    fn between(&self, from: Instant, to: Instant) -> f64 {
        (self.until(to) - self.until(from)) as f64
    }

    /// How many in all.
    pub(super) fn total(&self) -> u64 {
        self.0.last().map_or(0, |(_, total)| *total)
    }
}

/// What of a stream has arrived, as ranges that do not touch: start and end.
#[derive(Debug, Default)]
struct Covered(BTreeMap<u64, u64>);

impl Covered {
    /// Takes in a range; how much of it is new.
    fn add(&mut self, start: u64, end: u64) -> u64 {
        let (mut from, mut to, mut known) = (start, end, 0);
        let touching: Vec<(u64, u64)> = self
            .0
            .range(..=end)
            .rev()
            .take_while(|(_, upto)| **upto >= start)
            .map(|(at, upto)| (*at, *upto))
            .collect();
        for (at, upto) in touching {
            known += upto.min(end).saturating_sub(at.max(start));
            (from, to) = (from.min(at), to.max(upto));
            self.0.remove(&at);
        }
        self.0.insert(from, to);
        (end - start).saturating_sub(known)
    }
}

/// Jain's index of evenness (Jain, Chiu, Hawe: "A Quantitative Measure of Fairness and
/// Discrimination", DEC-TR-301, 1984): the square of the sum over n times the sum of squares. From
/// 1/n, where one has all, to 1, where all have the same. None of nothing.
pub(super) fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// When all of several flows are active: from the first data of the one that begins last until the
/// last data of the one that ends first. None where there is no such time, or one flow only.
pub(super) fn common(flows: &[Arrivals]) -> Option<(Instant, Instant)> {
    let spans: Option<Vec<_>> = flows.iter().map(Arrivals::span).collect();
    let spans = spans.filter(|spans| spans.len() > 1)?;
    let from = spans.iter().map(|(first, _)| *first).max()?;
    let to = spans.iter().map(|(_, last)| *last).min()?;
    (from < to).then_some((from, to))
}

/// Jain's index of what the flows got while all of them were active.
pub(super) fn fairness(flows: &[Arrivals]) -> Option<f64> {
    let (from, to) = common(flows)?;
    let shares: Vec<f64> = flows.iter().map(|flow| flow.between(from, to)).collect();
    jain(&shares)
}

/// The δ-fair convergence time (Bansal, Balakrishnan, Floyd, Shenker, SIGCOMM 2001; RFC 5166
/// section 2.3), counted from `start`, when the last flow was begun: until what each flow gets in
/// any two seconds stays within half of its fair share, as long as all are active. None where it
/// never does, or all are active for less than that.
pub(super) fn convergence(flows: &[Arrivals], start: Instant) -> Option<Span> {
    let (_, to) = common(flows)?;
    let mut since = None;
    let mut at = start;
    while at + WINDOW <= to {
        let shares: Vec<f64> = flows.iter().map(|flow| flow.between(at, at + WINDOW)).collect();
        if is_fair(&shares) {
            since = since.or(Some(at));
        } else {
            since = None;
        }
        at += STEP;
    }
    Some(since?.since(start))
}

fn is_fair(shares: &[f64]) -> bool {
    let fair = shares.iter().sum::<f64>() / shares.len() as f64;
    let band = (1.0 - BAND) * fair..=(1.0 + BAND) * fair;
    fair > 0.0 && shares.iter().all(|share| band.contains(share))
}

#[cfg(test)]
impl Arrivals {
    /// Running total of the bytes that arrived, by time.
    pub(super) fn of_bytes(each: &[(Instant, u64)]) -> Arrivals {
        let mut total = 0;
        let sums = each.iter().map(|(at, bytes)| {
            total += bytes;
            (*at, total)
        });
        Arrivals(sums.collect())
    }
}

/// How much ranges cover together, given as starts and lengths.
#[cfg(test)]
pub(super) fn covered(ranges: &[(u64, u64)]) -> u64 {
    let mut covered = Covered::default();
    ranges.iter().map(|(start, len)| covered.add(*start, start + len)).sum()
}
