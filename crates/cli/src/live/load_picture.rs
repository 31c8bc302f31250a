//! What is shown of a load at an instant.

use std::collections::VecDeque;
use std::time::Duration;

use tcplab_load::Progress;

use super::load_pace::{LoadPace, LoadRates};

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
    /// What the last step moved.
    pub(super) latest: LoadRates,
    /// Where the last step began.
    pace: LoadPace,
}

impl LoadPicture {
    pub(crate) fn of(target: &str) -> LoadPicture {
        LoadPicture { target: target.into(), ..LoadPicture::default() }
    }

    pub(crate) fn take(&mut self, progress: &Progress) {
        if self.pace.since(progress) >= STEP {
            self.push(progress);
        }
        self.progress = progress.clone();
        if progress.has_sent_all() {
            self.end();
        }
    }

    /// Takes what remains at the end for a step, if it is most of one.
    pub(crate) fn end(&mut self) {
        if self.pace.since(&self.progress) > STEP / 2 {
            self.push(&self.progress.clone());
        }
    }

    fn push(&mut self, progress: &Progress) {
        self.latest = self.pace.take(progress);
        self.rates.push_back(self.latest.requests_per_second as u64);
        if self.rates.len() > STEPS {
            self.rates.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_step_is_shown_where_it_is_most_of_one() {
        let rates = |end: u64| {
            let mut picture = LoadPicture::of("x");
            for elapsed in [100, 550, 1100, 1650, end].map(Duration::from_millis) {
                let requests = elapsed.as_millis() as u64;
                let sending = elapsed;
                picture.take(&Progress { elapsed, sending, requests, ..Progress::default() });
            }
            picture.end();
            picture.rates.len()
        };
        assert_eq!((rates(1990), rates(1700)), (4, 3));
    }

    /// Requests were sent for a second; seven more pass until the last one times out.
    #[test]
    fn waiting_for_the_last_answers_is_no_step() {
        let mut picture = LoadPicture::of("x");
        for tenth in 1..=80 {
            let elapsed = Duration::from_millis(tenth * 100);
            let sending = elapsed.min(Duration::from_secs(1));
            let requests = 10 * tenth.min(10);
            picture.take(&Progress { elapsed, sending, requests, ..Progress::default() });
        }
        picture.end();
        assert_eq!(picture.rates, [100, 100]);
    }
}
