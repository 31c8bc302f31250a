//! What held a direction back, as bars and along time.

use std::fmt::Write;
use tcplab_trace::{Flow, Limit, LimitPeriod};
use tcplab_units::rounded::percent;
use tcplab_units::{Instant, Span};

use super::numbers::{seconds, span};
use crate::grid::{Cell, Grid, Look, Side, Style};

/// Columns of the longest bar.
const BAR: f64 = 30.0;
/// Columns of the strip along time, where there is room.
const STRIP: usize = 60;
/// Where there is less room.
const SHORTEST_STRIP: usize = 20;

/// Shares of the time as bars, then the prevailing limit over time.
pub(crate) fn write(out: &mut String, flow: &Flow, look: Look) {
    let mut grid = Grid::new(&[Side::Left, Side::Right, Side::Right, Side::Left]);
    for limit in Limit::ALL {
        let (time, share) = (flow.shares.of(limit), flow.shares.share(limit));
        if time.is_zero() {
            continue;
        }
        // The strip below uses these letters.
        let name = if flow.limits.is_empty() {
            flow.limit_name(limit).to_owned()
        } else {
            format!("{} {}", letter(limit), flow.limit_name(limit))
        };
        let bar = "█".repeat((share * BAR).round().max(1.0) as usize);
        grid.row([name.into(), percent(share).into(), span(time).into(), bar_of(limit, bar)]);
    }
    if grid.is_empty() {
        return;
    }
    look.heading(out, "  limits");
    grid.write(out, 4, look);
    if let (Some(first), Some(last)) = (flow.limits.first(), flow.limits.last()) {
        let (from, until) = (seconds(first.from), seconds(last.until));
        let room = look.width.saturating_sub(from.len() + until.len() + 10);
        let columns = room.clamp(SHORTEST_STRIP, STRIP);
        let strip = strip(&flow.limits, first.from, last.until, columns);
        let _ = writeln!(out, "    {from} s {strip} {until} s");
    }
}

fn bar_of(limit: Limit, bar: String) -> Cell {
    match limit {
        Limit::Application | Limit::Path => Cell::new(bar),
        Limit::Timeout => Cell::styled(bar, Style::Bad),
        _ => Cell::styled(bar, Style::Odd),
    }
}

fn letter(limit: Limit) -> char {
    match limit {
        Limit::Application => 'a',
        Limit::ReceiveWindow => 'r',
        Limit::SendBuffer => 'b',
        Limit::SlowStart => 's',
        Limit::Congestion => 'c',
        Limit::Path => 'p',
        Limit::Timeout => 'T',
    }
}

/// A letter for each part of the time: the prevailing limit.
fn strip(periods: &[LimitPeriod], from: Instant, until: Instant, columns: usize) -> String {
    let all = until.since(from).as_nanos();
    let edge = |part: usize| {
        from + Span::from_nanos((u128::from(all) * part as u128 / columns as u128) as u64)
    };
    let mut text = String::with_capacity(columns);
    let mut next = 0;
    for part in 0..columns {
        let (start, end) = (edge(part), edge(part + 1));
        let mut times = [Span::ZERO; 7];
        while let Some(period) = periods.get(next) {
            times[period.limit as usize] += period.until.min(end).since(period.from.max(start));
            if period.until > end {
                break;
            }
            next += 1;
        }
        let longest = Limit::ALL.into_iter().max_by_key(|limit| times[*limit as usize]);
        text.push(longest.filter(|l| !times[*l as usize].is_zero()).map_or(' ', letter));
    }
    text
}
