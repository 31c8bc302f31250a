//! Which congestion control a capture shows, by what its sender does after a loss.
//!
//! A fast recovery ends with the window that the congestion control chose when it began: half of
//! what was in flight for Reno (RFC 5681 section 3.2), 0.7 of it for CUBIC (RFC 9438 section 4.6).
//! BBR takes no single loss for congestion. Nothing else in a capture separates them as surely:
//! growth depends on the RTT, pacing on the kernel's settings.

use tcplab_trace::{Connection, Episode, FlowId, Limit, Segment, Sink};
use tcplab_units::rounded::counted;
use tcplab_units::{Instant, Span};

use super::congestion::Congestion;
use super::model::Law;
use super::seen::{busier, is_download};
use super::situation::Situation;

/// Fewer reactions may have other causes.
const FEWEST: usize = 3;
/// What is in flight after a recovery may differ from the rule's share by this: a segment or two of
/// a small window, and what was sent meanwhile.
const NEAR: f64 = 0.1;
/// A window that keeps this share is not reduced.
const KEPT: f64 = 0.9;
/// So many sendings of a connection are looked at, 16 bytes each.
const MOST: usize = 4_000_000;

/// What a connection's senders had in flight, and when they recovered from losses. Takes the
/// packets of one connection.
#[derive(Debug, Default)]
pub struct Reactions {
    /// By direction, that of the client first: when, and bytes in flight from then on.
    in_flight: [Vec<(Instant, u64)>; 2],
    /// By direction: the first evidence of a loss and its repair, without a timer.
    recoveries: [Vec<(Instant, Instant)>; 2],
}

impl Sink for Reactions {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        let all = &mut self.in_flight[usize::from(!flow.forward)];
        if all.len() < MOST {
            all.push((segment.at, segment.in_flight.as_u64()));
        }
    }

    fn episode(&mut self, flow: FlowId, episode: Episode) {
        if let Some(repaired) = episode.repaired_at.filter(|_| episode.timeouts == 0) {
            let all = &mut self.recoveries[usize::from(!flow.forward)];
            all.push((episode.evidence_at, repaired));
        }
    }

    fn connection(&mut self, _index: usize, _connection: &Connection) {}
}

impl Reactions {
    /// The congestion control of the connection's busier direction.
    pub fn congestion(&self, connection: &Connection, situation: &Situation) -> Congestion {
        let flow = busier(connection);
        let round_trip = flow.round_trips.median.unwrap_or(situation.rtt);
        let bounded = [Limit::Application, Limit::ReceiveWindow, Limit::SendBuffer];
        let bounded: f64 = bounded.into_iter().map(|limit| flow.shares.share(limit)).sum();
        if bounded > 0.5 {
            return Congestion::unknown(
                "the application, the window or the send buffer bounded what was in flight",
            );
        }
        let shares = self.shares(usize::from(is_download(connection)), round_trip);
        let count = shares.len();
        if count < FEWEST {
            return Congestion::unknown(format!(
                "{} what was in flight before and after; {FEWEST} are needed",
                counted(count, "fast recovery shows", "fast recoveries show")
            ));
        }
        let middle = tcplab_stats::median(&shares).unwrap_or_default();
        let near = |share: f64| shares.iter().filter(|it| (*it - share).abs() <= NEAR).count();
        for (law, share) in [("reno", 0.5), ("cubic", 0.7)] {
            // The median is nearer to this rule than to the other one.
            if (middle - share).abs() < NEAR && near(share) * 3 >= count * 2 {
                return Congestion::known(
                    law,
                    format!(
                        "in {} of {count} fast recoveries the sender reduced what was in flight to \
                         {share} of it, give or take {NEAR} (median {middle:.2})",
                        near(share)
                    ),
                );
            }
        }
        let kept = shares.iter().filter(|share| **share >= KEPT).count();
        if kept * 3 >= count * 2 && is_faster_than_loss_allows(situation) {
            return Congestion::known(
                "bbr",
                format!(
                    "in {kept} of {count} fast recoveries the sender kept its window, and it sent \
                     more than twice what Reno or CUBIC could under this loss"
                ),
            );
        }
        Congestion::unknown(format!(
            "after {count} fast recoveries {middle:.2} of what had been in flight was in flight \
             (median), which fits neither Reno (0.5) nor CUBIC (0.7)"
        ))
    }

    /// What was in flight in the round trip after each recovery, as a share of what was when the
    /// loss showed.
    fn shares(&self, way: usize, round_trip: Span) -> Vec<f64> {
        let most = |from: Instant, to: Instant| {
            let all = &self.in_flight[way];
            let first = all.partition_point(|(at, _)| *at < from);
            let within = all[first..].iter().take_while(|(at, _)| *at <= to);
            within.map(|(_, bytes)| *bytes as f64).reduce(f64::max)
        };
        let recoveries = &self.recoveries[way];
        let share = |(index, &(evidence, repaired)): (usize, &(Instant, Instant))| {
            let after = repaired + round_trip;
            // The next loss would reduce it again.
            let is_alone = recoveries.get(index + 1).is_none_or(|(next, _)| *next > after);
            let before = evidence - round_trip.min(evidence.since(Instant::ZERO));
            is_alone.then(|| Some(most(repaired, after)? / most(before, evidence)?)).flatten()
        };
        recoveries.iter().enumerate().filter_map(share).collect()
    }
}

/// Whether the goodput is more than twice what the larger window of Reno's and CUBIC's carries
/// under this loss, so that its sender follows neither.
fn is_faster_than_loss_allows(situation: &Situation) -> bool {
    let window = [Law::Reno, Law::Cubic]
        .into_iter()
        .filter_map(|law| law.window(situation.rtt, situation.loss))
        .reduce(f64::max);
    let goodput = situation.seen.as_ref().and_then(|seen| seen.goodput);
    window.zip(goodput).is_some_and(|(window, goodput)| {
        let allowed = window * situation.segment().bits() as f64 / situation.rtt.as_secs_f64();
        goodput.bits_per_second() as f64 > allowed * 2.0
    })
}
