//! Counts segments that are not new data in order, by cause.

use tcplab_units::{Bytes, Instant};

use super::classification::Ignored;
use super::spurious::FoundSpurious;
use crate::fold::folded;
use crate::observers::SendEvent;
use crate::packet::Packet;
use crate::{Backoff, Causes, Flow, LossRule, Occurrences, SegmentKind, Sign, Spurious, Timer};

/// The counts of one direction; allocated with the first.
#[derive(Debug, Default)]
pub(crate) struct CauseCounts {
    causes: Option<Box<Causes>>,
    /// The last timeouts of one segment in a row.
    backoff: Option<Box<Backoff>>,
}
folded! { CauseCounts { causes, backoff } }

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
            (SegmentKind::LinkRetry, _) => add(&mut causes.link_retries),
            (SegmentKind::CaptureDuplicate, _) => add(&mut causes.capture_duplicates),
            (SegmentKind::WindowProbe | SegmentKind::KeepAlive, _) => {}
            (_, Some(Timer::Probe)) => add(&mut causes.tail_loss_probes),
            (_, Some(Timer::Retransmission)) => {
                add(&mut causes.timeouts);
                timed_out(sent, &mut self.backoff, causes);
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
            if sent.range.is_empty() {
                add(&mut causes.before_capture);
            }
            if sent.packet.syn() {
                add(&mut causes.syn_retransmissions);
            } else if sent.packet.fin() && sent.payload == 0 {
                add(&mut causes.fin_retransmissions);
            }
        }
    }

    /// Counts a copy of a packet without data: a radio's, or one of many that the capture holds
    /// again.
    #[cold]
    pub(crate) fn copied(&mut self, packet: &Packet) {
        if !packet.radio_retry && !packet.copies_usual {
            return;
        }
        let causes = self.causes.get_or_insert_default();
        let counted = if packet.radio_retry {
            &mut causes.link_retries
        } else {
            &mut causes.capture_duplicates
        };
        counted.add(packet.at, packet.frame);
    }

    /// Counts a packet without data that overtook data.
    #[cold]
    pub(crate) fn overtook(&mut self, at: Instant, frame: u64) {
        self.causes.get_or_insert_default().early_acks.add(at, frame);
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
    pub(crate) fn spurious(&mut self, at: Instant, FoundSpurious { sent, why }: FoundSpurious) {
        let causes = self.causes.get_or_insert_default();
        let all = &mut causes.spurious;
        let shown_by = match why {
            Spurious::DSack { frame } => {
                causes.spurious_by_dsack.add(at, sent.frame);
                Some(frame)
            }
            Spurious::Echo { frame } => {
                causes.spurious_by_timestamp.add(at, sent.frame);
                Some(frame)
            }
            Spurious::Acknowledged => {
                all.acknowledged += 1;
                None
            }
        };
        all.shown_by.extend(shown_by.filter(|_| all.shown_by.len() < Occurrences::NAMED));
        if sent.is_known {
            return;
        }
        all.sent.add(sent.at, sent.frame);
        // The evidence of a later one may come before.
        all.sent.first = all.sent.first.map(|first| first.min(sent.at));
        all.timeouts += u64::from(sent.timer == Some(Timer::Retransmission));
        all.probes += u64::from(sent.timer == Some(Timer::Probe));
        let is = |kind| u64::from(sent.timer.is_none() && sent.kind == kind);
        all.fast += is(SegmentKind::FastRetransmission);
        all.after_timeout += is(SegmentKind::AfterTimeoutRetransmission);
        all.bytes += Bytes::new(sent.payload);
    }

    pub(crate) fn finish(&mut self, flow: &mut Flow) {
        if let Some(causes) = self.causes.take() {
            flow.causes = *causes;
        }
    }
}

/// Counts a timeout in its row: those of one segment, without another's between, and without an ACK
/// for it (RFC 6298 section 5.7: that ends the backoff).
fn timed_out(sent: &SendEvent<'_>, last: &mut Option<Box<Backoff>>, causes: &mut Causes) {
    let (at, range, waited) = (sent.packet.at, sent.range, sent.proof.waited);
    let since = at - waited;
    let ended = |row: &Backoff| row.range.start != range.start || sent.una >= row.range.end;
    if last.as_deref().is_none_or(ended) {
        let (waits, frames) = (Vec::new(), sent.proof.frame.into_iter().collect());
        let row = Backoff { range, timeouts: 0, since, until: since, waits, frames };
        *last = Some(Box::new(row));
    }
    let Some(row) = last else { return };
    let before = std::mem::replace(&mut row.until, at);
    row.timeouts += 1;
    if row.waits.len() < Occurrences::NAMED {
        row.frames.push(sent.packet.frame);
        row.waits.push(at.since(before));
    }
    causes.backoff_max = causes.backoff_max.max(row.timeouts);
    // SYNs have a finding of their own.
    if sent.packet.syn() || row.timeouts < 2 {
        return;
    }
    let all = &mut causes.backoffs;
    let is_new = row.timeouts == 2;
    all.segments += u64::from(is_new);
    all.time += at.since(if is_new { row.since } else { before });
    if all.longest.as_ref().is_none_or(|longest| row.timeouts > longest.timeouts) {
        all.longest = Some((**row).clone());
    }
}
