//! A row for each recovery episode, each stall, each period under one limit.

use tcplab_trace::{Episode, FlowId, LimitPeriod, Stall};
use tcplab_units::Instant;

use super::names;
use crate::column::{Cells, Column, Values};

pub(super) struct EpisodeRow {
    pub(super) flow: FlowId,
    /// In its direction, from 1.
    pub(super) number: u64,
    pub(super) episode: Episode,
}

pub(super) struct StallRow {
    pub(super) flow: FlowId,
    pub(super) stall: Stall,
}

pub(super) struct LimitRow {
    pub(super) flow: FlowId,
    pub(super) period: LimitPeriod,
}

macro_rules! column {
    ($name:literal, $doc:literal, $values:ident, $cells:ident($cell:expr)) => {
        Column { name: $name, doc: $doc, values: Values::$values, cells: Cells::$cells($cell) }
    };
}

pub(crate) const EPISODES: &[Column<EpisodeRow>] = &[
    column!(
        "connection",
        "The connection's number, from 0, in the order of first packets",
        Few,
        Number(|row| row.flow.connection as u64)
    ),
    column!(
        "direction",
        "Whose data were lost: forward (client to server) or reverse",
        Few,
        Text(|row| names::direction(row.flow.forward).into())
    ),
    column!("number", "Its number in that direction, from 1", Near, Number(|row| row.number)),
    column!(
        "kind",
        "without-time-lag (SACK or duplicate acknowledgements told while data still flowed), \
         with-time-lag (a timer sent first), intermittent (one retransmission per timeout)",
        Few,
        Text(|row| names::episode_kind(row.episode.kind).into())
    ),
    column!(
        "evidence",
        "What told the sender first: sack, duplicate-acks, timeout or probe",
        Few,
        Text(|row| names::evidence(row.episode.evidence).0.into())
    ),
    column!(
        "evidence_frame",
        "The frame that told: an acknowledgement, or what the timer sent",
        Near,
        Number(|row| names::evidence(row.episode.evidence).1)
    ),
    column!(
        "first_lost_sent_ns",
        "When the first that was lost had been sent, in nanoseconds from the trace's zero",
        Near,
        Number(|row| row.episode.first_lost_sent.as_nanos())
    ),
    column!(
        "first_lost_frame",
        "Its frame; empty if nothing is known to be lost",
        Near,
        NumberIfAny(|row| row.episode.lost.first().map(|lost| lost.frame))
    ),
    column!(
        "evidence_ns",
        "When the sender was told, in nanoseconds from the trace's zero",
        Near,
        Number(|row| row.episode.evidence_at.as_nanos())
    ),
    column!(
        "first_retransmission_ns",
        "When the first retransmission was sent, in nanoseconds from the trace's zero; empty if \
         there was none",
        Near,
        NumberIfAny(|row| row.episode.first_retransmission.map(|(at, _)| at.as_nanos()))
    ),
    column!(
        "first_retransmission_frame",
        "Its frame; empty if there was none",
        Near,
        NumberIfAny(|row| row.episode.first_retransmission.map(|(_, frame)| frame))
    ),
    column!(
        "repaired_ns",
        "When everything lost was acknowledged, in nanoseconds from the trace's zero; empty if it \
         never was",
        Near,
        NumberIfAny(|row| row.episode.repaired_at.map(Instant::as_nanos))
    ),
    column!(
        "lost_segments",
        "Transmissions that were lost",
        Few,
        Number(|row| row.episode.lost.len() as u64)
    ),
    column!(
        "lost_bytes",
        "Their bytes in the sequence",
        Few,
        Number(|row| row.episode.lost.iter().map(|lost| lost.range.len()).sum())
    ),
    column!(
        "retransmissions",
        "Packets sent again meanwhile, repeats counted",
        Few,
        Number(|row| row.episode.retransmissions)
    ),
    column!(
        "retransmitted_bytes",
        "Their bytes of data",
        Few,
        Number(|row| row.episode.retransmitted.as_u64())
    ),
    column!(
        "timeouts",
        "Of these, sent by a timer, probes included",
        Few,
        Number(|row| row.episode.timeouts)
    ),
    column!(
        "probes",
        "Tail loss probes meanwhile, those with new data included",
        Few,
        Number(|row| row.episode.probes)
    ),
    column!(
        "needless",
        "Of the retransmissions, those that a D-SACK proved needless",
        Few,
        Number(|row| row.episode.spurious)
    ),
    column!(
        "silence_ns",
        "The longest time without any data sent, up to the first retransmission: the time lag",
        Near,
        Number(|row| row.episode.silence.as_nanos())
    ),
    column!("first_frame", "The frame it begins with", Near, Number(|row| row.episode.frames.0)),
    column!("last_frame", "The frame it ends with", Near, Number(|row| row.episode.frames.1)),
];

pub(crate) const STALLS: &[Column<StallRow>] = &[
    column!(
        "connection",
        "The connection's number, from 0, in the order of first packets",
        Few,
        Number(|row| row.flow.connection as u64)
    ),
    column!(
        "direction",
        "Whose data stood still: forward (client to server) or reverse",
        Few,
        Text(|row| names::direction(row.flow.forward).into())
    ),
    column!(
        "from_ns",
        "When the packet before it passed, in nanoseconds from the trace's zero",
        Near,
        Number(|row| row.stall.from.as_nanos())
    ),
    column!(
        "until_ns",
        "When the packet passed that ended it, in nanoseconds from the trace's zero",
        Near,
        Number(|row| row.stall.until.as_nanos())
    ),
    column!(
        "duration_ns",
        "How long it took, in nanoseconds",
        Near,
        Number(|row| row.stall.until.since(row.stall.from).as_nanos())
    ),
    column!(
        "cause",
        "Why: server-idle, server-slow, client-idle, zero-window, packet-delay, double-loss, \
         tail-loss, small-window, small-receive-window, continuous-loss, ack-loss, timeout, \
         undetermined",
        Few,
        Text(|row| names::stall_cause(row.stall.cause).into())
    ),
    column!(
        "in_flight_bytes",
        "Bytes in flight meanwhile",
        Near,
        Number(|row| row.stall.in_flight.as_u64())
    ),
    column!("first_frame", "The frame before it", Near, Number(|row| row.stall.frames.0)),
    column!("last_frame", "The frame that ended it", Near, Number(|row| row.stall.frames.1)),
];

pub(crate) const LIMITS: &[Column<LimitRow>] = &[
    column!(
        "connection",
        "The connection's number, from 0, in the order of first packets",
        Few,
        Number(|row| row.flow.connection as u64)
    ),
    column!(
        "direction",
        "Whose data were limited: forward (client to server) or reverse",
        Few,
        Text(|row| names::direction(row.flow.forward).into())
    ),
    column!(
        "limit",
        "What bounded the rate: application, receive-window, send-buffer, slow-start, congestion, \
         path, timeout",
        Few,
        Text(|row| names::limit(row.period.limit).into())
    ),
    column!(
        "from_ns",
        "When the period begins, in nanoseconds from the trace's zero",
        Near,
        Number(|row| row.period.from.as_nanos())
    ),
    column!(
        "until_ns",
        "When it ends and the next begins, in nanoseconds from the trace's zero",
        Near,
        Number(|row| row.period.until.as_nanos())
    ),
    column!(
        "acked_bytes",
        "Data newly acknowledged in it",
        Near,
        Number(|row| row.period.acked.as_u64())
    ),
    column!("first_frame", "The frame at its beginning", Near, Number(|row| row.period.frames.0)),
    column!("last_frame", "The frame at its end", Near, Number(|row| row.period.frames.1)),
];
