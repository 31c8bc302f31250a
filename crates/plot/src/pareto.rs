//! One metric against another: a point for each variant with its intervals in both directions, and
//! the line of those that no other beats in both (Pareto's front), with their names.

use tcplab_units::rounded::brief;

use crate::axis::Axis;
use crate::drawn::{Drawn, below_marks, opening, path, text};
use crate::letters::{BOLDER, fitted, width};
use crate::table::{Table, number_cell};

/// Pixels.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;
/// Height of the colour key's row.
const KEY_ROW: f64 = 18.0;
/// Height of a name beside its point, with margin.
const NAME_HEIGHT: f64 = 13.0;
const NAMES_MOST: f64 = 150.0;
/// Kinds with a colour each; others share the last one and are open.
const COLOURS: usize = 7;

/// One picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Pareto<'a> {
    /// What it shows.
    pub title: &'a str,
    /// The metric across.
    pub across: ParetoAxis<'a>,
    /// The metric upwards.
    pub up: ParetoAxis<'a>,
    /// Names of the colours; a single empty name for one colour.
    pub kinds: &'a [String],
    /// Variants.
    pub points: &'a [ParetoPoint],
}

/// A metric with a better direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParetoAxis<'a> {
    /// With its unit.
    pub name: &'a str,
    /// Whether smaller values are better.
    pub is_lower_better: bool,
}

/// A variant.
#[derive(Debug, Clone, PartialEq)]
pub struct ParetoPoint {
    /// What it is called.
    pub name: String,
    /// Its kind, from 0.
    pub kind: usize,
    /// The value across.
    pub across: Estimate,
    /// The value upwards.
    pub up: Estimate,
}

/// A mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The 95 % confidence interval.
    pub interval: Option<(f64, f64)>,
}

impl ParetoPoint {
    fn is_drawn(&self) -> bool {
        self.across.mean.is_finite() && self.up.mean.is_finite()
    }
}

impl ParetoAxis<'_> {
    /// Larger is better.
    fn worth(self, value: f64) -> f64 {
        if self.is_lower_better { -value } else { value }
    }
}

/// The Pareto front by means: points that no other equals in both metrics and beats in one. From
/// the best across to the best upwards.
pub fn front(scene: &Pareto<'_>) -> Vec<usize> {
    let worth = |point: &ParetoPoint| {
        (scene.across.worth(point.across.mean), scene.up.worth(point.up.mean))
    };
    let drawn = || scene.points.iter().enumerate().filter(|(_, point)| point.is_drawn());
    let beats = |one: (f64, f64), other: (f64, f64)| {
        one.0 >= other.0 && one.1 >= other.1 && (one.0 > other.0 || one.1 > other.1)
    };
    let is_beaten = |point: &ParetoPoint| {
        let own = worth(point);
        drawn().any(|(_, other)| beats(worth(other), own))
    };
    let mut front: Vec<usize> =
        drawn().filter(|(_, point)| !is_beaten(point)).map(|(index, _)| index).collect();
    let place = |index: &usize| worth(&scene.points[*index]);
    front.sort_by(|one, other| {
        place(other).0.total_cmp(&place(one).0).then(place(one).1.total_cmp(&place(other).1))
    });
    front
}

/// Draws the points and the front.
pub fn pareto(scene: &Pareto<'_>) -> Drawn {
    let front = front(scene);
    let places = Places::of(scene);
    let mut svg = opening("pareto", (WIDTH, HEIGHT + places.key), &summary(scene, &front));
    frame(&mut svg, scene, &places);
    line(&mut svg, scene, &places, &front);
    for (index, point) in scene.points.iter().enumerate().filter(|(_, point)| point.is_drawn()) {
        draw(&mut svg, point, &places, front.contains(&index));
    }
    names(&mut svg, scene, &places, &front);
    key(&mut svg, scene);
    svg.push_str("</svg>");
    let rows = scene.points.iter().enumerate().map(|(index, point)| {
        let kind = scene.kinds.get(point.kind).cloned().unwrap_or_default();
        let is_front = front.contains(&index).to_string();
        let numbers = [point.across.mean, point.up.mean].map(number_cell);
        let [across, up] = numbers;
        [point.name.clone(), kind, across, up, is_front]
    });
    let columns = ["name", "kind", scene.across.name, scene.up.name, "unbeaten"];
    Drawn { table: Table::new(&columns, rows), svg }
}

/// The axes.
struct Places {
    across: Axis,
    up: Axis,
    key: f64,
}

