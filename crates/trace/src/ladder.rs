//! The ladder diagram of a recovery episode: what was sent and answered, in the paper's notation.

use serde::Serialize;
use tcplab_units::Instant;

/// One rung.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LadderLine {
    /// When it passed the tap; the first one's time where it stands for several.
    pub at: Instant,
    /// Its frame; the first one's where it stands for several.
    pub frame: u64,
    /// From the sender of the data (left to right), or an answer.
    pub from_sender: bool,
    /// `1967433:1968881(1448)`, `ack 1967433 SACK 2093409-2094857`, `… 84 more segments`.
    pub label: String,
    /// What became of it.
    pub fate: Fate,
    /// What it is in the story: "retransmission timeout", "first SACK", "repaired".
    pub note: Option<String>,
    /// How many alike packets the line stands for; 0 for one packet shown as itself.
    pub folded: u64,
}

/// What became of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It reached the other end, or, if an answer, the tap.
    Arrived,
    /// The path dropped it.
    Lost,
    /// The capture does not tell.
    Unknown,
}
