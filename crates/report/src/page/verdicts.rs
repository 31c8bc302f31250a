//! The comparisons that the scenario asks for: a grid of verdicts, for a page and for a terminal.

use tcplab_results::comparison::{Comparison, Outcome, Row};
use tcplab_results::{Case, Run};

use crate::compare::grid::{Grid, name, rest};
use crate::compare::page::{HEAD, cells};
use crate::compare::pictures;
use crate::compared::{change, counts, estimate, good, interval, name_of, remark, verdict};
use crate::html::anchor::anchor;
use crate::html::figure::PageFigure;
use crate::title::title;

/// The worst rows; a fold has the others.
const MOST_ROWS: usize = 24;

pub(crate) struct Verdicts<'a> {
    pub(crate) id: String,
    /// Such as `haiku: after against before`.
    pub(crate) name: String,
    /// Verdicts, counted.
    pub(crate) counts: String,
    /// The worst row, and what would decide the inconclusive ones.
    pub(crate) remark: String,
    pub(crate) warnings: &'a [String],
    /// The other factors.
    pub(crate) rest: String,
    pub(crate) metrics: Vec<(String, &'static str)>,
    /// The worst rows, and those in the fold.
    pub(crate) rows: [Vec<VerdictRow>; 2],
    /// Interval plots.
    pub(crate) pictures: Vec<PageFigure>,
    pub(crate) head: [&'static str; 11],
    pub(crate) all: Vec<(&'static str, Vec<String>)>,
    pub(crate) family: &'a str,
}

/// A combination of the other factors' levels.
pub(crate) struct VerdictRow {
    pub(crate) case: String,
    /// B's trials on the page.
    pub(crate) href: String,
    /// By metric.
    pub(crate) cells: Vec<Option<VerdictCell>>,
}

/// Verdict on a metric.
pub(crate) struct VerdictCell {
    pub(crate) class: &'static str,
    pub(crate) word: &'static str,
    /// Empty where both are identical.
    pub(crate) change: String,
    pub(crate) interval: String,
    /// A's median, and that changed by the estimate.
    pub(crate) estimates: String,
    pub(crate) explanation: String,
}

impl VerdictCell {
    fn of(found: &Comparison, row: &Row) -> VerdictCell {
        let is_identical = row.outcome == Outcome::Equivalent { identical: true };
        let [a, b] = [0, 1].map(|side| estimate(row, side));
        VerdictCell {
            class: row.outcome.name(),
            word: name_of(row),
            change: if is_identical { String::new() } else { change(row) },
            interval: if is_identical { String::new() } else { interval(row) },
            estimates: if a == b { a } else { format!("{a} → {b}") },
            explanation: verdict(found, row),
        }
    }
}

impl<'a> Verdicts<'a> {
    pub(crate) fn all(run: &'a Run) -> Vec<Verdicts<'a>> {
        let of = |(index, found)| Verdicts::of(run, index, found);
        run.comparisons.iter().enumerate().map(of).collect()
    }

    fn of(run: &Run, index: usize, found: &'a Comparison) -> Verdicts<'a> {
        let mut rows = Grid::of(found).rows.into_iter().map(|(case, cells)| {
            let names = found.cases.iter().find(|it| it.name == case).map(|it| &it.names[1]);
            let is_it = |case: &Case| names.is_some_and(|name| *name == case.name);
            let place = run.cases.iter().position(is_it).unwrap_or_default();
            VerdictRow {
                case: case.to_owned(),
                href: format!("#{}", anchor(place, None, None)),
                cells: cells
                    .into_iter()
                    .map(|row| row.map(|row| VerdictCell::of(found, row)))
                    .collect(),
            }
        });
        let first: Vec<VerdictRow> = rows.by_ref().take(MOST_ROWS).collect();
        let metrics = found.metrics.iter().map(|metric| {
            let row = found.rows.iter().find(|row| row.metric == *metric);
            (title(metric), row.map(good).unwrap_or_default())
        });
        Verdicts {
            id: format!("verdicts-{}", index + 1),
            name: name(found),
            counts: counts(found),
            remark: remark(found),
            warnings: &found.warnings,
            rest: rest(run, found),
            metrics: metrics.collect(),
            rows: [first, rows.collect()],
            pictures: pictures(found),
            head: HEAD,
            all: found.rows.iter().map(|row| cells(found, row)).collect(),
            family: &found.family,
        }
    }
}
