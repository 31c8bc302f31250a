//! Rows on one scale of what was measured, with their names beside them.

use crate::axis::Axis;
use crate::drawn::{below_marks, opening, path, text};
use crate::letters::{fitted_apart, width};
use crate::line_style::group;
use crate::looks::Looks;
use crate::svg::escape;

/// Pixels.
const WIDTH: f64 = 560.0;
const TOP: f64 = 6.0;
const ROW: f64 = 34.0;
/// More rows are closer to one another, with dots that overlap sooner.
const ROWS_WIDE: usize = 60;
const ROW_OF_MANY: f64 = 18.0;
/// The names of more rows are left out, and rows are as close as they can be told apart: 4,000 of
/// them are 16,046 pixels, twice of which fit into a PNG of 32,767.
const NAMED_MOST: usize = 400;
const ROW_WITHOUT_NAME: f64 = 4.0;
const FOOT: f64 = 40.0;
const NAMES_MOST: f64 = 210.0;
/// Left of rows without names, for half of a number below the axis.
const ASIDE_OF_NUMBERS: f64 = 24.0;
/// Width of a dot; closer dots go beside one another.
const DOT: f64 = 5.0;
/// The distance of dots beside one another, and their number before they overlap.
const ASIDE: f64 = 3.4;
const MOST_ASIDE: usize = 7;

/// What all rows have.
pub(crate) struct Rows<'a> {
    /// The class of the picture.
    pub(crate) kind: &'static str,
    /// What it shows, for those who cannot see it.
    pub(crate) summary: String,
    /// From the top.
    pub(crate) names: Vec<&'a str>,
    /// What was measured, with its unit.
    pub(crate) values: &'a str,
    pub(crate) axis: Axis,
    /// Whether the marks of a row need little room upwards.
    pub(crate) is_low: bool,
}

/// Whether so many rows have their names beside them.
pub(crate) fn are_named(rows: usize) -> bool {
    rows <= NAMED_MOST
}

impl Rows<'_> {
    /// The picture, with what `draw` adds for each row, given its index, and the middle of its
    /// room upwards.
    pub(crate) fn drawn(
        &self,
        looks: &Looks,
        draw: impl Fn(&mut String, usize, &Place, f64),
    ) -> String {
        let count = self.names.len();
        let is_named = are_named(count);
        let widest = self.names.iter().map(|name| width(name)).fold(0.0, f64::max);
        let left = if is_named { widest.min(NAMES_MOST) + 12.0 } else { ASIDE_OF_NUMBERS };
        let right = WIDTH - 12.0;
        let high = match () {
            () if !is_named => ROW_WITHOUT_NAME,
            () if self.is_low || count > ROWS_WIDE => ROW_OF_MANY,
            () => ROW,
        };
        let bottom = TOP + high * count as f64;
        let place = Place { axis: self.axis, left, right, half: high / 2.0 };
        let kind = if is_named { self.kind.to_owned() } else { format!("{} thin", self.kind) };
        let mut svg = opening(&kind, (WIDTH, bottom + FOOT), &self.summary);
        let marks = self.axis.marks(7).into_iter().map(|(value, label)| (place.x(value), label));
        let marks: Vec<(f64, String)> = marks.collect();
        for (at, _) in &marks {
            path(&mut svg, "rule", &format!("M{at:.1} {TOP}V{bottom}"));
        }
        below_marks(&mut svg, &marks, bottom + 16.0, WIDTH);
        let over = looks.across.label.as_deref().unwrap_or(self.values);
        text(&mut svg, "over", (f64::midpoint(left, right), bottom + 34.0), over);
        let names = fitted_apart(self.names.iter().copied(), NAMES_MOST);
        for (index, (whole, name)) in self.names.iter().zip(&names).enumerate() {
            let y = TOP + high * (index as f64 + 0.5);
            if is_named {
                text(&mut svg, "name", (0.0, y + 4.0), name);
            }
            let tag = match looks.colour_of(whole) {
                None => (!is_named).then(|| "<g>".to_owned()),
                own => Some(group(0, 0, own).replacen("class=\"", "class=\"coloured ", 1)),
            };
            svg.push_str(tag.as_deref().unwrap_or_default());
            if !is_named {
                svg.push_str(&format!("<title>{}</title>", escape(whole)));
            }
            draw(&mut svg, index, &place, y);
            svg.push_str(if tag.is_some() { "</g>" } else { "" });
        }
        svg + "</svg>"
    }
}

/// Where values are.
pub(crate) struct Place {
    axis: Axis,
    left: f64,
    right: f64,
    /// Half of the room of a row.
    half: f64,
}

impl Place {
    pub(crate) fn x(&self, value: f64) -> f64 {
        self.left + self.axis.share(value).clamp(0.0, 1.0) * (self.right - self.left)
    }

    pub(crate) fn holds(&self, value: f64) -> bool {
        self.axis.holds(value)
    }

    /// The part of a range that is shown.
    pub(crate) fn part(&self, (low, high): (f64, f64)) -> Option<(f64, f64)> {
        (low <= self.axis.high && high >= self.axis.low).then(|| (self.x(low), self.x(high)))
    }

