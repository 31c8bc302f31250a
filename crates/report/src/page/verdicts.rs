//! The comparisons that the scenario asks for: a grid of verdicts, for a page and for a terminal.

use tcplab_results::comparison::{Comparison, Outcome, Row};
use tcplab_results::{Case, Run};

use crate::compare::grid::{Grid, name, rest};
use crate::compare::page::{HEAD, cells};
use crate::compare::pictures;
use crate::compare::words::{change, counts, good, interval, median, name_of, remark, verdict};
use crate::html::anchor::anchor;
use crate::html::figure::PageFigure;
use crate::title::title;

/// Rows that are shown at once, the worst; others unfold.
const MOST_ROWS: usize = 24;

/// A comparison on the page.
pub(crate) struct Verdicts<'a> {
    /// The place of it.
    pub(crate) id: String,
    /// Such as `haiku: after against before`.
    pub(crate) name: String,
    /// How often which verdict.
    pub(crate) counts: String,
    /// The worst in words, and how many more trials the inconclusive ones need.
    pub(crate) remark: String,
    pub(crate) warnings: &'a [String],
    /// What the rows are levels of.
    pub(crate) rest: String,
    /// Metrics, and which way is good.
    pub(crate) metrics: Vec<(String, &'static str)>,
    /// The worst rows, and those that unfold.
    pub(crate) rows: [Vec<VerdictRow>; 2],
    /// Intervals of each metric.
    pub(crate) pictures: Vec<PageFigure>,
    /// Every figure.
    pub(crate) head: [&'static str; 11],
    pub(crate) all: Vec<(&'static str, Vec<String>)>,
    pub(crate) family: &'a str,
}

/// A combination of all other levels.
pub(crate) struct VerdictRow {
    pub(crate) case: String,
    /// Where the page has B's trials.
    pub(crate) href: String,
    /// Of each metric; none where it has none.
    pub(crate) cells: Vec<Option<VerdictCell>>,
}

/// What is thought of a metric.
pub(crate) struct VerdictCell {
    /// The verdict, for colours.
    pub(crate) class: &'static str,
    /// In a word.
    pub(crate) word: &'static str,
    /// The difference; empty where there is none at all.
    pub(crate) change: String,
    pub(crate) interval: String,
    pub(crate) medians: String,
    /// The verdict with what it rests on.
    pub(crate) explanation: String,
}

impl VerdictCell {
    fn of(row: &Row) -> VerdictCell {
        let is_identical = row.outcome == Outcome::Equivalent { identical: true };
        let [a, b] = [0, 1].map(|side| median(row, side));
        VerdictCell {
            class: row.outcome.name(),
            word: name_of(row.outcome),
            change: if is_identical { String::new() } else { change(row) },
            interval: if is_identical { String::new() } else { interval(row) },
            medians: if a == b { a } else { format!("{a} → {b}") },
            explanation: verdict(row),
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
                cells: cells.into_iter().map(|row| row.map(VerdictCell::of)).collect(),
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
            all: found.rows.iter().map(cells).collect(),
            family: &found.family,
        }
    }
}
