//! Intervals under one another, on one axis with zero in it: which are surely on one side.

use tcplab_units::rounded::signed;

use crate::drawn::{path, text};
use crate::letters::{fitted_apart, width};
use crate::scale::Ticks;
use crate::svg::escape;

/// Pixels.
const WIDTH: f64 = 900.0;
const NAMES: f64 = 250.0;
/// Between names and intervals.
const GAP: f64 = 10.0;
/// How much larger its letters are than those of other pictures.
const LARGER: f64 = 12.5 / 11.5;
const VALUES: f64 = 190.0;
/// Where the labels beside the intervals begin.
const LABELS: f64 = WIDTH - VALUES + 14.0;
const ROW: f64 = 22.0;
const HEAD: f64 = 24.0;
const MARGIN: f64 = 10.0;
/// Marks on the axis, at most.
const MARKS: usize = 7;

/// An interval with its middle.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestRow {
    /// What it is about.
    pub name: String,
    /// The label beside it.
    pub label: String,
    /// CSS class.
    pub class: &'static str,
    /// The estimate.
    pub value: f64,
    /// Its confidence interval, if known.
    pub interval: Option<(f64, f64)>,
    /// The equivalence margin, on either side of zero.
    pub margin: f64,
}

/// Rows on one axis in `unit`. The axis holds all values; an interval that extends beyond twice the
/// farthest of them ends in an arrowhead.
pub fn forest(label: &str, unit: &str, rows: &[ForestRow]) -> String {
    let height = HEAD + rows.len() as f64 * ROW + MARGIN;
    let axis = Axis::over(rows);
    let mut svg = format!(
        r#"<svg class="forest" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{0}"><title>{0}</title>"#,
        escape(label)
    );
    for (index, row) in rows.iter().enumerate() {
        let top = HEAD + index as f64 * ROW;
        let (from, until) = (axis.x(-row.margin), axis.x(row.margin));
        let wide = until - from;
        svg.push_str(&format!(
            r#"<rect class="within" x="{from:.1}" y="{top}" width="{wide:.1}" height="{ROW}"/>"#
        ));
    }
    scale(&mut svg, &axis, unit, height - MARGIN);
    let names = fitted_apart(rows.iter().map(|row| row.name.as_str()), (NAMES - GAP) / LARGER);
    for (index, (row, name)) in rows.iter().zip(&names).enumerate() {
        drawn(&mut svg, (row, name), &axis, HEAD + (index as f64 + 0.5) * ROW);
    }
    svg.push_str("</svg>");
    svg
}

/// The marks of the axis down to `until`, and the unit beside their numbers.
fn scale(svg: &mut String, axis: &Axis, unit: &str, until: f64) {
    let marks = Ticks::between(axis.low, axis.high, MARKS);
    let mut free_from = f64::NEG_INFINITY;
    for mark in &marks.at {
        let x = axis.x(*mark);
        let class = if mark.abs() < 1e-9 * marks.step { "zero" } else { "rule" };
        path(svg, class, &format!("M{x:.1} {HEAD}V{until}"));
        let number = signed(*mark, &marks.label(mark.abs()));
        let half = width(&number) * LARGER / 2.0;
        if x - half >= free_from {
            free_from = x + half + GAP / 2.0;
            text(svg, "mark", (x, 14.0), &number);
        }
    }
    text(svg, "unit", (LABELS, 14.0), unit);
}

