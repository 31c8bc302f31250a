//! Round trips: samples that no retransmission blurs, and the timeout that follows from them.

use tcplab_units::{Offset, Span};

use crate::observe::{Heard, Sent};
use crate::{Flow, Range, RoundTrips, SegmentKind, Tap};

mod estimator;
mod quantiles;
#[cfg(test)]
mod tests;

use estimator::Estimator;
use quantiles::Quantiles;

/// The round trips of one direction's data.
///
/// One sample for each acknowledgement, of the newest data that it tells of: that was not held
/// back to acknowledge more. The smoothed round trip is fed as Linux feeds its own (`tcp_ack`,
/// `tcp_clean_rtx_queue`): with the oldest that the acknowledgement takes in, unless it takes in
/// anything that was sent again; else with the oldest that it newly SACKs; else by timestamps.
#[derive(Debug, Default)]
pub(crate) struct RoundTripTimes {
    by_ack: u64,
    by_sack: u64,
    by_timestamp: u64,
    min: Span,
    max: Span,
    sum: u64,
    sizes: Quantiles,
    clock: Estimator,
    /// Around everything that was sent again and is not acknowledged yet.
    repeated: Option<Range>,
}

impl RoundTripTimes {
    /// A packet of the direction.
    pub(crate) fn sent(&mut self, sent: &Sent<'_>) {
        if matches!(sent.kind, SegmentKind::New | SegmentKind::TapDuplicate) {
            return;
        }
        // Also what only now fills a hole: what had arrived above it is acknowledged with it.
        let around = self.repeated.map_or(sent.range, |old| Range {
            start: old.start.min(sent.range.start),
            end: old.end.max(sent.range.end),
        });
        self.repeated = (sent.una < around.end).then_some(around);
    }

    /// A packet of the opposite direction.
    pub(crate) fn heard(&mut self, heard: &Heard<'_>) {
        let told = &heard.told;
        if !told.advanced && !told.sacked {
            return;
        }
        let una = heard.ack.max(heard.before);
        let acked = told.acked_ages.filter(|_| !self.takes_in_repeats(heard.before, una));
        let (first, last) = if let Some(ages) = acked {
            self.by_ack += 1;
            (ages.first, ages.last)
        } else if let Some(ages) = told.sacked_ages {
            self.by_sack += 1;
            (ages.first, ages.last)
        } else if let Some(age) = told.echoed_age {
            self.by_timestamp += 1;
            (age, age)
        } else {
            return;
        };
        self.add(last);
        self.clock.sample(first, una, heard.high);
    }

    /// What came out.
    pub(crate) fn finish(&self, flow: &mut Flow) {
        let (by_ack, by_sack, by_timestamp) = (self.by_ack, self.by_sack, self.by_timestamp);
        let mut trips = RoundTrips { by_ack, by_sack, by_timestamp, ..RoundTrips::default() };
        let samples = trips.samples();
        if samples > 0 {
            let within = |span: Span| span.clamp(self.min, self.max);
            trips.min = Some(self.min);
            trips.max = Some(self.max);
            trips.mean = Some(Span::from_nanos(self.sum / samples));
            trips.median = self.sizes.quantile(1, 2).map(within);
            trips.p95 = self.sizes.quantile(19, 20).map(within);
            trips.smoothed = Some(self.clock.smoothed());
            trips.variation = Some(self.clock.variation());
            // Elsewhere the samples are not those of the sender.
            let at_sender = matches!(flow.tap, Tap::Sender | Tap::Unknown);
            trips.timeout = at_sender.then(|| self.clock.timeout());
        }
        flow.round_trips = trips;
    }

    /// Karn's rule as Linux has it: an acknowledgement that takes in anything that was sent again
    /// says nothing of the rest either, which may have waited for it.
    fn takes_in_repeats(&mut self, before: Offset, una: Offset) -> bool {
        let Some(repeated) = self.repeated else { return false };
        if una >= repeated.end {
            self.repeated = None;
        }
        repeated.start < una && before < repeated.end
    }

    fn add(&mut self, age: Span) {
        let first = self.sizes.is_empty();
        self.min = if first { age } else { self.min.min(age) };
        self.max = self.max.max(age);
        self.sum = self.sum.saturating_add(age.as_nanos());
        self.sizes.add(age.as_nanos());
    }
}
