//! What this machine can do, and whether a path asks for more.

use serde::{Deserialize, Serialize};
use tcplab_path::{Direction, PathSpec};
use tcplab_recording::quality::LEAST_TOLERANCE;
use tcplab_units::{Rate, Span};

use super::check::CheckRow;

/// A path may ask for this share of what this machine can model, in per cent: what is left is for
/// what the measurement has not: captures at both ends, segments that leave one by one, a neighbour
/// on the processor.
pub const CEILING_SHARE: u64 = 80;

/// The timer error that is left with the lead applied may be this at the median: packets are then
/// at their place within what the kernel needs to wake a receiver.
const MEDIAN_BOUND: Span = Span::from_micros(100);
/// One probe in a hundred may be off by more than this. Its reason is that of
/// [`LEAST_TOLERANCE`].
const TAIL_BOUND: Span = LEAST_TOLERANCE;

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
    #[serde(rename = "lead_ns", with = "tcplab_units::number")]
    pub lead: Span,
    /// The last stretch before a packet is due that is waited out awake, here and in trials.
    #[serde(default, rename = "spin_ns", with = "tcplab_units::number")]
    pub spin: Span,
    /// Probes through a constant delay came so much later than due, without the lead: median and
    /// 99th percentile, in nanoseconds.
    #[serde(rename = "error_without_lead_ns")]
    pub error_without_lead: (i64, i64),
    /// With it.
    #[serde(rename = "error_ns")]
    pub error: (i64, i64),
    /// The most packets per second that a path was seen to judge.
    #[serde(rename = "ceiling_packets_per_second")]
    pub ceiling_pps: u64,
    /// Their bits of IP packets.
    #[serde(rename = "ceiling_bits_per_second", with = "tcplab_units::number")]
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

impl Machine {
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
        CheckRow::new(
            "timer error",
            "0 µs".into(),
            format!(
                "p50 {} µs, p99 {} µs (lead {} µs)",
                micros(median),
                micros(tail),
                micros(self.lead.as_nanos().cast_signed())
            ),
            is_good,
            format!("|p50| ≤ {MEDIAN_BOUND}, p99 ≤ {TAIL_BOUND}"),
        )
    }

    /// Whether this machine can model a bottleneck of that rate, as a row.
    pub fn ceiling_row(&self, asked: Option<Rate>) -> CheckRow {
        let (rate, packets) = (self.ceiling_rate.as_mbit_f64(), self.ceiling_pps);
        CheckRow::new(
            "ceiling",
            asked.map_or("no rate".into(), |rate| rate.to_string()),
            format!("{rate:.0} Mbit/s, {packets} packets/s"),
            asked.is_none_or(|rate| rate <= self.highest_rate()),
            format!("at most {CEILING_SHARE} % of what this machine can model"),
        )
    }
}

/// The rate of the faster direction's bottleneck, if there is one, when it is highest.
pub fn fastest_rate(path: &PathSpec) -> Option<Rate> {
    let links = Direction::BOTH.map(|direction| path.link(direction).ok());
    let [Some(forward), Some(reverse)] = links else { return None };
    forward.peak().max(reverse.peak())
}

/// To whole Mbit/s: more digits would not be the same the next time.
pub fn rounded(rate: Rate) -> Rate {
    Rate::from_bits_per_second(rate.bits_per_second() / 1_000_000 * 1_000_000)
}

/// The largest rate to configure on a machine that models `ceiling` at most.
pub fn with_confidence(ceiling: Rate) -> Rate {
    let share = u128::from(ceiling.bits_per_second()) * u128::from(CEILING_SHARE);
    Rate::from_bits_per_second(u64::try_from(share / 100).unwrap_or(u64::MAX))
}

/// In microseconds, with one decimal.
pub fn micros(nanos: i64) -> String {
    let text = format!("{:.1}", nanos as f64 / 1e3);
    if text == "-0.0" { "0.0".into() } else { text }
}
