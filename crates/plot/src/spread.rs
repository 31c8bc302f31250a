//! Spreads: every trial a dot, in rows on one scale, with median, quartiles and the interval of
//! the median.

use tcplab_units::rounded::brief;

use crate::axis::Axis;
use crate::drawn::{Drawn, path};
use crate::looks::Looks;
use crate::rows::{Place, Rows, with_ends, with_interval};
use crate::table::{Table, number_cell};

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct SpreadRow {
    /// What it is of.
    pub name: String,
    /// One for each trial; values that are not finite are left out. Of rows without any, the middle
    /// and the interval are drawn.
    pub values: Vec<f64>,
    /// The first quartile, the median, the third quartile.
    pub quartiles: Option<(f64, f64, f64)>,
    /// The median.
    pub middle: Option<f64>,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
}

/// Draws the rows from the top; `values` is what was measured, with its unit. Says how many values
/// lie outside of what the reader wants to see: of rows without values, how many middles.
pub(crate) fn spread(
    title: &str,
    values: &str,
    rows: &[SpreadRow],
    looks: &Looks,
) -> (Drawn, usize) {
    let axis = spread_axis(rows, looks);
    let frame = Rows {
        kind: "spread",
        summary: summary(title, values, rows),
        names: rows.iter().map(|row| row.name.as_str()).collect(),
        values,
        axis,
        is_low: rows.iter().all(|row| row.values.is_empty()),
    };
    let svg = frame.drawn(looks, |svg, index, place, y| draw(svg, &rows[index], place, y));
    let numbers = rows.iter().flat_map(|row| {
        row.values.iter().map(|value| [row.name.clone(), number_cell(*value)]).collect::<Vec<_>>()
    });
    let outside = rows.iter().flat_map(points).filter(|value| !axis.holds(*value)).count();
    (Drawn { svg, table: Table::new(&["name", values], numbers) }, outside)
}

/// What a row shows each of: its values, or where it has none, its middle.
fn points(row: &SpreadRow) -> impl Iterator<Item = f64> {
    let middle = row.middle.filter(|_| row.values.is_empty());
    row.values.iter().copied().chain(middle).filter(|it| it.is_finite())
}

/// All values, and the intervals of their middles.
pub(crate) fn spread_axis(rows: &[SpreadRow], looks: &Looks) -> Axis {
    let is_bare = |row: &&SpreadRow| row.values.is_empty();
    let means = rows.iter().filter(is_bare).filter_map(|row| Some((row.middle?, row.interval)));
    let means: Vec<_> = means.collect();
    let of_values = rows.iter().filter(|row| !is_bare(row)).flat_map(seen);
    Axis::reaching(of_values.chain(with_ends(&means)), &looks.across)
}

/// Values of a row for the axis.
fn seen(row: &SpreadRow) -> Vec<f64> {
    let finite = row.values.iter().copied().filter(|it| it.is_finite()).chain(row.middle);
    with_interval(finite.collect(), row.interval)
}

fn draw(svg: &mut String, row: &SpreadRow, place: &Place, y: f64) {
    let high = place.half_of_box();
    if let Some((from, until)) = row.quartiles.and_then(|(low, _, high)| place.part((low, high))) {
        let (top, wide, tall) = (y - high, (until - from).max(1.0), high * 2.0);
        svg.push_str(&format!(
            r#"<rect class="box" x="{from:.1}" y="{top}" width="{wide:.1}" height="{tall}"/>"#
        ));
    }
    path(svg, "trials", &place.dots(&row.values, y));
    if let Some(d) = row.interval.and_then(|ends| place.interval(ends, y)) {
        path(svg, "interval", &d);
    }
    if let Some(middle) = row.middle.filter(|it| place.holds(*it)) {
        let half = high.min(9.0);
        path(svg, "middle", &format!("M{:.1} {}v{}", place.x(middle), y - half, 2.0 * half));
    }
}

fn summary(title: &str, values: &str, rows: &[SpreadRow]) -> String {
    let row = |row: &SpreadRow| {
        let middle = row.middle.map(|it| format!(", middle {}", brief(it)));
        let middle = middle.unwrap_or_default();
        match row.values.len() {
            0 => format!("{}{}", row.name, middle.replace(", middle", ":")),
            trials => format!("{}: {trials} trials{middle}", row.name),
        }
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("{title}: {values}. {}", rows.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, values: &[f64]) -> SpreadRow {
        SpreadRow {
            name: name.into(),
            values: values.into(),
            quartiles: Some((1.0, 2.0, 3.0)),
            middle: Some(2.0),
            interval: Some((1.2, 2.8)),
        }
    }

    #[test]
    fn every_trial_is_a_dot() {
        let rows = [row("reno", &[1.0, 2.0, 3.5, f64::NAN]), row("cubic", &[2.0, 2.0, 2.0])];
        let (drawn, outside) = spread("goodput", "goodput, Mbit/s", &rows, &Looks::default());
        assert_eq!(outside, 0);
        assert_eq!(drawn.svg.matches("h0").count(), 6, "{}", drawn.svg);
        insta::assert_snapshot!(drawn.svg.replace("><", ">\n<"));
        assert_eq!(drawn.table.csv().lines().count(), 1 + 4 + 3);
    }

    #[test]
    fn many_trials_make_a_bounded_number_of_dots() {
        let values: Vec<f64> = (0..20_000).map(|n| f64::from(n % 997) / 3.0).collect();
        let (drawn, _) = spread("t", "ms", &[row("all", &values)], &Looks::default());
        assert!(drawn.svg.len() < 400_000);
    }

    #[test]
    fn dots_outside_of_the_range_are_counted() {
        let rows = [row("a", &[1.0, 2.0, 30.0]), row("b", &[2.5, 2.5])];
        let mut looks = Looks::default();
        looks.across.until = Some(10.0);
        looks.colours.push(("b".into(), "orange".parse().unwrap()));
        let (drawn, outside) = spread("t", "ms", &rows, &looks);
        assert_eq!((outside, drawn.svg.matches("h0").count()), (1, 4), "{}", drawn.svg);
        let coloured = drawn.svg.matches(r#"<g class="coloured line-1">"#).count();
        assert_eq!((coloured, drawn.table.csv().lines().count()), (1, 1 + 5), "the table has all");
    }

    #[test]
    fn rows_without_values_are_middles_with_intervals() {
        let (drawn, outside) =
            spread("t", "ms", &[row("a", &[]), row("b", &[])], &Looks::default());
        let marks = ["middle", "interval"].map(|it| drawn.svg.matches(it).count());
        assert_eq!((marks, outside), ([2, 2], 0), "{}", drawn.svg);
        assert!(drawn.svg.contains("a: 2.00; b: 2.00"), "{}", drawn.svg);
    }
}
