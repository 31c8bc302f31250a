//! All episodes of a run at a glance: variant and trial down, interruption across.

use std::collections::BTreeSet;
use tcplab_results::Run;

use super::marks::Marks;
use super::recordings::{Recordings, whole};
use crate::html::anchor::anchor;
use crate::html::error::ReportError;
use crate::summary::worlds::world;

pub(crate) struct Matrix {
    /// Numbers of interruptions that caused an episode in any trial.
    pub(crate) columns: Vec<u64>,
    /// Whether an episode has another cause.
    pub(crate) others: bool,
    pub(crate) rows: Vec<MatrixRow>,
}

pub(crate) struct MatrixRow {
    /// At the first trial of a case: its name and number of rows.
    pub(crate) case: Option<(Named, usize)>,
    pub(crate) trial: u32,
    pub(crate) href: String,
    pub(crate) cells: Vec<Marks>,
}

pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) world: &'static str,
}

pub(crate) fn matrix(run: &Run, recordings: &mut impl Recordings) -> Result<Matrix, ReportError> {
    let mut met = BTreeSet::new();
    for case in &run.cases {
        for trial in &case.trials {
            met.extend(whole(recordings, case, trial)?.episodes.iter().map(|row| row.interruption));
        }
    }
    let others = met.remove(&None);
    let columns: Vec<u64> = met.into_iter().flatten().collect();
    let mut rows = Vec::new();
    for (case_index, case) in run.cases.iter().enumerate() {
        for (i, trial) in case.trials.iter().enumerate() {
            let trial = whole(recordings, case, trial)?;
            // One without packets is not on the page, its case is.
            let shown = trial.has_packets.then_some(trial.number);
            let href = format!("#{}", anchor(case_index, shown, None));
            let place = shown.map(|_| href.clone());
            let marks = |which: Option<u64>| {
                let here = trial.episodes.iter().filter(|row| row.interruption == which);
                Marks::of(here, place.clone())
            };
            let mut cells: Vec<Marks> = columns.iter().map(|n| marks(Some(*n))).collect();
            if others {
                cells.push(marks(None));
            }
            rows.push(MatrixRow {
                case: (i == 0).then(|| {
                    let named = Named { name: case.name.clone(), world: world(case) };
                    (named, case.trials.len())
                }),
                trial: trial.number,
                href,
                cells,
            });
        }
    }
    Ok(Matrix { columns, others, rows })
}
