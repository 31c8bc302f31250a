//! The ladder diagram as text.

use std::fmt::Write;
use tcplab_trace::{Fate, LadderLine};
use tcplab_units::{Instant, Span};

use super::numbers::{seconds, span};
use crate::grid::{Look, Style, cut};

/// A silence of this length is shown as a gap.
const SILENT: Span = Span::from_millis(40);
/// The fewest columns between the two lifelines.
const NARROWEST: usize = 34;
/// The shortest shaft of an arrow beside its label.
const LEAST_SHAFT: usize = 7;

/// What a ladder shows.
#[derive(Debug, Clone, Copy)]
pub struct LadderView<'a> {
    /// Name of the end on the left, which sends the data.
    pub sender: &'a str,
    /// Name of the other end.
    pub receiver: &'a str,
    /// The rungs in order.
    pub lines: &'a [LadderLine],
}

/// Two lifelines and the packets between them, a line each: data to the right, ACKs to the left,
/// `×` for a lost packet.
pub fn ladder_text(view: LadderView<'_>, look: Look) -> String {
    let frame = view.lines.iter().map(|l| l.frame.to_string().len()).max().unwrap_or(0).max(5);
    let time = view.lines.iter().map(|l| seconds(l.at).len()).max().unwrap_or(0).max(8);
    let margin = frame + time + 4;
    let notes = view.lines.iter().filter_map(|l| l.note.as_ref()).map(|n| n.chars().count() + 2);
    let longest = view.lines.iter().map(|l| l.label.chars().count()).max().unwrap_or(0);
    let ends = view.sender.chars().count() + view.receiver.chars().count();
    let wished = (longest + LEAST_SHAFT).max(ends);
    let all = look.width.saturating_sub(margin + 2).max(NARROWEST);
    let beside = all.saturating_sub(notes.max().unwrap_or(0));
    // Notes without enough room beside them go below.
    let is_beside = beside >= wished.min(all);
    let room = if is_beside { beside } else { all }.min(wished + LEAST_SHAFT).max(ends);
    let mut out = String::new();
    let between = (room + 2).saturating_sub(ends).max(1);
    let head = format!(
        "{:>frame$}  {:>time$}  {}{}{}",
        "frame",
        "time, s",
        view.sender,
        " ".repeat(between),
        view.receiver
    );
    look.heading(&mut out, &head);
    // Of the packets so far, folded ones too.
    let mut latest: Option<Instant> = None;
    for line in view.lines {
        if let Some(latest) = latest {
            let gap = line.at.since(latest);
            if gap >= SILENT {
                let text = format!("{:^room$}", format!("{} of silence", span(gap)));
                let rung = format!("{:margin$}⋮{text}⋮", "");
                let _ = writeln!(out, "{}", look.paint(&rung, Style::Dim));
            }
        }
        latest = latest.max(Some(line.until));
        let (rung, style) = (rung(line, room), style(line));
        let before = format!("{:>frame$}  {:>time$}", line.frame, seconds(line.at));
        let note = line.note.as_deref().map(|note| look.paint(note, Style::Odd));
        let rung = look.paint(&rung, style);
        let _ = match note {
            Some(note) if is_beside => writeln!(out, "{before}  {rung}  {note}"),
            Some(note) => writeln!(out, "{before}  {rung}\n{:margin$}│  {note}", ""),
            None => writeln!(out, "{before}  {rung}"),
        };
    }
    out
}

fn style(line: &LadderLine) -> Style {
    match (line.fate, line.folded) {
        (Fate::Lost, _) => Style::Bad,
        (_, 0) => Style::Plain,
        _ => Style::Dim,
    }
}

/// One packet between the lifelines, `room` columns apart.
fn rung(line: &LadderLine, room: usize) -> String {
    let label = cut(&line.label, room.saturating_sub(LEAST_SHAFT));
    if line.folded > 0 {
        return format!("│{label:^room$}│");
    }
    let dashes = room.saturating_sub(label.chars().count() + 4);
    match (line.from_sender, line.fate) {
        (true, Fate::Lost) => {
            let shaft = "─".repeat(dashes / 2);
            format!("├─ {label} {shaft}×{:rest$}│", "", rest = dashes - dashes / 2)
        }
        (true, _) => format!("├─ {label} {}▶│", "─".repeat(dashes)),
        (false, Fate::Lost) => {
            let shaft = "─".repeat(dashes / 2);
            format!("│{:rest$}×{shaft} {label} ─┤", "", rest = dashes - dashes / 2)
        }
        (false, _) => format!("│◀{} {label} ─┤", "─".repeat(dashes)),
    }
}
