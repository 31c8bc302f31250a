//! A finding: statement, severity, cost and evidence.

use serde::Serialize;
use tcplab_trace::{Connection, Occurrences, Stall, TcpState};
use tcplab_units::{Bytes, Instant, Span};

/// A statement about a connection, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule that found it, as in [`RULES`](crate::RULES).
    pub rule: &'static str,
    /// How serious it is.
    pub severity: Severity,
    /// Its cost, as far as known.
    pub cost: Cost,
    /// The statement: the headline first.
    pub statement: String,
    /// What to do about it, if anything.
    pub remedy: Option<String>,
    /// The frames that prove it, from 1 as in Wireshark.
    pub frames: Vec<u64>,
    /// When it first occurred.
    #[serde(rename = "at_ns")]
    pub at: Instant,
}

/// How serious a finding is; reports show the highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// All is well, and why.
    Good,
    /// Worth knowing; it cost little, or nothing TCP could avoid.
    Note,
    /// It cost time or bytes.
    Harm,
    /// The connection failed or was aborted, or an end violates the standard.
    Failure,
    /// The capture differs from what crossed the network: other findings may be wrong.
    Doubt,
}

impl Severity {
    /// In lower case, as in tables and style sheets.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Good => "good",
            Severity::Note => "note",
            Severity::Harm => "harm",
            Severity::Failure => "failure",
            Severity::Doubt => "doubt",
        }
    }
}

/// The cost of a finding, to sort by: time before bytes. Costs overlap and do not add up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Cost {
    /// The delay it caused; for a cause that lengthens every round trip, by how much.
    #[serde(rename = "time_ns", with = "tcplab_units::number")]
    pub time: Span,
    /// Bytes sent unnecessarily.
    #[serde(with = "tcplab_units::number")]
    pub bytes: Bytes,
}

impl Cost {
    /// None, or unknown.
    pub const NONE: Cost = Cost { time: Span::ZERO, bytes: Bytes::ZERO };

    /// Only time.
    pub const fn time(time: Span) -> Cost {
        Cost { time, bytes: Bytes::ZERO }
    }
    /// Only bytes.
    pub const fn bytes(bytes: Bytes) -> Cost {
        Cost { time: Span::ZERO, bytes }
    }
}

/// Sorts the worst first: by severity, cost, then time.
pub fn worst_first(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        (b.severity, b.cost).cmp(&(a.severity, a.cost)).then_with(|| a.at.cmp(&b.at))
    });
}

/// The evidence: frames, and when it begins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    frames: Vec<u64>,
    at: Instant,
}

impl Shown {
    /// Of single frames.
    pub(crate) fn in_frames(frames: impl IntoIterator<Item = u64>, at: Instant) -> Shown {
        let mut frames: Vec<u64> = frames.into_iter().collect();
        frames.sort_unstable();
        frames.dedup();
        Shown { frames, at }
    }
    /// Of occurrences; empty if there were none.
    pub(crate) fn by(occurrences: &Occurrences) -> Shown {
        Shown::in_frames(occurrences.frames.iter().copied(), occurrences.first.unwrap_or_default())
    }
    /// The two packets around a stall.
    pub(crate) fn by_stall(stall: &Stall) -> Shown {
        Shown::in_frames([stall.frames.0, stall.frames.1], stall.from)
    }
    /// Both SYNs: the first frame and the SYN-ACK, which leads the client to ESTABLISHED.
    pub(crate) fn by_offers(connection: &Connection) -> Shown {
        let answer = connection.life.client.iter().find(|s| s.state == TcpState::Established);
        let frames = [Some(connection.frames.0), answer.map(|step| step.frame)];
        Shown::in_frames(frames.into_iter().flatten(), connection.first)
    }
    /// The whole connection: its first and last frame.
    pub(crate) fn by_all(connection: &Connection) -> Shown {
        Shown::in_frames([connection.frames.0, connection.frames.1], connection.first)
    }
    /// This evidence and more.
    pub(crate) fn and(self, other: Shown) -> Shown {
        let at = match (self.frames.is_empty(), other.frames.is_empty()) {
            (true, _) => other.at,
            (_, true) => self.at,
            _ => self.at.min(other.at),
        };
        Shown::in_frames(self.frames.into_iter().chain(other.frames), at)
    }
    /// This evidence, or `other` if it is empty.
    pub(crate) fn or(self, other: Shown) -> Shown {
        if self.frames.is_empty() { other } else { self }
    }
    pub(crate) fn proves(self, rule: &'static str, severity: Severity, cost: Cost) -> Found {
        Found { rule, severity, cost, shown: self }
    }
}

/// A finding without its sentences.
#[derive(Debug)]
pub(crate) struct Found {
    rule: &'static str,
    severity: Severity,
    cost: Cost,
    shown: Shown,
}

impl Found {
    pub(crate) fn saying(self, statement: String, remedy: impl Into<String>) -> Finding {
        Finding { remedy: Some(remedy.into()), ..self.stating(statement) }
    }
    pub(crate) fn stating(self, statement: String) -> Finding {
        Finding {
            rule: self.rule,
            severity: self.severity,
            cost: self.cost,
            statement,
            remedy: None,
            frames: self.shown.frames,
            at: self.shown.at,
        }
    }
}
