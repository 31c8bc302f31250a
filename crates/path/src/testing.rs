//! What tests of several rooms use.

use tcplab_units::{Instant, Span};

use crate::{Direction, ElementPlan, Link, LinkPlan, PathSpec};

pub(crate) fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

pub(crate) fn path(json: &str) -> PathSpec {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// The forward direction of a path.
pub(crate) fn plan(json: &str) -> LinkPlan {
    path(json).link(Direction::Forward).unwrap_or_else(|error| panic!("{json}: {error}"))
}

pub(crate) fn link(json: &str, seed: u64) -> Link {
    Link::new(&plan(json), seed, Direction::Forward)
}

/// A link of one element.
pub(crate) fn link_of(element: ElementPlan) -> Link {
    Link::new(&LinkPlan { elements: vec![element] }, 1, Direction::Forward)
}

/// The law of Kolmogorov and Smirnov: the largest distance between the share of a sample up to x
/// and what its law says, times √n. It exceeds 1.95 once in a thousand times, 2.7 once in a
/// million.
pub(crate) fn distance(mut sample: Vec<f64>, law: impl Fn(f64) -> f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let distances = sample.iter().enumerate().map(|(index, x)| {
        let (expected, below) = (law(*x), index as f64 / n);
        (expected - below).abs().max((expected - below - 1.0 / n).abs())
    });
    distances.fold(0.0, f64::max) * n.sqrt()
}
