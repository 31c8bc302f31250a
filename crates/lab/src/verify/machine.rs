//! What this machine can do, and whether a path asks for more.

use serde::{Deserialize, Serialize};
use tcplab_path::PathSpec;
use tcplab_recording::quality::LEAST_TOLERANCE;
use tcplab_testbed::{CalibrationRecord, Tuning};
use tcplab_units::{Rate, Span};

use super::{CheckRow, Outcome, fastest_rate};

/// The timer error that is left with the lead applied may be this at the median: packets are then
/// at their place within what the kernel needs to wake a receiver.
const MEDIAN_BOUND: Span = Span::from_micros(100);
/// One probe in a hundred may be off by more than this. Its reason is that of
/// [`LEAST_TOLERANCE`].
const TAIL_BOUND: Span = LEAST_TOLERANCE;

impl Machine {
    /// What the process of a calibration measured that had been told to `spin` so long.
    ///
    /// # Panics
    /// If it was not asked to measure the machine.
    pub(super) fn of(record: &CalibrationRecord, spin: Span) -> Machine {
        let machine = record.machine.as_ref().expect("the machine was asked for");
        let quantiles = |sorted: &[i64]| (at(sorted, 500), at(sorted, 990));
        Machine {
            device: record.device.clone(),
            privilege: record.privilege.clone(),
            scheduling: record.scheduling.clone(),
            lead: machine.lead,
            spin,
            error_without_lead: quantiles(&machine.errors),
            error: quantiles(&machine.errors_with_lead),
            ceiling_pps: machine.ceiling.pps,
            ceiling_rate: machine.ceiling.rate,
        }
    }

    /// How trials are to move frames here.
    pub fn tuning(&self) -> Tuning {
        Tuning { lead: self.lead, spin: self.spin, ..Tuning::default() }
    }

    /// The fastest bottleneck that can be modelled here with confidence.
    pub fn highest_rate(&self) -> Rate {
        with_confidence(self.ceiling_rate)
    }

    /// Whether the bottlenecks of that path, called `name`, can be modelled here with confidence.
    ///
    /// # Errors
    /// When they cannot, and what can.
    pub fn can_model(&self, name: &str, path: &PathSpec) -> Result<(), AboveCeiling> {
        let Some(rate) = fastest_rate(path).filter(|rate| *rate > self.highest_rate()) else {
            return Ok(());
        };
        Err(AboveCeiling {
            name: name.into(),
            rate,
            highest: rounded(self.highest_rate()),
            ceiling: rounded(self.ceiling_rate),
        })
    }

    /// The timer error as a row.
    pub fn timer_row(&self) -> CheckRow {
        let (median, tail) = self.error;
        let is_good = median.unsigned_abs() <= MEDIAN_BOUND.as_nanos()
            && tail.unsigned_abs() <= TAIL_BOUND.as_nanos();
        CheckRow {
            quantity: "timer error".into(),
            direction: None,
            asked: "0 µs".into(),
            achieved: format!(
                "p50 {} µs, p99 {} µs (lead {} µs)",
                micros(median),
                micros(tail),
                micros(self.lead.as_nanos().cast_signed())
            ),
            outcome: Outcome::of(is_good),
            why: format!("|p50| ≤ {MEDIAN_BOUND}, p99 ≤ {TAIL_BOUND}"),
        }
    }

    /// Whether this machine can model a bottleneck of that rate, as a row.
    pub fn ceiling_row(&self, asked: Option<Rate>) -> CheckRow {
        CheckRow {
            quantity: "ceiling".into(),
            direction: None,
            asked: asked.map_or("no rate".into(), |rate| rate.to_string()),
            achieved: format!(
                "{:.0} Mbit/s, {} packets/s",
                self.ceiling_rate.as_mbit_f64(),
                self.ceiling_pps
            ),
            outcome: Outcome::of(asked.is_none_or(|rate| rate <= self.highest_rate())),
            why: format!("at most {CEILING_SHARE} % of what this machine can model"),
        }
    }
}

/// To whole Mbit/s: more digits would not be the same the next time.
pub(super) fn rounded(rate: Rate) -> Rate {
    Rate::from_bits_per_second(rate.bits_per_second() / 1_000_000 * 1_000_000)
}

/// What may be asked of a machine that models `ceiling` at most.
pub(super) fn with_confidence(ceiling: Rate) -> Rate {
    let share = u128::from(ceiling.bits_per_second()) * u128::from(CEILING_SHARE);
    Rate::from_bits_per_second(u64::try_from(share / 100).unwrap_or(u64::MAX))
}

/// In microseconds, with one decimal.
pub(super) fn micros(nanos: i64) -> String {
    let text = format!("{:.1}", nanos as f64 / 1e3);
    if text == "-0.0" { "0.0".into() } else { text }
}

/// The value that so many of a thousand do not exceed; zero of none.
pub(super) fn at(sorted: &[i64], per_mille: usize) -> i64 {
    let index = sorted.len() * per_mille / 1000;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}
