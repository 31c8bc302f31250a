//! Means as bars from zero, with their intervals, in rows on one scale.

use tcplab_units::rounded::brief;

use crate::axis::Axis;
use crate::drawn::{Drawn, path};
use crate::looks::{AxisLooks, Looks};
use crate::rows::{Place, Rows, with_ends};
use crate::table::{Table, number_cell};

/// The name of the first column of the table: what the bars are of.
const BAR: &str = "bar";

/// A bar.
#[derive(Debug, Clone, PartialEq)]
pub struct BarRow {
    /// What it is of.
    pub name: String,
    /// Its length.
    pub mean: f64,
    /// The interval of the mean.
    pub interval: Option<(f64, f64)>,
}

/// Draws the rows from the top; `values` is what was measured, with its unit. The axis is linear
/// and has zero on it, whatever the reader wants. Says how many means lie outside of what the
/// reader wants to see.
pub(crate) fn mean_bars(
    title: &str,
    values: &str,
    rows: &[BarRow],
    looks: &Looks,
) -> (Drawn, usize) {
    let axis = bars_axis(rows, looks);
    let frame = Rows {
        kind: "mean-bars",
        summary: summary(title, values, rows),
        names: rows.iter().map(|row| row.name.as_str()).collect(),
        values,
        axis,
        is_low: true,
    };
    let svg = frame.drawn(looks, |svg, index, place, y| draw(svg, &rows[index], place, y));
    let numbers = rows.iter().map(|row| {
        let (low, high) = row.interval.unwrap_or((f64::NAN, f64::NAN));
        let [mean, low, high] = [row.mean, low, high].map(number_cell);
        [row.name.clone(), mean, low, high]
    });
    let outside = rows.iter().filter(|row| !axis.holds(row.mean)).count();
    (Drawn { svg, table: Table::new(&[BAR, values, "low", "high"], numbers) }, outside)
}

/// Their means and the ends of their intervals, with zero.
pub(crate) fn bars_axis(rows: &[BarRow], looks: &Looks) -> Axis {
    let means: Vec<_> = rows.iter().map(|row| (row.mean, row.interval)).collect();
    let across = AxisLooks { is_log: Some(false), ..looks.across.clone() };
    Axis::reaching(with_ends(&means).into_iter().chain([0.0]), &across)
}

// Pages have elements of the class `bar` that have a height of their own.
fn draw(svg: &mut String, row: &BarRow, place: &Place, y: f64) {
    let half = place.half_of_box();
    if let Some((from, until)) = place.part((row.mean.min(0.0), row.mean.max(0.0))) {
        let (top, wide, tall) = (y - half, until - from, 2.0 * half);
        svg.push_str(&format!(
            r#"<rect class="mean-bar" x="{from:.1}" y="{top}" width="{wide:.1}" height="{tall}"/>"#
        ));
    }
    if let Some(d) = row.interval.and_then(|ends| place.interval(ends, y)) {
        path(svg, "interval", &d);
    }
}

fn summary(title: &str, values: &str, rows: &[BarRow]) -> String {
    let row = |row: &BarRow| format!("{}: {}", row.name, brief(row.mean));
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("{title}: {values}. {}", rows.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, mean: f64, interval: Option<(f64, f64)>) -> BarRow {
        BarRow { name: name.into(), mean, interval }
    }

    #[test]
    fn bars_begin_at_zero() {
        let rows = [row("<reno>", 98.0, Some((97.0, 99.0))), row("cubic", 99.5, None)];
        let (drawn, outside) = mean_bars("goodput", "goodput, Mbit/s", &rows, &Looks::default());
        assert_eq!(outside, 0);
        insta::assert_snapshot!(drawn.svg.replace("><", ">\n<") + "\n" + &drawn.table.csv());
    }

    #[test]
    fn intervals_end_in_the_picture_or_in_an_arrowhead() {
        let ends = |interval: (f64, f64)| {
            let rows = [row("a", 0.25, Some(interval)), row("b", 0.05, None)];
            let axis = bars_axis(&rows, &Looks::default());
            let (drawn, _) = mean_bars("timeouts", "timeouts", &rows, &Looks::default());
            let (_, d) = drawn.svg.split_once(r#"<path class="interval" d=""#).unwrap();
            let d = d.split_once('"').unwrap().0;
            (axis.holds(interval.1), d.matches('V').count(), d.matches('L').count())
        };
        assert_eq!(ends((0.0, 0.637)), (true, 2, 0));
        assert_eq!(ends((0.0, 60.0)), (false, 1, 2));
    }

    #[test]
    fn bars_of_very_different_lengths_have_a_linear_axis_from_zero() {
        let mut looks = Looks::default();
        looks.across.is_log = Some(true);
        let rows = [row("a", 1.0, None), row("b", 1e6, None), row("c", -1e5, None)];
        let (drawn, _) = mean_bars("t", "ms", &rows, &looks);
        let number = |bar: &str, key: &str| -> f64 {
            let (_, rest) = bar.split_once(&format!(" {key}=\"")).unwrap();
            rest.split_once('"').unwrap().0.parse().unwrap()
        };
        let bars: Vec<(f64, f64)> = drawn
            .svg
            .split(r#"<rect class="mean-bar""#)
            .skip(1)
            .map(|bar| (number(bar, "x"), number(bar, "width")))
            .collect();
        let zero = bars[0].0;
        assert!((bars[1].0 - zero).abs() < 0.11, "{bars:?}");
        assert!((bars[2].0 + bars[2].1 - zero).abs() < 0.11, "{bars:?}");
        assert!((bars[1].1 / bars[2].1 - 10.0).abs() < 0.1, "lengths are in proportion: {bars:?}");
        looks.across.until = Some(10.0);
        assert_eq!(mean_bars("t", "ms", &rows, &looks).1, 1, "a bar that is cut");
    }
}
