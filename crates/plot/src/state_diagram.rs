//! TCP's state diagram (RFC 9293 figure 5) with the walks of both ends of a connection on it.

mod layout;

use layout::{Route, StatePosition};
use tcplab_trace::{DIAGRAM, Edge, Event, StateWalk, StateWalks, TcpState};
use tcplab_units::rounded::grouped;

use crate::letters::width;
use crate::svg::escape;

/// What to draw.
#[derive(Debug, Clone, Copy)]
pub struct StateDiagram<'a> {
    /// Its title, also for screen readers.
    pub title: &'a str,
    /// The walks of both ends; none: the figure alone.
    pub walks: Option<&'a StateWalks>,
}

/// Pixels.
const WIDTH: i64 = 1040;
const HEIGHT: i64 = 950;
const BOX: (i64, i64) = (132, 36);
/// How much wider than [`width`] text may be: bold, of a wide font, at the size of the live page.
const WIDEST: f64 = 1.4;
/// Between the lines of an edge's label.
const LINE: i64 = 14;
/// A label in the way of another moves by so much, so many times at most.
const ASIDE: i64 = 7;
const STEPS_ASIDE: i64 = 16;
/// The distance of both ends' walks from their common edge.
const APART: i64 = 3;

/// Draws the diagram, for a page with the style sheet.
pub fn state_diagram(diagram: &StateDiagram<'_>) -> String {
    let title = escape(diagram.title);
    let mut svg = format!(
        r#"<svg class="state-diagram" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}"><title>{title}</title>"#
    );
    let walks = diagram.walks.map_or([None; 2], |walks| walks.both().map(Some));
    legend(&mut svg, diagram.title, walks);
    for known in DIAGRAM {
        if let Some(route) = Route::of(known.from, known.to) {
            arrow(&mut svg, "edge", "", route);
        }
    }
    for who in 0..WHO.len() {
        for edge in edges(walks[who]) {
            let is_alike = |theirs: &Edge| (theirs.from, theirs.to) == (edge.from, edge.to);
            let apart = if edges(walks[1 - who]).iter().any(is_alike) { APART } else { 0 };
            highlight(&mut svg, who, edge, apart);
        }
    }
    for place in StatePosition::ALL {
        state(&mut svg, place, walks);
    }
    for label in labels(walks) {
        label.draw(&mut svg);
    }
    svg.push_str("</svg>");
    svg
}

/// The walks of both ends, the client's first.
type Walks<'w> = [Option<&'w StateWalk>; 2];

fn edges(walk: Option<&StateWalk>) -> &[Edge] {
    walk.map_or(&[], |walk| &walk.edges)
}

/// Walked edges that are not in the figure.
fn beside_figure(walks: Walks<'_>) -> Vec<(TcpState, TcpState)> {
    let mut found = Vec::new();
    for edge in walks.into_iter().flat_map(edges) {
        let pair = (edge.from, edge.to);
        let drawn = DIAGRAM.iter().any(|known| (known.from, known.to) == pair);
        if !drawn && !found.contains(&pair) {
            found.push(pair);
        }
    }
    found
}

/// The classes of both ends' colours.
const WHO: [&str; 2] = ["client", "server"];

