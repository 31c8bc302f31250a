//! Trends: means over a number that was varied, with their intervals, a line for each of several
//! ways.

use tcplab_units::rounded::brief;

use crate::axis::{Axis, DECADES};
use crate::clip::Edges;
use crate::drawn::{path, upright};
use crate::legend::legend;
use crate::letters::{fitted, fitted_apart, width};
use crate::line_style::{groups, marker};
use crate::looks::{AxisLooks, Looks};
use crate::svg::escape;
use crate::table::{Table, number_cell};

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
/// Half of the width of an arrowhead, and its length.
const TIP: (f64, f64) = (3.0, 5.0);
/// From the first of the joined points at a level to the last, the most.
const ASIDE_MOST: f64 = 48.0;
/// The share of a level's room that its points take.
const POINTS_SHARE: f64 = 0.6;
/// The most pixels for names beside the lines, apart from their connectors.
const NAMES_MOST: f64 = 140.0;
const NAMES_ASIDE: f64 = 22.0;
/// Levels further apart than this factor are drawn on a logarithmic axis, unless that crowds them.
const DECADE: f64 = 10.0;
/// The names of more lines overlap beside them; they are in columns below. So many need more room
/// upwards, too.
const NAMED_BESIDE: usize = 16;
const HEIGHT_OF_MANY: f64 = 440.0;

/// One picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trend<'a> {
    /// What it shows.
    pub(crate) title: &'a str,
    /// What was varied.
    pub(crate) over: &'a str,
    /// Its levels in rising order, as numbers and as written.
    pub(crate) levels: &'a [(f64, String)],
    /// Whether the levels are numbers. Only points of these are joined by a line.
    pub(crate) is_numeric: bool,
    /// What was measured, with its unit.
    pub(crate) values: &'a str,
    /// In the order of their colours.
    pub(crate) lines: &'a [TrendLine],
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

impl TrendPoint {
    /// The ends of its interval, if it can be drawn.
    pub(crate) fn ends(&self) -> Option<(f64, f64)> {
        self.interval.filter(|(low, high)| low.is_finite() && high.is_finite())
    }
}

/// The vertical scale that several pictures share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendScale(Axis);

impl TrendScale {
    /// Contains all means, and their intervals as far as the means' range: those of few trials are
    /// so wide that they would hide everything else.
    pub fn over<'a>(lines: impl IntoIterator<Item = &'a TrendLine>) -> TrendScale {
        TrendScale::reaching(lines, &AxisLooks::default())
    }

    /// As [`Self::over`] of the means that the reader wants to see, with the ends and the scale
    /// that the reader has set.
    fn reaching<'a>(
        lines: impl IntoIterator<Item = &'a TrendLine>,
        looks: &AxisLooks,
    ) -> TrendScale {
        let points: Vec<TrendPoint> = lines
            .into_iter()
            .flat_map(|line| &line.points)
            .filter(|point| point.mean.is_finite() && looks.holds(point.mean))
            .copied()
            .collect();
        let means = || points.iter().map(|point| point.mean);
        let (least, most) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
        if !least.is_finite() {
            return TrendScale(Axis { low: 0.0, high: 1.0, is_log: false }.within(looks));
        }
        let intervals = || points.iter().filter_map(|point| point.interval);
        let high =
            intervals().map(|(_, high)| high).filter(|it| it.is_finite()).fold(most, f64::max);
        if looks.is_log.unwrap_or(least > 0.0 && most / least >= DECADES) {
            let low = intervals().map(|(low, _)| low).filter(|low| *low > 0.0);
            let low = low.fold(least, f64::min).max(least / 2.0);
            let high = high.min(most * 2.0) * 1.15;
            return TrendScale(Axis { low: low / 1.15, high, is_log: true }.within(looks));
        }
        let room = (most - least.min(0.0)).max(f64::MIN_POSITIVE);
        let high = high.min(most + room * 0.5) + room * 0.06;
        TrendScale(Axis { low: least.min(0.0), high, is_log: false }.within(looks))
    }
}

