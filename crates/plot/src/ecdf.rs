//! Distributions: the share of values that are no larger, a line for each of several ways.

use crate::axis::Axis;
use crate::clip::Edges;
use crate::drawn::{Drawn, below_marks, opening, path, text};
use crate::legend::legend;
use crate::letters::{fitted_apart, width};
use crate::line_style::{groups, marker};
use crate::looks::{AxisLooks, Looks};
use crate::scale::Ticks;
use crate::svg::escape;
use crate::table::{Table, number_cell};

/// Pixels.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 14.0;
const KEY_ROW: f64 = 17.0;
const FOOT: f64 = 40.0;
/// More lines have marks, their names are in columns below, and there is more room upwards.
const NAMED_ABOVE: usize = 14;
const HEIGHT_OF_MANY: f64 = 400.0;
/// The shares at which lines have marks.
const MARKED: [f64; 3] = [0.25, 0.5, 0.75];
/// Longer names are cut.
const NAMES_MOST: f64 = 230.0;

/// A line: its name, and its values in any order; values that are not finite are left out.
pub type EcdfLine = (String, Vec<f64>);

/// Draws a step for each value, joined if closer than a quarter of a pixel. `values` is what was
/// measured, with its unit; lines are in the order of their colours. Says how many values lie
/// outside of what the reader wants to see.
pub(crate) fn ecdf(title: &str, values: &str, lines: &[EcdfLine], looks: &Looks) -> (Drawn, usize) {
    let sorted: Vec<Vec<f64>> = lines.iter().map(sorted).collect();
    let place = Place::of(&sorted, lines, looks);
    let bottom = place.edges.bottom;
    let mut svg = String::new();
    axes(&mut svg, &place, values, looks);
    let is_marked = lines.len() > NAMED_ABOVE;
    let groups = groups(lines.iter().map(|(name, _)| name.as_str()), looks);
    for (index, values) in sorted.iter().enumerate().filter(|(_, values)| !values.is_empty()) {
        let name = &lines[index].0;
        svg.push_str(&groups[index]);
        if is_marked {
            svg.push_str(&format!("<title>{}</title>", escape(name)));
        }
        path(&mut svg, "line", &place.line(&place.steps(values)));
        if is_marked {
            place.mark(&mut svg, index, values);
        }
        svg.push_str("</g>");
    }
    let mut height = bottom + FOOT;
    if is_marked {
        let names: Vec<&str> = lines.iter().map(|(name, _)| name.as_str()).collect();
        height += 10.0;
        height += legend(&mut svg, &names, looks, (height, WIDTH)) + 4.0;
    } else {
        svg.push_str(&keys(lines, looks).0);
    }
    let summary = format!("{title}: share of values up to {values}");
    let svg = opening("ecdf", (WIDTH, height), &summary) + &svg + "</svg>";
    let rows = sorted.iter().zip(lines).flat_map(|(values, (name, _))| {
        let share = |rank: usize| number_cell((rank + 1) as f64 / values.len() as f64);
        let row =
            move |(rank, value): (usize, &f64)| [name.clone(), number_cell(*value), share(rank)];
        values.iter().enumerate().map(row).collect::<Vec<_>>()
    });
    let outside = sorted.iter().map(|values| place.outside(values)).sum();
    (Drawn { svg, table: Table::new(&["name", values, "share"], rows) }, outside)
}

/// The axis of the values, the shares at the lower and the upper edge, and the steps of each line:
/// a value with the share from it on, from one end of the axis to the other.
pub(crate) struct Steps {
    pub(crate) axis: Axis,
    pub(crate) shares: (f64, f64),
    pub(crate) lines: Vec<Vec<(f64, f64)>>,
}

/// What [`ecdf`] draws.
pub(crate) fn ecdf_steps(lines: &[EcdfLine], looks: &Looks) -> Steps {
    let sorted: Vec<Vec<f64>> = lines.iter().map(sorted).collect();
    let place = Place::of(&sorted, lines, looks);
    let (axis, shares) = (place.axis, place.shares);
    let of_line = |values: &Vec<f64>| {
        let mut steps = if values.is_empty() { Vec::new() } else { place.steps(values) };
        steps.extend(steps.last().map(|(_, share)| (axis.high, *share)));
        steps
    };
    Steps { axis, shares, lines: sorted.iter().map(of_line).collect() }
}

/// Where values and shares are.
struct Place {
    axis: Axis,
    /// The shares at the lower and the upper edge.
    shares: (f64, f64),
    edges: Edges,
}

