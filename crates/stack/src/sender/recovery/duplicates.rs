//! Stacks that find losses by duplicate ACKs alone.

use super::{Evidence, LossRecovery};

/// Nothing but the timer finds losses.
#[derive(Debug)]
pub(crate) struct TimerOnly;

impl LossRecovery for TimerOnly {
    fn is_due(&self, evidence: &Evidence<'_>) -> bool {
        evidence.scoreboard.lost_out > 0
    }

    fn heeds_duplicates(&self) -> bool {
        false
    }
}

/// RFC 2581: the first ACK of new data ends fast recovery.
#[derive(Debug)]
pub(crate) struct Reno;

impl LossRecovery for Reno {
    fn ends_with_progress(&self) -> bool {
        true
    }
}

/// RFC 6582: partial ACKs show the next loss.
#[derive(Debug)]
pub(crate) struct NewReno;

impl LossRecovery for NewReno {}