impl Places {
    fn of(scene: &Pareto<'_>) -> Places {
        let seen = |pick: fn(&ParetoPoint) -> Estimate| {
            let all: Vec<Estimate> =
                scene.points.iter().filter(|point| point.is_drawn()).map(pick).collect();
            Axis::over(shown(&all))
        };
        let key = if scene.kinds.len() > 1 { KEY_ROW } else { 0.0 };
        Places { across: seen(|point| point.across), up: seen(|point| point.up), key }
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + self.across.share(value).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        self.key + TOP + (1.0 - self.up.share(value).clamp(0.0, 1.0)) * (HEIGHT - TOP - BOTTOM)
    }

    fn bottom(&self) -> f64 {
        self.key + HEIGHT - BOTTOM
    }
}

/// Values for an axis: all means, and their intervals up to half of the means' range, because those
/// of few trials would hide everything else.
fn shown(all: &[Estimate]) -> Vec<f64> {
    let means = || all.iter().map(|it| it.mean);
    let (low, high) = (means().fold(f64::INFINITY, f64::min), means().fold(f64::MIN, f64::max));
    let room = (high - low) * 0.5;
    // Positive values stay positive, for a logarithmic axis.
    let least = if low > 0.0 { (low - room).max(low * 0.8) } else { low - room };
    let ends = all.iter().filter_map(|it| it.interval).flat_map(|(from, until)| {
        [from.max(least), until.min(high + room)].into_iter().filter(|end| end.is_finite())
    });
    means().chain(ends).collect()
}

fn frame(svg: &mut String, scene: &Pareto<'_>, places: &Places) {
    let (right, bottom, top) = (WIDTH - RIGHT, places.bottom(), places.key + TOP);
    for (value, label) in places.up.marks(6) {
        let y = places.y(value);
        path(svg, "rule", &format!("M{LEFT} {y:.1}H{right}"));
        text(svg, "value", (LEFT - 7.0, y + 4.0), &label);
    }
    let marks = places.across.marks(7).into_iter().map(|(value, label)| (places.x(value), label));
    let marks: Vec<(f64, String)> = marks.collect();
    for (x, _) in &marks {
        path(svg, "rule", &format!("M{x:.1} {top}V{bottom}"));
    }
    below_marks(svg, &marks, bottom + 16.0, WIDTH);
    let way = |axis: ParetoAxis<'_>| if axis.is_lower_better { "less" } else { "more" };
    let label = |axis: ParetoAxis<'_>| format!("{} ({} is better)", axis.name, way(axis));
    let middle = f64::midpoint(LEFT, right);
    text(svg, "over", (middle, places.key + HEIGHT - 8.0), &label(scene.across));
    text(svg, "unit", (4.0, places.key + 12.0), &label(scene.up));
}

/// Steps along the front: between two points nothing is better than the better of the first.
fn line(svg: &mut String, scene: &Pareto<'_>, places: &Places, front: &[usize]) {
    let mut d = String::new();
    for index in front {
        let point = &scene.points[*index];
        let (x, y) = (places.x(point.across.mean), places.y(point.up.mean));
        let step = if d.is_empty() { format!("M{x:.1} {y:.1}") } else { format!("H{x:.1}V{y:.1}") };
        d.push_str(&step);
    }
    if front.len() > 1 {
        path(svg, "front", &d);
    }
}