impl Place {
    fn of(sorted: &[Vec<f64>], lines: &[EcdfLine], looks: &Looks) -> Place {
        let axis = Axis::reaching(sorted.iter().flatten().copied(), &looks.across);
        let is_marked = lines.len() > NAMED_ABOVE;
        let top = if is_marked { 8.0 } else { keys(lines, looks).1 };
        let top = if looks.up.label.is_some() { top + KEY_ROW + 6.0 } else { top };
        let bottom = top + if is_marked { HEIGHT_OF_MANY } else { HEIGHT };
        let AxisLooks { from, until, .. } = looks.up;
        let shares = (from.unwrap_or(0.0) / 100.0, until.unwrap_or(100.0) / 100.0);
        Place { axis, shares, edges: Edges { left: LEFT, top, right: WIDTH - RIGHT, bottom } }
    }

    fn x(&self, value: f64) -> f64 {
        let Edges { left, right, .. } = self.edges;
        left + self.axis.share(value).clamp(0.0, 1.0) * (right - left)
    }

    fn y(&self, share: f64) -> f64 {
        let (low, high) = self.shares;
        let up = (share - low) / (high - low);
        self.edges.bottom - up * (self.edges.bottom - self.edges.top)
    }

    /// How many of the values have no place in the picture: themselves, or their share.
    fn outside(&self, values: &[f64]) -> usize {
        let (low, high) = self.shares;
        let share = |rank: usize| (rank + 1) as f64 / values.len() as f64;
        let is_shown = |(rank, value): &(usize, &f64)| {
            self.axis.holds(**value) && (low..=high).contains(&share(*rank))
        };
        values.len() - values.iter().enumerate().filter(is_shown).count()
    }

    /// Each step: a value and the share from it on. The first is at the low end of the axis, with
    /// the values before it.
    fn steps(&self, values: &[f64]) -> Vec<(f64, f64)> {
        let count = values.len() as f64;
        let mut index = values.iter().take_while(|value| **value < self.axis.low).count();
        let mut steps = vec![(self.axis.low, index as f64 / count)];
        while index < values.len() && values[index] <= self.axis.high {
            let value = values[index];
            let x = self.x(value);
            let rest = values[index..].iter();
            index += rest.take_while(|it| self.x(**it) - x < 0.25).count().max(1);
            steps.push((value, index as f64 / count));
        }
        steps
    }

    /// The line of [`Self::steps`], cut at the edges.
    fn line(&self, steps: &[(f64, f64)]) -> String {
        let mut places: Vec<(f64, f64)> = Vec::new();
        for (value, share) in steps {
            let (x, y) = (self.x(*value), self.y(*share));
            places.extend(places.last().map(|(_, before)| (x, *before)));
            places.push((x, y));
        }
        places.extend(places.last().map(|(_, y)| (self.edges.right, *y)));
        self.edges.path(&places)
    }

    /// Where the line crosses some shares.
    fn mark(&self, svg: &mut String, index: usize, values: &[f64]) {
        for share in MARKED {
            let rank = (share * values.len() as f64).ceil().max(1.0) as usize - 1;
            let value = values[rank.min(values.len() - 1)];
            let is_shown = (self.shares.0..=self.shares.1).contains(&share);
            if is_shown && self.axis.holds(value) {
                svg.push_str(&marker(index, self.x(value), self.y(share)));
            }
        }
    }
}

fn axes(svg: &mut String, place: &Place, values: &str, looks: &Looks) {
    let Edges { left, top, right, bottom } = place.edges;
    let (low, high) = place.shares;
    let ticks = Ticks::between(low * 100.0, high * 100.0, 5);
    let quarters = [0.0, 25.0, 50.0, 75.0, 100.0];
    let is_whole = (low, high) == (0.0, 1.0);
    let percents = if is_whole { quarters.to_vec() } else { ticks.at.clone() };
    let percents = percents.into_iter().map(|at| (at, format!("{} %", ticks.label(at))));
    for (value, label) in percents {
        let y = place.y(value / 100.0);
        path(svg, "rule", &format!("M{left} {y:.1}H{right}"));
        text(svg, "value", (left - 7.0, y + 4.0), &label);
    }
    let marks = place.axis.marks(7).into_iter().map(|(value, label)| (place.x(value), label));
    let marks: Vec<(f64, String)> = marks.collect();
    for (x, _) in &marks {
        path(svg, "rule", &format!("M{x:.1} {bottom:.1}v5"));
    }
    below_marks(svg, &marks, bottom + 17.0, WIDTH);
    let over = looks.across.label.as_deref().unwrap_or(values);
    text(svg, "over", (f64::midpoint(left, right), bottom + 35.0), over);
    if let Some(label) = &looks.up.label {
        text(svg, "unit", (4.0, top - 12.0), label);
    }
}

