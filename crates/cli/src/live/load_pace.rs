//! What a load moves now.

use std::time::Duration;

use tcplab_load::Progress;

/// Where a load was when it was last looked at. Time in which nothing is sent any more counts not.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoadPace {
    sending: Duration,
    requests: u64,
    bytes: u64,
}

/// What was moved between two looks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LoadRates {
    pub(crate) requests_per_second: f64,
    pub(crate) bits_per_second: f64,
}

impl LoadPace {
    /// For how long requests have been sent since then.
    pub(crate) fn since(&self, progress: &Progress) -> Duration {
        progress.sending.saturating_sub(self.sending)
    }

    /// The rates since then; the next are since now.
    pub(crate) fn take(&mut self, progress: &Progress) -> LoadRates {
        let seconds = self.since(progress).as_secs_f64().max(1e-3);
        let &Progress { sending, requests, bytes, .. } = progress;
        let before = std::mem::replace(self, LoadPace { sending, requests, bytes });
        LoadRates {
            requests_per_second: (requests - before.requests) as f64 / seconds,
            bits_per_second: (bytes - before.bytes) as f64 * 8.0 / seconds,
        }
    }
}
