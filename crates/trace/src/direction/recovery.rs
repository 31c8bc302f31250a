//! Keeps the transmissions and acknowledgements of troubled times until the episodes in them can
//! be told for good; in calm times nothing is kept beyond what is in flight.

use tcplab_units::{Instant, Offset, Span};

use super::episodes::{self, AckMark};
use super::scoreboard::Scoreboard;
use crate::Episode;
use crate::bounds::MARKS;

/// The answer to a retransmission is not waited for longer than this where nothing is sent after
/// it.
const PATIENCE: Span = Span::from_secs(2);

/// Open from the first sign of loss until everything sent before the repair is answered.
#[derive(Debug)]
pub(crate) struct RecoveryTracker {
    marks: Vec<AckMark>,
    /// What was sent up to here may be lost.
    until: Offset,
    /// The trouble is over once this, the highest byte sent when calm returned, is acknowledged.
    calm_at: Option<Offset>,
    /// When the last retransmission was sent, and the end of the highest byte sent until then: once
    /// anything above is acknowledged, a D-SACK for it would have come.
    last_repeat: Option<(Instant, Offset)>,
    /// When to look for finished episodes next: once a round trip.
    look_at: Offset,
    /// How many marks were left when it was looked last. It is looked again when there are twice
    /// as many: so looking costs no more than keeping, however long the trouble lasts.
    left: usize,
}

impl RecoveryTracker {
    /// Begins to keep everything; `mark` says how things stand.
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

    /// Something was retransmitted, or a timer sent.
    pub(crate) fn repeated(&mut self, at: Instant, board: &Scoreboard) {
        self.last_repeat = Some((at, board.high));
        self.suspect(board);
    }
    /// What was sent so far may be lost.
    pub(crate) fn suspect(&mut self, board: &Scoreboard) {
        self.until = self.until.max(board.high);
    }

    /// Takes in what is no acknowledgement and tells of a loss all the same.
    pub(crate) fn on_icmp(&mut self, mark: AckMark, board: &Scoreboard) {
        self.marks.push(mark);
        self.suspect(board);
    }

    /// Takes in an acknowledgement; the episodes that are finished, and whether all is calm.
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
            // What was found so far must do.
            let found = self.finish(board);
            // Or they would be found again.
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
        for found in episodes::find(&board.log, &self.marks) {
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

    /// The episodes that are left when no more packets come.
    pub(crate) fn finish(&self, board: &Scoreboard) -> Vec<Episode> {
        episodes::find(&board.log, &self.marks).map(|found| found.episode).collect()
    }
}
