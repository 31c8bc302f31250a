//! What a path will do: rate, delay and loss over time, in panes above one another.

mod lines;
mod small;

use tcplab_path::{Moment, Outage, Outlook, Wait};
use tcplab_units::rounded::{self, decimal};
use tcplab_units::{Instant, Span};

use crate::STYLE;
use crate::frame::{Frame, Window};
use crate::path_data::{area, polyline};
use crate::plane::CHART_ROWS;
use crate::scale::Scale;
use crate::svg::escape;
use crate::view::Unit;
use lines::wrapped;

pub use small::small_path_picture;

/// What to show.
#[derive(Debug, Clone, Copy)]
pub struct PathPicture<'a> {
    /// The name of the path.
    pub title: &'a str,
    /// From client to server.
    pub forward: &'a Outlook,
    /// From server to client, until the same time.
    pub reverse: &'a Outlook,
}

/// Pixels.
const WIDTH: i64 = 900;
const MARGIN: i64 = 10;
const LEFT: i64 = 62;
const RIGHT: i64 = 20;
/// Above the first pane: the title. Above each: its unit and its keys.
const TITLE: i64 = 36;
const CAPTION: i64 = 24;
const PANE: i64 = 132;
const GAP: i64 = 14;
/// The times below the last pane.
const BOTTOM: i64 = 28;
const NOTE: i64 = 16;
/// About the pixels of a letter, with a margin against overlaps.
const LETTER: f64 = 6.6;
/// The same of the title.
const LETTER_OF_TITLE: f64 = 8.0;
/// The line or patch before a key's text, and the space after it.
const SWATCH: f64 = 20.0;
const APART: f64 = 18.0;
/// Height of the lanes that show outages, and the least width of an outage.
const LANE: i64 = 6;
const SHORTEST: f64 = 2.0;

/// Draws the outlook of a path, for a page with the style sheet.
pub fn path_picture(picture: &PathPicture<'_>) -> String {
    Drawing::of(picture).svg("", "")
}

/// As a document of its own, light or dark as the reader prefers.
pub fn path_svg(picture: &PathPicture<'_>) -> String {
    let inside = format!(
        "<style>svg {{ color-scheme: light dark; }}\n{STYLE}</style>\
         <rect width=\"100%\" height=\"100%\" style=\"fill: var(--plot-surface)\"/>"
    );
    let mut svg = Drawing::of(picture).svg(r#" xmlns="http://www.w3.org/2000/svg""#, &inside);
    svg.push('\n');
    svg
}

/// The direction of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    Both,
    Forward,
    Reverse,
}

impl Lines {
    fn name(self) -> &'static str {
        match self {
            Lines::Both => "both directions",
            Lines::Forward => "forward",
            Lines::Reverse => "reverse",
        }
    }
    fn class(self) -> &'static str {
        match self {
            Lines::Both => "both",
            Lines::Forward => "forward",
            Lines::Reverse => "reverse",
        }
    }
}

/// Values with their beginnings; successive ones differ.
type Steps = Vec<(Instant, f64)>;

/// A part of the picture.
struct PanePlan {
    name: &'static str,
    unit: &'static str,
    /// The size of the unit, in bit/s, ms or percent.
    size: f64,
    high: f64,
    /// The lowermost first.
    shapes: Vec<Shape>,
    keys: Vec<Key>,
    /// The text instead of curves.
    nothing: Option<&'static str>,
}

/// A line, or the area between two lines.
struct Shape {
    class: String,
    low: Option<Steps>,
    high: Steps,
}

/// An entry of a pane's legend.
struct Key {
    class: String,
    is_patch: bool,
    /// With and without enough room.
    long: String,
    short: String,
}

struct Drawing {
    title: String,
    /// The title in a line.
    headline: String,
    until: Instant,
    panes: [PanePlan; 3],
    outages: Vec<(Lines, Vec<Outage>)>,
    notes: Vec<String>,
}

