//! What a recording holds besides its captures, read once.

use tcplab_path::PathSpec;
use tcplab_recording::quality::{self, Measure};
use tcplab_recording::{AppLog, Recording, Sample, TrialRecord};
use tcplab_scenario::Case;
use tcplab_workload::LoadReport;

use crate::error::LabError;

/// A trial's recording, with what every step of its analysis needs.
pub(crate) struct Contents {
    pub(super) recording: Recording,
    pub(crate) record: TrialRecord,
    pub(crate) app: AppLog,
    pub(crate) samples: Vec<Sample>,
    /// The flaws that justify a retry, a sentence each.
    pub(crate) flaws: Vec<String>,
}

impl Contents {
    /// # Errors
    /// When a file of it cannot be read.
    pub(crate) fn read(recording: Recording, case: &Case) -> Result<Contents, LabError> {
        let (app, record, samples) = (recording.app()?, recording.record()?, recording.samples()?);
        let path = case.path.with_events(&record.path_events);
        let flaws = flaws(&app, &record, &path, samples.len());
        Ok(Contents { recording, record, app, samples, flaws })
    }

    /// Whether its path was changed while it ran.
    pub(crate) fn is_steered(&self) -> bool {
        !self.record.path_events.is_empty()
    }
}

/// What is wrong with a trial. A load that this machine cannot put on a server has no flaws: it
/// would be as impossible again.
fn flaws(app: &AppLog, record: &TrialRecord, path: &PathSpec, samples: usize) -> Vec<String> {
    let load = app.load.as_ref();
    if load.is_some_and(|load| load.impossible.is_some()) {
        return Vec::new();
    }
    let measure = Measure {
        // Each look takes a sample of both sockets.
        samples: samples as u64 / 2,
        may_be_busy: true,
        ..Measure::of(path, record.duration)
    };
    let of_path = quality::flaws(&record.world, &measure);
    of_path.into_iter().chain(load.and_then(of_load)).collect()
}

/// Of a load: that nothing is known of it.
pub(super) fn of_load(load: &LoadReport) -> Option<String> {
    let is_silent = load.impossible.is_none() && load.requests == 0 && load.failed() == 0;
    is_silent
        .then(|| format!("no request was answered or refused in the {} that count", load.elapsed))
}
