//! What bounded the rate: the shares of the time, and when.

use tcplab_plot::spoken;
use tcplab_trace::{Flow, Limit};

/// So many pixels a bar is wide; narrower periods are drawn that wide.
const WIDTH: f64 = 1000.0;

/// The limits of one direction as shown.
pub(crate) struct LimitsView {
    pub(crate) shares: Vec<Share>,
    /// Periods over time: class, left edge, width; pixels of [`WIDTH`].
    pub(crate) periods: Vec<(&'static str, String, String)>,
}

/// A limit's share of the time.
pub(crate) struct Share {
    pub(crate) class: &'static str,
    pub(crate) name: &'static str,
    pub(crate) percent: String,
    pub(crate) time: String,
}

impl LimitsView {
    /// None where nothing is known of limits.
    pub(crate) fn of(flow: &Flow) -> Option<LimitsView> {
        flow.shares.largest()?;
        let mut limits: Vec<Limit> = Limit::ALL.into_iter().collect();
        limits.sort_by_key(|&limit| std::cmp::Reverse(flow.shares.of(limit)));
        let shares = limits.into_iter().filter(|&limit| !flow.shares.of(limit).is_zero());
        let shares = shares.map(|limit| Share {
            class: class(limit),
            name: limit.name(),
            percent: format!("{:.1}", 100.0 * flow.shares.share(limit)),
            time: spoken(flow.shares.of(limit)),
        });
        Some(LimitsView { shares: shares.collect(), periods: periods(flow) })
    }
}

fn periods(flow: &Flow) -> Vec<(&'static str, String, String)> {
    let (Some(first), Some(last)) = (flow.limits.first(), flow.limits.last()) else {
        return Vec::new();
    };
    let whole = last.until.since(first.from).as_secs_f64().max(1e-9);
    let mut drawn: Vec<(&'static str, f64, f64)> = Vec::new();
    for period in &flow.limits {
        let left = period.from.since(first.from).as_secs_f64() / whole * WIDTH;
        let right = period.until.since(first.from).as_secs_f64() / whole * WIDTH;
        match drawn.last_mut() {
            // Within half a pixel only the last is seen.
            Some(before) if right - before.1 < 0.5 => before.0 = class(period.limit),
            Some(before) if before.0 == class(period.limit) => before.2 = right,
            _ => drawn.push((class(period.limit), left, right)),
        }
    }
    let text = |(class, left, right): (&'static str, f64, f64)| {
        (class, format!("{left:.1}"), format!("{:.1}", (right - left).max(0.5)))
    };
    drawn.into_iter().map(text).collect()
}

/// The class in the style sheet.
fn class(limit: Limit) -> &'static str {
    match limit {
        Limit::Application => "limit-application",
        Limit::ReceiveWindow => "limit-receive-window",
        Limit::SendBuffer => "limit-send-buffer",
        Limit::SlowStart => "limit-slow-start",
        Limit::Congestion => "limit-congestion",
        Limit::Path => "limit-path",
        Limit::Timeout => "limit-timeout",
    }
}
