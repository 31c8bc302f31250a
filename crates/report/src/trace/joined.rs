//! Two captures of the same connections, joined.

use tcplab_trace::Note;
use tcplab_trace::join::{
    Audit, Change, ChangedField, ClockEstimate, Crossing, Joined, JoinedConnection,
};
use tcplab_units::rounded::{counted, grouped, percent};
use tcplab_units::{Endpoint, Span};

use super::head::{date, notes_text};
use super::numbers::{UNKNOWN, seconds, span};
use crate::grid::{Cell, Grid, Look, Side as Stands, Style};

/// The most frames that are listed.
const FRAMES: usize = 8;

/// Two captures, called `names` (the client's, the server's), joined; the `top` connections by
/// losses.
pub fn joined_text(
    joined: &Joined,
    audit: &Audit,
    names: &[String; 2],
    top: usize,
    look: Look,
) -> String {
    let mut out = String::new();
    for (side, name) in Endpoint::BOTH.into_iter().zip(names) {
        head(&mut out, joined, side, name, look);
    }
    let note = |text: &String| Note { frame: None, text: text.clone() };
    let notes: Vec<Note> = joined.notes.iter().map(note).collect();
    out += &notes_text(&notes, look);
    out.push('\n');
    look.heading(&mut out, "Clocks");
    look.paragraph(&mut out, "  ", &clocks(&joined.clock));
    let mut connections: Vec<(usize, &JoinedConnection)> =
        joined.connections.iter().enumerate().collect();
    connections
        .sort_by_key(|(index, c)| (std::cmp::Reverse(c.forward.lost + c.reverse.lost), *index));
    let opened_here = |c: &&JoinedConnection| c.client_at == Endpoint::Server;
    if !joined.connections.is_empty() && joined.connections.iter().all(|c| opened_here(&c)) {
        let text = "All connections were opened at the server's capture point: are --client and \
                    --server swapped?";
        look.paragraph(&mut out, "", text);
    }
    let is_joined = joined.connections.iter().any(|c| c.forward.arrived + c.reverse.arrived > 0);
    for (index, connection) in connections.iter().take(top) {
        out.push('\n');
        one(&mut out, *index, connection, is_joined, look);
    }
    out.push('\n');
    match connections.len() {
        0 => look.paragraph(&mut out, "", "No TCP connection in either capture."),
        n if n > top => {
            let more = counted(n - top, "connection", "connections");
            let text = format!("{more} more, with fewer losses (--all, --top N).");
            look.paragraph(&mut out, "", &text);
        }
        _ => {}
    }
    if *audit != Audit::default() {
        look.heading(&mut out, "Each sender's capture alone, checked against both");
        audited(&mut out, audit, look);
    }
    out
}

fn head(out: &mut String, joined: &Joined, side: Endpoint, name: &str, look: Look) {
    let tap = &joined.captures[side.index()];
    let who = side.name();
    let mut facts = vec![format!("{} packets", grouped(tap.packets))];
    if let (Some(first), Some(last)) = (tap.first_nanos, tap.last_nanos) {
        facts.push(span(Span::from_nanos(last.saturating_sub(first))));
        facts.extend(date(first).map(|date| format!("from {date}")));
    }
    look.paragraph(out, &format!("{who}  "), &format!("{name}: {}", facts.join(", ")));
}

fn clocks(clock: &ClockEstimate) -> String {
    let Some(offset) = clock.offset_nanos else {
        return "Clock offset unknown.".into();
    };
    if clock.is_one {
        let text = "Both captures were taken by one clock: delays are measured, none is assumed.";
        return clock.least_round_trip.map_or_else(
            || text.to_owned(),
            |trip| format!("{text} Smallest RTT between the capture points: {}.", span(trip)),
        );
    }
    let distance = span(Span::from_nanos(offset.unsigned_abs()));
    let mut text = match offset {
        0 => "The clocks agree".to_owned(),
        1.. => format!("The server's clock is {distance} ahead"),
        _ => format!("The server's clock is {distance} behind"),
    };
    match (clock.error, clock.least_round_trip) {
        (Some(error), Some(round_trip)) => {
            text += &format!(
                " at the start, ± {}: the smallest RTT between the capture points is {}; each \
                 direction is assumed to take half.",
                span(error),
                span(round_trip),
            );
        }
        _ => {
            text += " at the start if the fastest packet took no time: packets went in one \
                     direction only, so delays are relative to the fastest.";
        }
    }
    match clock.skew_error_ppm {
        None => text += " Too few packets to estimate the drift.",
        Some(error) if clock.skew_ppm == 0.0 && error < 0.05 => text += " No drift seen.",
        Some(error) if clock.skew_ppm == 0.0 => {
            text += &format!(" Drift below {} ppm.", ppm(error));
        }
        Some(error) => {
            let how = if clock.skew_ppm > 0.0 { "faster" } else { "slower" };
            let skew = ppm(clock.skew_ppm.abs());
            text += &format!(
                " It runs {skew} ppm {how}, ± {}; delays are corrected for it.",
                ppm(error)
            );
        }
    }
    text
}

