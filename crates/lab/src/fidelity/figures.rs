//! What one trial says, whichever world it ran in.

use tcplab_quantities::{self as q, Quantity};
use tcplab_recording::Recording;
use tcplab_results::Metrics;
use tcplab_scenario::{Case, MetricInfo, metrics};
use tcplab_trace::Causes;
use tcplab_workload::Role;

use super::curve::{Curve, curve};
use super::partings::{Seen, seen};
use crate::analysis::{Contents, Sizes, Sources, flow_of, sending_end, trace};
use crate::error::LabError;

/// A quantity that is compared, and how a direction's trace counts it.
pub(crate) enum Figure {
    /// A metric of the trial.
    Metric(&'static MetricInfo),
    /// How many retransmissions had a cause.
    Cause(Quantity, fn(&Causes) -> u64),
}

impl Figure {
    /// A metric's name, or `cause.` and the key of the quantity.
    pub(crate) fn name(&self) -> String {
        match self {
            Figure::Metric(info) => info.name.into(),
            Figure::Cause(quantity, _) => format!("cause.{}", quantity.key),
        }
    }

    pub(crate) fn unit(&self) -> &'static str {
        match self {
            Figure::Metric(info) => info.unit,
            Figure::Cause(..) => "segments",
        }
    }
}

/// What is compared: metrics, and the trace engine's causes of retransmissions.
pub(crate) const QUANTITIES: [Figure; 13] = [
    Figure::Metric(metrics::TRANSFER_TIME),
    Figure::Metric(metrics::GOODPUT),
    Figure::Metric(metrics::RETRANSMISSIONS),
    Figure::Metric(metrics::TIMEOUTS),
    Figure::Metric(metrics::MEAN_RTT),
    Figure::Cause(q::RETRANSMISSIONS_BY_DUPLICATE_ACKS, |causes| causes.by_duplicate_acks.count),
    Figure::Cause(q::RETRANSMISSIONS_BY_SACK, |causes| causes.by_sack.count),
    Figure::Cause(q::RETRANSMISSIONS_BY_RACK, |causes| causes.by_rack.count),
    Figure::Cause(q::TAIL_LOSS_PROBES, |causes| causes.tail_loss_probes.count),
    Figure::Cause(q::TIMEOUTS, |causes| causes.timeouts.count),
    Figure::Cause(q::RETRANSMISSIONS_AFTER_TIMEOUT, |causes| causes.after_timeout.count),
    Figure::Cause(q::RETRANSMISSIONS_LOST, |causes| causes.lost_retransmissions.count),
    Figure::Cause(q::RETRANSMISSIONS_SPURIOUS, |causes| causes.spurious.sent.count),
];

/// What one trial says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    /// In the order of [`QUANTITIES`]; none where it cannot be had.
    pub(crate) values: [Option<f64>; QUANTITIES.len()],
    /// The sender's congestion window over the transfer.
    pub(crate) curve: Option<Curve>,
    /// Its packets, as the sender's capture shows them.
    pub(crate) packets: Vec<Seen>,
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
        let size = Sizes::of(case, contents.record.seed).subject;
        let sources = Sources { app, size, flow, samples, lost: None, ideal: None };
        let metrics = Metrics::from(sources.metrics());
        let value = |figure: Figure| match figure {
            Figure::Metric(info) => metrics.value(info),
            Figure::Cause(_, count) => Some(count(&flow.causes) as f64),
        };
        Ok(Figures { values: QUANTITIES.map(value), curve, packets: seen(flow), is_flawed })
    }
}
