//! The definition of a metric.

use serde::{Deserialize, Serialize};

/// The definition of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MetricInfo {
    /// The name in claims and tables, such as `goodput`.
    pub name: &'static str,
    /// The name for people, such as `transfer time`.
    pub label: &'static str,
    /// Such as `Mbit/s`; empty for counts, truths and texts.
    pub unit: &'static str,
    /// What it measures, without a full stop.
    pub meaning: &'static str,
    /// Which direction is better.
    pub better: Better,
    /// What one value belongs to.
    pub scope: Scope,
    /// The type of its values.
    pub kind: MetricKind,
    /// Where its values come from.
    pub source: Source,
    /// The key of the quantity that it is, perhaps in another unit; none if it is not one of a
    /// connection or a run.
    pub quantity: Option<&'static str>,
}

impl MetricInfo {
    /// Whether it has one number per trial.
    pub fn is_number_of_trial(&self) -> bool {
        self.scope == Scope::Trial && self.kind == MetricKind::Number
    }

    /// The most that it can be; none of what has no bound. Zero is the least of a share.
    pub fn most(&self) -> Option<f64> {
        // The only percentage that is no share of a whole.
        let is_share = self.unit == "%" && self.name != super::BUFFER_DELAY.name;
        let is_index = self.kind == MetricKind::Truth || self.name == super::FAIRNESS.name;
        is_share.then_some(100.0).or(is_index.then_some(1.0))
    }

    /// What it measures, and which values it has if they are not numbers, in sentences.
    pub fn explanation(&self) -> String {
        match self.kind {
            MetricKind::Number => format!("{}.", self.meaning),
            MetricKind::Truth => format!("{}. 1 is true, 0 is false.", self.meaning),
            MetricKind::Text(words) => format!("{}. One of: {}.", self.meaning, words.join(", ")),
        }
    }

    /// Whether it is a detail, not one of the key metrics.
    pub fn is_detail(&self) -> bool {
        const ALONE: [&str; 6] = [
            "throughput",
            "base_rtt",
            "ideal_time",
            "cpu_per_byte",
            "p95_response",
            "retransmitted",
        ];
        // Shares, causes and quantiles of a key metric.
        let of_another = ["retransmissions.", "rtt.", "limit."];
        ALONE.contains(&self.name) || of_another.iter().any(|it| self.name.starts_with(it))
    }
}

/// Where the values of a metric come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The logs of the applications.
    Applications,
    /// The capture at the endpoint that sends the payload.
    Capture,
    /// The capture at the endpoint that the value belongs to.
    OwnCapture,
    /// The captures at the receiving endpoints.
    Captures,
    /// The path's log.
    Path,
    /// The path's configuration, or its calibration before the trials.
    Plan,
    /// Samples of `TCP_INFO` of the sender's socket.
    TcpInfo,
    /// Other figures of the kernel or model: socket options, processor time.
    Kernel,
    /// The applications' logs and the path's configuration.
    ApplicationsAndPlan,
    /// The capture at the endpoint that sends the payload, and the path's configuration.
    CaptureAndPlan,
}

impl Source {
    /// The name in text.
    pub fn name(self) -> &'static str {
        match self {
            Source::Applications => "applications",
            Source::Capture => "capture at the sender",
            Source::OwnCapture => "capture at that endpoint",
            Source::Captures => "captures at the receivers",
            Source::Path => "path's log",
            Source::Plan => "configured or calibrated path",
            Source::TcpInfo => "TCP_INFO of the sender",
            Source::Kernel => "kernel or model",
            Source::ApplicationsAndPlan => "applications and path",
            Source::CaptureAndPlan => "capture at the sender and path",
        }
    }
}

/// Which values of a metric are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Small ones.
    Lower,
    /// Large ones.
    Higher,
    /// Neither: it describes.
    Neither,
}

impl Better {
    /// The name in text.
    pub fn name(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "neither",
        }
    }
}

/// What one value of a metric belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One value per trial.
    Trial,
    /// One value per recovery episode: none, one or many in a trial.
    Episode,
    /// One value per interruption of the path.
    Interruption,
    /// One or more values per endpoint.
    Endpoint,
    /// One value per request of an application.
    Request,
    /// One value per row of an application's log: a call, or successive equal calls.
    Call,
}

impl Scope {
    /// The name in text.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Trial => "trial",
            Scope::Episode => "recovery episode",
            Scope::Interruption => "interruption",
            Scope::Endpoint => "endpoint",
            Scope::Request => "request",
            Scope::Call => "row of calls",
        }
    }
}

/// What the values of a metric are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// Numbers in the metric's unit.
    Number,
    /// 1 for true, 0 for false.
    Truth,
    /// One of these texts.
    Text(&'static [&'static str]),
}

/// The types of recovery episodes, with the names of the interruption paper (sections III, IV).
pub(super) const EPISODE_TYPES: &[&str] =
    &["without time lag", "with time lag", "intermittent", "unknown"];

/// The states of TCP by their names in RFC 9293, section 3.3.2.
pub(super) const TCP_STATES: &[&str] = &[
    "LISTEN",
    "SYN-SENT",
    "SYN-RECEIVED",
    "ESTABLISHED",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "CLOSE-WAIT",
    "CLOSING",
    "LAST-ACK",
    "TIME-WAIT",
    "CLOSED",
];

/// How a connection can end, as seen in a capture.
pub const CONNECTION_ENDS: &[&str] = &[
    "closed",
    "half closed",
    "reset by the client",
    "reset by the server",
    "refused",
    "unanswered",
    "open",
];
