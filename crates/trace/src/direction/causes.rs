//! Counts segments that are not new data in order, by cause.

use tcplab_units::Bytes;

use super::classification::Ignored;
use crate::fold::folded;
use crate::observers::SendEvent;
use crate::{Causes, Flow, LossRule, Occurrences, SegmentKind, Sign, Spurious, Timer};

/// The counts of one direction; allocated with the first.
#[derive(Debug, Default)]
pub(crate) struct CauseCounts {
    causes: Option<Box<Causes>>,
    /// Consecutive timeouts of the same segment.
    backed_off: u64,
}
folded! { CauseCounts { causes, backed_off } }

impl CauseCounts {
    /// Counts a packet; `pieces`: its segments on the wire.
    pub(crate) fn sent(&mut self, sent: &SendEvent<'_>, pieces: impl FnOnce() -> u64) {
        if sent.kind == SegmentKind::New && sent.timer.is_none() {
            return;
        }
        let causes = self.causes.get_or_insert_default();
        let pieces = pieces();
        let add = |counted: &mut Occurrences| {
            counted.add(sent.packet.at, sent.packet.frame);
            counted.count += pieces - 1;
        };
        match (sent.kind, sent.timer) {
            (SegmentKind::New, _) => add(&mut causes.tail_loss_probes_new_data),
            (SegmentKind::FillsGap, _) => add(&mut causes.gaps_filled),
            (SegmentKind::OutOfOrder, _) => {
                add(&mut causes.out_of_order);
                causes.out_of_order_max =
                    causes.out_of_order_max.max(sent.high.since(sent.range.start));
            }
            (SegmentKind::RepeatedControl, _) => add(&mut causes.control_repeated),
            (SegmentKind::NetworkDuplicate, _) => add(&mut causes.network_duplicates),
            (SegmentKind::CaptureDuplicate, _) => add(&mut causes.capture_duplicates),
            (SegmentKind::WindowProbe | SegmentKind::KeepAlive, _) => {}
            (_, Some(Timer::Probe)) => add(&mut causes.tail_loss_probes),
            (_, Some(Timer::Retransmission)) => {
                add(&mut causes.timeouts);
                self.backed_off = if sent.proof.nth > 2 { self.backed_off + 1 } else { 1 };
                causes.backoff_max = causes.backoff_max.max(self.backed_off);
            }
            (SegmentKind::AfterTimeoutRetransmission, _) => add(&mut causes.after_timeout),
            (SegmentKind::FastRetransmission, _) => add(match sent.proof.by {
                Sign::Sack => &mut causes.by_sack,
                Sign::Rack => &mut causes.by_rack,
                Sign::PacketTooBig => &mut causes.by_icmp,
                _ => &mut causes.by_duplicate_acks,
            }),
            (SegmentKind::UnexplainedRetransmission | SegmentKind::TimeoutRetransmission, None) => {
                add(&mut causes.retransmissions_unexplained);
            }
        }
        if sent.kind.is_retransmission() {
            if sent.proof.nth > 2 {
                add(&mut causes.lost_retransmissions);
            }
            if sent.packet.syn() {
                add(&mut causes.syn_retransmissions);
            } else if sent.packet.fin() && sent.payload == 0 {
                add(&mut causes.fin_retransmissions);
            }
        }
    }

    /// Counts a timeout of a sender that ACKs had told of the loss before.
    pub(crate) fn ignored_acks(&mut self, sent: &SendEvent<'_>, ignored: Ignored) {
        let sums = &mut self.causes.get_or_insert_default().ignored_acks;
        let counted = match ignored.by {
            LossRule::DuplicateAcks => &mut sums.after_duplicate_acks,
            LossRule::Sack => &mut sums.after_sack,
            LossRule::PartialAck => &mut sums.after_partial_ack,
        };
        counted.add(sent.packet.at, sent.packet.frame);
        sums.duplicate_acks += ignored.duplicates;
        sums.sent += Bytes::new(ignored.sent);
        sums.waited += ignored.waited;
    }

    /// Counts a spurious retransmission, found `at` this time.
    pub(crate) fn spurious(
        &mut self,
        at: tcplab_units::Instant,
        retransmission: u64,
        why: Spurious,
    ) {
        let causes = self.causes.get_or_insert_default();
        match why {
            Spurious::DSack { .. } => causes.spurious_by_dsack.add(at, retransmission),
            Spurious::Echo { .. } => causes.spurious_by_timestamp.add(at, retransmission),
            Spurious::Acknowledged => {}
        }
    }

    pub(crate) fn finish(&self, flow: &mut Flow) {
        if let Some(causes) = &self.causes {
            flow.causes = (**causes).clone();
        }
    }
}
