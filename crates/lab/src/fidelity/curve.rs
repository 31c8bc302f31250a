//! How far apart two curves of the congestion window are.

use tcplab_recording::Sample;
use tcplab_units::{Endpoint, Instant};

use crate::analysis::ESTABLISHED;

/// The number of samples of the window, evenly spaced over a transfer.
pub(crate) const POINTS: usize = 200;

/// A curve: segments at each of [`POINTS`] moments from the first byte to the last.
pub(crate) type Curve = Vec<f64>;

/// The sender's window over its transfer, which ends at `end`: at each moment what the last look at
/// it showed. None without a look.
///
/// Each world's transfer has a length of its own: the curves are compared as shapes, for the
/// lengths are compared by themselves.
pub(crate) fn curve(samples: &[Sample], sender: Endpoint, end: Instant) -> Option<Curve> {
    let looks: Vec<&Sample> = samples
        .iter()
        .filter(|look| look.endpoint == sender && look.state == ESTABLISHED && look.at <= end)
        .collect();
    let (first, span) = (looks.first()?.at, end.since(looks.first()?.at));
    let point = |index: usize| {
        let at = first + span * index as u64 / POINTS as u64;
        let until = looks.partition_point(|look| look.at <= at);
        looks[until.max(1) - 1].cwnd_segments as f64
    };
    Some((0..POINTS).map(point).collect())
}

/// The mean absolute difference of the two worlds' curves over the mean of the kernel's; a world's
/// curve is, at each moment, the median of its trials'. None where a world has none.
pub(crate) fn distance(kernel: &[Curve], model: &[Curve]) -> Option<f64> {
    let (kernel, model) = (middle(kernel)?, middle(model)?);
    let apart: Vec<f64> = kernel.iter().zip(&model).map(|(k, m)| (k - m).abs()).collect();
    let mean = tcplab_stats::mean(&kernel).filter(|mean| *mean > 0.0)?;
    Some(tcplab_stats::mean(&apart)? / mean)
}

fn middle(curves: &[Curve]) -> Option<Curve> {
    let at = |index: usize| {
        let values: Vec<f64> = curves.iter().map(|curve| curve[index]).collect();
        tcplab_stats::median(&values)
    };
    (0..POINTS).map(at).collect()
}
