//! The ladder diagram: two lines of time and the packets between them, in the paper's notation.

use tcplab_trace::{Fate, Flow, LadderLine, SegmentKind};
use tcplab_units::rounded::{self, grouped};
use tcplab_units::{Instant, Span};

use crate::svg::escape;

/// Pixels from the left: right edge of frame numbers and times, lifelines, left edge of notes,
/// width.
const FRAMES: i64 = 56;
const TIMES: i64 = 122;
const SENDER: i64 = 160;
const RECEIVER: i64 = 672;
const NOTES: i64 = 690;
const WIDTH: i64 = 960;
/// Pixels by which an arrow falls.
const FALL: i64 = 9;
/// Heights: head, an arrow with one line of text, each further line, a fold, a silence.
const HEAD: i64 = 34;
const ROW: i64 = 30;
const LINE: i64 = 14;
const FOLD: i64 = 30;
const SILENCE: i64 = 46;
/// Characters that fit between and beside the lifelines.
const LABEL_CHARACTERS: usize = 68;
const NOTE_CHARACTERS: usize = 40;
/// Silence of this length at the sender's capture point is drawn as a gap.
const SILENT: Span = Span::from_millis(40);

/// What to draw.
#[derive(Debug, Clone, Copy)]
pub struct LadderScene<'a> {
    /// Its title, for screen readers.
    pub title: &'a str,
    /// Name above the left lifeline; times are this end's.
    pub sender: &'a str,
    /// Name above the right lifeline.
    pub receiver: &'a str,
    /// The TCP flow of the packets, if any, which marks retransmissions.
    pub flow: Option<&'a Flow>,
    /// The packets in order of time.
    pub lines: &'a [LadderLine],
    /// When the path was interrupted.
    pub interruptions: &'a [(Instant, Instant)],
}