    /// Half of the height of a box.
    pub(crate) fn half_of_box(&self) -> f64 {
        if self.half < 5.0 { self.half * 0.7 } else { (self.half - 6.0).max(5.0) }
    }

    /// A line from one value to another, and its ends: an arrowhead where it goes on.
    pub(crate) fn interval(&self, ends: (f64, f64), y: f64) -> Option<String> {
        let (from, until) = self.part(ends)?;
        let half = self.half_of_box().min(5.0);
        let end = |value: f64, x: f64, way: f64| {
            if self.holds(value) {
                return self.end(value, y, half);
            }
            format!("M{:.1} {}L{x:.1} {y}L{:.1} {}", x - way, y - half, x - way, y + half)
        };
        let both = end(ends.0, from, -half) + &end(ends.1, until, half);
        Some(format!("M{from:.1} {y}H{until:.1}{both}"))
    }

    /// The upright end of what ends at a value: what is cut has none.
    pub(crate) fn end(&self, value: f64, y: f64, half: f64) -> String {
        let (x, above, below) = (self.x(value), y - half, y + half);
        if self.holds(value) { format!("M{x:.1} {above}V{below}") } else { String::new() }
    }

    /// A dot for each value: strokes of no length with round ends. Dots that would overlap go
    /// beside one another as far as there is room; those at the same place are one.
    pub(crate) fn dots(&self, values: &[f64], y: f64) -> String {
        let shown = values.iter().filter(|it| self.holds(**it));
        let mut places: Vec<f64> = shown.map(|value| self.x(*value)).collect();
        places.sort_by(f64::total_cmp);
        let mut d = String::new();
        for near in places.chunk_by(|a, b| (a / DOT) as i64 == (b / DOT) as i64) {
            // As many as the row has room for.
            let most = ((self.half * 2.0 - 4.0) / ASIDE) as usize;
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
}

/// `values`, and the ends of `interval` as far as the values' range: an interval of few values is
/// so wide that it would hide everything else.
pub(crate) fn with_interval(values: Vec<f64>, interval: Option<(f64, f64)>) -> Vec<f64> {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::MIN), |(low, high), it| (low.min(*it), high.max(*it)));
    let room = high - low;
    let ends = interval.filter(|_| low <= high);
    let ends = ends.map(|(from, until)| [from.max(low - room), until.min(high + room)]);
    values.into_iter().chain(ends.into_iter().flatten()).collect()
}

/// Ends of intervals that are farther from zero than so many times the farthest mean would hide
/// everything else.
const ABSURD: f64 = 10.0;

/// Means, and the ends of their intervals unless these are absurdly far.
pub(crate) fn with_ends(rows: &[(f64, Option<(f64, f64)>)]) -> Vec<f64> {
    let means = || rows.iter().map(|(mean, _)| *mean).filter(|it| it.is_finite());
    let most = means().map(f64::abs).fold(0.0, f64::max) * ABSURD;
    let most = if most > 0.0 { most } else { f64::MAX };
    let ends =
        rows.iter().filter_map(|(_, interval)| *interval).flat_map(|(low, high)| [low, high]);
    means().chain(ends.filter(|end| end.is_finite()).map(|end| end.clamp(-most, most))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absurd_ends_are_cut() {
        let rows = [(0.25, Some((0.0, 0.637))), (0.1, Some((-30.0, 2.6))), (0.0, None)];
        assert_eq!(with_ends(&rows), [0.25, 0.1, 0.0, 0.0, 0.637, -2.5, 2.5]);
        assert_eq!(with_ends(&[(0.0, Some((-3.0, 3.0)))]), [0.0, -3.0, 3.0]);
    }

    #[test]
    fn extreme_interval_is_clipped() {
        let seen = with_interval(vec![1.0, 2.0], Some((-1e9, 1e9)));
        assert_eq!(seen, [1.0, 2.0, 0.0, 3.0]);
        assert!(with_interval(Vec::new(), Some((0.0, 1.0))).is_empty());
    }

    #[test]
    fn names_of_very_many_rows_are_left_out_and_said_under_the_pointer() {
        let names: Vec<String> = (0..401).map(|it| format!("<{it}>")).collect();
        let picture = |count: usize| {
            let rows = Rows {
                kind: "spread",
                summary: String::new(),
                names: names[..count].iter().map(String::as_str).collect(),
                values: "ms",
                axis: Axis::over([1.0, 2.0]),
                is_low: true,
            };
            rows.drawn(&Looks::default(), |svg, _, place, y| {
                path(svg, "middle", &format!("M{} {y}v{}", place.x(1.5), place.half_of_box()));
            })
        };
        let (named, bare) = (picture(400), picture(401));
        let count = |svg: &str, part: &str| svg.matches(part).count();
        assert_eq!((count(&named, r#"class="name""#), count(&bare, r#"class="name""#)), (400, 0));
        assert!(named.contains(r#"viewBox="0 0 560 7246""#), "{named}");
        assert!(bare.contains(r#"class="scene spread thin" viewBox="0 0 560 1650""#), "{bare}");
        assert_eq!(count(&bare, "<g><title>&lt;"), 401);
    }
}
