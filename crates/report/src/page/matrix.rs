//! All episodes of a run at a glance: variant and trial down, interruption across.

use std::collections::BTreeSet;
use tcplab_results::{EpisodeRow, Run};

use super::recordings::{Recordings, whole};
use crate::html::anchor::anchor;
use crate::html::error::ReportError;
use crate::summary::recovery::kind_class;
use crate::summary::worlds::world;

/// The overview.
pub(crate) struct Matrix {
    /// Interruptions that met any transfer, by number.
    pub(crate) columns: Vec<u64>,
    /// Whether some episode has another cause.
    pub(crate) others: bool,
    pub(crate) rows: Vec<MatrixRow>,
}

/// One trial.
pub(crate) struct MatrixRow {
    /// Set at the first trial of a case: what it is called and how many rows it spans.
    pub(crate) case: Option<(Named, usize)>,
    pub(crate) trial: u32,
    pub(crate) href: String,
    /// One per column.
    pub(crate) cells: Vec<Vec<Mark>>,
}

/// A variant.
pub(crate) struct Named {
    pub(crate) name: String,
    /// Where it ran.
    pub(crate) world: &'static str,
}

/// One episode.
pub(crate) struct Mark {
    pub(crate) class: &'static str,
    pub(crate) kind: String,
    pub(crate) lost: usize,
    pub(crate) href: String,
    pub(crate) repaired: bool,
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
            let marks = |which: Option<u64>| -> Vec<Mark> {
                let here = trial.episodes.iter().filter(|row| row.interruption == which);
                here.map(|row| mark(row, case_index, trial.number)).collect()
            };
            let mut cells: Vec<Vec<Mark>> = columns.iter().map(|n| marks(Some(*n))).collect();
            if others {
                cells.push(marks(None));
            }
            rows.push(MatrixRow {
                case: (i == 0).then(|| {
                    let named = Named { name: case.name.clone(), world: world(case) };
                    (named, case.trials.len())
                }),
                trial: trial.number,
                href: format!("#{}", anchor(case_index, Some(trial.number), None)),
                cells,
            });
        }
    }
    Ok(Matrix { columns, others, rows })
}

fn mark(row: &EpisodeRow, case: usize, trial: u32) -> Mark {
    Mark {
        class: kind_class(&row.kind),
        kind: row.kind.clone(),
        lost: row.lost_segments,
        href: format!("#{}", anchor(case, Some(trial), Some(row.number))),
        repaired: row.repaired,
    }
}
