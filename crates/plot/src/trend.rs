//! Trends: means over a number that was varied, with their intervals, a line for each of several
//! ways.

use tcplab_units::rounded::brief;

use crate::axis::{Axis, DECADES};
use crate::drawn::{csv, csv_number, path, upright};
use crate::letters::{fitted, fitted_apart, width};
use crate::svg::escape;

/// Pixels.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 58.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 40.0;
/// About the pixels of a letter.
const LETTER: f64 = 6.2;
const NAME_ROW: f64 = 14.0;
/// Between labels that stand upright.
const LABEL_ROW: f64 = 12.0;
/// Between the intervals of different lines at the same level; between points that no line joins,
/// the most, as far as the levels leave room.
const APART: f64 = 3.0;
const POINTS_APART: f64 = 12.0;
/// The share of a level's room that its points take.
const POINTS_SHARE: f64 = 0.6;
/// The most pixels for names beside the lines, apart from their connectors.
const NAMES_MOST: f64 = 140.0;
const NAMES_ASIDE: f64 = 22.0;
/// Levels further apart than this factor are drawn on a logarithmic axis, unless that crowds them.
const DECADE: f64 = 10.0;
/// Lines with a colour each; others share the last one and are dashed.
const COLOURS: usize = 7;

/// One picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend<'a> {
    /// What it shows.
    pub title: &'a str,
    /// What was varied.
    pub over: &'a str,
    /// Its levels in rising order, as numbers and as written.
    pub levels: &'a [(f64, String)],
    /// Whether the levels are numbers. Only points of these are joined by a line.
    pub is_numeric: bool,
    /// What was measured, with its unit.
    pub values: &'a str,
    /// In the order of their colours.
    pub lines: &'a [TrendLine],
}

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendLine {
    /// What it is of.
    pub name: String,
    /// In rising order of their level.
    pub points: Vec<TrendPoint>,
}

/// What was measured at a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendPoint {
    /// The index of the level.
    pub level: usize,
    /// The mean.
    pub mean: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
}

/// The vertical scale that several pictures share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendScale(Axis);

impl TrendScale {
    /// Contains all means, and their intervals as far as the means' range: those of few trials are
    /// so wide that they would hide everything else.
    pub fn over<'a>(lines: impl IntoIterator<Item = &'a TrendLine>) -> TrendScale {
        let points: Vec<TrendPoint> =
            lines.into_iter().flat_map(|line| &line.points).copied().collect();
        let means = || points.iter().map(|point| point.mean).filter(|mean| mean.is_finite());
        let (least, most) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
        if !least.is_finite() {
            return TrendScale(Axis { low: 0.0, high: 1.0, is_log: false });
        }
        let intervals = || points.iter().filter_map(|point| point.interval);
        let high =
            intervals().map(|(_, high)| high).filter(|it| it.is_finite()).fold(most, f64::max);
        if least > 0.0 && most / least >= DECADES {
            let low = intervals().map(|(low, _)| low).filter(|low| *low > 0.0);
            let low = low.fold(least, f64::min).max(least / 2.0);
            let high = high.min(most * 2.0) * 1.15;
            return TrendScale(Axis { low: low / 1.15, high, is_log: true });
        }
        let room = (most - least.min(0.0)).max(f64::MIN_POSITIVE);
        let high = high.min(most + room * 0.5) + room * 0.06;
        TrendScale(Axis { low: least.min(0.0), high, is_log: false })
    }

    fn y(self, value: f64) -> f64 {
        TOP + (1.0 - self.0.share(value).clamp(0.0, 1.0)) * (HEIGHT - TOP - BOTTOM)
    }
}

/// Draws the lines on a `scale` that several pictures may share.
pub fn trend(trend: &Trend<'_>, scale: TrendScale) -> String {
    let levels = Levels::of(trend);
    let height = HEIGHT + levels.below;
    let mut svg = format!(
        r#"<svg class="trend" viewBox="0 0 {WIDTH} {height:.0}" role="img" aria-label="{0}"><title>{0}</title>"#,
        escape(&summary(trend))
    );
    frame(&mut svg, trend, scale, &levels);
    let many = trend.lines.len() as f64;
    for (index, line) in trend.lines.iter().enumerate() {
        let aside = (index as f64 - (many - 1.0) / 2.0) * levels.apart;
        let x = |point: &TrendPoint| levels.x[point.level] + aside;
        draw(&mut svg, (line, index), trend.is_numeric, x, scale);
    }
    names(&mut svg, trend, scale, &levels);
    svg.push_str("</svg>");
    svg
}

