//! Pictures that can be drawn anew: of other ranges and scales, with other labels and colours.

use crate::axis::Axis;
use crate::boxes::{BoxRow, boxes};
use crate::drawn::Drawn;
use crate::ecdf::{EcdfLine, ecdf};
use crate::line_style::DIFFERENT;
use crate::looks::Looks;
use crate::mean_bars::{BarRow, bars_axis, mean_bars};
use crate::rows::are_named;
use crate::spread::{SpreadRow, spread, spread_axis};
use crate::table::Table;
use crate::trend::{Trend, TrendLine, TrendScale, cut_intervals, trend, trend_table};

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
        /// With the names of runs and cases.
        numbers: Table,
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
                (Drawn { svg, table: trend_table(&scene) }, outside)
            }
            Content::Ecdf(lines) => ecdf(title, values, lines, looks),
            Content::Spread(rows) => spread(title, values, rows, looks),
            Content::Boxes(rows) => boxes(title, values, rows, looks),
            Content::Bars(rows) => mean_bars(title, values, rows, looks),
            Content::Means { rows, numbers } => {
                let (drawn, outside) = spread(title, values, rows, looks);
                (Drawn { table: numbers.clone(), ..drawn }, outside)
            }
        }
    }

    /// How many intervals of means go on beyond the axis: they end in an arrowhead.
    pub fn cut_intervals(&self, looks: &Looks) -> usize {
        let is_cut = |axis: Axis, ends: Option<(f64, f64)>| {
            ends.is_some_and(|(low, high)| {
                low <= axis.high && high >= axis.low && !(axis.holds(low) && axis.holds(high))
            })
        };
        match &self.content {
            Content::Bars(rows) => {
                let axis = bars_axis(rows, looks);
                rows.iter().filter(|row| is_cut(axis, row.interval)).count()
            }
            Content::Spread(rows) | Content::Means { rows, .. } => {
                let axis = spread_axis(rows, looks);
                rows.iter().filter(|row| is_cut(axis, row.interval)).count()
            }
            Content::Trend { over, levels, is_numeric, lines, scale } => {
                let (title, values, is_numeric) = (&self.title, &self.values, *is_numeric);
                let scene = Trend { title, over, levels, is_numeric, values, lines };
                cut_intervals(&scene, *scale, looks)
            }
            Content::Ecdf(_) | Content::Boxes(_) => 0,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boxes::BoxShape;
    use crate::letters::width;
    use crate::trend::TrendPoint;
    use tcplab_units::rounded::brief;

    /// A picture of each kind of these values, with names that need little room.
    fn pictures(values: &[f64]) -> Vec<Picture> {
        let name = || "a".to_owned();
        let (low, high) = (values[0], values[1]);
        let row = |values: &[f64]| SpreadRow {
            name: name(),
            values: values.to_vec(),
            quartiles: None,
            middle: None,
            interval: None,
        };
        let points = [low, high].into_iter().enumerate();
        let points = points.map(|(level, mean)| TrendPoint { level, mean, interval: None });
        let lines = vec![TrendLine { name: String::new(), points: points.collect() }];
        let shape = BoxShape { quartiles: (low, low, high), whiskers: (low, high) };
        let contents = [
            Content::Ecdf(vec![(name(), values.to_vec())]),
            Content::Spread(vec![row(values)]),
            Content::Boxes(vec![BoxRow {
                name: name(),
                values: values.to_vec(),
                shape: Some(shape),
                dots: vec![],
            }]),
            Content::Bars(vec![BarRow { name: name(), mean: high, interval: None }]),
            Content::Trend {
                over: name(),
                levels: [low, high].map(|it| (it, brief(it))).to_vec(),
                is_numeric: true,
                scale: TrendScale::over(&lines),
                lines,
            },
        ];
        let (title, values) = ("t", "goodput, Mbit/s");
        let picture = |content| Picture { title: title.into(), values: values.into(), content };
        contents.into_iter().map(picture).collect()
    }

    #[test]
    fn no_label_below_an_axis_leaves_its_picture() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for _ in 0..2_000 {
            let low = 10_f64.powf(random() * 14.0 - 7.0) * if random() < 0.2 { -1.0 } else { 1.0 };
            let high = low + low.abs() * 10_f64.powf(random() * 8.0 - 4.0);
            for picture in pictures(&[low, high]) {
                let svg = picture.drawn(&Looks::default()).0.svg;
                for label in svg.split(r#"<text class="level" x=""#).skip(1) {
                    let (x, rest) = label.split_once('"').unwrap();
                    let text = rest.split_once('>').unwrap().1.split_once('<').unwrap().0;
                    let (x, half) = (x.parse::<f64>().unwrap(), width(text) / 2.0);
                    let is_inside = x - half >= -0.1 && x + half <= 560.1;
                    assert!(is_inside, "{text} at {x}, {low} to {high}: {svg}");
                }
            }
        }
    }
}
