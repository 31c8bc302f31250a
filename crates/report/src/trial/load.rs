//! The results of a load, on the page of its trial.

use tcplab_results::{Durations, LoadReport, Trial};
use tcplab_units::Span;
use tcplab_units::rounded::{self, decimal, grouped};

pub(crate) struct LoadView {
    /// Names and values.
    pub(crate) numbers: Vec<(&'static str, String)>,
    pub(crate) times: Vec<TimesView>,
    /// Kinds with their counts.
    pub(crate) errors: Vec<(String, String)>,
    pub(crate) remarks: Vec<String>,
}

pub(crate) struct TimesView {
    pub(crate) name: &'static str,
    /// By [`COLUMNS`].
    pub(crate) cells: Vec<String>,
}

/// The columns for a time.
pub(crate) const COLUMNS: [&str; 7] = ["min", "median", "p75", "p90", "p99", "p99.9", "max"];

impl LoadView {
    pub(crate) fn of(trial: &Trial) -> Option<LoadView> {
        let load = trial.load.as_ref().filter(|load| load.impossible.is_none())?;
        let times = [
            ("connect time", &load.connect),
            ("latency (first byte)", &load.latency),
            ("response time (last byte)", &load.response),
        ];
        Some(LoadView {
            numbers: numbers(load),
            times: times.into_iter().filter_map(|(name, it)| row(name, it)).collect(),
            errors: load.errors.iter().map(|(kind, n)| (kind.clone(), grouped(*n))).collect(),
            remarks: load.remarks.clone(),
        })
    }
}

fn numbers(load: &LoadReport) -> Vec<(&'static str, String)> {
    let mut numbers = vec![
        ("requests answered", grouped(load.requests)),
        ("duration", rounded::span(load.elapsed)),
        ("requests per second", decimal(load.requests_per_second, 0)),
        ("connections", grouped(load.connections)),
        ("received", format!("{} B", grouped(load.bytes))),
        ("CPU time of the clients", format!("{} s", decimal(load.processor_s, 3))),
        ("CPU time of the server", format!("{} s", decimal(load.server.processor_s, 3))),
    ];
    if load.unsent > 0 {
        numbers.push(("due but never sent", grouped(load.unsent)));
    }
    numbers
}

fn row(name: &'static str, durations: &Durations) -> Option<TimesView> {
    let Durations { count, min, p50, p75, p90, p99, p999, max, .. } = *durations;
    let cells =
        [min, p50, p75, p90, p99, p999, max].map(|nanos| rounded::span(Span::from_nanos(nanos)));
    (count > 0).then(|| TimesView { name, cells: cells.to_vec() })
}
