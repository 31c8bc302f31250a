//! `flows.csv`: a row for each flow of a trial.

use tcplab_results::{FlowRow, Trial};
use tcplab_scenario::metrics;

use super::row::row;

/// The columns of `flows.csv`.
pub(crate) const COLUMNS: [&str; 14] = [
    "case",
    "trial",
    "flow",
    "background",
    "connections",
    "start_s",
    "bytes",
    "transfer_time_s",
    "goodput_mbit_s",
    "response_time_ms",
    "retransmissions",
    "timeouts",
    "lost_segments",
    "mean_rtt_ms",
];

/// The rows of a trial in `flows.csv`: one for each flow.
pub(crate) fn rows(case: &str, trial: &Trial) -> String {
    let told = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let row = |flow: &FlowRow| {
        row([
            case,
            &trial.number.to_string(),
            &flow.name,
            &flow.background.to_string(),
            &flow.connections.len().to_string(),
            &told(flow.connections.first().map(|it| it.start_s)),
            &flow.bytes().to_string(),
            &told(flow.median(metrics::TRANSFER_TIME)),
            &told(flow.median(metrics::GOODPUT)),
            &told(flow.median(metrics::RESPONSE_TIME)),
            &told(flow.sum(metrics::RETRANSMISSIONS)),
            &told(flow.sum(metrics::TIMEOUTS)),
            &told(flow.sum(metrics::LOST)),
            &told(flow.median(metrics::MEAN_RTT)),
        ])
    };
    trial.flows.iter().map(row).collect()
}
