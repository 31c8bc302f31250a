//! One direction of a connection in depth.

use tcplab_findings::story;
use tcplab_quantities::{self as q, Quantity};
use tcplab_trace::{
    AckBehaviour, CapturePoint, Causes, Confidence, Flow, Occurrences, RoundTrips, SenderMarks,
    Transfer, WindowUse,
};
use tcplab_units::Bytes;
use tcplab_units::rounded::{bytes, counted, decimal, grouped, percent, rate};

use super::limits;
use super::numbers::{UNKNOWN, joined, or_unknown, seconds, span};
use crate::grid::{Cell, Grid, Look, Side};

/// The most frames in a table cell.
const FRAMES: usize = 5;
/// The most episodes that are listed.
const EPISODES: usize = 20;
/// The most stalls that are listed one by one.
const STALLS: usize = 8;

pub(crate) fn write(out: &mut String, flow: &Flow, look: Look) {
    let totals = &flow.totals;
    let mut facts = vec![match totals.data_segments {
        0 => "no data".to_owned(),
        packets => {
            let data = bytes(totals.unique);
            let wire = totals.wire_data_segments();
            let segments = counted(wire as usize, "segment", "segments");
            if wire > packets {
                let packets = counted(packets as usize, "packet", "packets");
                format!("{data} of data in {segments}, captured as {packets}")
            } else {
                format!("{data} of data in {segments}")
            }
        }
    }];
    if flow.causes.retransmissions() > 0 {
        facts.push(format!(
            "{} retransmitted ({}, {})",
            grouped(flow.causes.retransmissions()),
            bytes(totals.retransmitted),
            percent(flow.retransmitted_share())
        ));
    }
    if totals.data_segments > 0 {
        facts.push(labelled(&q::BYTES_IN_FLIGHT_MAX, &bytes(totals.max_in_flight)));
    }
    facts.push(capture_point(flow));
    look.paragraph(out, "  ", &facts.join("; "));
    let mut lines: Vec<(&str, String)> = Vec::new();
    if totals.data_segments > 0 {
        if let Some(waited) = flow.marks.greeting {
            lines.push(("first data", format!("{} after the handshake", span(waited))));
        }
        lines.push(("rate", rates(&flow.transfer)));
        lines.push(("RFC 6349", metrics(&flow.transfer)));
        if flow.capture_point == CapturePoint::Receiver {
            let text = round_trips(&flow.round_trips);
            if text != UNKNOWN {
                let part = "captured at the receiver, so this is not the RTT";
                lines.push(("ACK time", format!("{text}; {part}")));
            }
        } else {
            lines.push(("RTT", round_trips(&flow.round_trips)));
            lines.push(("timer", timer(&flow.round_trips)));
        }
    }
    lines.push(("window", window(&flow.windows)));
    lines.push(("ACKs", acking(flow, &flow.acking)));
    lines.push(("segments", marks(&flow.marks)));
    for (name, text) in lines.iter().filter(|(_, text)| text != UNKNOWN) {
        look.paragraph(out, &format!("  {name:<12}"), text);
    }
    for change in &flow.marks.mss_changes {
        let text = format!(
            "{} → {} bytes of data at {} s (frame {})",
            change.from.as_u64(),
            change.to.as_u64(),
            seconds(change.at),
            change.frame
        );
        look.paragraph(out, &format!("  {:<12}", "MSS change"), &text);
    }
    causes(out, &flow.causes, look);
    limits::write(out, flow, look);
    stalls(out, flow, look);
    episodes(out, flow, look);
}

fn capture_point(flow: &Flow) -> String {
    let place = match flow.capture_point {
        CapturePoint::Unknown => return "capture point unknown".into(),
        CapturePoint::Sender => "at the sender",
        CapturePoint::Middle => "on the path",
        CapturePoint::Receiver => "at the receiver",
    };
    match flow.capture_point_confidence {
        Confidence::None => format!("captured {place}"),
        Confidence::Low => format!("captured {place} (low confidence)"),
        Confidence::Medium => format!("captured {place} (medium confidence)"),
        Confidence::High => format!("captured {place} (high confidence)"),
    }
}

fn rates(transfer: &Transfer) -> String {
    let mut facts = Vec::new();
    if !transfer.time.is_zero() {
        facts.push(format!("{} acknowledged in {}", bytes(transfer.acked), span(transfer.time)));
    }
    for (quantity, value) in [
        (q::GOODPUT, transfer.goodput),
        (q::THROUGHPUT, transfer.throughput),
        (q::CAPACITY, transfer.capacity),
    ] {
        facts.extend(value.map(|value| labelled(&quantity, &rate(value))));
    }
    joined(&facts)
}

