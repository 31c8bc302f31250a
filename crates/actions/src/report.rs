//! The report of a run, from its directory.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result};
use tcplab_lab::{LabError, RunDirectory};
use tcplab_report::Recordings;
use tcplab_results::{Failure, Run, Trial, TrialData};
use tcplab_trace::{ConnectionNumbers, PacketBytes};
use tcplab_units::Endpoint;

/// Reads recordings from the run's directory.
struct OfRun<'a>(&'a RunDirectory);

impl Recordings for OfRun<'_> {
    type Error = LabError;

    fn packets(&mut self, trial: &Trial) -> Result<TrialData, LabError> {
        tcplab_lab::load_trial(self.0, trial)
    }

    fn whole<'t>(&mut self, trial: &'t Trial) -> Result<Cow<'t, Trial>, LabError> {
        self.0.whole(trial)
    }

    fn ends_of_failure(&mut self, failure: &Failure) -> Vec<Endpoint> {
        let directory = self.0.path().join(&failure.directory);
        let is_there = |end: &Endpoint| directory.join(format!("{}.pcapng", end.name())).exists();
        Endpoint::BOTH.into_iter().filter(is_there).collect()
    }

    fn frames(
        &mut self,
        trial: &Trial,
        end: Endpoint,
        frames: &BTreeSet<u64>,
        connections: &[ConnectionNumbers],
    ) -> Result<Vec<PacketBytes>, LabError> {
        tcplab_lab::load_frames(self.0, trial, end, frames, connections)
    }
}

/// Writes the report: one file, or a folder if there are many trials. Returns the first page.
///
/// # Errors
/// If a recording cannot be read, or the report not written.
pub fn write_report(run: &RunDirectory, result: &Run) -> Result<PathBuf> {
    const FAILED: &str = "cannot make the report";
    let trials: usize = result.cases.iter().map(|case| case.trials.len()).sum();
    if trials <= tcplab_report::ONE_FILE {
        let html = tcplab_report::render(result, OfRun(run)).context(FAILED)?;
        let place = run.replace("report.html", html.as_bytes())?;
        run.remove("report")?;
        return Ok(place);
    }
    let stage = run.stage_folder("report")?;
    tcplab_report::write_folder(result, OfRun(run), &stage).context(FAILED)?;
    let place = run.keep_folder(&stage, "report")?;
    run.remove("report.html")?;
    Ok(place.join("index.html"))
}
