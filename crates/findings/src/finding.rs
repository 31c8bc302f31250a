//! What a rule says, how much it matters, and where it is to be seen.

use serde::Serialize;
use tcplab_trace::{Connection, Occurrences, Stall, TcpState};
use tcplab_units::{Bytes, Instant, Span};

/// Something found out about a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule that found it, as in [`RULES`](crate::RULES).
    pub rule: &'static str,
    /// Of what kind it is.
    pub severity: Severity,
    /// What it cost, as far as that can be told.
    pub cost: Cost,
    /// What was found, in plain sentences.
    pub statement: String,
    /// What to do about it, where something can be done.
    pub remedy: Option<String>,
    /// The frames that prove it, counted from 1 as in Wireshark.
    pub frames: Vec<u64>,
    /// When it was the case first.
    pub at: Instant,
}

/// Of what kind a finding is, in the order in which a reader should learn of it: the last first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// All is well, and why.
    Good,
    /// Worth knowing; it cost little here, or nothing that TCP could give back.
    Note,
    /// It cost time or bytes.
    Harm,
    /// The connection did not come about, was broken off, or somebody did what the standard
    /// forbids.
    Failure,
    /// The capture is not what passed the network: other findings may be wrong.
    Doubt,
}

/// What a finding cost, for putting the worst first: time weighs before bytes.
///
/// Costs of several findings overlap and do not add up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Cost {
    /// For how long it held the connection up; of what makes every round trip longer, by how much
    /// it does so.
    pub time: Span,
    /// Bytes that went over the path for nothing.
    pub bytes: Bytes,
}

impl Cost {
    /// Nothing, or nobody can tell.
    pub const NONE: Cost = Cost { time: Span::ZERO, bytes: Bytes::ZERO };

    /// So much time.
    pub const fn time(time: Span) -> Cost {
        Cost { time, bytes: Bytes::ZERO }
    }
    /// So many bytes.
    pub const fn bytes(bytes: Bytes) -> Cost {
        Cost { time: Span::ZERO, bytes }
    }
}

/// Puts the worst first: by severity, then by cost, then by time.
pub fn worst_first(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        (b.severity, b.cost).cmp(&(a.severity, a.cost)).then_with(|| a.at.cmp(&b.at))
    });
}

/// Where and since when something is to be seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    frames: Vec<u64>,
    at: Instant,
}

impl Shown {
    /// In single frames.
    pub(crate) fn in_frames(frames: impl IntoIterator<Item = u64>, at: Instant) -> Shown {
        let mut frames: Vec<u64> = frames.into_iter().collect();
        frames.sort_unstable();
        frames.dedup();
        Shown { frames, at }
    }
    /// Where something was seen; nowhere if it was not.
    pub(crate) fn by(seen: &Occurrences) -> Shown {
        Shown::in_frames(seen.frames.iter().copied(), seen.first.unwrap_or_default())
    }
    /// Between the two packets around a stall.
    pub(crate) fn by_stall(stall: &Stall) -> Shown {
        Shown::in_frames([stall.frames.0, stall.frames.1], stall.from)
    }
    /// In what both ends offered: the first frame, if that is a SYN, and the SYN-ACK, which is what
    /// brings the client into its next state.
    pub(crate) fn by_offers(connection: &Connection) -> Shown {
        let answer = connection.life.client.iter().find(|s| s.state == TcpState::Established);
        let frames = [Some(connection.frames.0), answer.map(|step| step.frame)];
        Shown::in_frames(frames.into_iter().flatten(), connection.first)
    }
    /// In the connection as a whole: its first and its last frame.
    pub(crate) fn by_all(connection: &Connection) -> Shown {
        Shown::in_frames([connection.frames.0, connection.frames.1], connection.first)
    }
    /// There and elsewhere.
    pub(crate) fn and(self, other: Shown) -> Shown {
        let at = match (self.frames.is_empty(), other.frames.is_empty()) {
            (true, _) => other.at,
            (_, true) => self.at,
            _ => self.at.min(other.at),
        };
        Shown::in_frames(self.frames.into_iter().chain(other.frames), at)
    }
    /// There, or elsewhere if it was not seen there.
    pub(crate) fn or(self, other: Shown) -> Shown {
        if self.frames.is_empty() { other } else { self }
    }
    /// What rule `rule` makes of it.
    pub(crate) fn proves(self, rule: &'static str, severity: Severity, cost: Cost) -> Found {
        Found { rule, severity, cost, shown: self }
    }
}

/// A finding without its words.
#[derive(Debug)]
pub(crate) struct Found {
    rule: &'static str,
    severity: Severity,
    cost: Cost,
    shown: Shown,
}

impl Found {
    /// With a statement and something to do.
    pub(crate) fn saying(self, statement: String, remedy: impl Into<String>) -> Finding {
        Finding { remedy: Some(remedy.into()), ..self.stating(statement) }
    }
    /// With a statement; nothing is to be done.
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