/// Draws the lines on a `scale` that several pictures may share, as the reader wants it; says how
/// many means lie outside.
pub(crate) fn trend(trend: &Trend<'_>, scale: TrendScale, looks: &Looks) -> (String, usize) {
    let scale = TrendScale(trend_axis(trend.lines, scale, looks));
    let room = Room::of(trend, scale, looks);
    let mut svg = String::new();
    frame(&mut svg, trend, &room, looks);
    let many = trend.lines.len() as f64;
    let mut outside = 0;
    let groups = groups(trend.lines.iter().map(|line| line.name.as_str()), looks);
    for (index, line) in trend.lines.iter().enumerate() {
        let aside = (index as f64 - (many - 1.0) / 2.0) * room.apart;
        svg.push_str(&groups[index]);
        if !room.is_named_beside {
            svg.push_str(&format!("<title>{}</title>", escape(&line.name)));
        }
        outside += draw(&mut svg, (line, index), trend, &room, aside);
        svg.push_str("</g>");
    }
    let mut height = room.height + room.below;
    if room.is_named_beside {
        names(&mut svg, trend, &room, &groups);
    } else {
        let names: Vec<&str> = trend.lines.iter().map(|line| line.name.as_str()).collect();
        height += 10.0;
        height += legend(&mut svg, &names, looks, (height, WIDTH)) + 4.0;
    }
    let head = format!(
        r#"<svg class="trend" viewBox="0 0 {WIDTH} {height:.0}" role="img" aria-label="{0}"><title>{0}</title>"#,
        escape(&summary(trend))
    );
    (head + &svg + "</svg>", outside)
}

/// How many intervals of means that are shown go on beyond the vertical axis.
pub(crate) fn cut_intervals(trend: &Trend<'_>, scale: TrendScale, looks: &Looks) -> usize {
    let room = Room::of(trend, TrendScale(trend_axis(trend.lines, scale, looks)), looks);
    let shown = trend.lines.iter().flat_map(|line| &line.points).filter(|it| room.shows(it));
    let is_cut = |(low, high): &(f64, f64)| !(room.holds(*low) && room.holds(*high));
    shown.filter_map(TrendPoint::ends).filter(is_cut).count()
}

/// The vertical axis, as the reader wants it.
pub(crate) fn trend_axis(lines: &[TrendLine], scale: TrendScale, looks: &Looks) -> Axis {
    let TrendScale(axis) = match &looks.up {
        AxisLooks { from: None, until: None, is_log: None, .. } => scale,
        up => TrendScale::reaching(lines, up),
    };
    axis
}

/// What is where.
struct Room {
    scale: TrendScale,
    /// The place of each level; none of those that are not shown.
    x: Vec<Option<f64>>,
    /// Where each level would be.
    places: Vec<f64>,
    right: f64,
    /// The lower edge of the picture but for what is `below`.
    height: f64,
    /// Between points of different lines at the same level.
    apart: f64,
    /// More room below the axis, for labels that stand upright.
    below: f64,
    is_named_beside: bool,
}

impl Room {
    fn of(trend: &Trend<'_>, scale: TrendScale, looks: &Looks) -> Room {
        let named = trend.lines.iter().filter(|line| !line.name.is_empty());
        let is_named_beside = named.count() <= NAMED_BESIDE;
        let widest = trend.lines.iter().map(|line| width(&line.name)).fold(0.0, f64::max);
        // A single line needs no name.
        let last = trend.levels.last().map_or(0.0, |(_, text)| width(text) / 2.0);
        let named = if widest > 0.0 { widest.min(NAMES_MOST) + NAMES_ASIDE } else { 0.0 };
        let names = if is_named_beside { named.max(last) } else { last.max(LETTER) };
        let right = WIDTH - names;
        let apart = if trend.is_numeric {
            // Points of many lines would be far from their level.
            APART.min(ASIDE_MOST / trend.lines.len().max(1) as f64)
        } else {
            points_apart(trend, right)
        };
        let inset = (trend.lines.len() as f64 * apart / 2.0).max(8.0) + 4.0;
        let across = if trend.is_numeric { &looks.across } else { &AxisLooks::default() };
        let numbers: Vec<f64> = trend.levels.iter().map(|(number, _)| *number).collect();
        let shares = shares(&numbers, across);
        let place = |share: &f64| LEFT + inset + share * (right - LEFT - 2.0 * inset);
        let places: Vec<f64> = shares.iter().map(place).collect();
        let holds = |(place, number): (&f64, &f64)| across.holds(*number).then_some(*place);
        let x: Vec<Option<f64>> = places.iter().zip(&numbers).map(holds).collect();
        let height = if is_named_beside { HEIGHT } else { HEIGHT_OF_MANY };
        let below = below(trend, &x);
        Room { scale, x, places, right, height, apart, below, is_named_beside }
    }

