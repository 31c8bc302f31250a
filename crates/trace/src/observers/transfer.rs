//! The metrics of RFC 6349 section 4, and the rates they rest on.

use tcplab_units::{Bytes, Instant, Offset, Rate, Span};

use super::event::{AckEvent, SendEvent};
use crate::fold::folded;
use crate::{CapturePoint, Flow, Transfer};

/// What of a direction is added up for its metrics.
#[derive(Debug, Default)]
pub(crate) struct TransferSums {
    first: Option<Instant>,
    /// The first byte of data that was captured.
    from: Offset,
    /// The last packet that sent data or acknowledged new ones.
    last: Instant,
    acked: u64,
}
folded! { TransferSums { first, from, last, acked } }

impl TransferSums {
    #[inline(always)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>) {
        if sent.has_data() {
            let start = sent.range.start;
            self.from = if self.first.is_none() { start } else { self.from.min(start) };
            self.first.get_or_insert(sent.packet.at);
            self.last = self.last.max(sent.packet.at);
        }
    }
    /// What is acknowledged before the first captured data, or lies below them, was sent before the
    /// capture, or it misses them: when is unknown.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, heard: &AckEvent<'_>) {
        let below = self.from.since(heard.before.max(Offset::new(1))).as_u64();
        if heard.fresh > below && self.first.is_some() {
            self.acked += heard.fresh - below;
            self.last = self.last.max(heard.packet.at);
        }
    }

    /// `flow` already has its round trips. `capacity`: what the spacing of acknowledged data says;
    /// the path carried at least the goodput. `path_rtt`: of the whole path; what took less, but
    /// for its variation, was sent at once and has no rate.
    pub(crate) fn finish(&self, flow: &mut Flow, capacity: Option<Rate>, path_rtt: Option<Span>) {
        let Some(first) = self.first else { return };
        let (time, acked) = (self.last.since(first), Bytes::new(self.acked));
        let data = flow.totals.data.as_u64();
        let again = flow.totals.retransmitted.as_u64();
        // A capture point beside the receiver sees no round trip of the data.
        let baseline =
            flow.round_trips.min.filter(|_| flow.capture_point != CapturePoint::Receiver);
        let has_rate = path_rtt.is_none_or(|path_rtt| time * 4 >= path_rtt * 3);
        let rate =
            |data: Bytes| Rate::of(data, time).filter(|_| has_rate && data >= Transfer::LEAST);
        let goodput = rate(acked);
        let capacity = capacity.map(|capacity| goodput.map_or(capacity, |it| capacity.max(it)));
        flow.transfer = Transfer {
            time,
            acked,
            goodput,
            throughput: rate(flow.totals.data),
            capacity,
            time_ratio: capacity
                .filter(|_| goodput.is_some())
                .and_then(|capacity| time_ratio(time, acked, capacity)),
            efficiency: (data > 0).then(|| 100.0 * data.saturating_sub(again) as f64 / data as f64),
            baseline,
            buffer_delay: baseline
                .zip(flow.round_trips.mean_of_data)
                .and_then(|(least, mean)| buffer_delay(least, mean)),
        };
    }
}

/// RFC 6349 section 4.3: how much longer the mean is than the baseline, in its hundredths.
fn buffer_delay(least: Span, mean: Span) -> Option<f64> {
    let (least, mean) = (least.as_nanos() as f64, mean.as_nanos() as f64);
    (least > 0.0).then(|| 100.0 * (mean - least) / least)
}

/// RFC 6349 section 4.1.1: actual over ideal time, the ideal at the path's capacity.
fn time_ratio(time: Span, acked: Bytes, capacity: Rate) -> Option<f64> {
    let ideal = acked.bits() as f64 / capacity.bits_per_second() as f64;
    (ideal > 0.0 && ideal.is_finite()).then(|| time.as_secs_f64() / ideal)
}
