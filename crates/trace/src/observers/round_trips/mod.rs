//! Round trips: samples that no retransmission blurs, and the timeout that follows from them.

use tcplab_units::{Offset, Span};

use crate::fold::folded;
use crate::observers::event::{AckEvent, SendEvent};
use crate::{CapturePoint, Flow, Range, RoundTrips, SegmentKind};

mod estimator;
mod quantiles;
#[cfg(test)]
mod tests;
mod timestamps;

use estimator::Estimator;
use quantiles::Quantiles;
use timestamps::Timestamps;

/// What is longer would overflow the kernel's 32 bits (`tcp_rtt_estimator`: eighths of
/// microseconds): it is no round trip.
const LONGEST: Span = Span::from_micros((u32::MAX >> 3) as u64);

/// The RTTs of one direction's data.
///
/// One sample for each acknowledgement, of the newest data that it acknowledges: that ACK was not
/// delayed. The smoothed RTT is fed as Linux feeds its own (`tcp_ack`,
/// `tcp_clean_rtx_queue`): with the oldest that the acknowledgement takes in, unless it takes in
/// anything that was retransmitted; else with the oldest that it newly SACKs; else by timestamps.
#[derive(Debug, Default)]
pub(crate) struct RoundTripTimes {
    by_ack: u64,
    by_sack: u64,
    by_timestamp: u64,
    min: Span,
    max: Span,
    sum: u64,
    /// Of the samples of data alone, without those of SYN and FIN.
    of_data: u64,
    sum_of_data: u64,
    sizes: Quantiles,
    estimator: Estimator,
    timestamps: Timestamps,
    /// Around everything that was retransmitted and is not acknowledged yet.
    repeated: Option<Range>,
}
folded! {
    RoundTripTimes {
        by_ack, by_sack, by_timestamp, min, max, sum, of_data, sum_of_data, sizes, estimator,
        timestamps, repeated
    }
}

impl RoundTripTimes {
    #[inline(always)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>) {
        self.timestamps.sent(sent.packet);
        if sent.kind == SegmentKind::New {
            return;
        }
        // Also what only now closes a gap: what had arrived above it is acknowledged with it.
        let around = self.repeated.map_or(sent.range, |old| Range {
            start: old.start.min(sent.range.start),
            end: old.end.max(sent.range.end),
        });
        self.repeated = (sent.una < around.end).then_some(around);
    }

    #[inline(always)]
    pub(crate) fn on_ack(&mut self, heard: &AckEvent<'_>) {
        let effect = &heard.effect;
        if !effect.advanced && !effect.sacked {
            return;
        }
        let una = heard.ack.max(heard.before);
        let acked = effect.acked_ages.filter(|_| !self.takes_in_repeats(heard.before, una));
        let (first, last) = if let Some(ages) = acked {
            self.by_ack += 1;
            (ages.first, ages.last)
        } else if let Some(ages) = effect.sacked_ages {
            self.by_sack += 1;
            (ages.first, ages.last)
        } else if let Some(age) = effect.echoed_age {
            self.by_timestamp += 1;
            (age, age)
        } else {
            // Ambiguous, but Linux trusts the timestamp.
            if let Some(age) = self.echoed(*heard) {
                self.estimator.sample(age, una, heard.high);
            }
            return;
        };
        self.add(last);
        if heard.fresh > 0 || effect.sacked {
            self.of_data += 1;
            self.sum_of_data = self.sum_of_data.saturating_add(last.as_nanos());
        }
        self.estimator.sample(first, una, heard.high);
    }

    pub(crate) fn finish(&self, flow: &mut Flow) {
        let (by_ack, by_sack, by_timestamp) = (self.by_ack, self.by_sack, self.by_timestamp);
        let mut trips = RoundTrips { by_ack, by_sack, by_timestamp, ..RoundTrips::default() };
        let samples = trips.samples();
        if samples > 0 {
            let within = |span: Span| span.clamp(self.min, self.max);
            trips.min = Some(self.min);
            trips.max = Some(self.max);
            trips.mean = self.sum.checked_div(samples).map(Span::from_nanos);
            trips.of_data = self.of_data;
            trips.mean_of_data = self.sum_of_data.checked_div(self.of_data).map(Span::from_nanos);
            trips.median = self.sizes.quantile(1, 2).map(within);
            trips.p95 = self.sizes.quantile(19, 20).map(within);
            trips.smoothed = Some(self.estimator.smoothed());
            trips.variation = Some(self.estimator.variation());
            // Elsewhere the samples are not those of the sender.
            let at_sender =
                matches!(flow.capture_point, CapturePoint::Sender | CapturePoint::Unknown);
            trips.timeout = at_sender.then(|| self.estimator.timeout());
        }
        flow.round_trips = trips;
    }

    /// By the sender's clock, where the acknowledgement moves on (RFC 7323 section 4.1).
    #[cold]
    fn echoed(&self, heard: AckEvent<'_>) -> Option<Span> {
        let echo = heard.packet.echo().filter(|_| heard.effect.advanced)?;
        let age = self.timestamps.age(echo, heard.packet.at)?;
        (age < LONGEST).then_some(age)
    }

    /// Karn's rule as Linux has it: an acknowledgement that takes in anything that was
    /// retransmitted says nothing of the rest either, which may have waited for it.
    fn takes_in_repeats(&mut self, before: Offset, una: Offset) -> bool {
        let Some(repeated) = self.repeated else { return false };
        if una >= repeated.end {
            self.repeated = None;
        }
        repeated.start < una && before < repeated.end
    }

    #[inline(always)]
    fn add(&mut self, age: Span) {
        let first = self.sizes.is_empty();
        self.min = if first { age } else { self.min.min(age) };
        self.max = self.max.max(age);
        self.sum = self.sum.saturating_add(age.as_nanos());
        self.sizes.add(age.as_nanos());
    }
}