/// Draws a ladder diagram.
pub fn ladder(scene: &LadderScene<'_>) -> String {
    let rows = rows(scene);
    let height = rows.last().map_or(HEAD, |row| row.top + row.height) + 12;
    let mut svg = format!(
        r#"<svg class="ladder" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{0}"><title>{0}</title>"#,
        escape(scene.title)
    );
    shade(&mut svg, scene, &rows);
    lifelines(&mut svg, &rows, height);
    for (x, name) in [(SENDER, scene.sender), (RECEIVER, scene.receiver)] {
        svg.push_str(&format!(r#"<text class="end" x="{x}" y="16">{}</text>"#, escape(name)));
    }
    svg.push_str(&format!(r#"<text class="head" x="{FRAMES}" y="30">frame</text>"#));
    svg.push_str(&format!(r#"<text class="head" x="{TIMES}" y="30">time, s</text>"#));
    for row in &rows {
        match &row.what {
            What::Packet(line) => packet(&mut svg, row, line, again(scene.flow, line)),
            What::Fold(line) => fold(&mut svg, row, line),
            What::Silence(span) => silence(&mut svg, row, *span),
        }
    }
    svg.push_str("</svg>");
    svg
}

/// With its own style sheet, for a file.
pub fn ladder_svg(scene: &LadderScene<'_>) -> String {
    let drawn = ladder(scene);
    let style = format!("<style>svg {{ color-scheme: light dark; }}\n{}</style>", crate::STYLE);
    // The rest after the first tag.
    let (tag, rest) = drawn.split_once('>').unwrap_or((&drawn, ""));
    let tag = tag.replacen("<svg", r#"<svg xmlns="http://www.w3.org/2000/svg""#, 1);
    format!("{tag}>{style}{rest}\n")
}

struct Row<'a> {
    top: i64,
    height: i64,
    what: What<'a>,
    labels: Vec<String>,
    notes: Vec<String>,
}

enum What<'a> {
    Packet(&'a LadderLine),
    Fold(&'a LadderLine),
    Silence(Span),
}

impl Row<'_> {
    /// The middle of the packet's arrow.
    fn middle(&self) -> i64 {
        self.top + self.height - FALL
    }

    fn at(&self) -> Option<Instant> {
        match self.what {
            What::Packet(line) | What::Fold(line) => Some(line.at),
            What::Silence(_) => None,
        }
    }
}

fn rows<'a>(scene: &LadderScene<'a>) -> Vec<Row<'a>> {
    let mut rows = Vec::with_capacity(scene.lines.len() + 8);
    let mut top = HEAD;
    let mut push = |what, height, labels, notes| {
        rows.push(Row { top, height, what, labels, notes });
        top += height;
    };
    // Of the packets so far, folded ones too.
    let mut latest: Option<Instant> = None;
    for line in scene.lines {
        if let Some(latest) = latest {
            let gap = line.at.since(latest);
            if gap >= SILENT {
                push(What::Silence(gap), SILENCE, vec![], vec![]);
            }
        }
        latest = latest.max(Some(line.until));
        let notes = line.note.as_deref().map_or(vec![], |note| wrap(note, NOTE_CHARACTERS));
        let beside = notes.len() as i64 * LINE + 8;
        if line.folded > 0 {
            push(What::Fold(line), FOLD.max(beside), vec![], notes);
        } else {
            let labels = wrap(&line.label, LABEL_CHARACTERS);
            let height = ROW + (labels.len().max(1) as i64 - 1) * LINE;
            push(What::Packet(line), height.max(beside), labels, notes);
        }
    }
    rows
}

fn again(flow: Option<&Flow>, line: &LadderLine) -> bool {
    let Some(flow) = flow else { return false };
    let found = flow.segment_in(line.frame);
    line.from_sender && found.is_some_and(|segment| segment.kind != SegmentKind::New)
}

fn packet(svg: &mut String, row: &Row<'_>, line: &LadderLine, again: bool) {
    let middle = row.middle();
    let (from, to) = if line.from_sender { (SENDER, RECEIVER) } else { (RECEIVER, SENDER) };
    let lost = line.fate == Fate::Lost;
    let class = match (line.from_sender, again) {
        (true, false) => "data",
        (true, true) => "again",
        (false, _) => "ack",
    };
    let fate = match line.fate {
        Fate::Arrived => "arrived",
        Fate::Lost => "lost",
        Fate::Unknown => "unknown",
    };
    svg.push_str(&format!(r#"<g class="packet {class} {fate}">"#));
    // The arrow of a lost packet ends in a cross.
    let (tip, y) = if lost {
        (from + (to - from) * 7 / 10, middle + FALL / 4)
    } else {
        (to, middle + FALL / 2)
    };
    svg.push_str(&format!(r#"<path d="M{from} {}L{tip} {y}"/>"#, middle - FALL / 2));
    if lost {
        svg.push_str(&format!(
            r#"<path class="cross" d="M{} {}l10 10m0-10l-10 10"/>"#,
            tip - 5,
            y - 5
        ));
    } else {
        let back = if line.from_sender { -9 } else { 9 };
        svg.push_str(&format!(r#"<path class="tip" d="M{tip} {y}l{back}-4v8z"/>"#));
    }
    let centre = i64::midpoint(SENDER, RECEIVER);
    for (i, label) in row.labels.iter().enumerate() {
        let y = middle - 7 - (row.labels.len() - 1 - i) as i64 * LINE;
        svg.push_str(&format!(
            r#"<text class="label" x="{centre}" y="{y}">{}</text>"#,
            escape(label)
        ));
    }
    svg.push_str("</g>");
    times(svg, line, middle);
    notes(svg, row, middle);
}

fn fold(svg: &mut String, row: &Row<'_>, line: &LadderLine) {
    let middle = row.top + row.height / 2;
    let centre = i64::midpoint(SENDER, RECEIVER);
    let class = if line.fate == Fate::Lost { "fold lost" } else { "fold" };
    let text = folded(line);
    svg.push_str(&format!(
        r#"<text class="{class}" x="{centre}" y="{}">{}</text>"#,
        middle + 4,
        escape(&text)
    ));
    notes(svg, row, middle);
}

fn folded(line: &LadderLine) -> String {
    let what = line.label.trim_start_matches(['…', '⋮', ' ']);
    let what = match what {
        "" => format!("{} more", grouped(line.folded)),
        what => what.to_string(),
    };
    let lost = line.fate == Fate::Lost && !what.contains("lost");
    format!("⋮ {what}{}", if lost { ", lost" } else { "" })
}

fn silence(svg: &mut String, row: &Row<'_>, span: Span) {
    let centre = i64::midpoint(SENDER, RECEIVER);
    let y = row.top + row.height / 2 + 6;
    svg.push_str(&format!(
        r#"<text class="silence" x="{centre}" y="{y}">{} of silence</text>"#,
        rounded::span(span)
    ));
}

fn times(svg: &mut String, line: &LadderLine, middle: i64) {
    let y = middle - FALL / 2 + 4;
    let nanos = line.at.as_nanos();
    let time = format!("{}.{:04}", nanos / 1_000_000_000, nanos % 1_000_000_000 / 100_000);
    // A packet that was not captured has none.
    if line.frame > 0 {
        svg.push_str(&format!(r#"<text class="frame" x="{FRAMES}" y="{y}">{}</text>"#, line.frame));
    }
    svg.push_str(&format!(r#"<text class="time" x="{TIMES}" y="{y}">{time}</text>"#));
}

fn notes(svg: &mut String, row: &Row<'_>, middle: i64) {
    let first = middle + 4 - (row.notes.len() as i64 - 1) * LINE / 2;
    for (i, note) in row.notes.iter().enumerate() {
        let y = first + i as i64 * LINE;
        svg.push_str(&format!(r#"<text class="note" x="{NOTES}" y="{y}">{}</text>"#, escape(note)));
    }
}

/// The two lifelines: solid at packets, dotted through a silence.
fn lifelines(svg: &mut String, rows: &[Row<'_>], height: i64) {
    let (mut whole, mut dotted) = (String::new(), String::new());
    for x in [SENDER, RECEIVER] {
        let mut from = HEAD - 10;
        for row in rows.iter().filter(|row| matches!(row.what, What::Silence(_))) {
            let (start, end) = (row.top + 10, row.top + row.height - 4);
            whole.push_str(&format!("M{x} {from}V{start}"));
            dotted.push_str(&format!("M{x} {start}V{end}"));
            from = end;
        }
        whole.push_str(&format!("M{x} {from}V{}", height - 4));
    }
    svg.push_str(&format!(r#"<path class="lifeline" d="{whole}"/>"#));
    if !dotted.is_empty() {
        svg.push_str(&format!(r#"<path class="lifeline dotted" d="{dotted}"/>"#));
    }
}

fn shade(svg: &mut String, scene: &LadderScene<'_>, rows: &[Row<'_>]) {
    let places = places(rows);
    for (start, end) in scene.interruptions {
        let (Some(top), Some(bottom)) = (height_of(&places, *start), height_of(&places, *end))
        else {
            continue;
        };
        if bottom - top < 2 {
            continue;
        }
        let (width, tall) = (RECEIVER - SENDER, bottom - top);
        svg.push_str(&format!(
            r#"<rect class="band" x="{SENDER}" y="{top}" width="{width}" height="{tall}"/>"#
        ));
        let (x, y, span) = (RECEIVER - 8, bottom - 6, rounded::span(end.since(*start)));
        svg.push_str(&format!(
            r#"<text class="band-label" x="{x}" y="{y}">interruption, {span}</text>"#
        ));
    }
}

/// Rising times of the rows with their heights.
fn places(rows: &[Row<'_>]) -> Vec<(Instant, i64)> {
    let mut places: Vec<(Instant, i64)> = Vec::new();
    for row in rows {
        if let Some(at) = row.at().filter(|at| places.last().is_none_or(|(last, _)| at > last)) {
            places.push((at, row.middle()));
        }
    }
    places
}

/// The height of a moment: interpolated between rows, constant outside; none for a ladder without
/// rows.
fn height_of(places: &[(Instant, i64)], at: Instant) -> Option<i64> {
    let after = places.partition_point(|(time, _)| *time <= at);
    match (after.checked_sub(1).map(|before| places[before]), places.get(after)) {
        (Some((t0, y0)), Some((t1, y1))) => {
            let share = at.since(t0).as_secs_f64() / t1.since(t0).as_secs_f64();
            Some(y0 + (share * (y1 - y0) as f64).round() as i64)
        }
        (Some((_, y)), None) => Some(y),
        (None, Some((_, y))) => Some(*y),
        (None, None) => None,
    }
}

/// Breaks `text` between words; a longer word stays whole.
fn wrap(text: &str, characters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= characters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}
