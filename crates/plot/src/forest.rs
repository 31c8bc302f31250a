//! Forests: estimates with their intervals under one another, on one scale, beside what they are
//! held against (Lewis and Clarke, "Forest plots: trying to see the wood and the trees", 2001).

use crate::axis::Axis;
use crate::drawn::{Drawn, csv, csv_number, opening, path, text};
use crate::letters::{fitted, width};
use crate::plane::put;
use crate::scale::decimal;

/// Pixels.
const WIDTH: f64 = 760.0;
const TOP: f64 = 8.0;
const ROW: f64 = 24.0;
const FOOT: f64 = 40.0;
/// Labels and what is told at the right take so much at most.
const LABELS_MOST: f64 = 260.0;
const TOLD_MOST: f64 = 230.0;
const GAP: f64 = 12.0;

/// One picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest<'a> {
    /// What it shows.
    pub title: &'a str,
    /// What the axis counts, with its unit.
    pub values: &'a str,
    /// From the top.
    pub rows: &'a [ForestRow],
    /// What the estimates are held against, such as no difference.
    pub reference: Option<f64>,
    /// Around it, what counts as the same.
    pub band: Option<(f64, f64)>,
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestRow {
    /// What it is of.
    pub label: String,
    /// The estimate; a row without a finite one has no mark.
    pub estimate: f64,
    /// The interval; what is not finite is drawn to the edge.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// What stands at the right end, such as the verdict; may be empty.
    pub told: String,
    /// CSS class of the row: `better`, `worse`, `same`, `undecided`, or empty.
    pub class: &'static str,
}

