//! Stores transmissions and ACKs during loss recovery until its episodes are final.

use tcplab_units::{Instant, Offset, Span};

use super::episodes::{self, AckMark, Found};
use super::scoreboard::Scoreboard;
use crate::Episode;
use crate::bounds::MARKS;
use crate::fold::folded;

/// How long to wait for the answer to a retransmission if nothing is sent after it.
const PATIENCE: Span = Span::from_secs(2);

/// Active from the first sign of loss until everything sent before the repair is acknowledged.
#[derive(Debug)]
pub(crate) struct RecoveryTracker {
    marks: Vec<AckMark>,
    /// Data up to here may be lost.
    until: Offset,
    /// Recovery ends when this is acknowledged: the highest byte when SACK state became empty.
    calm_at: Option<Offset>,
    /// The last retransmission, and the highest byte then: an ACK above it would bring a D-SACK.
    last_repeat: Option<(Instant, Offset)>,
    /// When to search for finished episodes next: once per RTT.
    look_at: Offset,
    /// The marks left by the last search; the next waits for twice as many.
    left: usize,
}
folded! { RecoveryTracker { marks, until, calm_at, last_repeat, look_at, left } }

impl RecoveryTracker {
    /// Starts to store everything from `mark` on.
    pub(crate) fn open(mark: AckMark, board: &Scoreboard) -> RecoveryTracker {
        RecoveryTracker {
            marks: vec![mark],
            until: board.una,
            calm_at: None,
            last_repeat: None,
            look_at: board.high,
            left: 0,
        }
    }

    /// A retransmission or a timer's transmission.
    pub(crate) fn repeated(&mut self, at: Instant, board: &Scoreboard) {
        self.last_repeat = Some((at, board.high));
        self.suspect(board);
    }
    /// Data sent so far may be lost.
    pub(crate) fn suspect(&mut self, board: &Scoreboard) {
        self.until = self.until.max(board.high);
    }

    /// ICMP reported a loss.
    pub(crate) fn on_icmp(&mut self, mark: AckMark, board: &Scoreboard) {
        self.marks.push(mark);
        self.suspect(board);
    }

    /// Follows an ACK; returns finished episodes and whether recovery is over.
    pub(crate) fn on_ack(&mut self, mark: AckMark, board: &mut Scoreboard) -> (Vec<Episode>, bool) {
        self.marks.push(mark);
        let answered = self
            .last_repeat
            .is_none_or(|(at, high)| board.una > high || mark.at.since(at) > PATIENCE);
        let trouble = !board.sacked.is_empty() || board.una < self.until;
        self.calm_at = if trouble { None } else { self.calm_at.or(Some(board.high)) };
        let calm = answered && self.calm_at.is_some_and(|calm| board.una >= calm);
        if calm {
            return (self.finish(board), true);
        }
        if self.marks.len() >= MARKS.most() {
            // Too long: report what was found.
            let found = self.finish(board);
            // Otherwise they would be found again.
            board.forget_before(board.log.next());
            board.log.gave_up = true;
            return (found, true);
        }
        if board.una < self.look_at || self.marks.len() < 2 * self.left {
            return (Vec::new(), false);
        }
        self.look_at = board.high;
        let mut finished = Vec::new();
        let mut keep_from = board.first_open();
        for found in self.found(board) {
            if !found.settled {
                keep_from = keep_from.min(found.first_lost);
                break;
            }
            finished.push(found.episode);
        }
        board.forget_before(keep_from);
        let stale = self.marks.partition_point(|mark| mark.position <= keep_from);
        self.marks.drain(..stale.saturating_sub(1));
        self.left = self.marks.len();
        (finished, false)
    }

    /// The remaining episodes at the end.
    pub(crate) fn finish(&self, board: &Scoreboard) -> Vec<Episode> {
        self.found(board).map(|found| found.episode).collect()
    }

    fn found<'a>(&'a self, board: &'a Scoreboard) -> impl Iterator<Item = Found> + use<'a> {
        let least_round_trip = board.min_round_trip.unwrap_or_default();
        episodes::find(&board.log, &self.marks, least_round_trip)
    }
}
