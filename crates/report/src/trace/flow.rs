//! One direction of a connection in depth.

use tcplab_findings::story;
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
        n => {
            let segments = counted(n as usize, "segment", "segments");
            format!("{} of data in {segments}", bytes(totals.unique))
        }
    }];
    if totals.retransmissions > 0 {
        let share = totals.retransmissions as f64 / totals.data_segments.max(1) as f64;
        facts.push(format!(
            "{} retransmitted ({}, {})",
            grouped(totals.retransmissions),
            bytes(totals.retransmitted),
            percent(share)
        ));
    }
    if totals.data_segments > 0 {
        facts.push(format!("in flight max {}", bytes(totals.max_in_flight)));
    }
    facts.push(capture_point(flow));
    look.paragraph(out, "  ", &facts.join("; "));
    let mut lines: Vec<(&str, String)> = Vec::new();
    if totals.data_segments > 0 {
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
    facts.extend(transfer.goodput.map(|goodput| format!("goodput {}", rate(goodput))));
    facts.extend(transfer.throughput.map(|all| format!("throughput {}", rate(all))));
    facts.extend(transfer.capacity.map(|most| format!("path capacity {}", rate(most))));
    joined(&facts)
}

fn metrics(transfer: &Transfer) -> String {
    let mut facts = Vec::new();
    facts.extend(
        transfer.time_ratio.map(|ratio| format!("transfer time ratio {}", decimal(ratio, 2))),
    );
    facts
        .extend(transfer.efficiency.map(|share| format!("TCP efficiency {} %", decimal(share, 2))));
    facts.extend(transfer.buffer_delay.map(|share| {
        let over = or_unknown(transfer.baseline, span);
        format!("buffer delay {} % (base RTT {over})", decimal(share, 1))
    }));
    joined(&facts)
}