fn metrics(transfer: &Transfer) -> String {
    let mut facts = Vec::new();
    let percent = |share: f64, places| format!("{} %", decimal(share, places));
    let ratio = transfer.time_ratio;
    facts.extend(ratio.map(|ratio| labelled(&q::TRANSFER_TIME_RATIO, &decimal(ratio, 2))));
    let efficiency = transfer.efficiency;
    facts.extend(efficiency.map(|share| labelled(&q::EFFICIENCY, &percent(share, 2))));
    facts.extend(transfer.buffer_delay.map(|share| {
        let over = labelled(&q::BASELINE_RTT, &or_unknown(transfer.baseline, span));
        format!("{} ({over})", labelled(&q::BUFFER_DELAY, &percent(share, 1)))
    }));
    joined(&facts)
}

fn round_trips(trips: &RoundTrips) -> String {
    let mut facts = Vec::new();
    for (quantity, value) in [
        (q::RTT_MIN, trips.min),
        (q::RTT_MEDIAN, trips.median),
        (q::RTT_MEAN, trips.mean),
        (q::RTT_P95, trips.p95),
        (q::RTT_MAX, trips.max),
    ] {
        let name = quantity.label_under("RTT");
        facts.extend(value.map(|value| format!("{name} {}", span(value))));
    }
    let samples = trips.samples();
    if samples > 0 {
        let by: Vec<String> = [
            (trips.by_ack, q::RTT_SAMPLES_BY_ACK),
            (trips.by_sack, q::RTT_SAMPLES_BY_SACK),
            (trips.by_timestamp, q::RTT_SAMPLES_BY_TIMESTAMP),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| {
            format!("{} {}", grouped(count), what.label_under(q::RTT_SAMPLES.label))
        })
        .collect();
        let samples = counted(samples as usize, "sample", "samples");
        facts.push(format!("{samples} ({})", by.join(", ")));
    }
    joined(&facts)
}

fn timer(trips: &RoundTrips) -> String {
    let timers = [(q::SRTT, trips.smoothed), (q::RTTVAR, trips.variation), (q::RTO, trips.timeout)];
    let known = timers.into_iter().filter_map(|(of, value)| Some(labelled(&of, &span(value?))));
    joined(&known.collect::<Vec<_>>())
}

fn window(window: &WindowUse) -> String {
    let mut facts = Vec::new();
    for (quantity, value) in [
        (q::WINDOW_FIRST, window.first),
        (q::WINDOW_MIN, window.min),
        (q::WINDOW_MAX, window.max),
        (q::WINDOW_LAST, window.last),
    ] {
        let name = quantity.label_under("window");
        facts.extend(value.map(|value| format!("{name} {}", bytes(value))));
    }
    if !facts.is_empty() && !window.scale_known {
        facts.push("scale unknown".into());
    }
    note(&mut facts, &window.zero_windows, |count| {
        let (time, max) = (span(window.zero_window_time), span(window.zero_window_max));
        format!("{} {} for {time}, max {max}", q::ZERO_WINDOWS.label, times(count))
    });
    for (seen, what) in [
        (&window.window_full, q::WINDOW_FULL),
        (&window.probes, q::ZERO_WINDOW_PROBES),
        (&window.updates, q::WINDOW_UPDATES),
        (&window.silly_windows, q::SILLY_WINDOWS),
        (&window.windows_shrunk, q::WINDOWS_SHRUNK),
    ] {
        note(&mut facts, seen, |count| format!("{} {}", what.label_under("window"), times(count)));
    }
    joined(&facts)
}

fn acking(flow: &Flow, habits: &AckBehaviour) -> String {
    let mut facts = Vec::new();
    let acks = habits.acks.max(flow.totals.pure_acks);
    let duplicates = habits.duplicates.max(flow.totals.duplicate_acks);
    if acks > 0 {
        facts.push(counted(acks as usize, "pure ACK", "pure ACKs"));
    }
    if duplicates > 0 {
        facts.push(match habits.unnecessary {
            0 => counted(duplicates as usize, "duplicate", "duplicates"),
            n => format!("{} duplicates ({} unnecessary)", grouped(duplicates), grouped(n)),
        });
    }
    note(&mut facts, &habits.stretch, |count| {
        format!("{} stretch ACKs (max {})", grouped(count), bytes(habits.longest))
    });
    note(&mut facts, &habits.delayed, |count| {
        format!("{} delayed (max {})", grouped(count), span(habits.delay_max))
    });
    joined(&facts)
}

