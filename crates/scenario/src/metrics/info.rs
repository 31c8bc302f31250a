//! What is known of a metric.

use serde::{Deserialize, Serialize};

/// A metric's name and what to make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MetricInfo {
    /// As claims and tables name it, such as `goodput`.
    pub name: &'static str,
    /// Such as `Mbit/s`; empty for counts, truths and texts.
    pub unit: &'static str,
    /// What it measures, in a sentence.
    pub meaning: &'static str,
    /// Which way is good.
    pub better: Better,
    /// What one value of it is about.
    pub scope: Scope,
    /// What its values are.
    pub kind: MetricKind,
    /// Who tells it.
    pub source: Source,
}

impl MetricInfo {
    /// Whether each trial has one number of it.
    pub fn is_number_of_trial(&self) -> bool {
        self.scope == Scope::Trial && self.kind == MetricKind::Number
    }

    /// Whether it is one to look up when the others ask for it: not among those that are shown
    /// first.
    pub fn is_detail(&self) -> bool {
        const ALONE: [&str; 6] = [
            "throughput",
            "base_rtt",
            "ideal_time",
            "cpu_per_byte",
            "p95_response",
            "retransmitted",
        ];
        // Shares, causes and quantiles of what stands beside them.
        let of_another = ["retransmissions.", "rtt.", "limit."];
        ALONE.contains(&self.name) || of_another.iter().any(|it| self.name.starts_with(it))
    }
}

/// Who tells the values of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The logs of the applications.
    Applications,
    /// The capture at the end that sends the payload.
    Capture,
    /// The capture at the end that it is of.
    OwnCapture,
    /// The captures at the ends that receive.
    Captures,
    /// The path's own log.
    Path,
    /// What the path is asked for, and its measurement before the trials where there was one.
    Plan,
    /// `TCP_INFO` of the sender's socket, looked at from time to time.
    TcpInfo,
    /// Other accounts of the kernel (of a model, its own): socket options, processor time.
    Kernel,
    /// The applications against the plan of the path.
    ApplicationsAndPlan,
    /// The capture at the end that sends the payload, against the plan of the path.
    CaptureAndPlan,
}

impl Source {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Source::Applications => "applications",
            Source::Capture => "capture at the sender",
            Source::OwnCapture => "capture at that end",
            Source::Captures => "captures at the receivers",
            Source::Path => "path's log",
            Source::Plan => "path as asked for or measured",
            Source::TcpInfo => "TCP_INFO of the sender",
            Source::Kernel => "kernel or model",
            Source::ApplicationsAndPlan => "applications and path",
            Source::CaptureAndPlan => "capture at the sender and path",
        }
    }
}

/// Which values of a metric are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Small ones.
    Lower,
    /// Large ones.
    Higher,
    /// It is a description, not a merit.
    Neither,
}

impl Better {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "neither",
        }
    }
}

/// What one value of a metric is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One value per trial.
    Trial,
    /// One value per recovery episode: none, one or many in a trial.
    Episode,
    /// One value per interruption of the path.
    Interruption,
    /// Values of each end, mostly one.
    Endpoint,
    /// One value per request of an application.
    Request,
    /// One value per row of an application's log: a call, or equal ones in a row.
    Call,
}

impl Scope {
    /// Of what there is a value.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Trial => "trial",
            Scope::Episode => "recovery episode",
            Scope::Interruption => "interruption",
            Scope::Endpoint => "end",
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

/// The types of recovery episodes, in the words of the interruption paper (sections III, IV).
pub(super) const EPISODE_TYPES: &[&str] = &["without time lag", "with time lag", "intermittent"];

pub(super) const fn of_trial(
    name: &'static str,
    source: Source,
    unit: &'static str,
    better: Better,
    meaning: &'static str,
) -> MetricInfo {
    MetricInfo {
        name,
        unit,
        meaning,
        better,
        scope: Scope::Trial,
        kind: MetricKind::Number,
        source,
    }
}

pub(super) const fn of_end(
    name: &'static str,
    source: Source,
    unit: &'static str,
    meaning: &'static str,
) -> MetricInfo {
    let (better, scope) = (Better::Neither, Scope::Endpoint);
    MetricInfo { name, unit, meaning, better, scope, kind: MetricKind::Number, source }
}

pub(super) const fn of_call(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
) -> MetricInfo {
    let (better, scope, source) = (Better::Neither, Scope::Call, Source::Applications);
    MetricInfo { name, unit, meaning, better, scope, kind: MetricKind::Number, source }
}

pub(super) const fn words(
    name: &'static str,
    source: Source,
    scope: Scope,
    words: &'static [&'static str],
    meaning: &'static str,
) -> MetricInfo {
    let (unit, better, kind) = ("", Better::Neither, MetricKind::Text(words));
    MetricInfo { name, unit, meaning, better, scope, kind, source }
}

pub(super) const fn of_interruption(
    name: &'static str,
    source: Source,
    unit: &'static str,
    meaning: &'static str,
) -> MetricInfo {
    let (better, scope, kind) = (Better::Lower, Scope::Interruption, MetricKind::Number);
    MetricInfo { name, unit, meaning, better, scope, kind, source }
}

pub(super) const fn of_episode(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
) -> MetricInfo {
    let (better, scope, source) = (Better::Lower, Scope::Episode, Source::Capture);
    MetricInfo { name, unit, meaning, better, scope, kind: MetricKind::Number, source }
}

/// How a connection can end, as a capture shows it.
pub const CONNECTION_ENDS: &[&str] = &[
    "closed",
    "half closed",
    "reset by the client",
    "reset by the server",
    "refused",
    "unanswered",
    "open",
];