/// A line with a tip.
fn arrow(svg: &mut String, class: &str, place: &str, route: Route) {
    let ((x, y), angle) = route.end();
    let path = route.path();
    svg.push_str(&format!(r#"<g class="{class}"{place}><path class="line" d="{path}"/>"#));
    svg.push_str(&format!(
        r#"<path class="tip" transform="translate({x} {y}) rotate({angle})" d="M0 0l-9-4v8z"/></g>"#
    ));
}

fn legend(svg: &mut String, title: &str, walks: Walks<'_>) {
    let title = escape(title);
    svg.push_str(&format!(r#"<g class="legend"><text class="title" x="16" y="18">{title}</text>"#));
    for (who, walk) in walks.into_iter().enumerate() {
        let Some(walk) = walk else { continue };
        let y = 52 + who as i64 * 20;
        let class = WHO[who];
        let ended = match (walk.edges.last(), walk.last()) {
            (_, None) => "not captured".to_owned(),
            (None, Some(state)) => format!("in {} throughout", state.name()),
            (Some(_), Some(state)) => format!("finally in {}", state.name()),
        };
        let text = format!("{class} {}: {ended}", walk.address);
        svg.push_str(&format!(
            r#"<g class="walked {class}"><path class="line" d="M16 {}h22"/></g>"#,
            y - 4
        ));
        svg.push_str(&format!(r#"<text class="{class}" x="46" y="{y}">{}</text>"#, escape(&text)));
    }
    svg.push_str("</g>");
}

/// Which step of which end an element shows, for a page that marks them.
fn step(who: usize, edge: &Edge) -> String {
    let below = if Route::ends_below(edge) { " data-below=\"\"" } else { "" };
    format!(r#" data-step="{} {}"{below}"#, WHO[who], edge.step)
}

/// The edge in the end's colour, shifted to leave room for the other end's.
fn highlight(svg: &mut String, who: usize, edge: &Edge, apart: i64) {
    let Some(route) = Route::walked(edge.from, edge.to) else { return };
    let (across, down) = route.normal();
    let side = if who == 0 { -apart } else { apart };
    let class = format!("walked {}", WHO[who]);
    let place = format!(r#" transform="translate({} {})""#, across * side, down * side);
    let place = if apart == 0 { "" } else { &place };
    arrow(svg, &class, &format!("{place}{}", step(who, edge)), route);
}

fn state(svg: &mut String, place: StatePosition, walks: Walks<'_>) {
    let StatePosition { state, x, y, is_end } = place;
    let was = |walk: Option<&StateWalk>| {
        let Some(walk) = walk else { return false };
        if is_end {
            return walk.edges.iter().any(Route::ends_below);
        }
        let above = |edge: &Edge| edge.to == state && !Route::ends_below(edge);
        walk.start == Some(state) || walk.edges.iter().any(above)
    };
    let visited: Vec<&str> =
        walks.into_iter().zip(WHO).filter(|(walk, _)| was(*walk)).map(|(_, class)| class).collect();
    let class = match visited[..] {
        [] => "state".to_owned(),
        [one] => format!("state visited {one}"),
        _ => "state visited".to_owned(),
    };
    let (width, height) = BOX;
    let (left, top) = (x - width / 2, y - height / 2);
    let (name, below) = (state.name(), if is_end { " data-below=\"\"" } else { "" });
    svg.push_str(&format!(
            r#"<g class="{class}" data-state="{name}"{below}><rect x="{left}" y="{top}" width="{width}" height="{height}" rx="7"/><text x="{x}" y="{}">{name}</text></g>"#,
            y + 5,
        ),
    );
    // A dot for each end in its last state.
    for (who, walk) in walks.into_iter().enumerate() {
        let Some(walk) = walk else { continue };
        let ends_below = walk.edges.last().is_some_and(Route::ends_below);
        if walk.last() == Some(state) && ends_below == is_end {
            let dot = x - 8 + 16 * who as i64;
            let class = WHO[who];
            let bottom = y + height / 2;
            svg.push_str(&format!(
                r#"<circle class="there {class}" cx="{dot}" cy="{bottom}" r="5"/>"#
            ));
        }
    }
}

/// The text beside an edge.
struct Label {
    /// Class and step, text; from the top.
    lines: Vec<(String, String)>,
    x: i64,
    /// Of the first line.
    y: i64,
    anchor: &'static str,
}

impl Label {
    /// An edge's event, and a line for each time it was walked.
    fn of(
        (from, to): (TcpState, TcpState),
        words: Option<&str>,
        walks: Walks<'_>,
    ) -> Option<Label> {
        let (x, y, anchor) = Route::walked(from, to)?.label();
        let mut lines: Vec<(String, String)> = Vec::new();
        // What may end a connection in any state, and is in no edge of the figure.
        let (mut by_reset, mut by_timeout) = (false, false);
        for (who, class) in WHO.into_iter().enumerate() {
            for edge in edges(walks[who]).iter().filter(|edge| (edge.from, edge.to) == (from, to)) {
                by_reset |= matches!(edge.event, Event::ResetSent | Event::ResetReceived);
                by_timeout |= edge.event == Event::UserTimeout;
                let class = format!(r#""walk {class}"{}"#, step(who, edge));
                lines.extend(walked(edge, room(x, anchor)).map(|text| (class.clone(), text)));
            }
        }
        let walked = !lines.is_empty();
        if let Some(words) = words.filter(|_| !by_reset && !by_timeout) {
            let class = if walked { r#""on walked""# } else { r#""on""# };
            lines.insert(0, (class.into(), words.into()));
        } else if let Some((first, _)) = lines.first() {
            let words = match (by_reset, by_timeout) {
                (true, true) => "RST; user timeout",
                (true, false) => "RST",
                (false, true) => "user timeout",
                (false, false) => "beside the figure",
            };
            // It is there because of that step.
            let step = first.find(" data-").map_or("", |at| &first[at..]);
            lines.insert(0, (format!(r#""on walked"{step}"#), words.into()));
        }
        let y = y - (lines.len() as i64 - 1) * LINE / 2 + 4;
        Some(Label { lines, x, y, anchor })
    }

    /// Left, top, right and bottom.
    fn area(&self) -> [i64; 4] {
        let widest = self.lines.iter().map(|(_, text)| width(text)).fold(0.0, f64::max);
        // Text of walks is bold.
        let wide = (widest * 1.08) as i64;
        let left = match self.anchor {
            "start" => self.x,
            "end" => self.x - wide,
            _ => self.x - wide / 2,
        };
        let high = self.lines.len() as i64 * LINE;
        [left, self.y - LINE + 3, left + wide, self.y - LINE + 3 + high]
    }

    /// Moves it up or down, as little as needed, to where it overlaps no other text.
    fn avoid(&mut self, taken: &[[i64; 4]]) {
        let wanted = self.y;
        for off in (0..=STEPS_ASIDE).flat_map(|step| [step * ASIDE, -step * ASIDE]) {
            self.y = wanted + off;
            let area = self.area();
            if area[1] > 0 && !taken.iter().any(|other| overlap(area, *other)) {
                return;
            }
        }
        self.y = wanted;
    }

    fn draw(&self, svg: &mut String) {
        for (index, (class, text)) in self.lines.iter().enumerate() {
            let (x, y, anchor) = (self.x, self.y + index as i64 * LINE, self.anchor);
            svg.push_str(&format!(
                r#"<text class={class} x="{x}" y="{y}" text-anchor="{anchor}">{}</text>"#,
                escape(text)
            ));
        }
    }
}

fn overlap(one: [i64; 4], other: [i64; 4]) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

/// The labels of all edges, clear of one another and of the states.
fn labels(walks: Walks<'_>) -> Vec<Label> {
    let known = DIAGRAM.iter().filter_map(|known| {
        let action = if known.does.is_empty() { "" } else { " / " };
        let words = format!("{}{action}{}", known.on, known.does);
        Label::of((known.from, known.to), Some(&words), walks)
    });
    let beside = beside_figure(walks).into_iter().filter_map(|edge| Label::of(edge, None, walks));
    let (width, height) = BOX;
    let mut taken: Vec<[i64; 4]> = StatePosition::ALL
        .iter()
        .map(|it| [it.x - width / 2, it.y - height / 2, it.x + width / 2, it.y + height / 2])
        .collect();
    let mut labels: Vec<Label> = known.chain(beside).collect();
    // Those of walked edges stay where they belong.
    labels.sort_by_key(|label| std::cmp::Reverse(label.lines.len()));
    for label in &mut labels {
        label.avoid(&taken);
        taken.push(label.area());
    }
    labels
}

/// From a label's place to the border of the figure.
fn room(x: i64, anchor: &str) -> i64 {
    match anchor {
        "start" => WIDTH - x,
        "end" => x,
        _ => 2 * x.min(WIDTH - x),
    }
}

/// `3 · #12 [F.] 0.2034 s`: step, packet and time, which has a line of its own without room.
fn walked(edge: &Edge, room: i64) -> impl Iterator<Item = String> {
    let cause = match edge.packet {
        Some(packet) => format!("{} · #{} {}", edge.step, grouped(packet.frame), packet.flags),
        None => format!("{} · inferred", edge.step),
    };
    let Some(at) = edge.at.or(edge.packet.map(|packet| packet.at)) else {
        return vec![cause].into_iter();
    };
    // Rounded, as in the table beside it.
    let units = at.as_nanos().saturating_add(50_000) / 100_000;
    let time = format!("{}.{:04} s", units / 10_000, units % 10_000);
    let line = format!("{cause} {time}");
    let fits = width(&line) * WIDEST <= room as f64;
    if fits { vec![line] } else { vec![cause, time] }.into_iter()
}

#[cfg(test)]
mod tests;