fn marks(marks: &SenderMarks) -> String {
    let mut facts = Vec::new();
    if marks.largest > Bytes::ZERO {
        let size = format!("{} B", grouped(marks.largest.as_u64()));
        facts.push(labelled(&q::SEGMENT_MAX_BYTES, &size));
    }
    for (count, what) in [
        (marks.push, q::PSH_SEGMENTS),
        (marks.small_in_flight, q::SMALL_SEGMENTS_IN_FLIGHT),
        (marks.super_packets, q::SUPER_PACKETS),
    ] {
        if count > 0 {
            facts.push(format!("{} {}", grouped(count), what.label_under("segments")));
        }
    }
    note(&mut facts, &marks.nagle_waits, |count| {
        let time = span(marks.nagle_wait_time);
        format!("{} waited for a delayed ACK (Nagle), {time} in all", grouped(count))
    });
    for (seen, what) in [
        (&marks.urgent, q::URG_SEGMENTS),
        (&marks.keep_alives, q::KEEP_ALIVES),
        (&marks.ce_marks, q::CE_MARKS),
        (&marks.echoes, q::ECN_ECHOES),
        (&marks.reported, q::ECN_REPORTED),
        (&marks.reductions, q::ECN_REDUCTIONS),
    ] {
        note(&mut facts, seen, |count| {
            format!("{} {}", grouped(count), what.label_under("segments"))
        });
    }
    joined(&facts)
}

fn labelled(quantity: &Quantity, value: &str) -> String {
    format!("{} {value}", quantity.label)
}

fn times(count: u64) -> String {
    if count == 1 { "once".into() } else { format!("{} times", grouped(count)) }
}

/// Adds a text about a count, followed by the frames.
fn note(facts: &mut Vec<String>, seen: &Occurrences, text: impl FnOnce(u64) -> String) {
    if !seen.is_empty() {
        facts.push(text(seen.count) + &at_frames(seen));
    }
}

/// ` (#12, #40, …)`.
fn at_frames(seen: &Occurrences) -> String {
    let text = frames(seen);
    if text.is_empty() { text } else { format!(" ({text})") }
}

fn frames(seen: &Occurrences) -> String {
    let named: Vec<String> = seen.frames.iter().take(FRAMES).map(|f| format!("#{f}")).collect();
    if named.is_empty() {
        return String::new();
    }
    let more = if seen.count > named.len() as u64 { " …" } else { "" };
    format!("{}{more}", named.join(" "))
}