fn ppm(value: f64) -> String {
    tcplab_units::rounded::decimal(value, usize::from(value < 10.0))
}

const COLUMNS: [Stands; 10] = [
    Stands::Left,
    Stands::Right,
    Stands::Right,
    Stands::Right,
    Stands::Right,
    Stands::Right,
    Stands::Right,
    Stands::Right,
    Stands::Right,
    Stands::Right,
];

/// `joined`: some packets are in both captures.
fn one(out: &mut String, index: usize, connection: &JoinedConnection, joined: bool, look: Look) {
    let JoinedConnection { client, server, forward, reverse, .. } = connection;
    look.heading(out, &format!("Connection {index}, {client} → {server}"));
    if connection.client_at == Endpoint::Server {
        look.paragraph(out, "  ", "The connection was opened at the server's capture point.");
    }
    if let Some(text) = not_joined(connection, joined) {
        look.paragraph(out, "  ", &text);
        return;
    }
    let mut grid = Grid::new(&COLUMNS);
    grid.head(&["", "", "", "", "", "", "", "one-way:", "", ""]);
    grid.head(&[
        "",
        "sent",
        "arrived",
        "lost",
        "",
        "reordered",
        "duplicates",
        "min",
        "median",
        "p95",
    ]);
    for (name, way) in [("client → server", forward), ("server → client", reverse)] {
        grid.row(row(name, way));
    }
    grid.write(out, 2, look);
    let there = connection.client_at;
    for (way, sender, at) in
        [(forward, Endpoint::Client, there), (reverse, Endpoint::Server, there.other())]
    {
        for fact in facts(way, sender, at) {
            look.paragraph(out, "  ", &fact);
        }
    }
}

/// What is said of a connection none of whose packets are in both captures, and why.
fn not_joined(connection: &JoinedConnection, joined: bool) -> Option<String> {
    let ways = [&connection.forward, &connection.reverse];
    let answered = ways.iter().any(|way| way.not_captured_at_sender > 0);
    let missing = connection.first_frames.iter().position(Option::is_none);
    let Some(at) = missing.filter(|_| answered || !joined) else {
        let text = "No packet of it is the same in both captures: nothing is compared.";
        return (!joined).then(|| text.to_owned());
    };
    let (at, has) = (Endpoint::BOTH[at], Endpoint::BOTH[1 - at]);
    let seen = |way: &Crossing, departs: bool| {
        let packets = if departs { way.sent } else { way.not_captured_at_sender + way.not_judged };
        counted(packets as usize, "packet", "packets")
    };
    let departs = has == connection.client_at;
    Some(format!(
        "Nothing of it is in the {}'s capture. The {}'s has {} client → server and {} server → \
         client: not judged.",
        at.name(),
        has.name(),
        seen(&connection.forward, departs),
        seen(&connection.reverse, !departs),
    ))
}

fn row(name: &str, way: &Crossing) -> Vec<Cell> {
    let number = |count: u64, style: Style| match count {
        0 => Cell::styled("0", Style::Dim),
        n => Cell::styled(grouped(n), style),
    };
    let judged = way.arrived + way.lost;
    let share = if judged > 0 { way.lost as f64 / judged as f64 } else { 0.0 };
    let delay = |of: fn(&tcplab_trace::join::Delays) -> Span| {
        Cell::new(way.delay.as_ref().map_or_else(|| UNKNOWN.into(), |d| span(of(d))))
    };
    vec![
        name.into(),
        number(way.sent, Style::Plain),
        number(way.arrived, Style::Plain),
        number(way.lost, Style::Bad),
        if way.lost > 0 { Cell::new(percent(share)) } else { Cell::default() },
        number(way.reordered, Style::Odd),
        number(way.duplicated, Style::Odd),
        delay(|d| d.min),
        delay(|d| d.median),
        delay(|d| d.p95),
    ]
}

