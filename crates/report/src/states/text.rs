//! The walks on a terminal.

use tcplab_trace::{Basis, Edge, StateWalk, StateWalks};
use tcplab_units::rounded::grouped;
use tcplab_units::{Endpoint, Instant, Span};

use super::SampleCheck;
use crate::grid::Side::{Left, Right};
use crate::grid::{Cell, Grid, Look};

/// The walks edge by edge with remarks; `checks` where there are samples.
pub fn walks_text(walks: &StateWalks, checks: &[SampleCheck]) -> String {
    let mut text = String::new();
    let put = |text: &mut String, line: &str| {
        text.push_str(line.trim_end());
        text.push('\n');
    };
    for walk in walks.both() {
        put(&mut text, &format!("{} {}", capital(walk.end), walk.address));
        put(&mut text, &table(walk));
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

/// A line for each edge.
fn table(walk: &StateWalk) -> String {
    let Some(start) = walk.start else { return "  not captured".into() };
    if walk.edges.is_empty() {
        return format!("  {} throughout", start.name());
    }
    let mut grid = Grid::new(&[Right, Left, Right, Right, Left, Left]);
    grid.row(["", "state", "since, s", "for", "by", "packet"].map(Cell::new));
    for (place, edge) in walk.edges.iter().enumerate() {
        grid.row(row(walk, place, edge).map(Cell::new));
    }
    let mut text = String::new();
    grid.write(&mut text, 2, Look { width: usize::MAX, colours: false });
    text
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