fn sorted((_, values): &EcdfLine) -> Vec<f64> {
    let mut values: Vec<f64> = values.iter().copied().filter(|it| it.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The names above the picture, and its upper edge.
fn keys(lines: &[EcdfLine], looks: &Looks) -> (String, f64) {
    let mut svg = String::new();
    let (mut x, mut y) = (0.0, 12.0);
    if lines.len() > 1 {
        let names = fitted_apart(lines.iter().map(|(name, _)| name.as_str()), NAMES_MOST);
        let groups = groups(lines.iter().map(|(name, _)| name.as_str()), looks);
        for (index, name) in names.iter().enumerate() {
            let wide = width(name) + 36.0;
            if x > 0.0 && x + wide > WIDTH {
                (x, y) = (0.0, y + KEY_ROW);
            }
            svg.push_str(&groups[index]);
            path(&mut svg, "line", &format!("M{x:.1} {:.1}h16", y - 4.0));
            text(&mut svg, "name", (x + 21.0, y), name);
            svg.push_str("</g>");
            x += wide;
        }
    }
    (svg, if lines.len() > 1 { y + 14.0 } else { 8.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ecdf_rises_one_step_per_value() {
        let reno = ("reno".to_owned(), vec![3.0, 1.0, 2.0, f64::NAN]);
        let cubic = ("cubic".to_owned(), vec![2.0, 2.0]);
        let (drawn, outside) = ecdf("goodput", "Mbit/s", &[reno, cubic], &Looks::default());
        assert_eq!(outside, 0);
        insta::assert_snapshot!(drawn.svg.replace("><", ">\n<"));
        let csv = "name,Mbit/s,share\nreno,1,0.3333333333333333\nreno,2,0.6666666666666666\n\
                    reno,3,1\ncubic,2,0.5\ncubic,2,1\n";
        assert_eq!(drawn.table.csv(), csv);
    }

    #[test]
    fn many_values_make_a_bounded_number_of_steps() {
        let values: Vec<f64> = (0..100_000).map(|n| f64::from(n) / 7.0).collect();
        let (drawn, _) = ecdf("t", "ms", &[("all".into(), values)], &Looks::default());
        assert!(drawn.svg.len() < 60_000);
    }

    #[test]
    fn ranges_leave_the_rest_out_of_the_picture() {
        let lines = [("a".to_owned(), vec![1.0, 2.0, 3.0, 50.0])];
        let across = AxisLooks { from: Some(1.5), until: Some(10.0), ..AxisLooks::default() };
        let up =
            AxisLooks { from: Some(50.0), label: Some("<share>".into()), ..AxisLooks::default() };
        let (drawn, outside) = ecdf("t", "ms", &lines, &Looks { across, up, ..Looks::default() });
        assert_eq!((outside, drawn.table.csv().lines().count()), (2, 1 + 4), "the table has all");
        assert!(drawn.svg.contains(">60 %<") && !drawn.svg.contains(">25 %<"), "{}", drawn.svg);
        assert!(drawn.svg.contains("&lt;share&gt;"), "{}", drawn.svg);
    }

    #[test]
    fn shares_outside_of_the_range_have_no_line() {
        let lines = [("a".to_owned(), (1..=10).map(f64::from).collect::<Vec<_>>())];
        let part = |from: Option<f64>, until: Option<f64>| {
            let up = AxisLooks { from, until, ..AxisLooks::default() };
            let (drawn, outside) = ecdf("t", "ms", &lines, &Looks { up, ..Looks::default() });
            let (_, d) = drawn.svg.split_once(r#"<path class="line" d=""#).unwrap();
            (d.split('"').next().unwrap().to_owned(), outside)
        };
        // The line leaves the picture where the share of 0.4 is passed, and enters it at 0.9.
        let ((low, above), (high, below)) = (part(None, Some(40.0)), part(Some(90.0), None));
        assert_eq!((above, below), (6, 8), "values with other shares");
        let (left, right) = ("M48.0", "H546.0");
        assert!(low.starts_with(left) && !low.contains(right), "{low}");
        assert!(high.ends_with(right) && !high.starts_with(left), "{high}");
        assert_eq!((low.matches('H').count(), high.matches('H').count()), (5, 2), "{low} {high}");
    }

    #[test]
    fn many_lines_have_marks_and_names_in_columns() {
        let line = |it: i32| (format!("run {it}"), vec![f64::from(it), f64::from(it) + 9.0]);
        let lines: Vec<EcdfLine> = (0..60).map(line).collect();
        let (drawn, _) = ecdf("t", "ms", &lines, &Looks::default());
        assert_eq!(drawn.svg.matches(r#"class="mark"#).count(), 60 * (3 + 1));
        assert_eq!(drawn.svg.matches(r#"class="name""#).count(), 60);
    }
}
