//! The walks on a terminal.

use std::fmt::Write;

use tcplab_plot::grouped;
use tcplab_trace::{Basis, Edge, StateWalk, StateWalks};
use tcplab_units::{Endpoint, Instant, Span};

use super::SampleCheck;

/// The walks, edge by edge, and what is to be said of them; `checks` where samples were taken.
pub fn walks_text(walks: &StateWalks, checks: &[SampleCheck]) -> String {
    let mut text = String::new();
    let put = |text: &mut String, line: &str| {
        text.push_str(line.trim_end());
        text.push('\n');
    };
    for walk in walks.both() {
        put(&mut text, &format!("{} {}", capital(walk.end), walk.address));
        for line in table(walk) {
            put(&mut text, &line);
        }
        put(&mut text, "");
    }
    for sentence in walks.story() {
        put(&mut text, &sentence);
    }
    for check in checks.iter().filter(|check| check.samples > 0) {
        for line in checked(check) {
            put(&mut text, &line);
        }
    }
    text
}

fn capital(end: Endpoint) -> &'static str {
    match end {
        Endpoint::Client => "Client",
        Endpoint::Server => "Server",
    }
}

/// A line for each edge, the columns below one another.
fn table(walk: &StateWalk) -> Vec<String> {
    let Some(start) = walk.start else { return vec!["  not captured".into()] };
    if walk.edges.is_empty() {
        return vec![format!("  {} throughout", start.name())];
    }
    let rows: Vec<[String; 6]> =
        walk.edges.iter().enumerate().map(|(place, edge)| row(walk, place, edge)).collect();
    let head = ["", "state", "since, s", "for", "by", "packet"].map(str::to_owned);
    let all: Vec<&[String; 6]> = std::iter::once(&head).chain(&rows).collect();
    let widths: Vec<usize> = (0..6)
        .map(|column| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &&[String; 6]| {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // Numbers stand at the right.
            if matches!(column, 0 | 2 | 3) {
                let _ = write!(line, "  {cell:>width$}");
            } else {
                let _ = write!(line, "  {cell:width$}");
            }
        }
        line
    };
    all.iter().map(line).collect()
}

fn row(walk: &StateWalk, place: usize, edge: &Edge) -> [String; 6] {
    let packet = edge.packet.map_or_else(String::new, |packet| {
        let way = if packet.by == walk.end { "sent" } else { "received" };
        format!("#{} {} {way}", grouped(packet.frame), packet.flags)
    });
    let remark = match edge.basis {
        Basis::Seen => String::new(),
        basis => format!(" ({})", basis.remark()),
    };
    [
        edge.step.to_string(),
        edge.to.name().to_owned(),
        edge.at.map_or_else(String::new, seconds),
        walk.stayed(place).map_or_else(String::new, brief),
        edge.event.words().to_owned(),
        format!("{packet}{remark}").trim_start().to_owned(),
    ]
}

fn checked(check: &SampleCheck) -> Vec<String> {
    let end = check.end.name();
    let (agree, samples) = (grouped(check.agree as u64), grouped(check.samples as u64));
    let mut lines =
        vec![format!("{agree} of {samples} samples of the {end}'s socket are in the state shown.")];
    if let Some(by) = check.closed_by {
        lines.push(format!(
            "{} samples show that the {end} had closed while its FIN waited behind data, from {} s \
             at the latest.",
            grouped(check.closed_before_fin as u64),
            seconds(by)
        ));
    }
    for differing in &check.differ {
        let name = |state: Option<tcplab_trace::TcpState>| state.map_or("unknown", |s| s.name());
        lines.push(format!(
            "At {} s the {end}'s socket was in {}; the packets show {}.",
            seconds(differing.at),
            name(differing.socket),
            name(differing.packets)
        ));
    }
    let untold = check.differing - check.differ.len();
    if untold > 0 {
        lines.push(format!("{} more samples differ.", grouped(untold as u64)));
    }
    lines
}

fn seconds(at: Instant) -> String {
    format!("{:.6}", at.as_secs_f64())
}

/// With the unit that suits it.
fn brief(span: Span) -> String {
    let nanos = span.as_nanos();
    match nanos {
        0..1_000_000 => format!("{} µs", nanos / 1_000),
        1_000_000..1_000_000_000 => format!("{:.1} ms", span.as_millis_f64()),
        _ => format!("{:.3} s", span.as_secs_f64()),
    }
}