struct Levels {
    x: Vec<f64>,
    right: f64,
    /// Between points of different lines at the same level.
    apart: f64,
    /// More room below the axis, for labels that stand upright.
    below: f64,
}

impl Levels {
    fn of(trend: &Trend<'_>) -> Levels {
        let widest = trend.lines.iter().map(|line| width(&line.name)).fold(0.0, f64::max);
        // A single line needs no name.
        let last = trend.levels.last().map_or(0.0, |(_, text)| width(text) / 2.0);
        let named = if widest > 0.0 { widest.min(NAMES_MOST) + NAMES_ASIDE } else { 0.0 };
        let names = named.max(last);
        let right = WIDTH - names;
        let numbers = || trend.levels.iter().map(|(number, _)| *number);
        let (low, high) = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(0.0, f64::max));
        let ascending: Vec<f64> = numbers().collect();
        let is_log = low > 0.0
            && high / low >= DECADE
            && closest(&ascending, f64::ln) >= closest(&ascending, |number| number);
        let place = |number: f64| if is_log { number.ln() } else { number };
        let (from, until) = (place(low), place(high));
        let apart = if trend.is_numeric { APART } else { points_apart(trend, right) };
        let inset = (trend.lines.len() as f64 * apart / 2.0).max(8.0) + 4.0;
        let room = right - LEFT - 2.0 * inset;
        let x = numbers().map(|number| {
            let share = if until > from { (place(number) - from) / (until - from) } else { 0.5 };
            LEFT + inset + share * room
        });
        let x: Vec<f64> = x.collect();
        let labels = || trend.levels.iter().map(|(_, text)| width(&fitted(text, NAMES_MOST)));
        let mut free_from = f64::NEG_INFINITY;
        let fits = x.iter().zip(labels()).all(|(x, wide)| {
            let fits = x - wide / 2.0 >= free_from;
            free_from = x + wide / 2.0 + LETTER;
            fits
        });
        let below = if fits { 0.0 } else { labels().fold(0.0, f64::max) - LETTER };
        Levels { x, right, apart, below: below.max(0.0) }
    }
}

/// Between the points at a level that no lines join, with `right` as the end of the axis.
fn points_apart(trend: &Trend<'_>, right: f64) -> f64 {
    let of_level = (right - LEFT) / trend.levels.len().max(1) as f64 * POINTS_SHARE;
    (of_level / trend.lines.len().max(1) as f64).clamp(APART, POINTS_APART)
}

/// The least distance of two neighbours on an axis, as a share of it.
fn closest(ascending: &[f64], place: impl Fn(f64) -> f64) -> f64 {
    let places: Vec<f64> = ascending.iter().map(|number| place(*number)).collect();
    let distances = places.windows(2).map(|pair| pair[1] - pair[0]);
    distances.fold(f64::INFINITY, f64::min) / (places[places.len() - 1] - places[0])
}

