//! How fast data is delivered, measured from acknowledgements
//! (draft-cheng-iccrg-delivery-rate-estimation; `tcp_rate.c`).

use tcplab_units::Span;

use crate::congestion::RateSample;
use crate::sender::scoreboard::{Record, Snapshot};

/// What has been delivered so far.
#[derive(Debug)]
pub(crate) struct RateMeter {
    /// Segments delivered, the SYN included.
    pub(crate) delivered: u64,
    /// When, µs.
    delivered_at: u64,
    /// When the segment left that was delivered last, µs.
    first_sent: u64,
    /// Samples are application-limited until this many segments are delivered.
    pub(crate) app_limited: Option<u64>,
    /// The latest valid rate.
    pub(crate) latest: Option<DeliveryRate>,
}

/// A delivery rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeliveryRate {
    /// Segments delivered.
    pub(crate) segments: u64,
    /// In this time, µs.
    pub(crate) micros: u64,
    /// Whether the application had too little to send.
    pub(crate) app_limited: bool,
}

/// What one acknowledgement delivered and showed to be lost, segments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivered {
    pub(crate) segments: u64,
    pub(crate) lost: u64,
}

impl RateMeter {
    /// Counts the SYN as delivered; until the first acknowledgement, samples are limited by the
    /// application.
    pub(crate) fn new(now: u64) -> RateMeter {
        RateMeter {
            delivered: 1,
            delivered_at: now,
            first_sent: now,
            app_limited: Some(0),
            latest: None,
        }
    }

    /// A segment leaves (`tcp_rate_skb_sent`); `alone`: nothing is outstanding.
    pub(crate) fn send(&mut self, now: u64, alone: bool) -> Snapshot {
        if alone {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            after: u32::try_from(now.saturating_sub(self.first_sent)).unwrap_or(u32::MAX),
            app_limited: self.app_limited.is_some(),
        }
    }

    /// The application gives data after it had run dry (`tcp_rate_check_app_limited`).
    pub(crate) fn run_dry(&mut self, in_flight: u32) {
        self.app_limited = Some(self.delivered + u64::from(in_flight));
    }

    /// The sample of an acknowledgement (`tcp_rate_gen`).
    pub(crate) fn finish(
        &mut self,
        now: u64,
        newly: Delivered,
        reneged: bool,
        min_rtt: Option<u64>,
        delivery: &Delivery,
    ) -> RateSample {
        if self.app_limited.is_some_and(|until| self.delivered > until) {
            self.app_limited = None;
        }
        if newly.segments > 0 {
            self.delivered_at = now;
        }
        let mut sample = RateSample {
            prior_delivered: delivery.prior_delivered,
            losses: newly.lost as u32,
            acked_sacked: newly.segments as u32,
            app_limited: delivery.app_limited,
            ..RateSample::default()
        };
        let Some(since) = delivery.delivered_at.filter(|_| !reneged) else { return sample };
        let delivered = self.delivered - delivery.prior_delivered;
        // Whichever took longer, sending or acknowledging: either can be compressed.
        let interval = delivery.send_interval.max(now.saturating_sub(since));
        sample.interval = Span::from_micros(interval);
        // A sample shorter than the RTT minimum comes from a spurious retransmission.
        if min_rtt.is_some_and(|least| interval < least) {
            return sample;
        }
        sample.delivered = Some(delivered);
        let beats = self.latest.is_none_or(|latest| {
            u128::from(delivered) * u128::from(latest.micros)
                >= u128::from(latest.segments) * u128::from(interval)
        });
        if !delivery.app_limited || beats {
            let app_limited = delivery.app_limited;
            self.latest = Some(DeliveryRate { segments: delivered, micros: interval, app_limited });
        }
        sample
    }
}

/// The segment sent last among those that an acknowledgement delivers.
#[derive(Debug, Default)]
pub(crate) struct Delivery {
    pub(crate) prior_delivered: u64,
    delivered_at: Option<u64>,
    send_interval: u64,
    app_limited: bool,
    order: u64,
}

impl Delivery {
    /// A segment is acknowledged or SACKed (`tcp_rate_skb_delivered`): the one sent last counts.
    pub(crate) fn take(&mut self, rate: &mut RateMeter, record: &Record) {
        let snapshot = &record.snapshot;
        if snapshot.is_used() {
            return;
        }
        if self.prior_delivered == 0 || record.order > self.order {
            self.prior_delivered = snapshot.delivered;
            self.delivered_at = Some(snapshot.delivered_at);
            self.app_limited = snapshot.app_limited;
            self.order = record.order;
            rate.first_sent = record.sent;
            self.send_interval = u64::from(snapshot.after);
        }
    }
}
