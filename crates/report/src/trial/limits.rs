//! What bounded the rate: the shares of the time, and when.

use tcplab_plot::View;
use tcplab_trace::{Flow, Limit};
use tcplab_units::Instant;
use tcplab_units::rounded;

/// Width of the bar in units; narrower periods are one unit wide. The page stretches and zooms it
/// with the graphs.
const WIDTH: f64 = 4000.0;

pub(crate) struct LimitsView {
    pub(crate) shares: Vec<Share>,
    /// For the page.
    pub(crate) width: f64,
    pub(crate) from: f64,
    pub(crate) until: f64,
    /// Periods over time: class, left edge, width; units of [`WIDTH`].
    pub(crate) periods: Vec<(&'static str, String, String)>,
}

pub(crate) struct Share {
    pub(crate) class: &'static str,
    pub(crate) name: &'static str,
    pub(crate) percent: String,
    pub(crate) time: String,
}

impl LimitsView {
    /// None without known limits.
    pub(crate) fn of(flow: &Flow, view: &View<'_>) -> Option<LimitsView> {
        flow.shares.largest()?;
        let mut limits: Vec<Limit> = Limit::ALL.into_iter().collect();
        limits.sort_by_key(|&limit| std::cmp::Reverse(flow.shares.of(limit)));
        // Smaller shares are invisible and need no legend.
        let shares = limits.into_iter().filter(|&limit| flow.shares.share(limit) >= 0.0005);
        let shares = shares.map(|limit| Share {
            class: class(limit),
            name: limit.name(),
            percent: format!("{:.1}", 100.0 * flow.shares.share(limit)),
            time: rounded::span(flow.shares.of(limit)),
        });
        Some(LimitsView {
            shares: shares.collect(),
            width: WIDTH,
            from: view.from.as_secs_f64(),
            until: view.until.as_secs_f64(),
            periods: periods(flow, view),
        })
    }
}

fn periods(flow: &Flow, view: &View<'_>) -> Vec<(&'static str, String, String)> {
    let whole = view.until.since(view.from).as_secs_f64().max(1e-9);
    let place = |at: Instant| at.since(view.from).as_secs_f64() / whole * WIDTH;
    let mut drawn: Vec<(&'static str, f64, f64)> = Vec::new();
    for period in &flow.limits {
        let (left, right) = (place(period.from), place(period.until));
        match drawn.last_mut() {
            // Within half a unit only the last is visible.
            Some(before) if right - before.1 < 0.5 => before.0 = class(period.limit),
            Some(before) if before.0 == class(period.limit) => before.2 = right,
            _ => drawn.push((class(period.limit), left, right)),
        }
    }
    let text = |(class, left, right): (&'static str, f64, f64)| {
        (class, format!("{left:.1}"), format!("{:.1}", (right - left).max(1.0)))
    };
    drawn.into_iter().map(text).collect()
}

/// The CSS class.
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
