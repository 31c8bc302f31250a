//! What the tables of a finished run say of packets that were removed since.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use serde::Deserialize;
use tcplab_recording::Recording;
use tcplab_results::Run;

use super::super::files::{Draft, RUN};
use super::factors::Factors;
use super::trials::Trials;
use crate::error::LabError;

/// How a trial in `run.json` says that it has its packets. No text in it can contain this: within
/// texts, quotes are escaped.
const HAS_PACKETS: &str = r#""has_packets":true"#;
const HAS_NONE: &str = r#""has_packets":false"#;

/// Writes into `run.json`, `trials.csv` and `trials.parquet` of the run in `path` which trials have
/// no packets any more. Nothing to do for one that is not finished.
///
/// # Errors
/// When they cannot be read or written; each is then as it was.
pub(crate) fn note_removed_packets(path: &Path) -> Result<(), LabError> {
    let place = path.join(RUN);
    if !place.exists() {
        return Ok(());
    }
    let unreadable = || LabError::file("read", &place);
    let mut draft = Draft::begin(path, RUN)?;
    let mut lines = BufReader::new(File::open(&place).map_err(unreadable())?);
    // Each trial is a line.
    let (mut line, mut has_changed) = (String::new(), false);
    while lines.read_line(&mut line).map_err(unreadable())? > 0 {
        if line.contains(HAS_PACKETS) && has_lost_packets(path, &line) {
            line = line.replace(HAS_PACKETS, HAS_NONE);
            has_changed = true;
        }
        draft.write(|out| out.write_all(line.as_bytes()))?;
        line.clear();
    }
    if !has_changed {
        return Ok(());
    }
    draft.commit()?;
    let text = fs::read(&place).map_err(unreadable())?;
    let run: Run = serde_json::from_slice(&text).map_err(|error| {
        let what = format!("its {RUN} cannot be read: {error}");
        LabError::NotARun { path: path.into(), what }
    })?;
    Trials::of(&run, &Factors::of(&run)).write(path)
}

/// Whether this line is a trial whose captures are not there.
fn has_lost_packets(path: &Path, line: &str) -> bool {
    #[derive(Deserialize)]
    struct Place {
        directory: String,
    }
    let trial = serde_json::from_slice::<Place>(line.trim().trim_end_matches(',').as_bytes());
    let recording = trial.map(|trial| Recording::open(&path.join(trial.directory)));
    recording.is_ok_and(|it| it.is_ok_and(|recording| !recording.has_packets()))
}
