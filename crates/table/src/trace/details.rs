//! Rows that a connection has when it is over: notable frames, causes of stalls, smaller segments,
//! data over time, states, findings.

use tcplab_findings::Finding;
use tcplab_quantities::{self as quantities, Quantity};
use tcplab_trace::{Connection, Flow, FlowId, MssChange, Occurrences, StallSum, StateStep};
use tcplab_units::Instant;

use super::names;
use crate::column::{Column, columns};

/// How often something was found, and where first.
pub(super) struct NotableRow {
    flow: FlowId,
    quantity: &'static str,
    seen: Occurrences,
}

pub(super) const NOTABLE: &[Column<NotableRow>] = columns! {
    CONNECTION Few Whole(|row| row.flow.connection as u64);
    DIRECTION Few Text(|row| names::direction(row.flow.forward).into());
    QUANTITY Few Text(|row| row.quantity.into());
    COUNT Few Whole(|row| row.seen.count);
    FIRST_NS Near WholeIfAny(|row| row.seen.first.map(Instant::as_nanos)),
        "When it was found first, from the trace's zero";
    FRAMES Few Wholes(|row| row.seen.frames.clone()), "The first ten frames of it";
};

/// What was found at least once in a direction.
pub(super) fn notable(id: FlowId, flow: &Flow) -> impl Iterator<Item = NotableRow> {
    let (causes, windows) = (&flow.causes, &flow.windows);
    let (acking, marks) = (&flow.acking, &flow.marks);
    let seen: [(&Quantity, &Occurrences); 41] = [
        (&quantities::RETRANSMISSIONS_BY_DUPLICATE_ACKS, &causes.by_duplicate_acks),
        (&quantities::RETRANSMISSIONS_BY_SACK, &causes.by_sack),
        (&quantities::RETRANSMISSIONS_BY_RACK, &causes.by_rack),
        (&quantities::RETRANSMISSIONS_BY_ICMP, &causes.by_icmp),
        (&quantities::TAIL_LOSS_PROBES, &causes.tail_loss_probes),
        (&quantities::TAIL_LOSS_PROBES_NEW_DATA, &causes.tail_loss_probes_new_data),
        (&quantities::TIMEOUTS, &causes.timeouts),
        (&quantities::TIMEOUTS_AFTER_DUPLICATE_ACKS, &causes.ignored_acks.after_duplicate_acks),
        (&quantities::TIMEOUTS_AFTER_SACK, &causes.ignored_acks.after_sack),
        (&quantities::TIMEOUTS_AFTER_PARTIAL_ACK, &causes.ignored_acks.after_partial_ack),
        (&quantities::RETRANSMISSIONS_AFTER_TIMEOUT, &causes.after_timeout),
        (&quantities::CONTROL_REPEATED, &causes.control_repeated),
        (&quantities::RETRANSMISSIONS_LOST, &causes.lost_retransmissions),
        (&quantities::RETRANSMISSIONS_SYN, &causes.syn_retransmissions),
        (&quantities::RETRANSMISSIONS_FIN, &causes.fin_retransmissions),
        (&quantities::RETRANSMISSIONS_BEFORE_CAPTURE, &causes.before_capture),
        (&quantities::RETRANSMISSIONS_SPURIOUS_BY_DSACK, &causes.spurious_by_dsack),
        (&quantities::RETRANSMISSIONS_SPURIOUS_BY_TIMESTAMP, &causes.spurious_by_timestamp),
        (&quantities::RETRANSMISSIONS_UNEXPLAINED, &causes.retransmissions_unexplained),
        (&quantities::GAPS_FILLED, &causes.gaps_filled),
        (&quantities::OUT_OF_ORDER, &causes.out_of_order),
        (&quantities::EARLY_ACKS, &causes.early_acks),
        (&quantities::NETWORK_DUPLICATES, &causes.network_duplicates),
        (&quantities::LINK_RETRIES, &causes.link_retries),
        (&quantities::CAPTURE_DUPLICATES, &causes.capture_duplicates),
        (&quantities::ACKED_NOT_CAPTURED, &causes.acked_not_captured),
        (&quantities::ZERO_WINDOWS, &windows.zero_windows),
        (&quantities::WINDOW_FULL, &windows.window_full),
        (&quantities::WINDOW_UPDATES, &windows.updates),
        (&quantities::SILLY_WINDOWS, &windows.silly_windows),
        (&quantities::WINDOWS_SHRUNK, &windows.windows_shrunk),
        (&quantities::ZERO_WINDOW_PROBES, &windows.probes),
        (&quantities::STRETCH_ACKS, &acking.stretch),
        (&quantities::DELAYED_ACKS, &acking.delayed),
        (&quantities::URG_SEGMENTS, &marks.urgent),
        (&quantities::KEEP_ALIVES, &marks.keep_alives),
        (&quantities::NAGLE_WAITS, &marks.nagle_waits),
        (&quantities::CE_MARKS, &marks.ce_marks),
        (&quantities::ECN_ECHOES, &marks.echoes),
        (&quantities::ECN_REPORTED, &marks.reported),
        (&quantities::ECN_REDUCTIONS, &marks.reductions),
    ];
    seen.into_iter().filter(|(_, seen)| !seen.is_empty()).map(move |(quantity, seen)| NotableRow {
        flow: id,
        quantity: quantity.key,
        seen: seen.clone(),
    })
}

