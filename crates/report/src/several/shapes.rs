//! How a quantity of several runs is drawn.

use tcplab_plot::{
    Content, Picture, SpreadRow, Table, TrendLine, TrendPoint, TrendScale, number_cell,
};

use super::quantities::{Quantity, Row};
use crate::summary::boxes::{bars, boxes};
use crate::summary::factors::row;

/// More cases have no room for their names, more points of all runs none for themselves, and more
/// runs no colours; then means are in rows.
const CASES_BESIDE: usize = 24;
const POINTS_BESIDE: usize = 80;
const RUNS_BESIDE: usize = 14;
/// More lines of one figure look alike, and more rows are no picture; then each case has a figure
/// of its own, with as many lines or rows as there are runs.
const LINES_MOST: usize = 14;
const ROWS_MOST: usize = 60;

/// A kind of chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The mean of each case with its interval.
    Means,
    /// A dot for each trial.
    Trials,
    /// Median, quartiles, whiskers and outliers.
    Boxes,
    /// The mean of each case as a bar with its interval.
    Bars,
    /// The empirical distribution.
    Distribution,
}

impl Shape {
    pub(super) const ALL: [Shape; 5] =
        [Shape::Means, Shape::Trials, Shape::Distribution, Shape::Boxes, Shape::Bars];

    /// The last part of a figure's name.
    pub(super) fn key(self) -> &'static str {
        match self {
            Shape::Means => "means",
            Shape::Trials => "trials",
            Shape::Boxes => "boxes",
            Shape::Bars => "bars",
            Shape::Distribution => "ecdf",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Shape::Means => "mean of each case",
            Shape::Trials => "every trial",
            Shape::Boxes => "box plot over trials",
            Shape::Bars => "mean of each case as a bar",
            Shape::Distribution => "distribution over trials (ECDF)",
        }
    }

    /// Whether it has something to show.
    pub(super) fn suits(self, quantity: &Quantity) -> bool {
        match self {
            Shape::Means | Shape::Trials | Shape::Bars => !quantity.is_of_requests,
            Shape::Boxes | Shape::Distribution => {
                quantity.rows.iter().any(|row| row.values.len() > 1)
            }
        }
    }

    /// Whether one figure shows all of so many rows.
    pub(super) fn is_whole(self, rows: usize, runs: usize, cases: usize) -> bool {
        match self {
            Shape::Means => rows <= ROWS_MOST || are_beside(runs, cases),
            Shape::Trials | Shape::Boxes | Shape::Bars => rows <= ROWS_MOST,
            Shape::Distribution => rows <= LINES_MOST,
        }
    }
}

/// Whether means of so many are told apart by colours, at each case.
fn are_beside(runs: usize, cases: usize) -> bool {
    runs <= RUNS_BESIDE && cases <= CASES_BESIDE && cases * runs <= POINTS_BESIDE
}

/// What a figure shows.
pub(super) struct Shown<'a> {
    pub(super) title: &'a str,
    pub(super) quantity: &'a Quantity,
    /// Of the runs.
    pub(super) labels: &'a [String],
    /// The names of all columns.
    pub(super) cases: &'a [String],
    /// The only column to show.
    pub(super) column: Option<usize>,
}

impl Shown<'_> {
    pub(super) fn picture(&self, shape: Shape) -> Picture {
        let content = match shape {
            Shape::Means if are_beside(self.labels.len(), self.cases.len()) => self.means(),
            Shape::Means => self.means_in_rows(),
            Shape::Trials => {
                Content::Spread(self.rows().map(|it| row(&self.name_of(it), &it.values)).collect())
            }
            Shape::Boxes => boxes(self.rows().map(|it| (self.name_of(it), it.values.as_slice()))),
            Shape::Bars => {
                let means = self.rows().filter_map(|it| Some((it, it.mean?)));
                bars(means.map(|(it, mean)| (self.name_of(it), mean, it.interval)))
            }
            Shape::Distribution => {
                Content::Ecdf(self.rows().map(|it| (self.name_of(it), it.values.clone())).collect())
            }
        };
        Picture { title: self.title.to_owned(), values: self.quantity.axis.clone(), content }
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        let is_shown = |row: &&Row| self.column.is_none_or(|column| column == row.column);
        self.quantity.rows.iter().filter(is_shown)
    }

    /// The run's label, with the case where there are several.
    fn name_of(&self, row: &Row) -> String {
        let label = &self.labels[row.run];
        if self.column.is_some() || self.cases.len() == 1 {
            return label.clone();
        }
        format!("{label}: {}", self.cases[row.column])
    }

    /// The cases across, a colour for each run.
    fn means(&self) -> Content {
        let line = |(run, label): (usize, &String)| {
            let points = self.rows().filter(|row| row.run == run).filter_map(|row| {
                Some(TrendPoint { level: row.column, mean: row.mean?, interval: row.interval })
            });
            TrendLine { name: label.clone(), points: points.collect() }
        };
        let lines: Vec<TrendLine> = self.labels.iter().enumerate().map(line).collect();
        let names = self.cases.iter().cloned().enumerate();
        Content::Trend {
            over: "case".into(),
            levels: names.map(|(at, name)| (at as f64, name)).collect(),
            is_numeric: false,
            scale: TrendScale::over(&lines),
            lines,
        }
    }

    /// A row for each run and case.
    fn means_in_rows(&self) -> Content {
        let shown = || self.rows().filter_map(|row| Some((row, row.mean?)));
        let row = |(row, mean): (&Row, f64)| SpreadRow {
            name: self.name_of(row),
            values: Vec::new(),
            quartiles: None,
            middle: Some(mean),
            interval: row.interval,
        };
        let numbers = shown().map(|(row, mean)| {
            let (low, high) = row.interval.unwrap_or((f64::NAN, f64::NAN));
            let [mean, low, high] = [mean, low, high].map(number_cell);
            [self.labels[row.run].clone(), self.cases[row.column].clone(), mean, low, high]
        });
        let columns = ["line", "case", &self.quantity.axis, "low", "high"];
        Content::Means { rows: shown().map(row).collect(), numbers: Table::new(&columns, numbers) }
    }
}
