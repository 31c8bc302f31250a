//! `run.json`: everything about a run but the packets.

use std::cell::RefCell;
use std::io;

use serde::ser::{Error, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use tcplab_quantities::RUN_DOCUMENT;
use tcplab_results::{Case, Run, Trial};

use super::super::directory::RunDirectory;
use super::super::files::{Draft, RUN};
use crate::error::LabError;

/// Gives the JSON text of a trial of the case of this name, in a line.
type Each<'a> = dyn FnMut(&str, &Trial) -> Result<Box<RawValue>, LabError> + 'a;

/// Writes the file, whole but not yet in its place. `each` is called with the trials in order,
/// so one trial is in memory at a time.
pub(super) fn draft(
    directory: &RunDirectory,
    run: &Run,
    each: &mut Each<'_>,
) -> Result<Draft, LabError> {
    let mut draft = Draft::begin(directory.path(), RUN)?;
    let trials = RefCell::new(Trials { each, failed: None });
    let written = draft.write(|out| {
        let case = |case| CaseFile { case, trials: TrialList(case, &trials) };
        let whole = RunFile { run, cases: run.cases.iter().map(case).collect() };
        let whole = RUN_DOCUMENT.of(whole);
        serde_json::to_writer_pretty(&mut *out, &whole)?;
        io::Write::write_all(out, b"\n")
    });
    match trials.into_inner().failed {
        Some(error) => Err(error),
        None => written.map(|()| draft),
    }
}

/// Where trials come from while the file is written.
struct Trials<'a, 'e> {
    each: &'a mut Each<'e>,
    /// Why one did not come: serde's errors are texts.
    failed: Option<LabError>,
}

#[derive(Serialize)]
struct RunFile<'a, L> {
    #[serde(flatten)]
    run: &'a Run,
    cases: Vec<CaseFile<'a, L>>,
}

#[derive(Serialize)]
struct CaseFile<'a, L> {
    #[serde(flatten)]
    case: &'a Case,
    trials: L,
}

struct TrialList<'a, 't, 'e>(&'a Case, &'a RefCell<Trials<'t, 'e>>);

impl Serialize for TrialList<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let TrialList(case, trials) = self;
        let mut list = serializer.serialize_seq(Some(case.trials.len()))?;
        for trial in &case.trials {
            let mut trials = trials.borrow_mut();
            match (trials.each)(&case.name, trial) {
                Ok(text) => list.serialize_element(&text)?,
                Err(error) => {
                    trials.failed = Some(error);
                    return Err(S::Error::custom("a trial cannot be read"));
                }
            }
        }
        list.end()
    }
}
