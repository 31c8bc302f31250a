//! How fast data is delivered, measured from acknowledgements
//! (draft-cheng-iccrg-delivery-rate-estimation; `tcp_rate.c`).

use tcplab_units::Span;

use super::scoreboard::Record;
use crate::congestion::RateSample;

/// A snapshot that was used.
const USED: u64 = u64::MAX;

/// How much was delivered when a segment left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Snapshot {
    /// Segments delivered by then.
    delivered: u64,
    /// When the last of them was acknowledged, µs.
    delivered_at: u64,
    /// How long before that the first segment of this flight left, µs; above 71 minutes it makes no
    /// difference.
    after: u32,
    /// Whether the application had too little to send.
    app_limited: bool,
}

impl Snapshot {
    /// It counts once, be it SACKed and then acknowledged.
    pub(super) fn use_up(&mut self) {
        self.delivered_at = USED;
    }
}

/// What has been delivered so far.
#[derive(Debug)]
pub(super) struct Rate {
    /// Segments delivered, the SYN included.
    pub(super) delivered: u64,
    /// When, µs.
    delivered_at: u64,
    /// When the segment left that was delivered last, µs.
    first_sent: u64,
    /// Up to which number of segments delivered the application had too little to send.
    app_limited: Option<u64>,
    /// The latest rate that counts: segments, over µs.
    latest: Option<(u64, u64, bool)>,
}

impl Rate {
    /// The SYN is delivered; until the first acknowledgement, samples count as limited by the
    /// application.
    pub(super) fn new(now: u64) -> Rate {
        Rate {
            delivered: 1,
            delivered_at: now,
            first_sent: now,
            app_limited: Some(0),
            latest: None,
        }
    }

    /// A segment leaves (`tcp_rate_skb_sent`); `alone`: nothing is outstanding.
    pub(super) fn send(&mut self, now: u64, alone: bool) -> Snapshot {
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
    pub(super) fn run_dry(&mut self, in_flight: u32) {
        self.app_limited = Some(self.delivered + u64::from(in_flight));
    }

    pub(super) fn app_limited(&self) -> Option<u64> {
        self.app_limited
    }

    /// The congestion control holds data back itself, to see the path without its own queue.
    pub(super) fn limit(&mut self, until: Option<u64>) {
        self.app_limited = until;
    }

    /// The latest rate: segments, over µs, and whether the application held it down.
    pub(super) fn latest(&self) -> Option<(u64, u64, bool)> {
        self.latest
    }

    /// What an acknowledgement showed (`tcp_rate_gen`). `newly`: segments delivered and lost by it.
    pub(super) fn finish(
        &mut self,
        now: u64,
        newly: (u64, u64),
        reneged: bool,
        min_rtt: Option<u64>,
        heard: &Delivery,
    ) -> RateSample {
        if self.app_limited.is_some_and(|until| self.delivered > until) {
            self.app_limited = None;
        }
        if newly.0 > 0 {
            self.delivered_at = now;
        }
        let mut sample = RateSample {
            prior_delivered: heard.prior_delivered,
            losses: newly.1 as u32,
            acked_sacked: newly.0 as u32,
            app_limited: heard.app_limited,
            ..RateSample::default()
        };
        let Some(since) = heard.delivered_at.filter(|_| !reneged) else { return sample };
        let delivered = self.delivered - heard.prior_delivered;
        // Whichever took longer, sending or acknowledging: either can be compressed.
        let interval = heard.send_interval.max(now.saturating_sub(since));
        sample.interval = Span::from_micros(interval);
        // A sample shorter than any round trip comes of a needless repetition.
        if min_rtt.is_some_and(|least| interval < least) {
            return sample;
        }
        sample.delivered = Some(delivered);
        let beats = self.latest.is_none_or(|(segments, over, _)| {
            u128::from(delivered) * u128::from(over) >= u128::from(segments) * u128::from(interval)
        });
        if !heard.app_limited || beats {
            self.latest = Some((delivered, interval, heard.app_limited));
        }
        sample
    }
}

/// What one acknowledgement says of the segments that it delivers.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    pub(super) prior_delivered: u64,
    delivered_at: Option<u64>,
    send_interval: u64,
    app_limited: bool,
    order: u64,
}

impl Delivery {
    /// A segment is acknowledged or SACKed (`tcp_rate_skb_delivered`): the one sent last counts.
    pub(super) fn take(&mut self, rate: &mut Rate, record: &Record) {
        let snapshot = &record.snapshot;
        if snapshot.delivered_at == USED {
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
