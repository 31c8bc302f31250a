//! A row for each recovery episode, each loss, each stall, each period under one limit.

use tcplab_trace::{Episode, FlowId, Limit, LimitPeriod, LostSegment, Stall};
use tcplab_units::{Instant, Span};

use super::names;
use crate::column::{Column, columns};

pub(super) struct EpisodeRow {
    pub(super) flow: FlowId,
    /// In its direction, from 1.
    pub(super) number: u64,
    pub(super) episode: Episode,
}

pub(super) struct LostRow {
    pub(super) flow: FlowId,
    /// The episode's number.
    pub(super) episode: u64,
    pub(super) lost: LostSegment,
}

pub(super) struct StallRow {
    pub(super) flow: FlowId,
    pub(super) stall: Stall,
}

pub(super) struct LimitRow {
    pub(super) flow: FlowId,
    pub(super) period: LimitPeriod,
}

pub(super) const EPISODES: &[Column<EpisodeRow>] = columns! {
    CONNECTION Few Whole(|row| row.flow.connection as u64);
    DIRECTION Few Text(|row| names::direction(row.flow.forward).into());
    EPISODE Near Whole(|row| row.number);
    KIND Few Text(|row| names::episode_kind(row.episode.kind).into()),
        "Who retransmitted the first lost segment: without-time-lag (the sender, on SACK, duplicate \
         ACKs or ICMP), with-time-lag (a timer sent first: it, an earlier segment or a probe), \
         intermittent (a timer, then one retransmission per timeout), unknown (not captured)";
    EVIDENCE Few Text(|row| names::evidence(row.episode.evidence).0.into()),
        "The first evidence of loss: sack, duplicate-acks, packet-too-big, timeout or probe";
    EVIDENCE_FRAME Near Whole(|row| names::evidence(row.episode.evidence).1),
        "The frame of that evidence: an acknowledgement, or what the timer sent";
    FIRST_LOST_SENT_NS Near Whole(|row| row.episode.first_lost_sent.as_nanos());
    FIRST_LOST_FRAME Near WholeIfAny(|row| row.episode.lost.first().map(|lost| lost.frame));
    EVIDENCE_NS Near Whole(|row| row.episode.evidence_at.as_nanos());
    FIRST_RETRANSMISSION_NS Near WholeIfAny(|row| {
        row.episode.first_retransmission.map(|(at, _)| at.as_nanos())
    });
    FIRST_RETRANSMISSION_FRAME Near WholeIfAny(|row| {
        row.episode.first_retransmission.map(|(_, frame)| frame)
    });
    REPAIRED_NS Near WholeIfAny(|row| row.episode.repaired_at.map(Instant::as_nanos));
    LOST_SEGMENTS Few Whole(|row| row.episode.lost.len() as u64);
    LOST_BYTES Few Whole(|row| row.episode.lost.iter().map(|lost| lost.range.len()).sum()),
        "Their bytes in the sequence";
    RETRANSMISSIONS Few Whole(|row| row.episode.retransmissions),
        "Retransmissions during the episode, repeated ones counted";
    RETRANSMITTED_BYTES Few Whole(|row| row.episode.retransmitted.as_u64());
    TIMEOUTS Few Whole(|row| row.episode.timeouts),
        "Of the retransmissions, those by a timer, probes included";
    PROBES Few Whole(|row| row.episode.probes);
    RETRANSMISSIONS_SPURIOUS Few Whole(|row| row.episode.spurious),
        "Of the retransmissions, those that a D-SACK shows to be spurious";
    SILENCE_NS Near WholeIfAny(|row| row.episode.silence.map(Span::as_nanos));
    FIRST_FRAME Near Whole(|row| row.episode.frames.0);
    LAST_FRAME Near Whole(|row| row.episode.frames.1);
};

pub(super) const LOST: &[Column<LostRow>] = columns! {
    CONNECTION Few Whole(|row| row.flow.connection as u64);
    DIRECTION Few Text(|row| names::direction(row.flow.forward).into());
    EPISODE Near Whole(|row| row.episode);
    START Near Whole(|row| row.lost.range.start.as_u64());
    END Near Whole(|row| row.lost.range.end.as_u64());
    SENT_NS Near Whole(|row| row.lost.sent_at.as_nanos());
    FRAME Near Whole(|row| row.lost.frame);
};

pub(super) const STALLS: &[Column<StallRow>] = columns! {
    CONNECTION Few Whole(|row| row.flow.connection as u64);
    DIRECTION Few Text(|row| names::direction(row.flow.forward).into());
    FROM_NS Near Whole(|row| row.stall.from.as_nanos()),
        "When the packet before it passed, or a request that was answered late had arrived, from the \
         trace's zero";
    UNTIL_NS Near Whole(|row| row.stall.until.as_nanos()),
        "When the packet passed that ended it, from the trace's zero";
    DURATION_NS Near Whole(|row| row.stall.until.since(row.stall.from).as_nanos());
    CAUSE Few Text(|row| names::stall_cause(row.stall.cause).into()),
        "Why: sender-idle, sender-slow, no-request, zero-window, receive-window, packet-delay, \
         double-loss, tail-loss, small-window, small-receive-window, continuous-loss, ack-loss, \
         ignored-acks, timeout, undetermined";
    BYTES_IN_FLIGHT Near Whole(|row| row.stall.in_flight.as_u64());
    FIRST_FRAME Near Whole(|row| row.stall.frames.0), "The frame before it";
    LAST_FRAME Near Whole(|row| row.stall.frames.1), "The frame that ended it";
};

pub(super) const LIMITS: &[Column<LimitRow>] = columns! {
    CONNECTION Few Whole(|row| row.flow.connection as u64);
    DIRECTION Few Text(|row| names::direction(row.flow.forward).into());
    LIMIT Few Text(|row| names::limit(row.period.limit).into());
    FROM_NS Near Whole(|row| row.period.from.as_nanos());
    UNTIL_NS Near Whole(|row| row.period.until.as_nanos()),
        "When it ends and the next begins, from the trace's zero";
    LIMITED_BY_APPLICATION Near Whole(|row| span(row, Limit::Application));
    LIMITED_BY_RECEIVE_WINDOW Near Whole(|row| span(row, Limit::ReceiveWindow));
    LIMITED_BY_SEND_BUFFER Near Whole(|row| span(row, Limit::SendBuffer));
    LIMITED_BY_SLOW_START Near Whole(|row| span(row, Limit::SlowStart));
    LIMITED_BY_CONGESTION_WINDOW Near Whole(|row| span(row, Limit::Congestion));
    LIMITED_BY_PATH Near Whole(|row| span(row, Limit::Path));
    LIMITED_BY_TIMEOUT Near Whole(|row| span(row, Limit::Timeout));
    IDLE_NS Near Whole(|row| row.period.shares.idle.as_nanos());
    LIMITS_CONFIDENCE Few Text(|row| names::confidence(row.period.shares.confidence).into());
    ACKED_BYTES Near Whole(|row| row.period.acked.as_u64());
    FIRST_FRAME Near Whole(|row| row.period.frames.0);
    LAST_FRAME Near Whole(|row| row.period.frames.1);
};

fn span(row: &LimitRow, limit: Limit) -> u64 {
    row.period.shares.of(limit).as_nanos()
}