/// The stalls of one cause together.
pub(super) struct StallCauseRow {
    pub(super) flow: FlowId,
    pub(super) sum: StallSum,
}

pub(super) const STALL_CAUSES: &[Column<StallCauseRow>] = columns! {
    CONNECTION Few Whole(|row| row.flow.connection as u64);
    DIRECTION Few Text(|row| names::direction(row.flow.forward).into());
    CAUSE Few Text(|row| names::stall_cause(row.sum.cause).into()), "Why, as in stalls";
    COUNT Few Whole(|row| row.sum.count);
    DURATION_NS Near Whole(|row| row.sum.time.as_nanos()), "How long they lasted, in all";
    LONGEST_FROM_NS Near Whole(|row| row.sum.longest.from.as_nanos());
    LONGEST_UNTIL_NS Near Whole(|row| row.sum.longest.until.as_nanos());
    LONGEST_FIRST_FRAME Near Whole(|row| row.sum.longest.frames.0);
    LONGEST_LAST_FRAME Near Whole(|row| row.sum.longest.frames.1);
    LONGEST_BYTES_IN_FLIGHT Near Whole(|row| row.sum.longest.in_flight.as_u64());
};

/// Full segments became smaller.
pub(super) struct MssRow {
    pub(super) flow: FlowId,
    pub(super) change: MssChange,
}

pub(super) const MSS_CHANGES: &[Column<MssRow>] = columns! {
    CONNECTION Few Whole(|row| row.flow.connection as u64);
    DIRECTION Few Text(|row| names::direction(row.flow.forward).into());
    AT_NS Near Whole(|row| row.change.at.as_nanos()),
        "When the first smaller segment was sent, from the trace's zero";
    FRAME Near Whole(|row| row.change.frame);
    MSS_BEFORE_BYTES Few Whole(|row| row.change.from.as_u64());
    MSS_AFTER_BYTES Few Whole(|row| row.change.to.as_u64());
};

/// What went in one interval of time.
pub(super) struct SeriesRow {
    flow: FlowId,
    from: u64,
    until: u64,
    sent: u64,
    acked: u64,
}

pub(super) const SERIES: &[Column<SeriesRow>] = columns! {
    CONNECTION Few Whole(|row| row.flow.connection as u64);
    DIRECTION Few Text(|row| names::direction(row.flow.forward).into());
    FROM_NS Near Whole(|row| row.from);
    UNTIL_NS Near Whole(|row| row.until);
    SENT_BYTES Near Whole(|row| row.sent);
    ACKED_BYTES Near Whole(|row| row.acked), "Bytes newly acknowledged";
};

/// The data of a direction over time.
pub(super) fn series(id: FlowId, flow: &Flow) -> impl Iterator<Item = SeriesRow> {
    let series = &flow.series;
    let (interval, from) = (series.interval.as_nanos(), series.from.as_nanos());
    let both = (0_u64..).zip(series.sent.iter().zip(&series.acked));
    both.map(move |(index, (&sent, &acked))| SeriesRow {
        flow: id,
        from: from + index * interval,
        until: from + (index + 1) * interval,
        sent,
        acked,
    })
}

/// An end entered a state.
pub(super) struct StateRow {
    connection: u64,
    endpoint: &'static str,
    step: StateStep,
}

pub(super) const STATES: &[Column<StateRow>] = columns! {
    CONNECTION Few Whole(|row| row.connection);
    ENDPOINT Few Text(|row| row.endpoint.into());
    STATE Few Text(|row| row.step.state.name().into());
    AT_NS Near Whole(|row| row.step.at.as_nanos()),
        "When the end entered it, from the trace's zero";
    FRAME Near Whole(|row| row.step.frame), "The frame at that time";
    CAUSE_NS Near Whole(|row| row.step.cause.at.as_nanos());
    CAUSE_FRAME Near Whole(|row| row.step.cause.frame);
    CAUSE_FLAGS Few Text(|row| row.step.cause.flags.to_string().into());
    CAUSE_SENDER Few Text(|row| row.step.cause.by.name().into());
};

/// The states of both ends.
pub(super) fn states(connection: u64, of: &Connection) -> impl Iterator<Item = StateRow> {
    let client = of.life.client.iter().map(|step| ("client", step));
    let server = of.life.server.iter().map(|step| ("server", step));
    client.chain(server).map(move |(endpoint, &step)| StateRow { connection, endpoint, step })
}

/// What a rule found.
pub(super) struct FindingRow {
    pub(super) connection: u64,
    pub(super) finding: Finding,
}

pub(super) const FINDINGS: &[Column<FindingRow>] = columns! {
    CONNECTION Few Whole(|row| row.connection);
    RULE Few Text(|row| row.finding.rule.into());
    SEVERITY Few Text(|row| row.finding.severity.name().into());
    COST_NS Near Whole(|row| row.finding.cost.time.as_nanos());
    COST_BYTES Near Whole(|row| row.finding.cost.bytes.as_u64());
    STATEMENT Few Text(|row| row.finding.statement.clone().into());
    REMEDY Few TextIfAny(|row| row.finding.remedy.clone().map(Into::into));
    AT_NS Near Whole(|row| row.finding.at.as_nanos()),
        "When it was the case first, from the trace's zero";
    FRAMES Few Wholes(|row| row.finding.frames.clone()), "The frames that prove it";
};
