//! Recovery episodes of a trial, and what interruptions of its path cost.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A recovery episode, for tables.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EpisodeRow {
    /// From 1 within the trial.
    pub number: usize,
    /// The paper's type: `without time lag`, `with time lag`, `intermittent`; `unknown` where the
    /// retransmission of the first lost segment was not captured.
    pub kind: String,
    /// The first evidence of the loss: `sack`, `duplicate acks`, `timeout`, `probe`.
    pub evidence: String,
    /// First evidence, seconds since the trial's zero.
    #[serde(rename = "start_seconds")]
    pub start_s: f64,
    /// From the first evidence to the repair, seconds.
    #[serde(rename = "duration_seconds")]
    pub duration_s: f64,
    /// How long the sender had sent nothing when its recovery began, seconds. None if it never
    /// began.
    #[serde(default, rename = "silence_seconds")]
    pub silence_s: Option<f64>,
    /// Lost transmissions.
    pub lost_segments: usize,
    /// Retransmitted packets.
    pub retransmissions: u64,
    /// Retransmitted bytes.
    pub retransmitted_bytes: u64,
    /// Retransmissions that a timer sent.
    pub timeouts: u64,
    /// Whether everything lost was acknowledged in the end.
    pub repaired: bool,
    /// What the path's own log says: segments it dropped or damaged that belong to this episode.
    /// None where the path has no log.
    #[serde(default, rename = "lost_segments_of_path")]
    pub truth_lost: Option<usize>,
    /// Lost transmissions that the path's log does not have: `lost_segments` − these +
    /// `segments_not_found` = `lost_segments_of_path`.
    #[serde(default, rename = "segments_not_lost")]
    pub not_lost: usize,
    /// Segments that the path lost and that are not among the lost transmissions.
    #[serde(default, rename = "segments_not_found")]
    pub not_found: usize,
    /// Which interruption hit, from 1; none if another cause did.
    pub interruption: Option<u64>,
    /// What happened, in a sentence or three.
    pub story: String,
}

impl EpisodeRow {
    /// Whether its lost transmissions are not those of the path's log.
    pub fn differs_from_path(&self) -> bool {
        self.not_lost + self.not_found > 0
    }
}

/// Recovery episodes, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// How many are of each type.
    pub kinds: BTreeMap<String, usize>,
    /// How many of all were repaired.
    pub repaired: usize,
    /// Lost transmissions of all.
    pub lost_segments: usize,
    /// Those that are not the path's.
    pub differing: Differing,
}

/// Recovery episodes whose lost transmissions are not those of the path's log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Differing {
    /// How many.
    pub episodes: usize,
    /// Their lost transmissions that the path's log does not have.
    pub not_lost: usize,
    /// What of the path's log they do not have.
    pub not_found: usize,
}

impl Differing {
    fn add(&mut self, other: Differing) {
        self.episodes += other.episodes;
        self.not_lost += other.not_lost;
        self.not_found += other.not_found;
    }
}

impl Recovery {
    /// How many there are.
    pub fn episodes(&self) -> usize {
        self.kinds.values().sum()
    }

    /// Those of this type.
    pub fn of_kind(&self, kind: &str) -> usize {
        self.kinds.get(kind).copied().unwrap_or(0)
    }

    /// Counts those of a trial too.
    pub fn count(&mut self, rows: &[EpisodeRow]) {
        for row in rows {
            match self.kinds.get_mut(&row.kind) {
                Some(count) => *count += 1,
                None => drop(self.kinds.insert(row.kind.clone(), 1)),
            }
            self.repaired += usize::from(row.repaired);
            self.lost_segments += row.lost_segments;
            self.differing.add(Differing {
                episodes: usize::from(row.differs_from_path()),
                not_lost: row.not_lost,
                not_found: row.not_found,
            });
        }
    }

    /// Counts what another has counted too.
    pub fn add(&mut self, other: &Recovery) {
        for (kind, count) in &other.kinds {
            *self.kinds.entry(kind.clone()).or_default() += count;
        }
        self.repaired += other.repaired;
        self.lost_segments += other.lost_segments;
        self.differing.add(other.differing);
    }
}

/// What an interruption of the path cost a transfer, by the acknowledgements at its sender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InterruptionRow {
    /// From 1 within the trial, as [`EpisodeRow::interruption`] counts.
    pub number: u64,
    /// When it began, seconds since the trial's zero.
    #[serde(rename = "start_seconds")]
    pub start_s: f64,
    /// How long it lasted, seconds.
    #[serde(rename = "duration_seconds")]
    pub lasting_s: f64,
    /// From its end until new data were acknowledged, seconds. None if that did not come before
    /// the next one or the end.
    #[serde(rename = "recovery_seconds")]
    pub recovery_s: Option<f64>,
    /// What would have been acknowledged until the next one, or the end, at the rate of the time
    /// before it, less what was. None where that time was shorter than the interruption.
    #[serde(rename = "lost_goodput_bytes")]
    pub lost_bytes: Option<f64>,
}