/// Draws a row whose name is cut, with the whole one under the pointer.
fn drawn(svg: &mut String, (row, name): (&ForestRow, &str), axis: &Axis, middle: f64) {
    let baseline = middle + 4.0;
    let (whole, name, label) = (escape(&row.name), escape(name), escape(&row.label));
    let title = if whole == name { String::new() } else { format!("<title>{whole}</title>") };
    svg.push_str(&format!(
        r#"<g class="{}">{title}<text class="name" x="0" y="{baseline}">{name}</text>"#,
        row.class
    ));
    if let Some((low, high)) = row.interval {
        let (from, until) = (axis.x(low), axis.x(high));
        svg.push_str(&format!(r#"<path class="line" d="M{from:.1} {middle}H{until:.1}"/>"#));
        for (end, x, way) in [(low, from, 6.0), (high, until, -6.0)] {
            if end < axis.low || end > axis.high {
                svg.push_str(&format!(r#"<path class="tip" d="M{x:.1} {middle}l{way} -4v8z"/>"#));
            } else {
                svg.push_str(&format!(r#"<path class="line" d="M{x:.1} {}v8"/>"#, middle - 4.0));
            }
        }
    }
    let at = axis.x(row.value);
    svg.push_str(&format!(r#"<circle cx="{at:.1}" cy="{middle}" r="4"/>"#));
    svg.push_str(&format!(r#"<text class="label" x="{LABELS}" y="{baseline}">{label}</text></g>"#));
}

struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn over(rows: &[ForestRow]) -> Axis {
        let points = rows.iter().flat_map(|row| [row.value.abs(), row.margin]);
        let most = points.filter(|value| value.is_finite()).fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let ends = rows.iter().filter_map(|row| row.interval).flat_map(|(low, high)| [low, high]);
        let ends: Vec<f64> = ends.filter(|end| end.is_finite()).collect();
        let low = ends.iter().copied().fold(0.0, f64::min).max(-2.0 * most).min(-0.1 * most);
        let high = ends.iter().copied().fold(0.0, f64::max).min(2.0 * most).max(0.1 * most);
        let points = rows.iter().flat_map(|row| [row.value, row.margin, -row.margin]);
        let (low, high) = points
            .filter(|value| value.is_finite())
            .fold((low, high), |(low, high), value| (low.min(value), high.max(value)));
        let room = (high - low) * 0.04;
        Axis { low: low - room, high: high + room }
    }

    fn x(&self, value: f64) -> f64 {
        let share = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        NAMES + share * (WIDTH - NAMES - VALUES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: f64, interval: Option<(f64, f64)>) -> ForestRow {
        let (name, label) = ("a < b".into(), "worse".into());
        ForestRow { name, label, class: "worse", value, interval, margin: 5.0 }
    }

    #[test]
    fn long_intervals_end_in_arrowheads() {
        let rows = [row(12.0, Some((8.0, 16.0))), row(-1.0, Some((-400.0, 300.0))), row(2.0, None)];
        let drawn = forest("all", "%", &rows);
        assert_eq!(drawn.matches("<circle").count(), 3);
        assert_eq!(drawn.matches("class=\"tip\"").count(), 2, "{drawn}");
        assert_eq!(drawn.matches("class=\"zero\"").count(), 1);
        assert!(drawn.contains("a &lt; b") && drawn.contains(">+10<"), "{drawn}");
        let axis = Axis::over(&rows);
        assert!(axis.low > -30.0 && axis.high < 30.0, "{} to {}", axis.low, axis.high);
    }

    /// Regression: `-0.2 segments0.1 segments`.
    #[test]
    fn numbers_of_the_axis_do_not_overlap_and_have_their_unit_once() {
        for size in [0.1, 3.0, 1e6, 3e9] {
            let rows = [ForestRow { margin: 0.0, ..row(size, Some((-2.0 * size, 1.5 * size))) }];
            let drawn = forest("all", "segments", &rows);
            assert_eq!(drawn.matches("segments").count(), 1, "{drawn}");
            assert!(drawn.contains(">−") && !drawn.contains(">-"), "{drawn}");
            let mut end = f64::NEG_INFINITY;
            for mark in drawn.split(r#"<text class="mark" x=""#).skip(1) {
                let (x, rest) = mark.split_once('"').unwrap();
                let number = rest.split_once('>').unwrap().1.split_once('<').unwrap().0;
                let (x, half) = (x.parse::<f64>().unwrap(), width(number) * LARGER / 2.0);
                assert!(x - half > end, "{number}: {drawn}");
                end = x + half;
            }
            assert_eq!(drawn.matches("class=\"zero\"").count(), 1, "{drawn}");
        }
    }

    #[test]
    fn long_names_end_before_the_intervals() {
        let name = "path.delay=100 ms_queue=256 kB_client.congestion=";
        let rows = ["cubic", "reno"].map(|last| {
            let name = format!("{name}{last}");
            ForestRow { name, ..row(2.0, Some((1.0, 3.0))) }
        });
        let drawn = forest("all", "%", &rows);
        let names: Vec<&str> = drawn
            .split(r#"<text class="name""#)
            .skip(1)
            .filter_map(|it| it.split_once('>')?.1.split_once('<').map(|(name, _)| name))
            .collect();
        assert!(names.iter().all(|name| width(name) * LARGER <= NAMES - GAP), "{names:?}");
        assert!(names[0].ends_with("cubic") && names[1].ends_with("reno"), "{names:?}");
        assert!(drawn.contains(&format!("<title>{name}cubic</title>")), "{drawn}");
    }

    #[test]
    fn zero_values_are_drawn() {
        let drawn = forest("none", "", &[ForestRow { margin: 0.0, ..row(0.0, Some((0.0, 0.0))) }]);
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }
}
