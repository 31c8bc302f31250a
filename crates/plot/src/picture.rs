//! Pictures that can be drawn anew: of other ranges and scales, with other labels and colours.

use crate::boxes::{BoxRow, boxes};
use crate::drawn::Drawn;
use crate::ecdf::{EcdfLine, ecdf};
use crate::line_style::DIFFERENT;
use crate::looks::Looks;
use crate::mean_bars::{BarRow, mean_bars};
use crate::rows::are_named;
use crate::spread::{SpreadRow, spread};
use crate::trend::{Trend, TrendLine, TrendScale, trend, trend_csv};

/// A picture with one or two axes of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// What was measured, with its unit.
    pub values: String,
    /// How.
    pub content: Content,
}

/// A kind of picture, and what is in it.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Means over what was varied.
    Trend {
        /// What was varied.
        over: String,
        /// Its levels in rising order, as numbers and as written.
        levels: Vec<(f64, String)>,
        /// Whether the levels are numbers. Only points of these are joined by a line.
        is_numeric: bool,
        /// In the order of their colours.
        lines: Vec<TrendLine>,
        /// The vertical scale.
        scale: TrendScale,
    },
    /// Shares of values, a line for each of several ways, in the order of their colours.
    Ecdf(Vec<EcdfLine>),
    /// Every trial a dot, in rows.
    Spread(Vec<SpreadRow>),
    /// Box plots, in rows.
    Boxes(Vec<BoxRow>),
    /// Means as bars from zero, in rows.
    Bars(Vec<BarRow>),
    /// Means in rows, with their intervals; `numbers` is the table.
    Means {
        /// Without values: a middle, and its interval.
        rows: Vec<SpreadRow>,
        /// As comma-separated values.
        numbers: String,
    },
}

/// What an axis has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AxisKind<'a> {
    /// What was measured; the unit follows the last comma.
    Values(&'a str),
    /// The same, from zero on: it is never logarithmic.
    FromZero(&'a str),
    /// What was varied: numbers, as they are written.
    Levels(&'a [(f64, String)]),
    /// Shares, in percent.
    Shares,
    /// Names: of cases or rows.
    Names,
}

impl Picture {
    /// As its reader wants it, and how many of its points lie outside. What a kind of axis cannot
    /// have is left as it is.
    pub fn drawn(&self, looks: &Looks) -> (Drawn, usize) {
        let Picture { title, values, content } = self;
        match content {
            Content::Trend { over, levels, is_numeric, lines, scale } => {
                let is_numeric = *is_numeric;
                let scene = Trend { title, over, levels, is_numeric, values, lines };
                let (svg, outside) = trend(&scene, *scale, looks);
                (Drawn { svg, csv: trend_csv(&scene) }, outside)
            }
            Content::Ecdf(lines) => ecdf(title, values, lines, looks),
            Content::Spread(rows) => spread(title, values, rows, looks),
            Content::Boxes(rows) => boxes(title, values, rows, looks),
            Content::Bars(rows) => mean_bars(title, values, rows, looks),
            Content::Means { rows, numbers } => {
                let (drawn, outside) = spread(title, values, rows, looks);
                (Drawn { csv: numbers.clone(), ..drawn }, outside)
            }
        }
    }

    /// From left to right, and upwards.
    pub fn axes(&self) -> [AxisKind<'_>; 2] {
        let values = AxisKind::Values(&self.values);
        match &self.content {
            Content::Trend { levels, is_numeric: true, .. } => [AxisKind::Levels(levels), values],
            Content::Trend { .. } => [AxisKind::Names, values],
            Content::Ecdf(_) => [values, AxisKind::Shares],
            Content::Spread(_) | Content::Boxes(_) | Content::Means { .. } => {
                [values, AxisKind::Names]
            }
            Content::Bars(_) => [AxisKind::FromZero(&self.values), AxisKind::Names],
        }
    }

    /// The names of its lines or rows, in their order.
    pub fn names(&self) -> Vec<&str> {
        match &self.content {
            Content::Trend { lines, .. } => lines.iter().map(|line| line.name.as_str()).collect(),
            Content::Ecdf(lines) => lines.iter().map(|(name, _)| name.as_str()).collect(),
            Content::Boxes(rows) => rows.iter().map(|row| row.name.as_str()).collect(),
            Content::Bars(rows) => rows.iter().map(|row| row.name.as_str()).collect(),
            Content::Spread(rows) | Content::Means { rows, .. } => {
                rows.iter().map(|row| row.name.as_str()).collect()
            }
        }
    }

    /// Whether its names are told apart by colours, dashes and marks, and not by places.
    pub fn has_lines(&self) -> bool {
        matches!(self.content, Content::Trend { .. } | Content::Ecdf(_))
    }

    /// Whether its names are left out, as there are too many: of rows that have no room for them,
    /// or of lines that do not all differ.
    pub fn is_unnamed(&self) -> bool {
        let count = self.names().len();
        if self.has_lines() { count > DIFFERENT } else { !are_named(count) }
    }
}