impl Drawing {
    fn of(picture: &PathPicture<'_>) -> Drawing {
        let PathPicture { title, forward, reverse } = *picture;
        let ways = |alike: bool| {
            if alike {
                vec![(Lines::Both, forward)]
            } else {
                vec![(Lines::Forward, forward), (Lines::Reverse, reverse)]
            }
        };
        let same =
            |value: fn(&Moment) -> f64| alike(&steps(forward, value), &steps(reverse, value));
        let rates = ways(same(|it| bits(it.rate)) && same(|it| bits(it.left)));
        let delays = ways(
            same(|it| millis(it.least))
                && same(|it| millis(it.delay))
                && same(|it| millis(it.most)),
        );
        let queues = ways(same(queued) && forward.wait == reverse.wait);
        let losses = ways(same(|it| it.loss) && forward.has_rules == reverse.has_rules);
        let outages = ways(
            forward.outages == reverse.outages && forward.outages_until == reverse.outages_until,
        );
        Drawing {
            title: title.into(),
            headline: shortened(title),
            until: forward.until.max(reverse.until),
            panes: [rate_pane(&rates), delay_pane(&delays, &queues), loss_pane(&losses, &outages)],
            outages: outages.into_iter().map(|(way, it)| (way, it.outages.clone())).collect(),
            notes: notes(forward, reverse),
        }
    }

