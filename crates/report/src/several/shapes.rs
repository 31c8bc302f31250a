//! How a quantity of several runs is drawn.

use tcplab_plot::{
    Drawn, Trend, TrendLine, TrendPoint, TrendScale, ecdf, spread, trend, trend_csv,
};

use super::quantities::{Quantity, Row};
use crate::summary::factors::row;

/// More cases have no room for their names, and more points of all runs none for themselves.
const CASES_BESIDE: usize = 24;
const POINTS_BESIDE: usize = 80;
/// More lines look alike, and more rows are no picture; then each case has a figure of its own.
const LINES_MOST: usize = 14;
const ROWS_MOST: usize = 60;

/// A kind of chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The mean of each case with its interval.
    Means,
    /// A dot for each trial.
    Trials,
    /// The empirical distribution.
    Distribution,
}

impl Shape {
    pub(super) const ALL: [Shape; 3] = [Shape::Means, Shape::Trials, Shape::Distribution];

    /// The last part of a figure's name.
    pub(super) fn key(self) -> &'static str {
        match self {
            Shape::Means => "means",
            Shape::Trials => "trials",
            Shape::Distribution => "ecdf",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Shape::Means => "mean of each case",
            Shape::Trials => "every trial",
            Shape::Distribution => "distribution over trials (ECDF)",
        }
    }

    /// Whether it has something to show, and room for it.
    pub(super) fn suits(self, quantity: &Quantity, runs: usize, cases: usize) -> bool {
        let fits = cases <= CASES_BESIDE && cases * runs <= POINTS_BESIDE;
        match self {
            Shape::Means => fits && !quantity.is_of_requests,
            Shape::Trials => !quantity.is_of_requests,
            Shape::Distribution => quantity.rows.iter().any(|row| row.values.len() > 1),
        }
    }

    /// Whether one figure shows all of so many rows.
    pub(super) fn is_whole(self, rows: usize) -> bool {
        match self {
            Shape::Means => true,
            Shape::Trials => rows <= ROWS_MOST,
            Shape::Distribution => rows <= LINES_MOST,
        }
    }
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
    pub(super) fn drawn(&self, shape: Shape) -> Drawn {
        let axis = &self.quantity.axis;
        match shape {
            Shape::Means => self.means(),
            Shape::Trials => {
                let rows: Vec<_> =
                    self.rows().map(|it| row(&self.name_of(it), &it.values)).collect();
                spread(self.title, axis, &rows)
            }
            Shape::Distribution => {
                let lines: Vec<_> =
                    self.rows().map(|it| (self.name_of(it), it.values.clone())).collect();
                ecdf(self.title, axis, &lines)
            }
        }
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
    fn means(&self) -> Drawn {
        let line = |(run, label): (usize, &String)| {
            let points = self.rows().filter(|row| row.run == run).filter_map(|row| {
                Some(TrendPoint { level: row.column, mean: row.mean?, interval: row.interval })
            });
            TrendLine { name: label.clone(), points: points.collect() }
        };
        let lines: Vec<TrendLine> = self.labels.iter().enumerate().map(line).collect();
        let names = self.cases.iter().cloned().enumerate();
        let levels: Vec<(f64, String)> = names.map(|(at, name)| (at as f64, name)).collect();
        let scene = Trend {
            title: self.title,
            over: "case",
            levels: &levels,
            is_numeric: false,
            values: &self.quantity.axis,
            lines: &lines,
        };
        Drawn { svg: trend(&scene, TrendScale::over(&lines)), csv: trend_csv(&scene) }
    }
}