/// Retransmissions, probes and out-of-order segments, by cause.
fn causes(out: &mut String, causes: &Causes, look: Look) {
    let mut grid = Grid::new(&[Side::Left, Side::Right, Side::Right, Side::Left]);
    let plain = String::new;
    let backed_off = match causes.backoff_max {
        0 | 1 => plain(),
        n => format!(", max {n} in a row"),
    };
    let out_of_order = format!(", max {}", bytes(causes.out_of_order_max));
    let not_captured = format!(", {}", bytes(causes.acked_not_captured_bytes));
    for (quantity, more, seen) in [
        (q::RETRANSMISSIONS_BY_DUPLICATE_ACKS, plain(), &causes.by_duplicate_acks),
        (q::RETRANSMISSIONS_BY_SACK, plain(), &causes.by_sack),
        (q::RETRANSMISSIONS_BY_RACK, plain(), &causes.by_rack),
        (q::RETRANSMISSIONS_BY_ICMP, plain(), &causes.by_icmp),
        (q::TAIL_LOSS_PROBES, plain(), &causes.tail_loss_probes),
        (q::TAIL_LOSS_PROBES_NEW_DATA, plain(), &causes.tail_loss_probes_new_data),
        (q::TIMEOUTS, backed_off, &causes.timeouts),
        (q::RETRANSMISSIONS_AFTER_TIMEOUT, plain(), &causes.after_timeout),
        (q::CONTROL_REPEATED, plain(), &causes.control_repeated),
        (q::RETRANSMISSIONS_LOST, plain(), &causes.lost_retransmissions),
        (q::RETRANSMISSIONS_SYN, plain(), &causes.syn_retransmissions),
        (q::RETRANSMISSIONS_FIN, plain(), &causes.fin_retransmissions),
        (q::RETRANSMISSIONS_UNEXPLAINED, plain(), &causes.retransmissions_unexplained),
        (q::RETRANSMISSIONS_BEFORE_CAPTURE, plain(), &causes.before_capture),
        (q::RETRANSMISSIONS_SPURIOUS_BY_DSACK, plain(), &causes.spurious_by_dsack),
        (q::RETRANSMISSIONS_SPURIOUS_BY_TIMESTAMP, plain(), &causes.spurious_by_timestamp),
        (q::GAPS_FILLED, plain(), &causes.gaps_filled),
        (q::OUT_OF_ORDER, out_of_order, &causes.out_of_order),
        (q::EARLY_ACKS, plain(), &causes.early_acks),
        (q::NETWORK_DUPLICATES, plain(), &causes.network_duplicates),
        (q::LINK_RETRIES, plain(), &causes.link_retries),
        (q::CAPTURE_DUPLICATES, plain(), &causes.capture_duplicates),
        (q::ACKED_NOT_CAPTURED, not_captured, &causes.acked_not_captured),
    ] {
        if seen.is_empty() {
            continue;
        }
        if grid.is_empty() {
            grid.head(&[q::CAUSE.label, q::COUNT.label, "first, s", q::FRAMES.label]);
        }
        grid.row([
            Cell::new(format!("{}{more}", quantity.label)),
            grouped(seen.count).into(),
            or_unknown(seen.first, seconds).into(),
            frames(seen).into(),
        ]);
    }
    if !grid.is_empty() {
        look.heading(out, "  retransmissions, probes, out-of-order segments");
        grid.write(out, 4, look);
    }
}

fn stalls(out: &mut String, flow: &Flow, look: Look) {
    if flow.stall_sums.is_empty() {
        return;
    }
    look.heading(out, "  stalls");
    let mut grid = Grid::new(&[Side::Left, Side::Right, Side::Right, Side::Right, Side::Left]);
    grid.head(&[q::CAUSE.label, q::COUNT.label, "time", "longest", "where"]);
    for sum in &flow.stall_sums {
        let longest = &sum.longest;
        let (before, after) = longest.frames;
        grid.row([
            Cell::new(sum.cause.name()),
            grouped(sum.count).into(),
            span(sum.time).into(),
            span(longest.until.since(longest.from)).into(),
            format!("{} s, #{before} to #{after}", seconds(longest.from)).into(),
        ]);
    }
    grid.write(out, 4, look);
    let mut longest: Vec<_> = flow.stalls.iter().collect();
    if longest.len() <= flow.stall_sums.len() {
        return;
    }
    longest.sort_by_key(|stall| std::cmp::Reverse(stall.until.since(stall.from)));
    longest.truncate(STALLS);
    longest.sort_by_key(|stall| stall.from);
    let mut grid = Grid::new(&[Side::Right, Side::Right, Side::Left, Side::Right, Side::Left]);
    let start = q::START_SECONDS.heading();
    let [duration, cause] = [q::DURATION_NS.label, q::CAUSE.label];
    grid.head(&[&start, duration, cause, q::BYTES_IN_FLIGHT.label, q::FRAMES.label]);
    for stall in longest {
        let (before, after) = stall.frames;
        grid.row([
            Cell::new(seconds(stall.from)),
            span(stall.until.since(stall.from)).into(),
            stall.cause.name().into(),
            bytes(stall.in_flight).into(),
            format!("#{before} to #{after}").into(),
        ]);
    }
    grid.write(out, 4, look);
}

fn episodes(out: &mut String, flow: &Flow, look: Look) {
    if flow.episodes.is_empty() {
        return;
    }
    look.heading(out, "  recovery episodes");
    for (number, episode) in flow.episodes.iter().take(EPISODES).enumerate() {
        let (first, last) = episode.frames;
        let text = format!(
            "{}, #{first} to #{last}{}: {}",
            episode.kind.name(),
            episode.silence.map(|it| format!(", silence {}", span(it))).unwrap_or_default(),
            story(episode, flow)
        );
        look.paragraph(out, &format!("  {:>3}  ", number + 1), &text);
    }
    if flow.episodes.len() > EPISODES {
        let left = counted(flow.episodes.len() - EPISODES, "more episode", "more episodes");
        let text = format!("{left}; --json lists all.");
        look.paragraph(out, "       ", &text);
    }
}
