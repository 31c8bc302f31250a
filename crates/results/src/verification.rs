//! Paths and the machine verified: what was asked for, and what came out.

use serde::{Deserialize, Serialize};
use tcplab_path::Direction;
use tcplab_units::{Rate, Span};

/// Whether something came out as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Within the stated bound.
    Ok,
    /// Not so.
    Off,
    /// It was not, or could not be, measured.
    NotMeasured,
}

impl Outcome {
    /// `ok`, `off` or `not measured`.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Off => "off",
            Outcome::NotMeasured => "not measured",
        }
    }

    pub fn of(is_good: bool) -> Outcome {
        if is_good { Outcome::Ok } else { Outcome::Off }
    }
}

/// One thing that was asked for, and what came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRow {
    /// Such as `rate`.
    pub quantity: String,
    /// `forward` or `reverse`; none for what has no direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// With its unit.
    pub asked: String,
    /// With its unit; empty where it was not measured.
    pub achieved: String,
    /// The verdict.
    pub outcome: Outcome,
    /// The bound that it was held against, or why it was not measured.
    pub why: String,
}

/// What came out of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathCheck {
    /// BLAKE3 of what both directions do to packets, hexadecimal.
    pub hash: String,
    /// The cases of a run that have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<String>,
    /// Direction by direction.
    pub rows: Vec<CheckRow>,
    /// What a small packet takes for both ways on the idle path: the medians of what was measured.
    /// None where too few probes came through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<Span>,
}

impl PathCheck {
    /// Whether nothing is off.
    pub fn is_good(&self) -> bool {
        self.rows.iter().all(|row| row.outcome != Outcome::Off)
    }
}

/// What this machine can do, with the device that trials will use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Such as `tun`.
    pub device: String,
    /// Such as `user-namespace`.
    pub privilege: String,
    /// Such as `real-time`.
    pub scheduling: String,
    /// How much earlier than due packets are handed over, so that they are there when due.
    pub lead: Span,
    /// The last stretch before a packet is due that is waited out awake, here and in trials.
    #[serde(default)]
    pub spin: Span,
    /// Probes through a constant delay came so much later than due, without the lead: median and
    /// 99th percentile, in nanoseconds.
    pub error_without_lead: (i64, i64),
    /// With it.
    pub error: (i64, i64),
    /// The most packets per second that a path was seen to judge.
    pub ceiling_pps: u64,
    /// Their bits of IP packets.
    pub ceiling_rate: Rate,
}

/// A path asks for more than this machine can model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name} asks for {rate}; this machine models {ceiling} at most, and up to {highest} with \
     confidence"
)]
pub struct AboveCeiling {
    /// The case's or the path's.
    pub name: String,
    /// What is asked for.
    pub rate: Rate,
    /// The fastest bottleneck that can be modelled with confidence, in whole Mbit/s.
    pub highest: Rate,
    /// The fastest one at all, likewise.
    pub ceiling: Rate,
}

impl AboveCeiling {
    /// What the user can do about it, whatever the path was to be used for.
    pub fn remedy(&self) -> String {
        format!("ask for {} or less, or use a machine with less to do", self.highest)
    }
}

/// What was found before the trials; `calibration.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The boot of the machine it holds for.
    pub boot: String,
    /// tcplab's version.
    pub tcplab: String,
    /// What the machine can do.
    pub machine: Machine,
    /// How far its timers are off.
    pub timer: CheckRow,
    /// Each path that differs, with the cases on the kernel that have it.
    pub paths: Vec<PathCheck>,
}

impl Calibration {
    /// Whether nothing is off.
    pub fn is_good(&self) -> bool {
        self.timer.outcome != Outcome::Off && self.paths.iter().all(PathCheck::is_good)
    }
}
