//! Results as far as they are kept while a connection goes on.

use super::{Fold, Folder, Unfolder, folded};
use crate::{
    Backoff, Backoffs, Causes, Confidence, EcnAgreement, FastOpen, ForgedReset, Handshake,
    HandshakeKind, IgnoredAcks, Limit, LimitPeriod, LimitShares, LossRule, MergedReport, MssChange,
    MultipathSign, Occurred, Occurrences, Range, Roles, SegmentKind, Series,
    SpuriousRetransmissions, Stall, StallCause, StallSum, SynOptions, TcpState, Timer,
    TooBigReport, Totals,
};

folded! { ForgedReset { by, at, frame, ttls, went_on, refused } }
folded! { MultipathSign { by, at, frame } }
folded! { Range { start, end } }
folded! { enum Timer { Probe, Retransmission } }
folded! {
    Totals {
        segments, wire_segments, data_segments, data, unique, retransmissions, retransmitted,
        pure_acks, duplicate_acks, max_in_flight, max_window
    }
}
folded! {
    Causes {
        by_duplicate_acks, by_sack, by_rack, by_icmp, tail_loss_probes, tail_loss_probes_new_data,
        timeouts, ignored_acks, backoff_max, backoffs, after_timeout, control_repeated,
        lost_retransmissions, syn_retransmissions, fin_retransmissions, spurious_by_dsack,
        spurious_by_timestamp, spurious, retransmissions_unexplained, before_capture, gaps_filled,
        out_of_order, out_of_order_max, early_acks, network_duplicates, link_retries,
        capture_duplicates,
        acked_not_captured, acked_not_captured_bytes
    }
}
folded! {
    IgnoredAcks {
        after_duplicate_acks, after_sack, after_partial_ack, duplicate_acks, sent, waited
    }
}
folded! { Backoffs { segments, time, longest } }
folded! { Backoff { range, timeouts, since, until, waits, frames } }
folded! {
    SpuriousRetransmissions {
        sent, timeouts, probes, fast, after_timeout, acknowledged, bytes, shown_by
    }
}
folded! {
    enum SegmentKind {
        New, FastRetransmission, TimeoutRetransmission, AfterTimeoutRetransmission,
        UnexplainedRetransmission, FillsGap, OutOfOrder, NetworkDuplicate, LinkRetry,
        RepeatedControl, CaptureDuplicate, WindowProbe, KeepAlive
    }
}
folded! { enum LossRule { DuplicateAcks, Sack, PartialAck } }
folded! { MssChange { at, frame, from, to } }
folded! { TooBigReport { at, frame, mtu } }
folded! { MergedReport { report, len, sent } }
folded! {
    Handshake {
        kind, midstream, syn, syn_ack, opened, round_trip, client, server, client_repeats,
        server_repeats, not_accepted, accepted, old_answers, fast_open, multipath, ecn
    }
}
folded! {
    enum HandshakeKind {
        Unseen, Unanswered, Refused, HalfOpen, ThreeWay, Simultaneous, Split
    }
}
folded! { SynOptions { seen, cut, mss, window_scale, sack_permitted, timestamps, window } }
folded! { FastOpen { cookie_sent, cookie_given, data, accepted, given_up } }
folded! { enum EcnAgreement { Unknown, NotAsked, GivenUp, Refused, Classic, Accurate } }
folded! {
    enum TcpState {
        Listen, SynSent, SynReceived, Established, FinWait1, FinWait2, CloseWait, Closing,
        LastAck, TimeWait, Closed
    }
}
folded! { Series { interval, from, sent, acked } }
folded! { Stall { from, until, frames, cause, in_flight } }
folded! {
    enum StallCause {
        SenderIdle, SenderSlow, NoRequest, ZeroWindow, ReceiveWindow, PacketDelay, DoubleLoss,
        TailLoss, SmallWindow, SmallReceiveWindow, ContinuousLoss, AckLoss, IgnoredAcks,
        Timeout, Undetermined
    }
}
folded! { StallSum { cause, count, time, longest } }
folded! { LimitPeriod { limit, shares, from, until, acked, frames } }
folded! { LimitShares { spans, idle, confidence } }
folded! {
    enum Limit {
        Application, ReceiveWindow, SendBuffer, SlowStart, Congestion, Path, Timeout
    }
}

/// Never is a single zero.
impl Fold for Occurrences {
    fn fold(&self, to: &mut Folder) {
        let Occurred { count, first, frames } = &**self;
        to.number(*count);
        if *count > 0 {
            first.fold(to);
            frames.fold(to);
        }
    }
    fn unfold(from: &mut Unfolder<'_>) -> Occurrences {
        match from.number() {
            0 => Occurrences::default(),
            count => {
                let (first, frames) = Fold::unfold(from);
                Occurred { count, first, frames }.into()
            }
        }
    }
    fn heap(&self) -> usize {
        if self.is_empty() { 0 } else { size_of::<Occurred>() + self.frames.heap() }
    }
}

folded! { enum Roles { BySyn, ByPorts, ByFirstPacket } }
folded! { enum Confidence { None, Low, Medium, High } }
