//! What is wrong with a trial, so that it is worth running again.

use tcplab_path::PathSpec;
use tcplab_recording::TrialRecord;
use tcplab_recording::quality::{self, Measure};
use tcplab_workload::LoadReport;

/// How the path of a trial misbehaved, given how many samples were taken.
pub(crate) fn flaws_of(record: &TrialRecord, path: &PathSpec, samples: usize) -> Vec<String> {
    let measure = Measure {
        // Each look takes a sample of both sockets.
        looks: samples as u64 / 2,
        may_be_busy: true,
        ..Measure::of(path, record.duration)
    };
    quality::flaws(&record.world, &measure)
}

/// What makes a load worth running again: that nothing is known of it.
pub(crate) fn load_flaws(load: &LoadReport) -> Option<String> {
    let is_silent = load.impossible.is_none() && load.requests == 0 && load.failed() == 0;
    is_silent
        .then(|| format!("no request was answered or refused in the {} that count", load.elapsed))
}
