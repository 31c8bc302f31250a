//! A load on the whole screen.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use tcplab_load::{Latencies, Progress};
use tcplab_units::{Span, rounded, visible};

use super::bars::{Series, split_first_line};
use super::load_pace::LoadRates;
use super::load_picture::LoadPicture;
use super::screen::Shown;
use crate::output::counted;

const KEYS: &str = "q stop  p pause";
/// Columns of a latency and its count.
const LABEL: usize = 20;

pub(super) fn draw(picture: &LoadPicture, frame: &mut Frame<'_>, shown: Shown) {
    let LoadPicture { target, progress, rates, latest, .. } = picture;
    let area = frame.area();
    let bold = Style::default().add_modifier(Modifier::BOLD);
    let [first, below] = split_first_line(area);
    let title = format!("load of {}  {}", visible(target), time(progress));
    frame.render_widget(Paragraph::new(Line::styled(title, bold)), first);
    let [second, below] = split_first_line(below);
    let colour = if progress.errors > 0 { Color::Red } else { Color::Reset };
    frame.render_widget(Paragraph::new(Line::styled(counts(progress, *latest), colour)), second);
    let height = below.height.saturating_sub(1);
    let of_rate = (height / 3).max(2).min(height);
    let rate = rates.back().copied().unwrap_or_default();
    let series = Series {
        title: format!("requests/s {}", rounded::grouped(rate)),
        values: rates.iter().copied().map(Some).collect(),
        colour: Color::Green,
    };
    series.draw(frame, Rect { height: of_rate, ..below });
    let rest = Rect { y: below.y + of_rate, height: height - of_rate, ..below };
    draw_latencies(&progress.latencies, frame, rest);
    let last = Rect { y: below.y + height, height: below.height - height, ..below };
    let keys = if shown.is_paused { "PAUSED  q stop  p go on" } else { KEYS };
    frame.render_widget(Paragraph::new(Line::styled(keys, Color::DarkGray)), last);
}

fn time(progress: &Progress) -> String {
    let warming_up = if progress.is_warming_up { "  warming up" } else { "" };
    format!("{:.0} s{warming_up}{}", progress.elapsed.as_secs_f64(), waiting(progress))
}

/// What a load still waits for where nothing is sent any more.
pub(crate) fn waiting(progress: &Progress) -> String {
    match progress.waiting {
        count @ 1.. if progress.has_sent_all() => {
            format!("  sending has ended, {} waiting", counted(count, "request"))
        }
        _ => String::new(),
    }
}

fn counts(progress: &Progress, latest: LoadRates) -> String {
    let Progress { requests, errors, connected, .. } = progress;
    let rate = latest.bits_per_second / 1e6;
    let requests = rounded::grouped(*requests);
    format!("{connected} connected  {requests} answered  {errors} errors  {rate:.2} Mbit/s")
}

/// The quantiles on a line: what a display and a log show.
pub(crate) fn quantiles(latencies: &Latencies) -> String {
    let quantile = |share| latencies.quantile(share).map_or_else(|| "–".into(), span);
    let [half, nine, most] = [0.5, 0.9, 0.99].map(quantile);
    format!("latency p50 {half}  p90 {nine}  p99 {most}")
}

fn span(duration: Duration) -> String {
    rounded::span(Span::from_nanos(duration.as_nanos() as u64))
}

/// The quantiles, and a bar for each bucket; where there are more buckets than lines, neighbours
/// are drawn as one.
fn draw_latencies(latencies: &Latencies, frame: &mut Frame<'_>, area: Rect) {
    let [first, below] = split_first_line(area);
    let title = Line::styled(quantiles(latencies), Color::Cyan);
    frame.render_widget(Paragraph::new(title), first);
    let buckets: Vec<(Duration, u64)> = latencies.buckets().collect();
    if below.height == 0 || buckets.is_empty() {
        return;
    }
    let joined = buckets.chunks(buckets.len().div_ceil(below.height.into()));
    let rows: Vec<(Duration, u64)> = joined
        .map(|some| (some[some.len() - 1].0, some.iter().map(|(_, count)| count).sum()))
        .collect();
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    let room = usize::from(below.width).saturating_sub(LABEL + 1);
    let lines = rows.iter().map(|(end, count)| {
        let length = (room as f64 * *count as f64 / most as f64).ceil() as usize;
        let label = format!("< {:>7} {:>9} ", span(*end), rounded::grouped(*count));
        Line::raw(format!("{label}{}", "█".repeat(length)))
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), below);
}
