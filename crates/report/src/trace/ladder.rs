//! The ladder diagram as text.

use std::fmt::Write;

use tcplab_trace::{Fate, LadderLine};
use tcplab_units::Span;

use super::grid::{Look, Style};
use super::numbers::{seconds, span};

/// Nothing for so long is shown as a gap.
const SILENT: Span = Span::from_millis(40);
/// The least columns between the two lines of time.
const NARROWEST: usize = 34;

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

/// Two lines of time and the packets between them, a line each: data to the right,
/// acknowledgements to the left, `×` where a packet was lost.
pub fn ladder_text(view: LadderView<'_>, look: Look) -> String {
    let frame = view.lines.iter().map(|l| l.frame.to_string().len()).max().unwrap_or(0).max(5);
    let time = view.lines.iter().map(|l| seconds(l.at).len()).max().unwrap_or(0).max(8);
    let notes = view.lines.iter().filter_map(|l| l.note.as_ref()).map(|n| n.chars().count());
    let margin = frame + time + 6;
    let beside = notes.max().map_or(0, |longest| longest.min(34) + 2);
    let longest = view.lines.iter().map(|l| l.label.chars().count()).max().unwrap_or(0);
    let room = look.width.saturating_sub(margin + beside + 2).max(NARROWEST).min(longest + 14);
    let mut out = String::new();
    let ends = view.sender.chars().count() + view.receiver.chars().count();
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
    let mut before: Option<&LadderLine> = None;
    for line in view.lines {
        if let Some(before) = before {
            let gap = line.at.since(before.at);
            // Beside a fold time passes without being silent.
            if gap >= SILENT && before.folded == 0 && line.folded == 0 {
                let text = format!("{:^room$}", format!("{} of silence", span(gap)));
                let rung = format!("{:margin$}⋮{text}⋮", "", margin = frame + time + 4);
                let _ = writeln!(out, "{}", look.paint(&rung, Style::Dim));
            }
        }
        before = Some(line);
        let (rung, style) = (rung(line, room), style(line));
        let note = line.note.as_deref().map(|note| format!("  {note}")).unwrap_or_default();
        let _ = writeln!(
            out,
            "{:>frame$}  {:>time$}  {}{}",
            line.frame,
            seconds(line.at),
            look.paint(&rung, style),
            look.paint(&note, Style::Odd),
        );
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

/// One packet between the lines of time, `room` columns apart.
fn rung(line: &LadderLine, room: usize) -> String {
    let label: String = line.label.chars().take(room.saturating_sub(8)).collect();
    if line.folded > 0 {
        return format!("│{:^room$}│", label);
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