fn draw(svg: &mut String, point: &ParetoPoint, places: &Places, is_front: bool) {
    let (x, y) = (places.x(point.across.mean), places.y(point.up.mean));
    let muted = if is_front { "" } else { " beaten" };
    svg.push_str(&format!(r#"<g class="line-{}{muted}">"#, point.kind % COLOURS));
    let finite = |it: Option<(f64, f64)>| it.filter(|(l, h)| l.is_finite() && h.is_finite());
    if let Some((low, high)) = finite(point.across.interval) {
        path(svg, "interval", &format!("M{:.1} {y:.1}H{:.1}", places.x(low), places.x(high)));
    }
    if let Some((low, high)) = finite(point.up.interval) {
        path(svg, "interval", &format!("M{x:.1} {:.1}V{:.1}", places.y(low), places.y(high)));
    }
    let open = if point.kind >= COLOURS { " open" } else { "" };
    let r = if is_front { 4.5 } else { 3.2 };
    let name = crate::svg::escape(&point.name);
    svg.push_str(&format!(
            r#"<circle class="mark{open}" cx="{x:.1}" cy="{y:.1}" r="{r}"><title>{name}</title></circle></g>"#
        ),
    );
}

/// The names of the front's points, each at the first place that covers no other name, point or
/// line, else where it covers least.
fn names(svg: &mut String, scene: &Pareto<'_>, places: &Places, front: &[usize]) {
    let marks = scene.points.iter().filter(|point| point.is_drawn()).map(|point| {
        let (x, y) = (places.x(point.across.mean), places.y(point.up.mean));
        Area { left: x - 5.0, right: x + 5.0, top: y - 5.0, bottom: y + 5.0 }
    });
    let mut taken: Vec<Area> = marks.collect();
    taken.extend(front.windows(2).flat_map(|pair| {
        let [from, until] = [pair[0], pair[1]].map(|index| {
            let point = &scene.points[index];
            (places.x(point.across.mean), places.y(point.up.mean))
        });
        [Area::along(from, (until.0, from.1)), Area::along((until.0, from.1), until)]
    }));
    for index in front {
        let point = &scene.points[*index];
        let name = fitted(&point.name, NAMES_MOST / BOLDER);
        let at = (places.x(point.across.mean), places.y(point.up.mean));
        let covered = |area: &Area| -> f64 {
            let off = if area.is_on_picture(places) { 0.0 } else { 1e6 };
            off + taken.iter().map(|other| area.shared(other)).sum::<f64>()
        };
        let best = Area::beside(at, width(&name) * BOLDER)
            .into_iter()
            .min_by(|one, other| covered(one).total_cmp(&covered(other)));
        let Some(area) = best else { continue };
        let place = (area.left, area.bottom - 3.0);
        svg.push_str(&format!(r#"<g class="line-{}">"#, point.kind % COLOURS));
        text(svg, "name", place, &name);
        svg.push_str("</g>");
        taken.push(area);
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    /// A line from one place to another, with a margin.
    fn along(from: (f64, f64), until: (f64, f64)) -> Area {
        Area {
            left: from.0.min(until.0) - 1.0,
            right: from.0.max(until.0) + 1.0,
            top: from.1.min(until.1) - 1.0,
            bottom: from.1.max(until.1) + 1.0,
        }
    }

    /// Possible places for a name of this width, the preferred first.
    fn beside((x, y): (f64, f64), wide: f64) -> Vec<Area> {
        let at = |left: f64, middle: f64| Area {
            left,
            right: left + wide,
            top: middle - NAME_HEIGHT / 2.0,
            bottom: middle + NAME_HEIGHT / 2.0,
        };
        let (after, before, above) = (x + 8.0, x - 8.0 - wide, x - wide / 2.0);
        let mut all = vec![at(after, y - 9.0), at(before, y - 9.0), at(after, y + 9.0)];
        all.extend([at(before, y + 9.0), at(above, y - 15.0), at(above, y + 15.0)]);
        for further in [24.0, 31.0, 38.0, 45.0, 52.0, 59.0, 66.0, 80.0] {
            all.extend([at(after, y + further), at(after, y - further)]);
            all.extend([at(before, y + further), at(before, y - further)]);
        }
        all
    }

    fn is_on_picture(&self, places: &Places) -> bool {
        let across = self.left >= LEFT && self.right <= WIDTH;
        across && self.top >= places.key + TOP - 8.0 && self.bottom <= places.bottom()
    }

    /// The common area, square pixels.
    fn shared(&self, other: &Area) -> f64 {
        let wide = self.right.min(other.right) - self.left.max(other.left);
        let high = self.bottom.min(other.bottom) - self.top.max(other.top);
        wide.max(0.0) * high.max(0.0)
    }
}

/// The colour key, in a row above the picture.
fn key(svg: &mut String, scene: &Pareto<'_>) {
    if scene.kinds.len() < 2 {
        return;
    }
    let mut x = 4.0;
    for (kind, name) in scene.kinds.iter().enumerate() {
        let open = if kind >= COLOURS { " open" } else { "" };
        svg.push_str(&format!(r#"<g class="line-{}">"#, kind % COLOURS));
        svg.push_str(&format!(r#"<circle class="mark{open}" cx="{:.1}" cy="9" r="4"/>"#, x + 4.0));
        let name = fitted(name, NAMES_MOST / BOLDER);
        text(svg, "name", (x + 12.0, 13.0), &name);
        svg.push_str("</g>");
        x += 12.0 + width(&name) * BOLDER + 18.0;
    }
}

fn summary(scene: &Pareto<'_>, front: &[usize]) -> String {
    let unbeaten = front.iter().map(|index| {
        let point = &scene.points[*index];
        format!("{} ({}, {})", point.name, brief(point.across.mean), brief(point.up.mean))
    });
    let unbeaten: Vec<String> = unbeaten.collect();
    let (up, across) = (scene.up.name, scene.across.name);
    format!("{}: {up} against {across}. Pareto front: {}", scene.title, unbeaten.join("; "))
}

#[cfg(test)]
mod tests;