fn frame(svg: &mut String, trend: &Trend<'_>, scale: TrendScale, levels: &Levels) {
    let (right, bottom) = (levels.right, HEIGHT - BOTTOM);
    for (value, label) in scale.0.marks(6) {
        let y = scale.y(value);
        svg.push_str(&format!(r#"<path class="rule" d="M{LEFT} {y:.1}H{right:.1}"/>"#));
        svg.push_str(&format!(
            r#"<text class="value" x="{}" y="{:.1}">{label}</text>"#,
            LEFT - 7.0,
            y + 4.0
        ));
    }
    level_labels(svg, trend, levels, bottom);
    let (middle, below) = (f64::midpoint(LEFT, right), HEIGHT + levels.below - 5.0);
    let (over, values) = (escape(trend.over), escape(trend.values));
    svg.push_str(&format!(r#"<text class="over" x="{middle:.1}" y="{below}">{over}</text>"#));
    svg.push_str(&format!(r#"<text class="unit" x="4" y="12">{values}</text>"#));
}

/// Side by side if they fit, else upright and moved aside as little as needed.
fn level_labels(svg: &mut String, trend: &Trend<'_>, levels: &Levels, bottom: f64) {
    let is_upright = levels.below > 0.0;
    let places = if is_upright {
        apart(&levels.x, LABEL_ROW, (LEFT, levels.right))
    } else {
        levels.x.clone()
    };
    for ((x, place), (_, text)) in levels.x.iter().zip(places).zip(trend.levels) {
        let text = fitted(text, NAMES_MOST);
        if is_upright {
            path(svg, "rule", &format!("M{x:.1} {bottom}L{place:.1} {}", bottom + 6.0));
            upright(svg, "level", (place + 4.0, bottom + 9.0), &text);
        } else {
            path(svg, "rule", &format!("M{x:.1} {bottom}v5"));
            let (text, y) = (escape(&text), bottom + 17.0);
            svg.push_str(&format!(r#"<text class="level" x="{x:.1}" y="{y}">{text}</text>"#));
        }
    }
}

fn class(index: usize) -> String {
    let dashed = if index / COLOURS % 2 == 1 { " dashed" } else { "" };
    format!("line-{}{dashed}", index % COLOURS)
}

fn draw(
    svg: &mut String,
    (line, index): (&TrendLine, usize),
    is_joined: bool,
    x: impl Fn(&TrendPoint) -> f64,
    scale: TrendScale,
) {
    svg.push_str(&format!(r#"<g class="{}">"#, class(index)));
    let points: Vec<&TrendPoint> = line.points.iter().filter(|it| it.mean.is_finite()).collect();
    let mut path = String::new();
    for point in &points {
        let letter = if path.is_empty() { 'M' } else { 'L' };
        path.push_str(&format!("{letter}{:.1} {:.1}", x(point), scale.y(point.mean)));
    }
    if is_joined && points.len() > 1 {
        svg.push_str(&format!(r#"<path class="line" d="{path}"/>"#));
    }
    for point in &points {
        let at = x(point);
        if let Some((low, high)) = point.interval.filter(|(l, h)| l.is_finite() && h.is_finite()) {
            let (from, until) = (scale.y(low), scale.y(high));
            svg.push_str(&format!(r#"<path class="interval" d="M{at:.1} {from:.1}V{until:.1}"/>"#));
        }
        svg.push_str(&marker(index, at, scale.y(point.mean)));
    }
    svg.push_str("</g>");
}

/// Distinguishes lines without colours.
fn marker(index: usize, x: f64, y: f64) -> String {
    let shape = match index % 4 {
        0 => "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
        1 => "m-3.2-3.2h6.4v6.4h-6.4z",
        2 => "m0-4.4l4.4 4.4-4.4 4.4-4.4-4.4z",
        _ => "m0-4.2l4.2 7.4h-8.4z",
    };
    let open = if index % COLOURS >= 4 { " open" } else { "" };
    format!(r#"<path class="mark{open}" d="M{x:.1} {y:.1}{shape}"/>"#)
}

/// Beside the line's end, without overlaps.
fn names(svg: &mut String, trend: &Trend<'_>, scale: TrendScale, levels: &Levels) {
    let cut = fitted_apart(trend.lines.iter().map(|line| line.name.as_str()), NAMES_MOST);
    let named = trend.lines.iter().enumerate().filter(|(_, line)| !line.name.is_empty());
    let ends = named.filter_map(|(index, line)| {
        let last = line.points.iter().rfind(|point| point.mean.is_finite())?;
        Some((scale.y(last.mean), index, last.level))
    });
    let mut ends: Vec<(f64, usize, usize)> = ends.collect();
    ends.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let heights: Vec<f64> = ends.iter().map(|(y, ..)| *y).collect();
    let places = apart(&heights, NAME_ROW, (TOP, HEIGHT - BOTTOM));
    for ((y, index, level), place) in ends.into_iter().zip(places) {
        let (from, until) = (levels.x[level] + 12.0, levels.right + 6.0);
        let (class, name) = (class(index), escape(&cut[index]));
        svg.push_str(&format!(r#"<g class="{class}">"#));
        svg.push_str(&format!(
            r#"<path class="leader" d="M{from:.1} {y:.1}L{until:.1} {place:.1}"/>"#
        ));
        svg.push_str(&marker(index, until + 5.0, place));
        let (x, base) = (until + 13.0, place + 4.0);
        svg.push_str(&format!(r#"<text class="name" x="{x:.1}" y="{base:.1}">{name}</text></g>"#));
    }
}

/// Rising places, moved as little as possible to be a row apart and between two ends; evenly
/// spaced where they do not fit.
fn apart(wanted: &[f64], row: f64, (first, last): (f64, f64)) -> Vec<f64> {
    let between = wanted.len().saturating_sub(1).max(1) as f64;
    let row = row.min((last - first) / between);
    let mut places: Vec<f64> = Vec::new();
    for place in wanted {
        let least = places.last().map_or(first, |before| before + row);
        places.push(place.max(least));
    }
    let mut most = last;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - row;
    }
    places
}

/// The numbers as comma-separated values.
pub fn trend_csv(trend: &Trend<'_>) -> String {
    let rows = trend.lines.iter().flat_map(|line| {
        let row = |point: &TrendPoint| {
            let (low, high) = point.interval.unwrap_or((f64::NAN, f64::NAN));
            let [mean, low, high] = [point.mean, low, high].map(csv_number);
            [line.name.clone(), trend.levels[point.level].1.clone(), mean, low, high]
        };
        line.points.iter().map(row).collect::<Vec<_>>()
    });
    csv(&["line", trend.over, trend.values, "low", "high"], rows)
}

fn summary(trend: &Trend<'_>) -> String {
    let lines = trend.lines.iter().filter_map(|line| {
        let points = || line.points.iter().filter(|point| point.mean.is_finite());
        let (first, last) = (points().next()?, points().next_back()?);
        let at = |point: &TrendPoint| {
            format!("{} at {}", brief(point.mean), trend.levels[point.level].1)
        };
        Some(format!("{}: {} to {}", line.name, at(first), at(last)))
    });
    let lines: Vec<String> = lines.collect();
    format!("{}, {} over {}. {}", trend.title, trend.values, trend.over, lines.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, means: &[f64]) -> TrendLine {
        let point = |(level, mean): (usize, &f64)| TrendPoint {
            level,
            mean: *mean,
            interval: Some((mean * 0.9, mean * 1.1)),
        };
        TrendLine { name: name.into(), points: means.iter().enumerate().map(point).collect() }
    }

    fn levels(numbers: &[f64]) -> Vec<(f64, String)> {
        numbers.iter().map(|number| (*number, number.to_string())).collect()
    }

    fn drawn(numbers: &[f64], lines: &[TrendLine]) -> String {
        let levels = levels(numbers);
        let scene = Trend {
            title: "response <time>",
            over: "concurrency",
            levels: &levels,
            is_numeric: true,
            values: "response time, ms",
            lines,
        };
        trend(&scene, TrendScale::over(lines))
    }

    #[test]
    fn levels_of_equal_ratio_are_equally_far_apart_where_they_span_a_decade() {
        let lines = [line("fork", &[1.0, 2.0, 3.0])];
        for (numbers, is_even) in [
            ([1.0, 4.0, 16.0], true),
            ([1.0, 2.0, 4.0], false),
            // Equally far apart as they are.
            ([50.0, 2_550.0, 5_050.0], true),
        ] {
            let levels = levels(&numbers);
            let scene = Trend {
                title: "",
                over: "",
                levels: &levels,
                is_numeric: true,
                values: "",
                lines: &lines,
            };
            let x = Levels::of(&scene).x;
            let found = (x[1] - x[0] - (x[2] - x[1])).abs() < 1e-9;
            assert_eq!(found, is_even, "{numbers:?}");
        }
    }

    #[test]
    fn all_points_intervals_and_names_are_drawn() {
        let svg = drawn(&[1.0, 8.0], &[line("fork", &[1.0, 2.0]), line("a < b", &[3.0, 4.0])]);
        assert_eq!(svg.matches(r#"class="line""#).count(), 2);
        assert_eq!(svg.matches(r#"class="interval""#).count(), 4);
        assert_eq!(svg.matches(r#"class="mark""#).count(), 4 + 2, "points and names");
        assert!(svg.contains("a &lt; b") && svg.contains("response &lt;time&gt;"), "{svg}");
    }

    #[test]
    fn single_point_is_drawn_and_non_finite_values_are_skipped() {
        let mut lone = line("one", &[5.0, f64::NAN]);
        lone.points[0].interval = None;
        let svg = drawn(&[1.0, 2.0], &[lone, line("none", &[])]);
        assert_eq!(svg.matches(r#"class="mark""#).count(), 2);
        assert_eq!(svg.matches(r#"class="line""#).count(), 0);
        assert!(!svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn zero_is_on_the_scale_unless_the_values_span_decades() {
        let near = TrendScale::over(&[line("a", &[10.0, 12.0])]);
        assert_eq!((near.0.low, near.0.is_log), (0.0, false));
        assert!(near.0.high > 13.2, "the intervals are on it: {near:?}");
        let far = TrendScale::over(&[line("a", &[0.3, 300.0])]);
        assert!(far.0.is_log && far.0.low < 0.27 && far.0.high > 330.0, "{far:?}");
        let marks: Vec<String> = far.0.marks(6).into_iter().map(|(_, label)| label).collect();
        assert_eq!(marks, ["1", "10", "100"]);
        let some = TrendScale::over(&[line("a", &[0.5, 20.0])]);
        let marks: Vec<String> = some.0.marks(6).into_iter().map(|(_, label)| label).collect();
        assert_eq!(marks, ["0.5", "1", "2", "5", "10", "20"]);
    }

    #[test]
    fn wide_interval_is_clipped() {
        let mut wild = line("a", &[10.0, 12.0]);
        wild.points[1].interval = Some((-500.0, 524.0));
        assert!(TrendScale::over(&[wild]).0.high < 20.0);
    }

    #[test]
    fn names_are_a_row_apart_inside_the_picture() {
        let apart = |wanted: &[f64]| super::apart(wanted, NAME_ROW, (TOP, HEIGHT - BOTTOM));
        let places = apart(&[250.0, 251.0, 252.0, 400.0]);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= NAME_ROW - 1e-9), "{places:?}");
        assert!(places[3] <= HEIGHT - BOTTOM);
        assert_eq!(apart(&[100.0, 200.0]), [100.0, 200.0]);
        let many = apart(&[TOP; 40]);
        assert!(
            many.iter().all(|it| (TOP - 1e-9..=HEIGHT - BOTTOM + 1e-9).contains(it)),
            "{many:?}"
        );
    }

    /// Regression: a wide name beside the topmost line left the picture.
    #[test]
    fn wide_names_fit() {
        let lines = [line("memory", &[5.0, 9.0]), line("a name that nobody has room for", &[1.0])];
        let levels = levels(&[1.0, 2.0]);
        for lines in [&lines[..1], &lines[..]] {
            let scene =
                Trend { title: "", over: "", levels: &levels, is_numeric: true, values: "", lines };
            let right = Levels::of(&scene).right;
            let name = fitted(&lines.last().unwrap().name, NAMES_MOST);
            assert!(right + 19.0 + width(&name) <= WIDTH, "{name} from {right}");
        }
        assert!(drawn(&[1.0, 2.0], &lines).contains("…</text>"));
    }

    /// A line between categories would say that there is something between them.
    #[test]
    fn categories_are_points_without_a_line() {
        let levels = levels(&[0.0, 1.0]);
        let lines = [line("fork", &[1.0, 2.0])];
        let scene = Trend {
            title: "t",
            over: "server",
            levels: &levels,
            is_numeric: false,
            values: "ms",
            lines: &lines,
        };
        let svg = trend(&scene, TrendScale::over(&lines));
        assert_eq!(svg.matches(r#"class="line""#).count(), 0, "{svg}");
        assert_eq!(svg.matches(r#"class="mark""#).count(), 2 + 1, "points and the name");
    }

    /// Regression: labels without room were left out.
    #[test]
    fn every_level_has_a_label_without_overlaps() {
        for many in [3, 12, 30] {
            let numbers: Vec<f64> = (0..many).map(f64::from).collect();
            let levels: Vec<(f64, String)> =
                numbers.iter().map(|n| (*n, format!("level-{n}"))).collect();
            let lines = [line("", &numbers)];
            let scene = Trend {
                title: "",
                over: "",
                levels: &levels,
                is_numeric: false,
                values: "",
                lines: &lines,
            };
            let svg = trend(&scene, TrendScale::over(&lines));
            assert_eq!(svg.matches(r#"class="level"#).count(), levels.len());
            assert_eq!(svg.contains("upright"), many > 3, "{svg}");
        }
        let places = apart(&[60.0, 61.0, 62.0, 300.0], LABEL_ROW, (LEFT, WIDTH));
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LABEL_ROW), "{places:?}");
    }

    #[test]
    fn csv_has_the_numbers() {
        let levels = levels(&[1.0, 2.0]);
        let mut lone = line("fork, <b>", &[4.0]);
        lone.points[0].interval = None;
        let scene = Trend {
            title: "t",
            over: "clients",
            levels: &levels,
            is_numeric: true,
            values: "response, ms",
            lines: &[lone],
        };
        let csv = "line,clients,\"response, ms\",low,high\n\"fork, <b>\",1,4,,\n";
        assert_eq!(trend_csv(&scene), csv);
    }
}
