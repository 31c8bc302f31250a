//! Spreads: every trial a dot, in rows on one scale, with median, quartiles and the interval of
//! the median.

use tcplab_units::rounded::decimal;

use crate::axis::Axis;
use crate::drawn::{Drawn, csv, csv_number, opening, path, text};
use crate::letters::{fitted_apart, width};
use crate::line_style::group;
use crate::looks::Looks;

/// Pixels.
const WIDTH: f64 = 560.0;
const TOP: f64 = 6.0;
const ROW: f64 = 34.0;
/// More rows are closer to one another, with dots that overlap sooner.
const ROWS_WIDE: usize = 60;
const ROW_OF_MANY: f64 = 18.0;
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
    let widest = rows.iter().map(|row| width(&row.name)).fold(0.0, f64::max);
    let left = widest.min(NAMES_MOST) + 12.0;
    let right = WIDTH - 12.0;
    let is_low = rows.len() > ROWS_WIDE || rows.iter().all(|row| row.values.is_empty());
    let high = if is_low { ROW_OF_MANY } else { ROW };
    let bottom = TOP + high * rows.len() as f64;
    let axis = Axis::reaching(rows.iter().flat_map(seen), &looks.across);
    let place = Place { axis, left, right, half: high / 2.0 };
    let mut svg = opening("spread", (WIDTH, bottom + FOOT), &summary(title, values, rows));
    for (value, label) in axis.marks(7) {
        let at = place.x(value);
        path(&mut svg, "rule", &format!("M{at:.1} {TOP}V{bottom}"));
        text(&mut svg, "level", (at, bottom + 16.0), &label);
    }
    let over = looks.across.label.as_deref().unwrap_or(values);
    text(&mut svg, "over", (f64::midpoint(left, right), bottom + 34.0), over);
    let names = fitted_apart(rows.iter().map(|row| row.name.as_str()), NAMES_MOST);
    for (index, (row, name)) in rows.iter().zip(&names).enumerate() {
        let y = TOP + high * (index as f64 + 0.5);
        text(&mut svg, "name", (0.0, y + 4.0), name);
        match looks.colour_of(&row.name) {
            None => draw(&mut svg, row, &place, y),
            own => {
                svg.push_str(&group(0, 0, own).replacen("class=\"", "class=\"coloured ", 1));
                draw(&mut svg, row, &place, y);
                svg.push_str("</g>");
            }
        }
    }
    svg.push_str("</svg>");
    let numbers = rows.iter().flat_map(|row| {
        row.values.iter().map(|value| [row.name.clone(), csv_number(*value)]).collect::<Vec<_>>()
    });
    let outside = rows.iter().flat_map(points).filter(|value| !place.holds(*value)).count();
    (Drawn { svg, csv: csv(&["name", values], numbers) }, outside)
}

/// What a row shows each of: its values, or where it has none, its middle.
fn points(row: &SpreadRow) -> impl Iterator<Item = f64> {
    let middle = row.middle.filter(|_| row.values.is_empty());
    row.values.iter().copied().chain(middle).filter(|it| it.is_finite())
}

/// Where values are.
struct Place {
    axis: Axis,
    left: f64,
    right: f64,
    /// Half of the room of a row.
    half: f64,
}

impl Place {
    fn x(&self, value: f64) -> f64 {
        self.left + self.axis.share(value).clamp(0.0, 1.0) * (self.right - self.left)
    }

    fn holds(&self, value: f64) -> bool {
        (self.axis.low..=self.axis.high).contains(&value)
    }

    /// The part of a range that is shown.
    fn part(&self, (low, high): (f64, f64)) -> Option<(f64, f64)> {
        (low <= self.axis.high && high >= self.axis.low).then(|| (self.x(low), self.x(high)))
    }
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

fn draw(svg: &mut String, row: &SpreadRow, place: &Place, y: f64) {
    let high = (place.half - 6.0).max(5.0);
    if let Some((from, until)) = row.quartiles.and_then(|(low, _, high)| place.part((low, high))) {
        let (top, wide, tall) = (y - high, (until - from).max(1.0), high * 2.0);
        svg.push_str(&format!(
            r#"<rect class="box" x="{from:.1}" y="{top}" width="{wide:.1}" height="{tall}"/>"#
        ));
    }
    path(svg, "trials", &dots(row, place, y));
    if let Some((ends, (from, until))) = row.interval.and_then(|it| Some((it, place.part(it)?))) {
        let (above, below) = (y - high.min(5.0), y + high.min(5.0));
        // What is cut has no end.
        let end = |value: f64, x: f64| {
            if place.holds(value) { format!("M{x:.1} {above}V{below}") } else { String::new() }
        };
        let ends = end(ends.0, from) + &end(ends.1, until);
        path(svg, "interval", &format!("M{from:.1} {y}H{until:.1}{ends}"));
    }
    if let Some(middle) = row.middle.filter(|it| place.holds(*it)) {
        let half = high.min(9.0);
        path(svg, "middle", &format!("M{:.1} {}v{}", place.x(middle), y - half, 2.0 * half));
    }
}

/// A dot for each value: strokes of no length with round ends. Dots that would overlap go beside
/// one another as far as there is room; those at the same place are one.
fn dots(row: &SpreadRow, place: &Place, y: f64) -> String {
    let shown = row.values.iter().filter(|it| place.holds(**it));
    let mut places: Vec<f64> = shown.map(|value| place.x(*value)).collect();
    places.sort_by(f64::total_cmp);
    let mut d = String::new();
    for near in places.chunk_by(|a, b| (a / DOT) as i64 == (b / DOT) as i64) {
        // As many as the row has room for.
        let most = ((place.half * 2.0 - 4.0) / ASIDE) as usize;
        let many = near.len().min(most.clamp(1, MOST_ASIDE));
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
        assert_eq!(drawn.csv.lines().count(), 1 + 4 + 3);
    }

    #[test]
    fn many_trials_make_a_bounded_number_of_dots() {
        let values: Vec<f64> = (0..20_000).map(|n| f64::from(n % 997) / 3.0).collect();
        let (drawn, _) = spread("t", "ms", &[row("all", &values)], &Looks::default());
        assert!(drawn.svg.len() < 400_000);
    }

    #[test]
    fn extreme_interval_is_clipped() {
        let mut wild = row("one", &[1.0, 2.0]);
        wild.interval = Some((-1e9, 1e9));
        let most = seen(&wild).fold(f64::MIN, f64::max);
        assert!(most <= 3.0, "{most}");
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
        assert_eq!((coloured, drawn.csv.lines().count()), (1, 1 + 5), "the table has all");
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