    fn svg(&self, attributes: &str, inside: &str) -> String {
        let panes = self.panes.len() as i64;
        let bottom = TITLE + panes * (CAPTION + PANE) + (panes - 1) * GAP + BOTTOM;
        let height = bottom + NOTE * self.notes.len() as i64 + 6;
        let mut svg = format!(
            concat!(
                r#"<svg{attributes} class="path-picture" viewBox="0 0 {width} {height}" "#,
                r#"width="{width}" height="{height}" role="img">"#,
                "<title>{title}</title><desc>{desc}</desc>{inside}",
                r#"<text class="title" x="{margin}" y="22">{headline}</text>"#,
            ),
            attributes = attributes,
            width = WIDTH,
            height = height,
            title = escape(&self.title),
            headline = escape(&self.headline),
            desc = escape(&self.summary()),
            inside = inside,
            margin = MARGIN,
        );
        for (index, plan) in (0..).zip(&self.panes) {
            let top = TITLE + CAPTION + index * (CAPTION + PANE + GAP);
            let across = WIDTH - LEFT - RIGHT;
            let frame = Frame { left: LEFT, top, across, height: PANE, width: WIDTH };
            self.pane(&mut svg, frame, plan, index + 1 == panes);
        }
        for (index, note) in (0..).zip(&self.notes) {
            let y = bottom + 10 + index * NOTE;
            svg.push_str(&format!(r#"<text x="{MARGIN}" y="{y}">{}</text>"#, escape(note)));
        }
        svg.push_str("</svg>");
        svg
    }

    /// For screen readers.
    fn summary(&self) -> String {
        let panes = self.panes.iter().map(|plan| {
            let keys: Vec<&str> = plan.keys.iter().map(|key| key.long.as_str()).collect();
            let what = plan.nothing.map_or_else(|| keys.join("; "), Into::into);
            format!("{}: {what}.", plan.name)
        });
        let over = format!("Over {}.", rounded::span(self.until.since(Instant::ZERO)));
        panes.chain([over]).chain(self.notes.iter().cloned()).collect::<Vec<_>>().join(" ")
    }

    fn pane(&self, svg: &mut String, frame: Frame, plan: &PanePlan, is_last: bool) {
        let high = if plan.high > 0.0 { plan.high * 1.1 } else { 1.0 };
        let scale = Scale::new(Instant::ZERO, self.until, 0.0, high, CHART_ROWS);
        let window = Window::whole(&scale);
        for (way, outages) in &self.outages {
            let class = format!("outage {}", way.class());
            svg.push_str(&bars(&class, outages, frame, &window, (frame.top, frame.height)));
        }
        frame.stacked_axes(svg, &window, &Unit::Named(plan.unit.into()), is_last);
        let caption = format!("{}, {}", plan.name, plan.unit);
        let y = frame.top - 9;
        svg.push_str(&format!(r#"<text class="unit" x="{MARGIN}" y="{y}">{caption}</text>"#));
        let free = MARGIN as f64 + caption.chars().count() as f64 * LETTER + APART;
        plan.legend(svg, free, y);
        if let Some(text) = plan.nothing {
            let (x, y) = (frame.left + frame.across / 2, frame.top + frame.height / 2);
            svg.push_str(&format!(r#"<text class="nothing" x="{x}" y="{y}">{text}</text>"#));
        }
        let Scale { columns, rows, .. } = scale;
        svg.push_str(&frame.plane(&format!("0 0 {columns} {rows}")));
        for shape in &plan.shapes {
            let path = shape.path(&scale);
            svg.push_str(&format!(r#"<path class="{}" d="{path}"/>"#, shape.class));
        }
        svg.push_str("</svg>");
        if is_last {
            for (lane, (way, outages)) in (0..).zip(&self.outages) {
                let class = format!("outage lane {}", way.class());
                let place = (frame.top + 2 + lane * (LANE + 2), LANE);
                svg.push_str(&bars(&class, outages, frame, &window, place));
            }
        }
    }
}

impl PanePlan {
    /// A row of keys that ends at the right; short ones if it would begin before `from`.
    fn legend(&self, svg: &mut String, from: f64, y: i64) {
        let width = |text: &str| SWATCH + text.chars().count() as f64 * LETTER + APART;
        let end = (WIDTH - RIGHT) as f64 + APART;
        let all = |text: fn(&Key) -> &str| self.keys.iter().map(|k| width(text(k))).sum::<f64>();
        let fits = end - all(|key| &key.long) >= from;
        let text: fn(&Key) -> &str = if fits { |key| &key.long } else { |key| &key.short };
        let mut x = end - all(text);
        for key in &self.keys {
            let Key { class, is_patch, .. } = key;
            let swatch = if *is_patch {
                format!("M{x:.1} {}h14v10h-14Z", y - 9)
            } else {
                format!("M{x:.1} {}h14", y - 4)
            };
            svg.push_str(&format!(r#"<path class="key {class}" d="{swatch}"/>"#));
            let (at, text_of_key) = (x + SWATCH, escape(text(key)));
            svg.push_str(&format!(r#"<text x="{at:.1}" y="{y}">{text_of_key}</text>"#));
            x += width(text(key));
        }
    }
}

impl Shape {
    fn path(&self, scale: &Scale) -> String {
        let places = |steps: &Steps| -> Vec<(i64, i64)> {
            steps.iter().map(|(at, value)| (scale.x(*at), scale.y(*value))).collect()
        };
        let high = places(&self.high);
        if let Some(low) = &self.low {
            area(&places(low), &high, scale.columns)
        } else {
            let end = high.last().map(|(_, y)| (scale.columns, Some(*y)));
            let points = high.iter().map(|(x, y)| (*x, Some(*y))).chain(end);
            polyline(&points.collect::<Vec<_>>(), true, 1)
        }
    }
}

/// Periods as bars; those that would touch are joined, and each is wide enough to be seen.
fn bars(
    class: &str,
    outages: &[Outage],
    frame: Frame,
    window: &Window,
    (top, height): (i64, i64),
) -> String {
    let mut places: Vec<(f64, f64)> = Vec::new();
    for outage in outages {
        let from = frame.x(outage.from.as_secs_f64(), window);
        let until = frame.x(outage.until.as_secs_f64(), window);
        let thin = (SHORTEST - (until - from)).max(0.0) / 2.0;
        let (from, until) = (from - thin, until + thin);
        match places.last_mut() {
            Some(last) if from <= last.1 + 0.1 => last.1 = last.1.max(until),
            _ => places.push((from, until)),
        }
    }
    if places.is_empty() {
        return String::new();
    }
    let bar = |(from, until): &(f64, f64)| {
        let width = until - from;
        format!("M{from:.1} {top}h{width:.1}v{height}h-{width:.1}Z")
    };
    format!(r#"<path class="{class}" d="{}"/>"#, places.iter().map(bar).collect::<String>())
}

fn steps(outlook: &Outlook, value: impl Fn(&Moment) -> f64) -> Steps {
    let mut steps: Steps = Vec::new();
    for moment in &outlook.moments {
        let value = value(moment);
        if steps.last().is_none_or(|(_, last)| last.total_cmp(&value).is_ne()) {
            steps.push((moment.at, value));
        }
    }
    steps
}

/// Whether two lines look the same. A line that changes evenly may be sampled at other times, so
/// differences below a pixel do not count.
fn alike(one: &Steps, other: &Steps) -> bool {
    if constant(one).is_some() || constant(other).is_some() {
        return one == other;
    }
    let values = || one.iter().chain(other);
    let pixel = values().map(|(_, value)| *value).fold(0.0, f64::max) / PANE as f64;
    let held = |steps: &Steps, at: Instant| {
        steps.iter().rfind(|(from, _)| *from <= at).map_or(f64::NAN, |(_, value)| *value)
    };
    values().all(|(at, _)| (held(one, *at) - held(other, *at)).abs() <= pixel)
}

fn highest(shapes: &[Shape]) -> f64 {
    shapes.iter().flat_map(|shape| &shape.high).map(|(_, value)| *value).fold(0.0, f64::max)
}

/// Its only value.
fn constant(steps: &Steps) -> Option<f64> {
    if let [(_, value)] = steps.as_slice() { Some(*value) } else { None }
}

/// The direction's name and, if it fits, its constant value.
fn key(way: Lines, value: Option<String>) -> Key {
    let short = way.name().to_owned();
    let long = value.map_or_else(|| short.clone(), |value| format!("{short}: {value}"));
    Key { class: format!("line {}", way.class()), is_patch: false, long, short }
}

fn patch(class: &str, text: String) -> Key {
    Key { class: class.into(), is_patch: true, short: text.clone(), long: text }
}

/// No rate limit is infinite.
fn bits(rate: Option<tcplab_units::Rate>) -> f64 {
    rate.map_or(-1.0, |rate| rate.bits_per_second() as f64)
}

fn rate_pane(ways: &[(Lines, &Outlook)]) -> PanePlan {
    let limited = |outlook: &Outlook| outlook.moments.iter().any(|it| it.rate.is_some());
    let (mut shapes, mut keys) = (Vec::new(), Vec::new());
    let mut others = None;
    for (way, outlook) in ways {
        if !limited(outlook) {
            keys.push(key(*way, Some("unlimited".into())));
            continue;
        }
        let rate = steps(outlook, |it| bits(it.rate));
        keys.push(key(*way, constant(&rate).map(spoken_rate)));
        if outlook.moments.iter().any(|it| it.left.is_some()) {
            let left = steps(outlook, |it| bits(it.left));
            let value = constant(&left).map(|rate| format!(": {}", spoken_rate(rate)));
            let whose = match way {
                Lines::Both => String::new(),
                way => format!("{}, ", way.name()),
            };
            let text = format!("{whose}left by cross traffic{}", value.unwrap_or_default());
            let class = format!("left line {}", way.class());
            shapes.push(Shape { class: class.clone(), low: None, high: left });
            others.get_or_insert_with(Vec::new).push(Key {
                class,
                is_patch: false,
                long: text,
                short: "left by cross traffic".into(),
            });
        }
        shapes.push(Shape { class: format!("line {}", way.class()), low: None, high: rate });
    }
    keys.extend(others.into_iter().flatten());
    let (size, unit) = rate_unit(highest(&shapes));
    scaled(&mut shapes, 1.0 / size);
    let nothing = shapes.is_empty().then_some("no bottleneck: unlimited");
    let keys = if nothing.is_some() { Vec::new() } else { keys };
    PanePlan { name: "Rate", unit, size, high: highest(&shapes), shapes, keys, nothing }
}

/// The unit's size in bit/s, and its name.
fn rate_unit(highest: f64) -> (f64, &'static str) {
    match highest {
        rate if rate >= 1e12 => (1e12, "Tbit/s"),
        rate if rate >= 1e9 => (1e9, "Gbit/s"),
        rate if rate >= 1e6 => (1e6, "Mbit/s"),
        rate if rate >= 1e3 => (1e3, "kbit/s"),
        rate if rate > 0.0 => (1.0, "bit/s"),
        _ => (1e6, "Mbit/s"),
    }
}

fn spoken_rate(rate: f64) -> String {
    let (size, unit) = rate_unit(rate);
    let text = decimal(rate / size, 2);
    let short = text.trim_end_matches('0').trim_end_matches('.');
    format!("{short} {unit}")
}

fn scaled(shapes: &mut [Shape], factor: f64) {
    for shape in shapes {
        let lines = [Some(&mut shape.high), shape.low.as_mut()];
        for (_, value) in lines.into_iter().flatten().flatten() {
            *value *= factor;
        }
    }
}

fn millis(span: Span) -> f64 {
    span.as_millis_f64()
}

fn queued(moment: &Moment) -> f64 {
    millis(moment.most) + moment.queue.map_or(0.0, millis)
}

fn delay_pane(ways: &[(Lines, &Outlook)], waits: &[(Lines, &Outlook)]) -> PanePlan {
    let (mut queues, mut bands, mut lines, mut keys) = (vec![], vec![], vec![], vec![]);
    for (way, outlook) in ways {
        let class = way.class();
        let [least, delay, most] = [
            steps(outlook, |it| millis(it.least)),
            steps(outlook, |it| millis(it.delay)),
            steps(outlook, |it| millis(it.most)),
        ];
        keys.push(key(*way, constant(&delay).map(in_milliseconds)));
        if least != most {
            bands.push(Shape { class: format!("jitter {class}"), low: Some(least), high: most });
        }
        lines.push(Shape { class: format!("line {class}"), low: None, high: delay });
    }
    if !bands.is_empty() {
        keys.push(patch("jitter", "jitter, 1 % to 99 %".into()));
    }
    for (way, outlook) in waits {
        if outlook.moments.iter().all(|it| it.queue.is_none_or(Span::is_zero)) {
            continue;
        }
        let class = format!("queue {}", way.class());
        let low = Some(steps(outlook, |it| millis(it.least)));
        queues.push(Shape { class: class.clone(), low, high: steps(outlook, queued) });
        let whose = if *way == Lines::Both { "" } else { way.name() };
        let state = match outlook.wait {
            Wait::Full => "full",
            Wait::Target => "at its target",
            Wait::Both => "full or at target",
        };
        let wait = constant(&steps(outlook, |it| it.queue.map_or(0.0, millis)));
        let wait = wait.map(|wait| format!(": + {}", in_milliseconds(wait))).unwrap_or_default();
        let [long, short] =
            [format!("{whose} queue {state}{wait}"), format!("{whose} queue {state}")];
        let [long, short] = [long, short].map(|text| text.trim_start().to_owned());
        keys.push(Key { class, is_patch: true, long, short });
    }
    let mut shapes: Vec<Shape> = queues.into_iter().chain(bands).chain(lines).collect();
    // A label has room for about seven digits.
    let (size, unit) = match highest(&shapes) {
        most if most >= 100.0 * 86_400e3 => (86_400e3, "days"),
        most if most >= 36_000e3 => (3_600e3, "h"),
        most if most >= 10_000.0 => (1e3, "s"),
        most if most < 1.0 && most > 0.0 => (1e-3, "µs"),
        _ => (1.0, "ms"),
    };
    scaled(&mut shapes, 1.0 / size);
    PanePlan { name: "Delay", unit, size, high: highest(&shapes), shapes, keys, nothing: None }
}

/// Milliseconds as one says them.
fn in_milliseconds(ms: f64) -> String {
    if ms == 0.0 { "0 ms".into() } else { rounded::span(Span::from_secs_f64(ms / 1e3)) }
}

fn loss_pane(ways: &[(Lines, &Outlook)], outages: &[(Lines, &Outlook)]) -> PanePlan {
    let (mut shapes, mut keys) = (Vec::new(), Vec::new());
    for (way, outlook) in ways {
        let high = steps(outlook, |it| it.loss * 100.0);
        let none = if outlook.has_rules { "none at random" } else { "none" };
        let said = |per_cent| if per_cent > 0.0 { share(per_cent) } else { none.into() };
        keys.push(key(*way, constant(&high).map(said)));
        shapes.push(Shape { class: format!("line {}", way.class()), low: None, high });
    }
    for (way, outlook) in outages {
        if let Some(text) = times(outlook) {
            let whose = if *way == Lines::Both { "" } else { way.name() };
            let text = format!("{whose} outage: {text}").trim_start().to_owned();
            keys.push(patch(&format!("outage lane {}", way.class()), text));
        }
    }
    // The lanes need room above the line.
    let high = highest(&shapes) * 1.25;
    PanePlan { name: "Loss", unit: "%", size: 1.0, high, shapes, keys, nothing: None }
}

/// With three figures, however small.
fn share(per_cent: f64) -> String {
    let decimals = (2.0 - per_cent.log10().floor()).clamp(0.0, 12.0) as usize;
    let text = decimal(per_cent, decimals);
    let short = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text.as_str()
    };
    format!("{short} %")
}

/// Number and durations.
fn times(outlook: &Outlook) -> Option<String> {
    let more = if outlook.outages_until.is_some() { "more than " } else { "" };
    let spans: Vec<Span> = outlook.outages.iter().map(|it| it.until.since(it.from)).collect();
    let (first, count) = (*spans.first()?, spans.len());
    Some(if count == 1 {
        rounded::span(first)
    } else if spans.iter().all(|span| *span == first) {
        format!("{more}{count} × {}", rounded::span(first))
    } else {
        format!("{more}{count} times, {} in all", rounded::span(spans.into_iter().sum()))
    })
}

/// The notes below the panes: of both directions, then of one, in lines that fit.
fn notes(forward: &Outlook, reverse: &Outlook) -> Vec<String> {
    let both = forward.notes.iter().filter(|note| reverse.notes.contains(note)).cloned();
    let one = |way: Lines, here: &Outlook, there: &Outlook| {
        let own = here.notes.iter().filter(|note| !there.notes.contains(note));
        own.map(|note| format!("{}: {note}", way.name())).collect::<Vec<_>>()
    };
    let all = both.chain(one(Lines::Forward, forward, reverse)).chain(one(
        Lines::Reverse,
        reverse,
        forward,
    ));
    let most = ((WIDTH - MARGIN - RIGHT) as f64 / LETTER) as usize;
    all.flat_map(|note| wrapped(&note, most)).collect()
}

/// What fits above the panes; the whole title is the picture's name.
fn shortened(title: &str) -> String {
    let most = ((WIDTH - MARGIN - RIGHT) as f64 / LETTER_OF_TITLE) as usize;
    if title.chars().count() <= most {
        return title.into();
    }
    let first = wrapped(title, most - 2).swap_remove(0);
    let first: String = first.chars().take(most - 2).collect();
    format!("{} …", first.trim_end_matches([',', ';']))
}

#[cfg(test)]
mod tests;