fn round_trips(trips: &RoundTrips) -> String {
    let mut facts = Vec::new();
    for (name, value) in [
        ("min", trips.min),
        ("median", trips.median),
        ("mean", trips.mean),
        ("p95", trips.p95),
        ("max", trips.max),
    ] {
        facts.extend(value.map(|value| format!("{name} {}", span(value))));
    }
    let samples = trips.samples();
    if samples > 0 {
        let by: Vec<String> = [
            (trips.by_ack, "by ACK"),
            (trips.by_sack, "by SACK"),
            (trips.by_timestamp, "by timestamp"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", grouped(count)))
        .collect();
        let samples = counted(samples as usize, "sample", "samples");
        facts.push(format!("{samples} ({})", by.join(", ")));
    }
    joined(&facts)
}

fn timer(trips: &RoundTrips) -> String {
    let mut facts = Vec::new();
    for (name, value) in [
        ("SRTT", trips.smoothed),
        ("RTTVAR", trips.variation),
        ("RTO (as Linux computes it)", trips.timeout),
    ] {
        facts.extend(value.map(|value| format!("{name} {}", span(value))));
    }
    joined(&facts)
}

fn window(window: &WindowUse) -> String {
    let mut facts = Vec::new();
    for (name, value) in
        [("first", window.first), ("min", window.min), ("max", window.max), ("last", window.last)]
    {
        facts.extend(value.map(|value| format!("{name} {}", bytes(value))));
    }
    if !facts.is_empty() && !window.scale_known {
        facts.push("scale unknown".into());
    }
    if !window.zero_windows.is_empty() {
        facts.push(format!(
            "zero window {} for {}, max {}{}",
            times(window.zero_windows.count),
            span(window.zero_window_time),
            span(window.zero_window_max),
            at_frames(&window.zero_windows)
        ));
    }
    for (seen, what) in [
        (&window.window_full, "full"),
        (&window.probes, "zero-window probe"),
        (&window.updates, "updated"),
        (&window.silly_windows, "silly window"),
        (&window.windows_shrunk, "shrunk"),
    ] {
        if !seen.is_empty() {
            facts.push(format!("{what} {}{}", times(seen.count), at_frames(seen)));
        }
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
    if !habits.stretch.is_empty() {
        facts.push(format!(
            "{} stretch ACKs (max {}){}",
            grouped(habits.stretch.count),
            bytes(habits.longest),
            at_frames(&habits.stretch)
        ));
    }
    if !habits.delayed.is_empty() {
        facts.push(format!(
            "{} delayed (max {}){}",
            grouped(habits.delayed.count),
            span(habits.delay_max),
            at_frames(&habits.delayed)
        ));
    }
    joined(&facts)
}

fn marks(marks: &SenderMarks) -> String {
    let mut facts = Vec::new();
    if marks.largest > Bytes::ZERO {
        facts.push(format!("largest segment {} B", grouped(marks.largest.as_u64())));
    }
    for (count, what) in [
        (marks.push, "with PSH"),
        (marks.small_in_flight, "small with data in flight"),
        (marks.super_packets, "super-packets"),
    ] {
        if count > 0 {
            facts.push(format!("{} {what}", grouped(count)));
        }
    }
    if !marks.nagle_waits.is_empty() {
        facts.push(format!(
            "{} waited for a delayed ACK (Nagle), {} in all{}",
            grouped(marks.nagle_waits.count),
            span(marks.nagle_wait_time),
            at_frames(&marks.nagle_waits)
        ));
    }
    for (seen, what) in [
        (&marks.urgent, "urgent"),
        (&marks.keep_alives, "keep-alives"),
        (&marks.ce_marks, "CE-marked"),
    ] {
        if !seen.is_empty() {
            facts.push(format!("{} {what}{}", grouped(seen.count), at_frames(seen)));
        }
    }
    joined(&facts)
}

fn times(count: u64) -> String {
    if count == 1 { "once".into() } else { format!("{} times", grouped(count)) }
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
    let size = |amount: Bytes, what: &str| format!("{what} {}", bytes(amount));
    let backed_off = match causes.backoff_max {
        0 | 1 => String::new(),
        n => format!(", max {n} in a row"),
    };
    for (what, seen) in [
        ("fast retransmission, duplicate ACKs".to_owned(), &causes.by_duplicate_acks),
        ("fast retransmission, SACK".into(), &causes.by_sack),
        ("fast retransmission, RACK".into(), &causes.by_rack),
        ("retransmission, ICMP too large".into(), &causes.by_icmp),
        ("tail loss probe".into(), &causes.tail_loss_probes),
        ("tail loss probe, new data".into(), &causes.tail_loss_probes_new_data),
        (format!("retransmission timeout{backed_off}"), &causes.timeouts),
        ("retransmission after a timeout".into(), &causes.after_timeout),
        ("retransmission lost, retransmitted".into(), &causes.lost_retransmissions),
        ("SYN retransmission".into(), &causes.syn_retransmissions),
        ("FIN retransmission".into(), &causes.fin_retransmissions),
        ("original not captured".into(), &causes.originals_not_captured),
        ("spurious, by D-SACK".into(), &causes.spurious_by_dsack),
        ("spurious, by timestamp".into(), &causes.spurious_by_timestamp),
        (size(causes.out_of_order_max, "out of order, max"), &causes.out_of_order),
        ("network duplicate".into(), &causes.network_duplicates),
        ("captured twice".into(), &causes.capture_duplicates),
        (
            size(causes.acked_not_captured_bytes, "acknowledged but not captured,"),
            &causes.acked_not_captured,
        ),
    ] {
        if seen.is_empty() {
            continue;
        }
        if grid.is_empty() {
            grid.head(&["cause", "count", "first, s", "frames"]);
        }
        grid.row([
            Cell::new(what),
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
    grid.head(&["cause", "count", "time", "longest", "where"]);
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
    grid.head(&["at, s", "for", "cause", "in flight", "frames"]);
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
            "{}, #{first} to #{last}, silence {}: {}",
            episode.kind.name(),
            span(episode.silence),
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
