//! Spreads: every trial a dot, in rows on one scale, with median, quartiles and the interval of
//! the median.

use tcplab_units::rounded::decimal;

use crate::axis::Axis;
use crate::drawn::{Drawn, csv, csv_number, opening, path, text};
use crate::letters::{fitted_apart, width};

/// Pixels.
const WIDTH: f64 = 560.0;
const TOP: f64 = 6.0;
const ROW: f64 = 34.0;
const FOOT: f64 = 40.0;
const NAMES_MOST: f64 = 210.0;
/// Width of a dot; closer dots go beside one another.
const DOT: f64 = 5.0;
/// The distance of dots beside one another, and their number before they overlap.
const ASIDE: f64 = 3.4;
const MOST_ASIDE: usize = 7;

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct SpreadRow {
    /// What it is of.
    pub name: String,
    /// One for each trial; values that are not finite are left out.
    pub values: Vec<f64>,
    /// The first quartile, the median, the third quartile.
    pub quartiles: Option<(f64, f64, f64)>,
    /// The median.
    pub middle: Option<f64>,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
}

/// Draws the rows from the top; `values` is what was measured, with its unit.
pub fn spread(title: &str, values: &str, rows: &[SpreadRow]) -> Drawn {
    let widest = rows.iter().map(|row| width(&row.name)).fold(0.0, f64::max);
    let left = widest.min(NAMES_MOST) + 12.0;
    let right = WIDTH - 12.0;
    let bottom = TOP + ROW * rows.len() as f64;
    let axis = Axis::over(rows.iter().flat_map(seen));
    let x = |value: f64| left + axis.share(value).clamp(0.0, 1.0) * (right - left);
    let mut svg = opening("spread", (WIDTH, bottom + FOOT), &summary(title, values, rows));
    for (value, label) in axis.marks(7) {
        let at = x(value);
        path(&mut svg, "rule", &format!("M{at:.1} {TOP}V{bottom}"));
        text(&mut svg, "level", (at, bottom + 16.0), &label);
    }
    text(&mut svg, "over", (f64::midpoint(left, right), bottom + 34.0), values);
    let names = fitted_apart(rows.iter().map(|row| row.name.as_str()), NAMES_MOST);
    for (index, (row, name)) in rows.iter().zip(&names).enumerate() {
        let y = TOP + ROW * (index as f64 + 0.5);
        text(&mut svg, "name", (0.0, y + 4.0), name);
        draw(&mut svg, row, x, y);
    }
    svg.push_str("</svg>");
    let numbers = rows.iter().flat_map(|row| {
        row.values.iter().map(|value| [row.name.clone(), csv_number(*value)]).collect::<Vec<_>>()
    });
    Drawn { svg, csv: csv(&["name", values], numbers) }
}

/// Values for the axis; intervals only as far as the values' range.
fn seen(row: &SpreadRow) -> impl Iterator<Item = f64> {
    let finite = || row.values.iter().copied().filter(|it| it.is_finite()).chain(row.middle);
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::MIN, f64::max));
    let room = high - low;
    let ends = row.interval.filter(|_| low <= high);
    let ends = ends.map(|(from, until)| [from.max(low - room), until.min(high + room)]);
    finite().collect::<Vec<_>>().into_iter().chain(ends.into_iter().flatten())
}

fn draw(svg: &mut String, row: &SpreadRow, x: impl Fn(f64) -> f64, y: f64) {
    if let Some((low, _, high)) = row.quartiles {
        let (from, until) = (x(low), x(high));
        let (top, wide) = (y - 11.0, (until - from).max(1.0));
        svg.push_str(&format!(
            r#"<rect class="box" x="{from:.1}" y="{top}" width="{wide:.1}" height="22"/>"#
        ));
    }
    path(svg, "trials", &dots(row, &x, y));
    if let Some((low, high)) = row.interval {
        let (from, until) = (x(low), x(high));
        let (above, below) = (y - 5.0, y + 5.0);
        let ends = format!("M{from:.1} {above}V{below}M{until:.1} {above}V{below}");
        path(svg, "interval", &format!("M{from:.1} {y}H{until:.1}{ends}"));
    }
    if let Some(middle) = row.middle {
        path(svg, "middle", &format!("M{:.1} {}v18", x(middle), y - 9.0));
    }
}

/// A dot for each value: strokes of no length with round ends. Dots that would overlap go beside
/// one another as far as there is room; those at the same place are one.
fn dots(row: &SpreadRow, x: impl Fn(f64) -> f64, y: f64) -> String {
    let mut places: Vec<f64> =
        row.values.iter().copied().filter(|it| it.is_finite()).map(x).collect();
    places.sort_by(f64::total_cmp);
    let mut d = String::new();
    for near in places.chunk_by(|a, b| (a / DOT) as i64 == (b / DOT) as i64) {
        let many = near.len().min(MOST_ASIDE);
        let mut drawn: Vec<(i64, usize)> = Vec::new();
        for (index, at) in near.iter().enumerate() {
            let aside = index % many;
            let place = ((at * 10.0).round() as i64, aside);
            if drawn.contains(&place) {
                continue;
            }
            drawn.push(place);
            let up = (aside as f64 - (many as f64 - 1.0) / 2.0) * ASIDE;
            d += &format!("M{at:.1} {:.1}h0", y - up);
        }
    }
    d
}

fn summary(title: &str, values: &str, rows: &[SpreadRow]) -> String {
    let row = |row: &SpreadRow| {
        let middle = row.middle.map(|it| format!(", middle {}", decimal(it, 2)));
        let middle = middle.unwrap_or_default();
        format!("{}: {} trials{middle}", row.name, row.values.len())
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
        let drawn = spread("goodput", "goodput, Mbit/s", &rows);
        assert_eq!(drawn.svg.matches("h0").count(), 6, "{}", drawn.svg);
        insta::assert_snapshot!(drawn.svg.replace("><", ">\n<"));
        assert_eq!(drawn.csv.lines().count(), 1 + 4 + 3);
    }

    #[test]
    fn many_trials_make_a_bounded_number_of_dots() {
        let values: Vec<f64> = (0..20_000).map(|n| f64::from(n % 997) / 3.0).collect();
        assert!(spread("t", "ms", &[row("all", &values)]).svg.len() < 400_000);
    }

    #[test]
    fn extreme_interval_is_clipped() {
        let mut wild = row("one", &[1.0, 2.0]);
        wild.interval = Some((-1e9, 1e9));
        let most = seen(&wild).fold(f64::MIN, f64::max);
        assert!(most <= 3.0, "{most}");
    }
}
