//! What is shown of a load at an instant.

use std::collections::VecDeque;
use std::time::Duration;

use tcplab_load::Progress;

/// The length of a step.
pub(crate) const STEP: Duration = Duration::from_millis(500);
/// Steps that a screen has room for.
const STEPS: usize = 400;

#[derive(Debug, Clone, Default)]
pub(crate) struct LoadPicture {
    pub(crate) target: String,
    pub(crate) progress: Progress,
    /// Answers a second, by steps.
    pub(crate) rates: VecDeque<u64>,
    /// Where the last step began: the time, and the answers.
    before: (Duration, u64),
}

impl LoadPicture {
    pub(crate) fn of(target: &str) -> LoadPicture {
        LoadPicture { target: target.into(), ..LoadPicture::default() }
    }

    pub(crate) fn take(&mut self, progress: &Progress) {
        let (at, requests) = self.before;
        let since = progress.elapsed.saturating_sub(at);
        if since >= STEP {
            let rate = (progress.requests - requests) as f64 / since.as_secs_f64();
            self.rates.push_back(rate as u64);
            if self.rates.len() > STEPS {
                self.rates.pop_front();
            }
            self.before = (progress.elapsed, progress.requests);
        }
        self.progress = progress.clone();
    }
}
