//! Data over time, in at most [`Series::MOST`] intervals: when they are full, neighbours are
//! folded together and the interval doubles, so that memory is bounded and nothing is lost.

use tcplab_units::{Instant, Span};

use super::event::{AckEvent, SendEvent};
use crate::fold::folded;
use crate::{Flow, Series};

/// The first interval: fine enough for the RTTs of wide-area paths.
const FINEST: Span = Span::from_millis(10);

/// Counts bytes by the time at which they pass.
#[derive(Debug, Default)]
pub(crate) struct Throughput {
    series: Series,
    /// When the last interval is over.
    until: Instant,
}
folded! { Throughput { series, until } }

impl Throughput {
    #[inline(always)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>) {
        if sent.has_data() {
            let last = self.interval_at(sent.packet.at);
            self.series.sent[last] += sent.payload;
        }
    }
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, heard: &AckEvent<'_>) {
        if heard.fresh > 0 {
            let last = self.interval_at(heard.packet.at);
            self.series.acked[last] += heard.fresh;
        }
    }
    pub(crate) fn finish(&mut self, flow: &mut Flow) {
        flow.series = std::mem::take(&mut self.series);
    }

    /// The last interval, after those until `at` were added.
    #[inline(always)]
    fn interval_at(&mut self, at: Instant) -> usize {
        if at >= self.until {
            self.extend(at);
        }
        self.series.sent.len() - 1
    }

    #[cold]
    fn extend(&mut self, at: Instant) {
        let series = &mut self.series;
        if series.sent.is_empty() {
            series.from = at;
            series.interval = FINEST;
        }
        let passed = at.since(series.from).as_nanos();
        while passed / series.interval.as_nanos() >= Series::MOST as u64 {
            fold(&mut series.sent);
            fold(&mut series.acked);
            series.interval = series.interval * 2;
        }
        let count = (passed / series.interval.as_nanos()) as usize + 1;
        series.sent.resize(count, 0);
        series.acked.resize(count, 0);
        self.until = series.from + series.interval * count as u64;
    }
}

/// Adds up neighbours.
fn fold(counts: &mut Vec<u64>) {
    let folded = counts.len().div_ceil(2);
    for index in 0..folded {
        counts[index] = counts[2 * index] + counts.get(2 * index + 1).copied().unwrap_or(0);
    }
    counts.truncate(folded);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn throughput_sums_exact_and_bounded(
            steps in proptest::collection::vec((0_u64..20_000_000_000, 1_u64..100_000), 1..300),
        ) {
            let mut throughput = Throughput::default();
            let mut at = Instant::from_nanos(5);
            let (mut sum, mut late) = (0, 0);
            for (gap, bytes) in steps {
                at += Span::from_nanos(gap);
                let last = throughput.interval_at(at);
                throughput.series.sent[last] += bytes;
                sum += bytes;
                late = bytes;
            }
            let Series { interval, from, sent, acked } = throughput.series;
            prop_assert_eq!(sent.iter().sum::<u64>(), sum);
            prop_assert!(sent.len() <= Series::MOST && sent.len() == acked.len());
            // The last one lies where the clock says.
            let index = (at.since(from).as_nanos() / interval.as_nanos()) as usize;
            prop_assert_eq!(index, sent.len() - 1);
            prop_assert!(sent[index] >= late);
        }
    }
}