    fn y(&self, value: f64) -> f64 {
        self.place_of(self.scale.0.share(value).clamp(0.0, 1.0))
    }

    fn place_of(&self, share: f64) -> f64 {
        TOP + (1.0 - share) * (self.height - TOP - BOTTOM)
    }

    fn bottom(&self) -> f64 {
        self.height - BOTTOM
    }

    fn edges(&self) -> Edges {
        Edges { left: LEFT, top: TOP, right: self.right, bottom: self.bottom() }
    }

    fn holds(&self, value: f64) -> bool {
        self.scale.0.holds(value)
    }

    /// Whether the mean is in the picture.
    fn shows(&self, point: &TrendPoint) -> bool {
        self.x[point.level].is_some() && self.holds(point.mean)
    }

    /// An upright line from one value to another, with an arrowhead where it goes on.
    fn interval(&self, at: f64, (low, high): (f64, f64)) -> String {
        let (from, until) = (self.y(low), self.y(high));
        let head = |value: f64, y: f64, back: f64| {
            let (left, right, base) = (at - TIP.0, at + TIP.0, y + back);
            let head = format!("M{left:.1} {base:.1}L{at:.1} {y:.1}L{right:.1} {base:.1}");
            if self.holds(value) { String::new() } else { head }
        };
        let heads = head(low, from, -TIP.1) + &head(high, until, TIP.1);
        format!("M{at:.1} {from:.1}V{until:.1}{heads}")
    }
}

/// Where numbers are on an axis, from 0 at its low end to 1 at its high one.
fn shares(numbers: &[f64], looks: &AxisLooks) -> Vec<f64> {
    let Axis { low, high, is_log } = levels_axis(numbers, looks);
    let place = |number: f64| if is_log { number.max(f64::MIN_POSITIVE).ln() } else { number };
    let (from, until) = (place(low), place(high));
    let share = |number: &f64| {
        if until > from { (place(*number) - from) / (until - from) } else { 0.5 }
    };
    numbers.iter().map(share).collect()
}

/// The axis of levels that are numbers, from the first that is shown to the last.
pub(crate) fn levels_axis(numbers: &[f64], looks: &AxisLooks) -> Axis {
    let shown: Vec<f64> = numbers.iter().copied().filter(|it| looks.holds(*it)).collect();
    let low = shown.iter().copied().fold(f64::INFINITY, f64::min);
    let high = shown.iter().copied().fold(0.0, f64::max);
    let is_log = looks.is_log.unwrap_or_else(|| {
        low > 0.0
            && high / low >= DECADE
            && closest(&shown, f64::ln) >= closest(&shown, |number| number)
    });
    let (low, high) = (looks.from.unwrap_or(low), looks.until.unwrap_or(high));
    Axis { low, high, is_log: is_log && low > 0.0 }
}

