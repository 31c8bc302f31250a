//! Box plots: quartiles, whiskers and what lies beyond them, in rows on one scale.

use tcplab_units::rounded::brief;

use crate::axis::Axis;
use crate::drawn::{Drawn, path};
use crate::looks::Looks;
use crate::rows::{Place, Rows};
use crate::table::{Table, number_cell};

/// The second column of the table: which part of a box a number is.
const PART: &str = "part";
/// What [`PART`] says of the numbers that make a box, in their order.
const PARTS: [&str; 5] =
    ["lower whisker", "first quartile", "median", "third quartile", "upper whisker"];
/// That of a value beyond the whiskers, and of one in a row without a box.
const OUTLIER: &str = "outlier";
const VALUE: &str = "value";

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxRow {
    /// What it is of.
    pub name: String,
    /// All values; of these are the box and the dots.
    pub values: Vec<f64>,
    /// None of too few values.
    pub shape: Option<BoxShape>,
    /// The values beyond the whiskers; without a box, all.
    pub dots: Vec<f64>,
}

/// A box with its whiskers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxShape {
    /// The first quartile, the median, the third quartile.
    pub quartiles: (f64, f64, f64),
    /// Where the whiskers end.
    pub whiskers: (f64, f64),
}

impl BoxShape {
    /// In the order of [`PARTS`].
    fn parts(self) -> [f64; 5] {
        let (first, middle, third) = self.quartiles;
        [self.whiskers.0, first, middle, third, self.whiskers.1]
    }
}

/// Draws the rows from the top; `values` is what was measured, with its unit. Says how many values
/// lie outside of what the reader wants to see, those that a box stands for too.
pub(crate) fn boxes(title: &str, values: &str, rows: &[BoxRow], looks: &Looks) -> (Drawn, usize) {
    let axis = boxes_axis(rows, looks);
    let frame = Rows {
        kind: "boxes",
        summary: summary(title, values, rows),
        names: rows.iter().map(|row| row.name.as_str()).collect(),
        values,
        axis,
        is_low: false,
    };
    let svg = frame.drawn(looks, |svg, index, place, y| draw(svg, &rows[index], place, y));
    let all = rows.iter().flat_map(|row| &row.values).filter(|value| value.is_finite());
    let outside = all.filter(|value| !axis.holds(**value)).count();
    (Drawn { svg, table: table(values, rows) }, outside)
}

/// Their whiskers and dots.
pub(crate) fn boxes_axis(rows: &[BoxRow], looks: &Looks) -> Axis {
    let whiskers = |row: &BoxRow| row.shape.map(|it| [it.whiskers.0, it.whiskers.1]);
    let seen = rows.iter().flat_map(|row| {
        row.dots.iter().copied().chain(whiskers(row).into_iter().flatten()).collect::<Vec<_>>()
    });
    Axis::reaching(seen, &looks.across)
}

fn draw(svg: &mut String, row: &BoxRow, place: &Place, y: f64) {
    let half = place.half_of_box();
    if let Some(BoxShape { quartiles: (first, middle, third), whiskers: (low, high) }) = row.shape {
        let (above, below) = (y - half, y + half);
        if let Some((from, until)) = place.part((first, third)) {
            let (wide, tall) = (until - from, 2.0 * half);
            svg.push_str(&format!(
                r#"<rect class="box" x="{from:.1}" y="{above}" width="{wide:.1}" height="{tall}"/>"#
            ));
            let sides = format!("M{from:.1} {above}H{until:.1}M{from:.1} {below}H{until:.1}");
            let ends = place.end(first, y, half) + &place.end(third, y, half);
            path(svg, "outline", &(sides + &ends));
        }
        let whisker = |from: f64, until: f64, end: f64| {
            let (left, right) = place.part((from, until)).filter(|_| from < until)?;
            Some(format!("M{left:.1} {y}H{right:.1}{}", place.end(end, y, half.min(5.0))))
        };
        let both = [whisker(low, first, low), whisker(third, high, high)];
        path(svg, "whisker", &both.into_iter().flatten().collect::<String>());
        if place.holds(middle) {
            path(svg, "middle", &format!("M{:.1} {above}V{below}", place.x(middle)));
        }
    }
    if !row.dots.is_empty() {
        path(svg, "dots", &place.dots(&row.dots, y));
    }
}

/// A line for each part of each box, and for each dot.
fn table(values: &str, rows: &[BoxRow]) -> Table {
    let of = |row: &BoxRow| -> Vec<[String; 3]> {
        let parts = row.shape.map(|it| PARTS.into_iter().zip(it.parts()));
        let kind = if row.shape.is_some() { OUTLIER } else { VALUE };
        let dots = row.dots.iter().map(|value| (kind, *value));
        let all = parts.into_iter().flatten().chain(dots);
        all.map(|(part, value)| [row.name.clone(), part.to_owned(), number_cell(value)]).collect()
    };
    Table::new(&["name", PART, values], rows.iter().flat_map(of))
}

fn summary(title: &str, values: &str, rows: &[BoxRow]) -> String {
    let row = |row: &BoxRow| {
        let Some(BoxShape { quartiles: (first, middle, third), .. }) = row.shape else {
            return format!("{}: {} values", row.name, row.dots.len());
        };
        let [first, middle, third] = [first, middle, third].map(brief);
        format!("{}: median {middle}, quartiles {first} and {third}", row.name)
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("{title}: {values}. {}", rows.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, dots: &[f64]) -> BoxRow {
        let shape = BoxShape { quartiles: (2.0, 3.0, 5.0), whiskers: (1.0, 9.0) };
        let values = [&[1.0, 2.0, 3.0, 5.0, 9.0], dots].concat();
        BoxRow { name: name.into(), values, shape: Some(shape), dots: dots.into() }
    }

    #[test]
    fn box_has_whiskers_and_outliers_are_dots() {
        let few = BoxRow { values: vec![4.0, 6.0], shape: None, ..row("few", &[4.0, 6.0]) };
        let rows = [row("<reno>", &[11.0, 12.5]), few];
        let (drawn, outside) = boxes("goodput", "goodput, Mbit/s", &rows, &Looks::default());
        assert_eq!(outside, 0);
        insta::assert_snapshot!(drawn.svg.replace("><", ">\n<") + "\n" + &drawn.table.csv());
    }

    #[test]
    fn what_is_cut_has_no_end() {
        let mut looks = Looks::default();
        (looks.across.from, looks.across.until) = (Some(2.5), Some(8.0));
        let (drawn, outside) = boxes("t", "ms", &[row("a", &[11.0])], &looks);
        assert_eq!(outside, 4, "the outlier, and what the box stands for: 1, 2 and 9");
        let whisker = drawn.svg.split(r#"class="whisker" d=""#).nth(1).unwrap();
        let whisker = whisker.split('"').next().unwrap();
        assert_eq!(whisker.matches('M').count(), 1, "the upper one, without its end: {whisker}");
        let outline = drawn.svg.split(r#"class="outline" d=""#).nth(1).unwrap();
        assert_eq!(outline.split('"').next().unwrap().matches('V').count(), 1, "{outline}");
        assert_eq!(drawn.table.csv().lines().count(), 1 + 6, "the table has all");
        looks.across.until = Some(2.8);
        let (drawn, outside) = boxes("t", "ms", &[row("a", &[])], &looks);
        assert!(outside == 5 && !drawn.svg.contains(r#"class="middle""#), "{}", drawn.svg);
    }
}
