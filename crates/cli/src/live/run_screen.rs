//! A run on the whole screen.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};
use tcplab_lab::in_words;
use tcplab_units::{Bytes, Rate, Span, rounded, visible};
use tcplab_watch::{Overview, Step};

use super::bars::{Series, split_first_line};
use super::run_picture::{RunFollower, RunPicture};
use super::screen::{Shown, View};

/// Columns from which series stand side by side: two, three.
const WIDE: [u16; 2] = [60, 150];
/// Lines of a series: its title, and two of bars.
const SERIES_LINES: u16 = 3;
/// Lines from which the finished trials are listed.
const LISTED_FROM: u16 = 16;
/// The last second: the rate that is shown.
const RATED: usize = 10;

const HELP: [&str; 6] = [
    "q, Ctrl-C  stop; finished trials are kept",
    "p          pause this view, not the trial",
    "?          show or hide this help",
    "Ctrl-Z     suspend",
    "",
    "A bar is 100 ms; the newest is on the right.",
];

impl View for RunFollower {
    fn refresh(&mut self) {
        RunFollower::refresh(self);
    }
    fn draw(&self, frame: &mut Frame<'_>, shown: Shown) {
        draw(self.picture(), frame, shown);
    }
}

pub(super) fn draw(picture: &RunPicture, frame: &mut Frame<'_>, shown: Shown) {
    let [first, below] = split_first_line(frame.area());
    let bold = Style::default().add_modifier(Modifier::BOLD);
    frame.render_widget(Paragraph::new(Line::styled(header(picture), bold)), first);
    let [second, below] = split_first_line(below);
    frame.render_widget(Paragraph::new(trial_line(picture)), second);
    let keys_line = below.height.min(1);
    let last = Rect { y: below.bottom() - keys_line, height: keys_line, ..below };
    let height = below.height - keys_line;
    let listed = if frame.area().height < LISTED_FROM { 0 } else { (height / 4).clamp(2, 12) };
    draw_series(picture, frame, Rect { height: height - listed, ..below });
    let list = Rect { y: below.y + height - listed, height: listed, ..below };
    draw_finished(picture, frame, list);
    let keys = if shown.is_paused { "PAUSED  q stop  p go on  ? help" } else { KEYS };
    frame.render_widget(Paragraph::new(Line::styled(keys, Color::DarkGray)), last);
    if shown.has_help {
        draw_help(frame);
    }
}

const KEYS: &str = "q stop  p pause  ? help";

fn header(picture: &RunPicture) -> String {
    let RunPicture { experiment, phase, left, .. } = picture;
    let left = in_words(left.as_secs_f64());
    format!("{}  {phase}, about {left} left", visible(experiment))
}

fn trial_line(picture: &RunPicture) -> String {
    let Some(trial) = &picture.trial else { return String::new() };
    let trial = visible(trial);
    if picture.overview.steps.is_empty() {
        return format!("{trial}: {}", nothing_read(&picture.overview));
    }
    let Overview { at, is_over, .. } = picture.overview;
    let is_over = if is_over { ", finished" } else { "" };
    format!("{trial}: {:.1} s{is_over}", at.as_secs_f64())
}

/// What is said of a trial of which nothing was read: `keep` of its scenario may keep no packets.
pub(super) fn nothing_read(overview: &Overview) -> &'static str {
    if overview.is_over { "finished, packets not kept" } else { "nothing read yet" }
}

fn draw_series(picture: &RunPicture, frame: &mut Frame<'_>, area: Rect) {
    let all = series(&picture.overview);
    let columns = 1 + WIDE.iter().filter(|wide| area.width >= **wide).count();
    let rows = all.len().div_ceil(columns).min((area.height / SERIES_LINES).max(1).into());
    let (width, height) = (area.width / columns as u16, area.height / rows as u16);
    for (place, series) in all.iter().take(rows * columns).enumerate() {
        let (row, column) = ((place / columns) as u16, (place % columns) as u16);
        let (x, y) = (area.x + column * width, area.y + row * height);
        let gap = u16::from(usize::from(column) + 1 < columns);
        let place = Rect { x, y, width: width.saturating_sub(gap), height };
        series.draw(frame, place.intersection(frame.area()));
    }
}

