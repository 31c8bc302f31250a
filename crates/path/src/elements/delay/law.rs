//! By how much delays differ: the laws of jitter, forwards and backwards.

use serde::{Deserialize, Serialize};
use tcplab_units::Span;

use super::dist_table::UNIT;
use super::normal;

/// The law of jitter: how much longer (or, below zero, shorter) than the delay a packet takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JitterLaw {
    /// Evenly from so much less to so much more.
    Uniform(Span),
    /// Normal, with a mean of zero and this standard deviation; not cut off.
    Normal(Span),
    /// netem's `pareto`, with this scale: (4/3)·(X − 3/2), where X is Pareto distributed from 1 on
    /// with a tail index of 3, cut off at 32767/8192, as `netem/pareto.c` of iproute2 makes its
    /// table. That table calls itself normalised, yet has a mean of −0.03 and a standard deviation
    /// of 0.82: the factor is one over the variance of X, not over its standard deviation, and
    /// 1.1 % lie at the cut.
    Pareto(Span),
    /// netem's `paretonormal`, with this scale: a quarter of the normal quantile and three
    /// quarters of that of `pareto`, cut off at −4 and 32767/8192, as `netem/paretonormal.c` makes
    /// its table. Its mean is −0.02 and its standard deviation 0.83.
    ParetoNormal(Span),
    /// A table in netem's format.
    Table(TableLaw),
}

/// A distribution as a table of its quantiles, each as likely as the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableLaw {
    /// The file it was read from.
    pub name: String,
    /// The time of one standard deviation, written 8192.
    pub scale: Span,
    /// The entries, not empty, in ascending order.
    pub values: Vec<i32>,
}

impl JitterLaw {
    /// The offset in nanoseconds up to which the probability is `u`, from 0 to 1; at 0 and 1 it
    /// may be infinite.
    pub fn quantile(&self, u: f64) -> f64 {
        match self {
            JitterLaw::Uniform(most) => nanos(*most) * (2.0 * u - 1.0),
            JitterLaw::Normal(sigma) => nanos(*sigma) * normal::quantile(u),
            JitterLaw::Pareto(scale) => nanos(*scale) * pareto(1.0 - u),
            JitterLaw::ParetoNormal(scale) => {
                nanos(*scale) * pareto_normal(normal::quantile(u), 1.0 - u)
            }
            JitterLaw::Table(table) => table.offset(table.entry(u)),
        }
    }

    /// The offset of the packet whose normal score is `z`: the quantile of `normal::cdf(z)`, by
    /// the shorter way where there is one.
    pub(super) fn at_score(&self, z: f64) -> f64 {
        match self {
            JitterLaw::Normal(sigma) => nanos(*sigma) * z,
            JitterLaw::Pareto(scale) => nanos(*scale) * pareto(normal::cdf(-z)),
            JitterLaw::ParetoNormal(scale) => nanos(*scale) * pareto_normal(z, normal::cdf(-z)),
            JitterLaw::Uniform(_) | JitterLaw::Table(_) => self.quantile(normal::cdf(z)),
        }
    }

    /// The probability of an offset of at most `offset` nanoseconds.
    pub fn cdf(&self, offset: f64) -> f64 {
        let scale = nanos(self.scale());
        if scale <= 0.0 {
            return f64::from(u8::from(offset >= 0.0));
        }
        match self {
            JitterLaw::Uniform(_) => ((offset + scale) / (2.0 * scale)).clamp(0.0, 1.0),
            JitterLaw::Normal(_) => normal::cdf(offset / scale),
            // An offset right at the cut must not fall short of it by being rounded.
            JitterLaw::Pareto(_) | JitterLaw::ParetoNormal(_) if offset >= scale * MOST => 1.0,
            JitterLaw::Pareto(_) => pareto_cdf(offset / scale),
            JitterLaw::ParetoNormal(_) => pareto_normal_cdf(offset / scale),
            JitterLaw::Table(table) => {
                let values = &table.values;
                let upto = values.partition_point(|value| table.offset(*value) <= offset);
                upto as f64 / values.len() as f64
            }
        }
    }

    /// The mean delay around this one, what would be negative being zero: over the middles of so
    /// many equally likely parts, which is right to a thousandth of the scale.
    pub(super) fn mean_around(&self, delay: Span) -> Span {
        const PARTS: u32 = 4096;
        let middles = (0..PARTS).map(|part| (f64::from(part) + 0.5) / f64::from(PARTS));
        let sum: f64 = middles.map(|u| (nanos(delay) + self.quantile(u)).max(0.0)).sum();
        Span::from_nanos((sum / f64::from(PARTS)).round() as u64)
    }

    /// The time that its offsets are in proportion to.
    pub(crate) fn scale(&self) -> Span {
        match self {
            JitterLaw::Uniform(scale)
            | JitterLaw::Normal(scale)
            | JitterLaw::Pareto(scale)
            | JitterLaw::ParetoNormal(scale)
            | JitterLaw::Table(TableLaw { scale, .. }) => *scale,
        }
    }

    /// Continues `Delay 5 ms`.
    pub(super) fn describe(&self) -> String {
        match self {
            JitterLaw::Uniform(most) => format!("uniform jitter ±{most}"),
            JitterLaw::Normal(sigma) => {
                format!("normal jitter (standard deviation {sigma})")
            }
            JitterLaw::Pareto(scale) => format!("Pareto jitter (scale {scale})"),
            JitterLaw::ParetoNormal(scale) => {
                format!("jitter ¼ normal, ¾ Pareto (scale {scale})")
            }
            JitterLaw::Table(TableLaw { name, scale, .. }) => {
                format!("jitter from the table `{name}` (scale {scale})")
            }
        }
    }
}

impl TableLaw {
    /// netem takes an entry at random; this is the same, and by rank, so that what is correlated
    /// stays so.
    fn entry(&self, u: f64) -> i32 {
        let index = (u * self.values.len() as f64) as usize;
        self.values[index.min(self.values.len() - 1)]
    }
    fn offset(&self, entry: i32) -> f64 {
        f64::from(entry) * nanos(self.scale) / UNIT
    }
}

fn nanos(span: Span) -> f64 {
    span.as_nanos() as f64
}

/// The largest value in a table of netem, and where that cuts off laws that go on.
const MOST: f64 = 32767.0 / UNIT;
/// The smallest.
const LEAST: f64 = -32768.0 / UNIT;

/// The value above which the probability is `tail`, in table units.
fn pareto(tail: f64) -> f64 {
    (4.0 / 3.0 * (1.0 / libm::cbrt(tail) - 1.5)).min(MOST)
}

/// Below the cut.
fn pareto_cdf(value: f64) -> f64 {
    // X − 3/2 is 3/4 of it, and the tail of X is X⁻³ from 1 on.
    let x = 0.75 * value + 1.5;
    if x <= 1.0 { 0.0 } else { 1.0 - 1.0 / (x * x * x) }
}

/// Of the normal score `z`, whose tail is known already.
fn pareto_normal(z: f64, tail: f64) -> f64 {
    (0.25 * z + 0.75 * pareto(tail)).clamp(LEAST, MOST)
}

/// Below the upper cut. There is no formula: the quantile grows with the normal score, so the score
/// that belongs to a value is found by halving.
fn pareto_normal_cdf(value: f64) -> f64 {
    // Beyond ten standard deviations the probability is below what an f64 resolves.
    let (mut low, mut high) = (-10.0, 10.0);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return normal::cdf(low);
        }
        if pareto_normal(middle, normal::cdf(-middle)) <= value {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests;
