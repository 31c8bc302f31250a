//! Losses by counting SACKed segments (RFC 6675, and RFC 3517 before it).

use tcplab_units::Span;

use super::{Evidence, LossRecovery, News};

/// RFC 6675 as Linux without RACK has it.
#[derive(Debug)]
pub(crate) struct Sack {
    /// Duplicate ACKs until recovery begins, on stacks that count these rather than SACKed segments
    /// (RFC 3517 section 5, xnu); they then repair all holes.
    pub(super) duplicates: Option<u32>,
}

impl LossRecovery for Sack {
    fn mark_losses(&mut self, _evidence: &mut Evidence<'_>, _advanced: bool) -> Option<Span> {
        None
    }

    fn is_due(&self, evidence: &Evidence<'_>) -> bool {
        evidence.scoreboard.lost_out > 0
            || match self.duplicates {
                Some(threshold) => evidence.duplicates >= threshold,
                None => evidence.reaches_threshold(),
            }
    }

    /// A segment with the duplicate threshold of SACKed segments above it is lost (RFC 6675
    /// section 4: IsLost); as recovery begins, the first segment is in any case.
    fn mark_more(&mut self, evidence: &mut Evidence<'_>, news: News, begins: bool) {
        let counts = self.duplicates.is_some();
        let far = news.is_progress && is_far_ahead(evidence);
        if !(news.is_duplicate || counts || far) {
            return;
        }
        let above = if counts { 1 } else { evidence.reordering.segments };
        let sacked = evidence.scoreboard.sacked_out;
        if sacked >= above {
            evidence.scoreboard.mark_counted(sacked - above);
        } else if begins {
            evidence.scoreboard.mark_head();
        }
    }
}

/// Whether the highest SACKed segment is farther ahead than reordering explains
/// (`tcp_force_fast_retransmit`).
fn is_far_ahead(evidence: &Evidence<'_>) -> bool {
    let reach = u64::from(evidence.reordering.segments) * u64::from(evidence.mss);
    let highest = evidence.scoreboard.runs.highest();
    highest.is_some_and(|highest| highest > evidence.una + reach)
}
