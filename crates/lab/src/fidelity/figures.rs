//! What one trial says, whichever world it ran in.

use tcplab_recording::Recording;
use tcplab_scenario::Case;
use tcplab_trace::Causes;
use tcplab_workload::Role;

use super::curve::{Curve, curve};
use crate::analysis::{Contents, Sources, flow_of, sending_end, trace};
use crate::error::LabError;

/// Names and units of what is compared: metrics, and the trace engine's causes of retransmissions.
pub(crate) const QUANTITIES: [(&str, &str); 13] = [
    ("transfer_time", "s"),
    ("goodput", "Mbit/s"),
    ("retransmissions", "segments"),
    ("timeouts", ""),
    ("mean_rtt", "ms"),
    ("cause.by_duplicates", "segments"),
    ("cause.by_sack", "segments"),
    ("cause.by_rack", "segments"),
    ("cause.probes", "segments"),
    ("cause.timeouts", "segments"),
    ("cause.after_timeout", "segments"),
    ("cause.lost_again", "segments"),
    ("cause.needless", "segments"),
];

/// What one trial says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    /// In the order of [`QUANTITIES`]; none where it cannot be had.
    pub(crate) values: [Option<f64>; QUANTITIES.len()],
    /// The sender's congestion window over the transfer.
    pub(crate) curve: Option<Curve>,
    /// Whether its path misbehaved.
    pub(crate) is_flawed: bool,
}

impl Figures {
    /// Those of a recording.
    pub(crate) fn of(recording: Recording, case: &Case) -> Result<Figures, LabError> {
        let contents = Contents::read(recording, case)?;
        let (app, samples) = (&contents.app, &contents.samples);
        let sender = sending_end(app);
        let receiver = match app.client.role {
            Role::Sender => &app.server,
            Role::Receiver => &app.client,
        };
        let is_flawed = !contents.flaws.is_empty();
        let curve = receiver.last_byte.and_then(|end| curve(samples, sender, end));
        let captured = trace(&contents, sender)?;
        let Some(connection) = captured.connections.first() else {
            return Ok(Figures { curve, is_flawed, ..Figures::default() });
        };
        let flow = flow_of(connection, sender);
        let sources = Sources { app, flow, samples, lost: None, ideal: None };
        let metrics = sources.metrics();
        let value = |name: &str| match name.strip_prefix("cause.") {
            Some(cause) => Some(count(&flow.causes, cause) as f64),
            None => metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value),
        };
        Ok(Figures { values: QUANTITIES.map(|(name, _)| value(name)), curve, is_flawed })
    }
}

fn count(causes: &Causes, name: &str) -> u64 {
    match name {
        "by_duplicates" => causes.by_duplicate_acks.count,
        "by_sack" => causes.by_sack.count,
        "by_rack" => causes.by_rack.count,
        "probes" => causes.tail_loss_probes.count,
        "timeouts" => causes.timeouts.count,
        "after_timeout" => causes.after_timeout.count,
        "lost_again" => causes.lost_retransmissions.count,
        "needless" => causes.spurious_by_dsack.count + causes.spurious_by_timestamp.count,
        other => unreachable!("{other} is no cause"),
    }
}
