//! The configured and the measured values of a path.

use serde::{Deserialize, Serialize};
use tcplab_path::Direction;
use tcplab_units::Span;

/// Whether a measured value is as configured.
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

    /// `ok` if it is good, else `off`.
    pub fn of(is_good: bool) -> Outcome {
        if is_good { Outcome::Ok } else { Outcome::Off }
    }
}

/// One thing that was asked for, and what was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRow {
    /// Such as `rate`.
    pub quantity: String,
    /// `forward` or `reverse`; none for what has no direction.
    pub direction: Option<Direction>,
    /// With its unit.
    #[serde(with = "tcplab_units::text")]
    pub asked: String,
    /// With its unit; empty where it was not measured.
    #[serde(with = "tcplab_units::text")]
    pub achieved: String,
    /// The verdict.
    pub outcome: Outcome,
    /// The bound that it must meet, or why it was not measured.
    pub why: String,
}

impl CheckRow {
    /// What was asked and measured; `why` is the bound.
    pub fn new(
        quantity: &str,
        asked: String,
        achieved: String,
        is_good: bool,
        why: String,
    ) -> CheckRow {
        let outcome = Outcome::of(is_good);
        CheckRow { quantity: quantity.into(), direction: None, asked, achieved, outcome, why }
    }

    /// What was asked and not measured, and why.
    pub fn unknown(quantity: &str, asked: String, why: impl Into<String>) -> CheckRow {
        CheckRow {
            quantity: quantity.into(),
            direction: None,
            asked,
            achieved: String::new(),
            outcome: Outcome::NotMeasured,
            why: why.into(),
        }
    }

    /// Declares it not measured.
    #[must_use]
    pub fn not_measured(self, why: &str) -> CheckRow {
        CheckRow { outcome: Outcome::NotMeasured, why: why.into(), ..self }
    }

    /// Says which direction it is of.
    #[must_use]
    pub fn in_direction(self, direction: Direction) -> CheckRow {
        CheckRow { direction: Some(direction), ..self }
    }
}

/// The results of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathCheck {
    /// BLAKE3 of what both directions do to packets, hexadecimal.
    pub hash: String,
    /// The cases of a run that have it.
    pub cases: Vec<String>,
    /// Direction by direction.
    pub rows: Vec<CheckRow>,
    /// What a small packet takes for both ways on the idle path: the medians of what was measured.
    /// None where too few probes came through.
    #[serde(rename = "base_rtt_ns", with = "tcplab_units::number")]
    pub round_trip: Option<Span>,
}

impl PathCheck {
    /// Whether nothing is off.
    pub fn is_good(&self) -> bool {
        self.rows.iter().all(|row| row.outcome != Outcome::Off)
    }
}
