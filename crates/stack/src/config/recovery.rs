//! Loss recovery.

use schemars::JsonSchema;
use serde::Deserialize;

/// How losses are detected and repaired.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "options of a stack, independent")]
pub struct Recovery {
    /// How losses are detected.
    pub detection: Detection,
    /// Duplicate acknowledgements until fast retransmit (`tcp_reordering`; RFC 5681: 3).
    pub dupthresh: u32,
    /// The largest duplicate threshold that reordering leads to (`tcp_max_reordering`).
    pub most_reordering: u32,
    /// Whether recovery with SACK needs as many duplicate ACKs (RFC 3517 section 5, xnu) and then
    /// repairs all holes; otherwise as many SACKed segments suffice.
    pub counts_duplicates: bool,
    /// How the window shrinks in recovery.
    pub reduction: Reduction,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// F-RTO (RFC 5682), with SACK or without.
    pub frto: bool,
    /// Whether a spurious reduction is undone by timestamps (RFC 3522) or D-SACK (RFC 3708).
    pub undo: bool,
    /// Whether RACK widens its window after each D-SACK, as Linux 5.10 does, not only after those
    /// that reordering may have caused.
    pub each_dsack_widens: bool,
    /// Tail loss probes (RFC 8985 section 7); they need SACK.
    pub tail_loss_probe: bool,
}

/// How losses are detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Detection {
    /// Only by the timer.
    TimerOnly,
    /// By duplicate ACKs; recovery ends with the first ACK of new data (RFC 2581).
    Reno,
    /// By duplicate and partial ACKs (RFC 6582).
    NewReno,
    /// By SACK (RFC 6675); `newreno` without.
    Sack,
    /// By time (RFC 8985) with SACK; `newreno` without.
    Rack,
}

/// How the window shrinks in recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// RFC 6937 as Linux has it (`tcp_cwnd_reduction`).
    Proportional,
    /// As Linux 5.10 has it: with less in flight than the threshold, as much leaves as was
    /// delivered, and more only for retransmissions that were acknowledged, none being lost.
    #[serde(rename = "proportional-5.10")]
    Proportional510,
    /// To the threshold, plus one for each duplicate ACK (RFC 5681 section 3.2).
    Inflation,
    /// To one segment (Tahoe; xnu with SACK, which then adds one for each duplicate ACK).
    OneSegment,
}

impl Default for Recovery {
    fn default() -> Recovery {
        Recovery {
            detection: Detection::Rack,
            dupthresh: 3,
            most_reordering: 300,
            counts_duplicates: false,
            reduction: Reduction::Proportional,
            limited_transmit: true,
            frto: true,
            undo: true,
            each_dsack_widens: false,
            tail_loss_probe: true,
        }
    }
}
