//! What one trial says, whichever world it ran in.

use tcplab_recording::Recording;
use tcplab_results::Metrics;
use tcplab_scenario::{Case, MetricInfo, metrics};
use tcplab_trace::Causes;
use tcplab_workload::Role;

use super::curve::{Curve, curve};
use crate::analysis::{Contents, Sources, flow_of, sending_end, trace};
use crate::error::LabError;

/// A quantity that is compared, and how a direction's trace counts it.
pub(crate) enum Figure {
    /// A metric of the trial.
    Metric(&'static MetricInfo),
    /// How many retransmissions had a cause: its name here, and the count.
    Cause(&'static str, fn(&Causes) -> u64),
}

impl Figure {
    /// A metric's name, or `cause.` and that of the cause.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Figure::Metric(info) => info.name,
            Figure::Cause(name, _) => name,
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
    Figure::Cause("cause.by_duplicates", |causes| causes.by_duplicate_acks.count),
    Figure::Cause("cause.by_sack", |causes| causes.by_sack.count),
    Figure::Cause("cause.by_rack", |causes| causes.by_rack.count),
    Figure::Cause("cause.probes", |causes| causes.tail_loss_probes.count),
    Figure::Cause("cause.timeouts", |causes| causes.timeouts.count),
    Figure::Cause("cause.after_timeout", |causes| causes.after_timeout.count),
    Figure::Cause("cause.lost_again", |causes| causes.lost_retransmissions.count),
    Figure::Cause("cause.needless", |causes| {
        causes.spurious_by_dsack.count + causes.spurious_by_timestamp.count
    }),
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
        let metrics = Metrics::from(sources.metrics());
        let value = |figure: Figure| match figure {
            Figure::Metric(info) => metrics.value(info),
            Figure::Cause(_, count) => Some(count(&flow.causes) as f64),
        };
        Ok(Figures { values: QUANTITIES.map(value), curve, is_flawed })
    }
}