/// The more important first: a small screen shows those alone.
fn series(overview: &Overview) -> Vec<Series> {
    let steps = &overview.steps;
    let last = newest(overview);
    let sent = [0, 1].map(|way| steps.iter().map(|step| step.bytes[way]).sum::<u64>());
    let main = usize::from(sent[1] > sent[0]);
    let of = |title: String, colour, value: &dyn Fn(&Step) -> Option<u64>| Series {
        title,
        colour,
        values: steps.iter().map(value).collect(),
    };
    let [forward, reverse] = [0, 1].map(|way| recent_rate(overview, way));
    let known =
        |bytes: Option<u64>| bytes.map_or_else(unknown, |bytes| rounded::bytes(Bytes::new(bytes)));
    let in_flight = known(last.in_flight);
    let retransmissions =
        if steps.is_empty() { unknown() } else { rounded::grouped(overview.retransmissions) };
    let rtt = last.rtt.map_or_else(unknown, rounded::span);
    vec![
        of(format!("throughput → {forward}  ← {reverse}"), Color::Green, &|step| {
            Some(step.bytes[main])
        }),
        of(format!("RTT {rtt}"), Color::Cyan, &|step| step.rtt.map(Span::as_nanos)),
        of(
            format!("cwnd {}  ssthresh {}", known(last.cwnd), known(last.ssthresh)),
            Color::Yellow,
            &|step| step.cwnd,
        ),
        of(format!("time in queue {}", queue(overview, last)), Color::Magenta, &|step| {
            Some(step.queue.as_nanos())
        }),
        of(drops(overview), Color::Red, &|step| Some(step.dropped)),
        of(
            format!("in flight {in_flight}  retransmissions {retransmissions}"),
            Color::Blue,
            &|step| step.in_flight,
        ),
    ]
}

/// The steps that are over, as another has less than its time brings; all where none is.
fn finished(overview: &Overview) -> &[Step] {
    match overview.over {
        0 => &overview.steps,
        over => &overview.steps[..over],
    }
}

/// The newest step that is over, with what was last known to be in flight.
pub(super) fn newest(overview: &Overview) -> Step {
    let steps = finished(overview);
    let in_flight = steps.iter().rev().find_map(|step| step.in_flight);
    Step { in_flight, ..steps.last().copied().unwrap_or_default() }
}

/// What no recording has said.
fn unknown() -> String {
    "–".into()
}

/// The time in the queue in a step.
pub(super) fn queue(overview: &Overview, of: Step) -> String {
    if overview.knows_path { rounded::span(of.queue) } else { unknown() }
}

/// Of the last second.
pub(super) fn recent_rate(overview: &Overview, way: usize) -> String {
    let steps = finished(overview);
    let recent = &steps[steps.len().saturating_sub(RATED)..];
    let bytes = Bytes::new(recent.iter().map(|step| step.bytes[way]).sum());
    let time = Span::from_nanos(Overview::STEP.as_nanos() * recent.len() as u64);
    if recent.is_empty() {
        return unknown();
    }
    Rate::of(bytes, time).map_or_else(|| "0 bit/s".into(), rounded::rate)
}

/// How many packets were dropped, and why.
pub(super) fn drops(overview: &Overview) -> String {
    let Overview { drops, knows_path, .. } = overview;
    if !knows_path {
        return format!("drops {}", unknown());
    }
    let total: u64 = drops.values().sum();
    let each: Vec<String> = drops.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
    let why = if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) };
    format!("drops {total}{why}")
}

fn draw_finished(picture: &RunPicture, frame: &mut Frame<'_>, area: Rect) {
    let [title, below] = split_first_line(area);
    frame.render_widget(Paragraph::new(Line::styled("finished trials", Color::DarkGray)), title);
    let latest = picture.finished.iter().rev().take(below.height.into());
    let lines = latest
        .map(|(trial, outcome)| Line::raw(format!("  {}  {}", visible(trial), visible(outcome))));
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), below);
}

fn draw_help(frame: &mut Frame<'_>) {
    let screen = frame.area();
    let width = HELP.iter().map(|line| line.len()).max().unwrap_or_default() as u16 + 2;
    let height = HELP.len() as u16 + 2;
    let (x, y) = (screen.width.saturating_sub(width) / 2, screen.height.saturating_sub(height) / 2);
    let area = Rect { x, y, width, height }.intersection(screen);
    frame.render_widget(Clear, area);
    let lines = HELP.map(Line::raw).to_vec();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title("keys")), area);
}