/// The pixels that labels of levels need because they stand upright; none if they fit side by side.
fn below(trend: &Trend<'_>, x: &[Option<f64>]) -> f64 {
    let shown = || x.iter().zip(trend.levels).filter_map(|(x, (_, text))| Some(((*x)?, text)));
    let labels = || shown().map(|(x, text)| (x, width(&fitted(text, NAMES_MOST))));
    let mut free_from = f64::NEG_INFINITY;
    let fits = labels().all(|(x, wide)| {
        let fits = x - wide / 2.0 >= free_from;
        free_from = x + wide / 2.0 + LETTER;
        fits
    });
    let below =
        if fits { 0.0 } else { labels().map(|(_, wide)| wide).fold(0.0, f64::max) - LETTER };
    below.max(0.0)
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

fn frame(svg: &mut String, trend: &Trend<'_>, room: &Room, looks: &Looks) {
    let (right, bottom) = (room.right, room.bottom());
    for (value, label) in room.scale.0.marks(6) {
        let y = room.y(value);
        svg.push_str(&format!(r#"<path class="rule" d="M{LEFT} {y:.1}H{right:.1}"/>"#));
        svg.push_str(&format!(
            r#"<text class="value" x="{}" y="{:.1}">{label}</text>"#,
            LEFT - 7.0,
            y + 4.0
        ));
    }
    level_labels(svg, trend, room, bottom);
    let (middle, below) = (f64::midpoint(LEFT, right), room.height + room.below - 5.0);
    let over = escape(looks.across.label.as_deref().unwrap_or(trend.over));
    let values = escape(looks.up.label.as_deref().unwrap_or(trend.values));
    svg.push_str(&format!(r#"<text class="over" x="{middle:.1}" y="{below}">{over}</text>"#));
    svg.push_str(&format!(r#"<text class="unit" x="4" y="12">{values}</text>"#));
}

/// Side by side if they fit, else upright and moved aside as little as needed: of more levels than
/// fit so, only every second or third one, and so on.
fn level_labels(svg: &mut String, trend: &Trend<'_>, room: &Room, bottom: f64) {
    let is_upright = room.below > 0.0;
    let count = room.x.iter().flatten().count();
    let most = ((room.right - LEFT) / LABEL_ROW) as usize + 1;
    let step = if is_upright { count.div_ceil(most).max(1) } else { 1 };
    let x: Vec<f64> = room.x.iter().flatten().step_by(step).copied().collect();
    let places = if is_upright { apart(&x, LABEL_ROW, (LEFT, room.right)) } else { x.clone() };
    let shown = room.x.iter().zip(trend.levels).filter(|(x, _)| x.is_some()).step_by(step);
    let texts = shown.map(|(_, (_, text))| fitted(text, NAMES_MOST));
    for ((x, place), text) in x.iter().zip(places).zip(texts) {
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

/// Draws a line, `aside` of its levels, and says how many of its means lie outside.
fn draw(
    svg: &mut String,
    (line, index): (&TrendLine, usize),
    trend: &Trend<'_>,
    room: &Room,
    aside: f64,
) -> usize {
    let points: Vec<&TrendPoint> = line.points.iter().filter(|it| it.mean.is_finite()).collect();
    let shown: Vec<&TrendPoint> = points.iter().filter(|it| room.shows(it)).copied().collect();
    if trend.is_numeric && points.len() > 1 {
        let place = |point: &&TrendPoint| {
            let share = room.scale.0.share(point.mean);
            (room.places[point.level] + aside, room.place_of(share))
        };
        let places: Vec<(f64, f64)> = points.iter().map(place).collect();
        let d = room.edges().path(&places);
        if !d.is_empty() {
            path(svg, "line", &d);
        }
    }
    for point in &shown {
        let at = room.places[point.level] + aside;
        if let Some(ends) = point.ends() {
            path(svg, "interval", &room.interval(at, ends));
        }
        svg.push_str(&marker(index, at, room.y(point.mean)));
    }
    points.len() - shown.len()
}

/// Beside the line's end, without overlaps.
fn names(svg: &mut String, trend: &Trend<'_>, room: &Room, groups: &[String]) {
    let cut = fitted_apart(trend.lines.iter().map(|line| line.name.as_str()), NAMES_MOST);
    let named = trend.lines.iter().enumerate().filter(|(_, line)| !line.name.is_empty());
    let ends = named.filter_map(|(index, line)| {
        let last = line.points.iter().rfind(|it| room.shows(it))?;
        Some((room.y(last.mean), index, last.level))
    });
    let mut ends: Vec<(f64, usize, usize)> = ends.collect();
    let last_level = room.x.iter().rposition(Option::is_some);
    ends.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let heights: Vec<f64> = ends.iter().map(|(y, ..)| *y).collect();
    let places = apart(&heights, NAME_ROW, (TOP, room.bottom()));
    for ((y, index, level), place) in ends.into_iter().zip(places) {
        let (from, until) = (room.places[level] + 12.0, room.right + 6.0);
        svg.push_str(&groups[index]);
        // From an earlier level it would cross others or empty levels, and look like data.
        if Some(level) == last_level {
            let d = format!("M{from:.1} {y:.1}L{until:.1} {place:.1}");
            path(svg, "leader", &d);
        }
        svg.push_str(&marker(index, until + 5.0, place));
        let (x, base, name) = (until + 13.0, place + 4.0, escape(&cut[index]));
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

/// The numbers.
pub(crate) fn trend_table(trend: &Trend<'_>) -> Table {
    let rows = trend.lines.iter().flat_map(|line| {
        let row = |point: &TrendPoint| {
            let (low, high) = point.interval.unwrap_or((f64::NAN, f64::NAN));
            let [mean, low, high] = [point.mean, low, high].map(number_cell);
            [line.name.clone(), trend.levels[point.level].1.clone(), mean, low, high]
        };
        line.points.iter().map(row).collect::<Vec<_>>()
    });
    Table::new(&["line", trend.over, trend.values, "low", "high"], rows)
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
mod tests;
