//! The calls of both applications, in order of time.

use tcplab_plot::{Band, Bar, Bars, Figure, View, bars};
use tcplab_results::Trial;
use tcplab_units::rounded::counted;
use tcplab_units::{Instant, Span};

/// The run's tables have the other rows.
const ROWS_MAX: usize = 200;
/// Margin around a call in the graphs, at least.
const MARGIN: Span = Span::from_millis(20);

pub(crate) struct CallView {
    pub(crate) end: &'static str,
    /// Such as `client 3`; the first connection has no number.
    pub(crate) whose: String,
    pub(crate) began: String,
    pub(crate) call: String,
    pub(crate) asked: String,
    /// Such as `request 3, try 2`.
    pub(crate) about: String,
    pub(crate) times: String,
    pub(crate) result: String,
    /// Whether it is an error.
    pub(crate) failed: bool,
    pub(crate) moved: String,
    pub(crate) took: String,
    pub(crate) from: String,
    pub(crate) until: String,
}

/// The calls with a row, and how many have none.
pub(crate) fn calls(trial: &Trial) -> (Vec<CallView>, usize) {
    let mut rows: Vec<_> = trial
        .ends
        .iter()
        .flat_map(|end| end.calls.iter().map(move |call| (end.end, call)))
        .collect();
    rows.sort_by_key(|(_, call)| (call.began, call.ended));
    let left_out = rows.len().saturating_sub(ROWS_MAX);
    let shown = rows.into_iter().take(ROWS_MAX).map(|(end, call)| {
        let before = Instant::from_nanos(call.began.as_nanos().saturating_sub(MARGIN.as_nanos()));
        let moved = if call.bytes.as_u64() > 0 { call.bytes.to_string() } else { String::new() };
        CallView {
            end: end.name(),
            whose: match call.connection {
                0 => end.name().into(),
                nth => format!("{} {}", end.name(), nth + 1),
            },
            began: seconds(call.began),
            call: call.call.to_string(),
            asked: call.asked.clone(),
            about: call.about.clone(),
            times: if call.count > 1 {
                counted(call.count as usize, "time", "times")
            } else {
                String::new()
            },
            result: call.result.to_string(),
            failed: is_failure(&call.result),
            moved,
            took: lasting(call.took, call.longest, call.count),
            from: seconds(before),
            until: seconds(call.ended + MARGIN),
        }
    });
    (shown.collect(), left_out)
}

/// The end of the last call of the first connection.
pub(crate) fn last(trial: &Trial) -> Instant {
    let calls = trial.ends.iter().flat_map(|end| &end.calls);
    calls.filter(|call| call.connection == 0).map(|call| call.ended).max().unwrap_or(Instant::ZERO)
}

/// Calls of the first connection over time, a row for each kind of call of an endpoint; none
/// without calls.
pub(crate) fn figure(trial: &Trial, until: Instant, bands: &[Band]) -> Option<Figure> {
    let mut rows: Vec<String> = Vec::new();
    let (mut single, mut several, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for end in &trial.ends {
        for call in end.calls.iter().filter(|call| call.connection == 0) {
            let name = format!("{} {}", end.end.name(), call.call);
            let row = rows.iter().position(|it| *it == name).unwrap_or_else(|| {
                rows.push(name);
                rows.len() - 1
            });
            let bars = match (is_failure(&call.result), call.count) {
                (true, _) => &mut failed,
                (false, 1) => &mut single,
                (false, _) => &mut several,
            };
            bars.push(Bar { row, from: call.began, until: call.ended });
        }
    }
    let layers = [
        ("calls", "repeated calls", several),
        ("call", "call, until it returned", single),
        ("failed", "call that failed", failed),
    ];
    let view = View { from: Instant::ZERO, until, bands };
    let title = "System calls of the applications";
    (!rows.is_empty()).then(|| bars(&Bars { title, rows: &rows, layers: &layers }, &view))
}

fn is_failure(result: &str) -> bool {
    result.starts_with('E') || result.starts_with("errno")
}

/// Of several calls the sum, and the longest.
fn lasting(all: Span, longest: Span, count: u64) -> String {
    let text = |span: Span| match span.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.3} s"),
        seconds if seconds >= 1e-3 => format!("{:.2} ms", seconds * 1e3),
        seconds => format!("{:.0} µs", seconds * 1e6),
    };
    if count == 1 { text(all) } else { format!("{}, max {}", text(all), text(longest)) }
}

fn seconds(at: Instant) -> String {
    format!("{:.6}", at.as_secs_f64())
}
