//! Counts the causes of what was not new data in order.

use crate::observers::Sent;
use crate::{Causes, Flow, Needless, SegmentKind, Sightings, Sign, Timer};

/// The counts of one direction; there are none until something happens.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    causes: Option<Box<Causes>>,
    /// Timeouts in a row for the same segment.
    backed_off: u64,
}

impl Tally {
    /// A packet; `pieces` says how many segments on the wire it stands for.
    pub(crate) fn sent(&mut self, sent: &Sent<'_>, pieces: impl FnOnce() -> u64) {
        if sent.kind == SegmentKind::New && sent.timer.is_none() {
            return;
        }
        let causes = self.causes.get_or_insert_default();
        let pieces = pieces();
        let add = |seen: &mut Sightings| {
            seen.add(sent.packet.at, sent.packet.frame);
            seen.count += pieces - 1;
        };
        match (sent.kind, sent.timer) {
            (SegmentKind::New, _) => add(&mut causes.new_probes),
            (SegmentKind::Reordered, _) => {
                add(&mut causes.reordered);
                causes.farthest = causes.farthest.max(sent.high.since(sent.range.start));
            }
            (SegmentKind::NetworkDuplicate, _) => add(&mut causes.network_duplicates),
            (SegmentKind::TapDuplicate, _) => add(&mut causes.tap_duplicates),
            (SegmentKind::WindowProbe | SegmentKind::KeepAlive, _) => {}
            (_, Some(Timer::Probe)) => add(&mut causes.probes),
            (_, Some(Timer::Retransmission)) => {
                add(&mut causes.timeouts);
                self.backed_off = if sent.proof.nth > 2 { self.backed_off + 1 } else { 1 };
                causes.most_backed_off = causes.most_backed_off.max(self.backed_off);
            }
            (SegmentKind::AfterTimeoutRetransmission, _) => add(&mut causes.after_timeout),
            (SegmentKind::FastRetransmission, _) => add(match sent.proof.by {
                Sign::Sack => &mut causes.by_sack,
                Sign::Rack => &mut causes.by_rack,
                Sign::TooBig => &mut causes.by_icmp,
                _ => &mut causes.by_duplicates,
            }),
            (SegmentKind::FillsHole | SegmentKind::TimeoutRetransmission, None) => {
                add(&mut causes.holes_filled);
            }
        }
        if sent.kind.is_retransmission() {
            if sent.proof.nth > 2 {
                add(&mut causes.lost_again);
            }
            if sent.packet.syn() {
                add(&mut causes.syns);
            } else if sent.packet.fin() && sent.payload == 0 {
                add(&mut causes.fins);
            }
        }
    }

    /// A retransmission was needless: `at` this frame that says so.
    pub(crate) fn needless(
        &mut self,
        at: tcplab_units::Instant,
        retransmission: u64,
        why: Needless,
    ) {
        let causes = self.causes.get_or_insert_default();
        match why {
            Needless::DSack { .. } => causes.needless_by_dsack.add(at, retransmission),
            Needless::Echo { .. } => causes.needless_by_timestamp.add(at, retransmission),
            Needless::Acknowledged => {}
        }
    }

    pub(crate) fn finish(&self, flow: &mut Flow) {
        if let Some(causes) = &self.causes {
            flow.causes = (**causes).clone();
        }
    }
}