/// What happened to the packets of the connection's `sender`, captured `at` that end.
fn facts(way: &Crossing, sender: Endpoint, at: Endpoint) -> Vec<String> {
    let (capture, other_capture) = (at.name(), at.other().name());
    let (sender, receiver) = (sender.name(), sender.other().name());
    let mut facts = Vec::new();
    if way.lost > 0 {
        let named: Vec<String> =
            way.losses.iter().take(FRAMES).map(|loss| grouped(loss.frame)).collect();
        let more = if way.lost > named.len() as u64 { "…" } else { "" };
        let first = way
            .losses
            .first()
            .map_or_else(String::new, |loss| format!(", the first at {} s", seconds(loss.at)));
        facts.push(format!(
            "lost from {sender} to {receiver}: {} with data, {} without{first}; frames of the \
             {capture}'s capture: {}{more}",
            grouped(way.lost_data),
            grouped(way.lost - way.lost_data),
            named.join(", "),
        ));
    }
    if way.damaged > 0 {
        let damaged = counted(way.damaged as usize, "packet", "packets");
        facts.push(format!(
            "damaged on the way: {damaged} of the lost reached the {receiver} with a wrong \
             checksum, which it drops",
        ));
    }
    if way.retransmissions > 0 {
        let again = grouped(way.retransmissions);
        let spurious = match way.spurious {
            0 => "none spurious".to_owned(),
            1 => "1 spurious: its data had arrived before".to_owned(),
            n => {
                let n = grouped(n);
                format!("{n} spurious: their data had arrived before")
            }
        };
        facts.push(format!("retransmitted by the {sender}: {again}, {spurious}"));
    }
    if way.reordered > 0 {
        facts.push(format!(
            "reordered towards the {receiver}: by up to {} packets; frames of the \
             {other_capture}'s capture: {}",
            grouped(way.out_of_order_max),
            way.reordered_frames.iter().map(|f| grouped(*f)).collect::<Vec<_>>().join(", "),
        ));
    }
    if !way.changes.is_empty() {
        let changes: Vec<String> = way.changes.iter().map(change).collect();
        facts.push(format!(
            "changed on the way from {sender} to {receiver} (frames of the {capture}'s capture): {}",
            changes.join("; "),
        ));
    }
    for (count, what) in [
        (way.not_captured_at_receiver, format!("acknowledged but not captured at the {receiver}")),
        (way.not_captured_at_sender, format!("not captured at the {sender}")),
        (
            way.not_judged,
            format!(
                "from {sender} to {receiver} outside the time that both captures cover, not judged"
            ),
        ),
    ] {
        if count > 0 {
            facts.push(format!("{} {what}", grouped(count)));
        }
    }
    facts
}

/// One kind of change, how many packets it met, and the first of them.
fn change(change: &Change) -> String {
    let Change { field, sent, arrived, packets, frame, .. } = *change;
    let (name, value): (_, fn(u32) -> String) = match field {
        ChangedField::Ttl => ("TTL", |ttl| ttl.to_string()),
        ChangedField::Dscp => ("DSCP", |dscp| dscp.to_string()),
        ChangedField::Ecn => ("ECN", ecn),
        ChangedField::EcnFlags => ("TCP flags", ecn_flags),
        ChangedField::Window => ("window", |_| String::new()),
        ChangedField::Timestamps => ("timestamps", |_| String::new()),
        ChangedField::Sack => ("SACK blocks", |_| String::new()),
        ChangedField::Mss => ("MSS", |mss| mss.to_string()),
        ChangedField::WindowScale => ("window scale", |shift| shift.to_string()),
        ChangedField::SackPermitted => ("SACK-permitted option", |_| String::new()),
        ChangedField::FastOpen => ("Fast Open option", |_| String::new()),
        ChangedField::Multipath => ("Multipath TCP option", |_| String::new()),
    };
    let named = |of: u32| format!("{name} {}", value(of)).trim_end().to_owned();
    let text = match (sent, arrived) {
        (Some(sent), None) => format!("{} removed", named(sent)),
        (None, Some(arrived)) => format!("{} added", named(arrived)),
        (Some(sent), Some(arrived)) if value(sent) != value(arrived) => {
            format!("{} → {}", named(sent), value(arrived))
        }
        _ => format!("{name} rewritten"),
    };
    match packets {
        1 => format!("{text} in frame {}", grouped(frame)),
        n => format!("{text} in {} packets from frame {}", grouped(n), grouped(frame)),
    }
}

fn ecn(codepoint: u32) -> String {
    ["Not-ECT", "ECT(1)", "ECT(0)", "CE"].get(codepoint as usize).copied().unwrap_or("?").to_owned()
}

fn ecn_flags(bits: u32) -> String {
    let names = [(4, "AE"), (2, "CWR"), (1, "ECE")];
    let set: Vec<&str> =
        names.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect();
    if set.is_empty() { "none".into() } else { set.join("+") }
}

fn audited(out: &mut String, audit: &Audit, look: Look) {
    let Audit { losses_found, losses_missed, losses_false, .. } = *audit;
    let lost = losses_found + losses_missed;
    let text = format!(
        "data losses: {} of {} found, {} false positives",
        grouped(losses_found),
        grouped(lost),
        grouped(losses_false),
    );
    look.paragraph(out, "  ", &text);
    let needed = audit.needed + audit.falsely_spurious;
    let spurious = audit.spurious + audit.spurious_unreported;
    let again = needed + spurious + audit.retransmissions_missed;
    let text = format!(
        "retransmissions: {} of {} found, {} false positives; {} necessary ({} of them reported as \
         spurious), {} spurious ({} of them not reported)",
        grouped(needed + spurious),
        grouped(again),
        grouped(audit.retransmissions_false),
        grouped(needed),
        grouped(audit.falsely_spurious),
        grouped(spurious),
        grouped(audit.spurious_unreported),
    );
    look.paragraph(out, "  ", &text);
}
