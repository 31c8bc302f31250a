//! RTT minima, for the controls that estimate the queue.

use super::AckSample;

/// RTTs in µs and one more (`cntRTT`, `minRTT` and `baseRTT` in Linux).
#[derive(Debug, Default)]
pub(super) struct RttSamples {
    /// RTTs since the round began.
    pub(super) count: u32,
    /// The minimum since the round began.
    pub(super) round: Option<u64>,
    /// The minimum of all.
    pub(super) base: Option<u64>,
}

impl RttSamples {
    /// A round begins.
    pub(super) fn begin_round(&mut self) {
        self.count = 0;
        self.round = None;
    }

    /// Takes an RTT in, if the acknowledgement gave one.
    pub(super) fn take(&mut self, sample: &AckSample) {
        let Some(rtt) = sample.rtt else { return };
        let rtt = rtt.as_micros() + 1;
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.round = Some(self.round.map_or(rtt, |least| least.min(rtt)));
        self.count = self.count.saturating_add(1);
    }
}
