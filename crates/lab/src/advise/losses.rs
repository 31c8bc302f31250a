//! Which losses of a capture are not of a full queue.
//!
//! The laws of Reno and CUBIC count losses that do not come of the window itself, once for each
//! reduction of it. So of a capture each recovery is one, whatever was lost with it, as in an
//! interruption; and none of what was sent while the path carried no more.

use tcplab_trace::{Connection, Episode, FlowId, Limit, LimitPeriod, Sink};
use tcplab_units::Instant;

use super::model::Law;
use super::seen::{busier, is_download};
use super::situation::Situation;

/// When what a connection's senders lost had been sent, and when the path was their limit. Takes
/// what is found of one connection.
#[derive(Debug, Default)]
pub struct Losses {
    /// By direction, that of the client first, the first loss of each recovery.
    lost: [Vec<Instant>; 2],
    /// By direction, from when until when the path carried no more.
    full: [Vec<(Instant, Instant)>; 2],
}

impl Sink for Losses {
    fn wants_packets(&self) -> bool {
        false
    }

    fn episode(&mut self, flow: FlowId, episode: Episode) {
        self.lost[usize::from(!flow.forward)].push(episode.first_lost_sent);
    }

    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        if period.limit == Limit::Path {
            self.full[usize::from(!flow.forward)].push((period.from, period.until));
        }
    }

    fn connection(&mut self, _index: usize, _connection: &Connection) {}
}

impl Losses {
    /// Leaves out of the situation's loss what a full queue lost. Nothing changes where that does
    /// not show: away from the sender, and of a sender that is not known to follow Reno or CUBIC.
    /// BBR sends at the path's rate whatever is lost, so that the path is always its limit.
    pub fn leave_out_queue(&self, connection: &Connection, situation: &mut Situation) {
        let fills_queue = matches!(Law::of(situation), Some(Law::Reno | Law::Cubic));
        let flow = busier(connection);
        if fills_queue && !connection.is_away(flow) {
            let way = usize::from(is_download(connection));
            situation.loss = self.others(way) as f64 / flow.totals.segments.max(1) as f64;
            situation.has_losses_of_queue = false;
        }
    }

    /// How many recoveries of a direction began with a loss that was sent while the path could
    /// carry more.
    fn others(&self, way: usize) -> usize {
        let full = &self.full[way];
        let is_of_queue = |lost: &&Instant| {
            let next = full.partition_point(|(from, _)| from <= *lost);
            next.checked_sub(1).is_some_and(|last| **lost < full[last].1)
        };
        self.lost[way].iter().filter(|lost| !is_of_queue(lost)).count()
    }
}

#[cfg(test)]
mod tests {
    use tcplab_trace::{EpisodeKind, Evidence, LimitShares};
    use tcplab_units::Bytes;

    use super::*;

    fn ms(at: u64) -> Instant {
        Instant::from_nanos(at * 1_000_000)
    }

    fn episode(first_lost_sent: Instant) -> Episode {
        Episode {
            kind: EpisodeKind::WithoutTimeLag,
            lost: Vec::new(),
            first_lost_sent,
            evidence_at: first_lost_sent,
            evidence: Evidence::Sack { frame: 1 },
            first_retransmission: None,
            repaired_at: None,
            retransmissions: 1,
            retransmitted: Bytes::ZERO,
            timeouts: 0,
            probes: 0,
            spurious: 0,
            silence: None,
            frames: (1, 1),
        }
    }

    #[test]
    fn losses_sent_while_the_path_carried_no_more_are_of_its_queue() {
        let mut losses = Losses::default();
        let [upload, download] = [true, false].map(|forward| FlowId { connection: 0, forward });
        for (limit, from, until) in [
            (Limit::SlowStart, 0, 100),
            (Limit::Path, 100, 300),
            (Limit::Congestion, 300, 500),
            (Limit::Path, 500, 600),
            (Limit::Timeout, 600, 900),
        ] {
            let (from, until) = (ms(from), ms(until));
            let shares = LimitShares::default();
            let period =
                LimitPeriod { limit, shares, from, until, acked: Bytes::ZERO, frames: (1, 2) };
            losses.limit(upload, period);
        }
        for at in [50, 100, 299, 300, 450, 550, 700] {
            losses.episode(upload, episode(ms(at)));
        }
        losses.episode(download, episode(ms(200)));
        // Those of 50, 300, 450 and 700 ms, and what nothing is known of.
        assert_eq!([0, 1].map(|way| losses.others(way)), [4, 1]);
    }
}
