//! What TCPs do differently to find losses.

use std::fmt;

use tcplab_units::Span;

use super::Reordering;
use crate::SendCause;
use crate::congestion::State;
use crate::sender::rto::Rto;
use crate::sender::scoreboard::{Record, Scoreboard};

/// What a decision about losses rests on.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    /// µs.
    pub(crate) now: u64,
    pub(crate) scoreboard: &'a mut Scoreboard,
    pub(crate) reordering: &'a Reordering,
    pub(crate) rto: &'a Rto,
    pub(crate) state: State,
    /// Everything below is acknowledged.
    pub(crate) una: u64,
    /// Data bytes of a full segment.
    pub(crate) mss: u32,
    /// Duplicate ACKs in a row.
    pub(crate) duplicates: u32,
}

impl Evidence<'_> {
    /// Whether as many segments are SACKed, or stood for by duplicate ACKs, as reordering does not
    /// explain.
    pub(super) fn reaches_threshold(&self) -> bool {
        self.scoreboard.sacked_out >= self.reordering.segments
    }
}

/// How losses are found. The methods that are provided are those of NewReno (RFC 6582), which knows
/// duplicate and partial ACKs only.
pub(crate) trait LossRecovery: fmt::Debug + Send {
    /// Marks segments that an acknowledgement shows to be lost (`tcp_identify_packet_loss`).
    /// `advanced`: it acknowledged new data. Returns when to look again, if segments may yet be
    /// only reordered.
    fn mark_losses(&mut self, evidence: &mut Evidence<'_>, advanced: bool) -> Option<Span> {
        let reached = evidence.state < State::Recovery && evidence.reaches_threshold();
        let partial = evidence.state == State::Recovery && advanced;
        if reached || partial {
            let first = evidence.scoreboard.first();
            if !evidence.scoreboard.get(first).is_lost() {
                evidence.scoreboard.mark_lost(first);
            }
        }
        None
    }

    /// Whether fast recovery is due (`tcp_time_to_recover`).
    fn is_due(&self, evidence: &Evidence<'_>) -> bool {
        evidence.scoreboard.lost_out > 0 || evidence.reaches_threshold()
    }

    /// Marks more segments lost in fast recovery (`tcp_update_scoreboard`). `begins`: this
    /// acknowledgement began it.
    fn mark_more(&mut self, _evidence: &mut Evidence<'_>, _news: News, _begins: bool) {}

    /// Marks segments that were sent too long before one that was delivered. Returns how long the
    /// others may still take at most, µs.
    fn mark_overdue(&self, _evidence: &mut Evidence<'_>) -> u64 {
        0
    }

    /// A segment was delivered.
    fn deliver(&mut self, _now: u64, _record: &Record, _min_rtt: Option<u64>) {}

    /// An acknowledgement of data outstanding was processed. `prior_delivered`: segments delivered
    /// when the segment left that it delivers.
    fn adapt(&mut self, _prior_delivered: u64, _delivered: u64) {}

    /// A D-SACK arrived, which reordering can have caused.
    fn hear_dsack(&mut self) {}

    /// A recovery ended that was not spurious.
    fn recovered(&mut self) {}

    /// D-SACKs showed a recovery to be spurious.
    fn was_spurious(&mut self) {}

    /// A reduction was undone.
    fn undone(&mut self) {}

    /// Whether a timeout does not mark this segment lost (`tcp_timeout_mark_lost`).
    fn spares(&self, _evidence: &Evidence<'_>, _number: u64) -> bool {
        false
    }

    /// Whether duplicate ACKs count.
    fn heeds_duplicates(&self) -> bool {
        true
    }

    /// Whether fast recovery ends with the first ACK of new data (RFC 2581).
    fn ends_with_progress(&self) -> bool {
        false
    }

    /// Why segments are retransmitted in fast recovery.
    fn cause(&self) -> SendCause {
        SendCause::FastRetransmit
    }
}

/// What an acknowledgement in fast recovery brought.
#[derive(Debug, Clone, Copy)]
pub(crate) struct News {
    pub(crate) is_duplicate: bool,
    /// It SACKed or acknowledged something.
    pub(crate) is_progress: bool,
}