/// Draws the rows: a square at the estimate, a line over the interval.
pub fn forest(scene: &Forest<'_>) -> Drawn {
    let widest = |of: fn(&ForestRow) -> &str, most: f64| {
        scene.rows.iter().map(|row| width(of(row))).fold(0.0, f64::max).min(most)
    };
    let left = widest(|row| &row.label, LABELS_MOST) + GAP;
    let right = WIDTH - widest(|row| &row.told, TOLD_MOST) - GAP;
    let bottom = TOP + ROW * scene.rows.len() as f64;
    let axis = axis(scene);
    let x = |value: f64| left + axis.share(value).clamp(0.0, 1.0) * (right - left);
    let mut svg = opening("forest", (WIDTH, bottom + FOOT), &summary(scene));
    if let Some((low, high)) = scene.band {
        let (from, until) = (x(low), x(high));
        let size = format!(r#"width="{:.1}" height="{:.1}""#, until - from, bottom - TOP);
        put(&mut svg, &format!(r#"<rect class="same" x="{from:.1}" y="{TOP}" {size}/>"#));
    }
    for (value, label) in axis.marks(7) {
        let at = x(value);
        path(&mut svg, "rule", &format!("M{at:.1} {TOP}V{bottom}"));
        text(&mut svg, "level", (at, bottom + 16.0), &label);
    }
    if let Some(reference) = scene.reference {
        path(&mut svg, "reference", &format!("M{:.1} {TOP}V{bottom}", x(reference)));
    }
    text(&mut svg, "over", (f64::midpoint(left, right), bottom + 33.0), scene.values);
    for (index, row) in scene.rows.iter().enumerate() {
        let y = TOP + ROW * (index as f64 + 0.5);
        put(&mut svg, &format!(r#"<g class="row {}">"#, row.class));
        text(&mut svg, "name", (0.0, y + 4.0), &fitted(&row.label, LABELS_MOST));
        text(&mut svg, "told", (right + GAP, y + 4.0), &fitted(&row.told, TOLD_MOST));
        if row.estimate.is_finite() {
            interval(&mut svg, row, axis, (left, right), y);
            let at = x(row.estimate);
            let y = y - 4.0;
            path(&mut svg, "mark", &format!("M{:.1} {y:.1}h8v8h-8z", at - 4.0));
        }
        svg.push_str("</g>");
    }
    svg.push_str("</svg>");
    Drawn { svg, csv: numbers(scene) }
}

/// The interval; an arrowhead where it goes on beyond the picture.
fn interval(svg: &mut String, row: &ForestRow, axis: Axis, (left, right): (f64, f64), y: f64) {
    let share = |value: f64, edge: f64| if value.is_finite() { axis.share(value) } else { edge };
    let (low, high) = (share(row.low, -1.0), share(row.high, 2.0));
    let x = |share: f64| left + share.clamp(0.0, 1.0) * (right - left);
    let (from, until) = (x(low), x(high));
    path(svg, "interval", &format!("M{from:.1} {y:.1}H{until:.1}"));
    let end = |at: f64, cut: bool, way: f64| {
        if cut {
            format!("M{:.1} {:.1}l{} 4 {} 4", at - way * 4.0, y - 4.0, way * 4.0, -way * 4.0)
        } else {
            format!("M{at:.1} {:.1}v8", y - 4.0)
        }
    };
    path(svg, "interval", &end(from, low < 0.0, -1.0));
    path(svg, "interval", &end(until, high > 1.0, 1.0));
}

/// Holds all estimates, the reference and the band, and of the intervals what lies no further out
/// than twice what these are apart: one wide interval must not press the others flat.
fn axis(scene: &Forest<'_>) -> Axis {
    let band = scene.band.map(|(low, high)| [low, high]);
    let sure: Vec<f64> = scene
        .rows
        .iter()
        .map(|row| row.estimate)
        .chain(scene.reference)
        .chain(band.into_iter().flatten())
        .filter(|value| value.is_finite())
        .collect();
    let (least, most) =
        sure.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), it| (a.min(*it), b.max(*it)));
    let widths = scene.rows.iter().map(|row| row.high - row.low).filter(|it| it.is_finite());
    let mut widths: Vec<f64> = widths.collect();
    widths.sort_by(f64::total_cmp);
    let usual = widths.get(widths.len() / 2).copied().unwrap_or(0.0);
    let room = (most - least).max(usual) * 2.0;
    let ends = scene.rows.iter().flat_map(|row| [row.low, row.high]);
    let ends = ends.filter(|it| it.is_finite()).map(|it| it.clamp(least - room, most + room));
    linear(sure.iter().copied().chain(ends))
}

/// A forest is of differences, which are never drawn by their logarithm.
fn linear(values: impl Iterator<Item = f64>) -> Axis {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), it| (a.min(it), b.max(it)));
    if low > high {
        return Axis { low: 0.0, high: 1.0, is_log: false };
    }
    let room = if high > low { (high - low) * 0.05 } else { high.abs().max(1.0) * 0.1 };
    Axis { low: low - room, high: high + room, is_log: false }
}

fn summary(scene: &Forest<'_>) -> String {
    let row = |row: &ForestRow| {
        let [estimate, low, high] = [row.estimate, row.low, row.high].map(|it| decimal(it, 2));
        format!("{}: {estimate} ({low} to {high}) {}", row.label, row.told).trim_end().to_owned()
    };
    let rows: Vec<String> = scene.rows.iter().map(row).collect();
    format!("{}, {}. {}", scene.title, scene.values, rows.join("; "))
}

fn numbers(scene: &Forest<'_>) -> String {
    let rows = scene.rows.iter().map(|row| {
        let [estimate, low, high] = [row.estimate, row.low, row.high].map(csv_number);
        [row.label.clone(), estimate, low, high, row.told.clone()]
    });
    csv(&["name", scene.values, "low", "high", "told"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: &str, (estimate, low, high): (f64, f64, f64)) -> ForestRow {
        ForestRow {
            label: label.into(),
            estimate,
            low,
            high,
            told: "better <by 3 %>".into(),
            class: "better",
        }
    }

    fn scene(rows: &[ForestRow]) -> Forest<'_> {
        Forest {
            title: "Differences",
            values: "difference, %",
            rows,
            reference: Some(0.0),
            band: Some((-1.0, 1.0)),
        }
    }

    #[test]
    fn every_row_has_its_mark_and_interval() {
        let rows = [row("goodput", (3.0, 1.5, 4.5)), row("a < b", (-0.2, -0.8, 0.4))];
        let drawn = forest(&scene(&rows));
        insta::assert_snapshot!(drawn.svg.replace("><", ">\n<"));
        assert!(drawn.csv.starts_with("name,\"difference, %\",low,high,told\ngoodput,3,1.5,4.5,"));
    }

    #[test]
    fn a_wide_interval_is_cut_with_an_arrowhead_and_no_estimate_has_no_mark() {
        let rows = [
            row("narrow", (3.0, 2.0, 4.0)),
            row("other", (2.0, 1.0, 3.0)),
            row("wild", (1.0, -900.0, f64::INFINITY)),
            row("none", (f64::NAN, f64::NAN, f64::NAN)),
        ];
        let drawn = forest(&scene(&rows));
        assert_eq!(drawn.svg.matches(r#"class="mark""#).count(), 3);
        assert_eq!(drawn.svg.matches("l-4 4 4 4").count(), 1, "{}", drawn.svg);
        assert_eq!(drawn.svg.matches("l4 4 -4 4").count(), 1, "{}", drawn.svg);
        assert!(!drawn.svg.contains("NaN\""), "{}", drawn.svg);
        assert!(axis(&scene(&rows)).high < 20.0);
    }
}
