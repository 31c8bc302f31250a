//! Pairs of which few differ by much: where most pairs are equal, the interval of the rank test is
//! of those, and does not show the others.

use tcplab_stats::most_excess;

use super::estimate::amount;
use crate::comparison::CONFIDENCE;

/// So many pairs nobody runs.
const MANY: usize = 20_000;

/// The pairs that differ by more than the margin.
pub(super) struct Minority {
    pairs: usize,
    /// How many of them have the larger value in B, and how many in A.
    sides: [usize; 2],
    /// By how much they differ on average, in the metric's unit.
    size: f64,
    margin: f64,
}

impl Minority {
    /// Of the scaled differences of pairs; `median` is A's. None where all pairs are within the
    /// margin.
    pub(super) fn of(apart: &[f64], is_ratio: bool, median: f64, margin: f64) -> Option<Minority> {
        let amounts = apart.iter().map(|shift| amount(is_ratio, median, *shift));
        let beyond: Vec<f64> = amounts.filter(|it| it.abs() > margin).collect();
        let up = beyond.iter().filter(|it| **it > 0.0).count();
        let size = beyond.iter().map(|it| it.abs() / beyond.len() as f64).sum();
        let sides = [up, beyond.len() - up];
        (!beyond.is_empty()).then_some(Minority { pairs: apart.len(), sides, size, margin })
    }

    /// Whether these pairs may move the mean of all by more than the margin.
    pub(super) fn matters(&self) -> bool {
        self.matters_of(self.pairs)
    }

    /// How many pairs would show that it does not, with the same shares beyond the margin; none
    /// where none would.
    pub(super) fn pairs_to_dismiss(&self) -> Option<usize> {
        let more = |pairs: &usize| Some(pairs + (pairs / 10).max(1));
        let mut counts = std::iter::successors(Some(self.pairs), more);
        counts.by_ref().take_while(|pairs| *pairs <= MANY).find(|pairs| !self.matters_of(*pairs))
    }

    /// As [`Minority::matters`], of so many pairs with the same shares.
    fn matters_of(&self, pairs: usize) -> bool {
        let scale = pairs as f64 / self.pairs as f64;
        let [up, down] = self.sides.map(|count| (count as f64 * scale).round() as u64);
        let excess = most_excess(up.max(down), up.min(down), pairs as u64, CONFIDENCE);
        excess * self.size > self.margin
    }
}
