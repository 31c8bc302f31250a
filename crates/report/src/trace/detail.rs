//! One connection in depth.

use std::fmt::Write;
use tcplab_findings::{Finding, story};
use tcplab_quantities as q;
use tcplab_trace::{
    Close, CloseKind, Connection, EcnAgreement, FastOpen, Handshake, HandshakeKind, Roles,
    StateStep, SynOptions,
};
use tcplab_units::Bytes;
use tcplab_units::rounded::{bytes, grouped};

use super::flow;
use super::numbers::{or_unknown, seconds, span};
use super::row::Standing;
use super::summary::write_findings;
use crate::grid::{Cell, Grid, Look, Side, Style};

/// Everything about connection `index`: how it opened and closed, each direction, findings.
pub fn connection_text(
    index: usize,
    connection: &Connection,
    findings: &[Finding],
    look: Look,
) -> String {
    let mut out = String::new();
    let Connection { client, server, .. } = connection;
    look.heading(&mut out, &format!("Connection {index}, {client} → {server}"));
    let (first, last) = connection.frames;
    let text = format!(
        "{} packets in {}, frames {} to {}, {} s to {} s",
        grouped(connection.packets),
        span(connection.last.since(connection.first)),
        grouped(first),
        grouped(last),
        seconds(connection.first),
        seconds(connection.last),
    );
    look.paragraph(&mut out, "  ", &text);
    if let Some(before) = connection.reuses {
        let text = format!("reuses the addresses and ports of connection {before}");
        look.paragraph(&mut out, "  ", &text);
    }
    out.push('\n');
    handshake(&mut out, connection, look);
    life(&mut out, connection, look);
    for (flow, sender, receiver, from, to) in [
        (&connection.forward, "client", "server", client, server),
        (&connection.reverse, "server", "client", server, client),
    ] {
        out.push('\n');
        look.heading(&mut out, &format!("From {sender} to {receiver}, {from} → {to}"));
        flow::write(&mut out, flow, look);
    }
    out.push('\n');
    look.heading(&mut out, "Findings");
    // The section above lists the episodes.
    let flows = [&connection.forward, &connection.reverse];
    let stories: Vec<String> =
        flows.iter().flat_map(|flow| flow.episodes.iter().map(|e| story(e, flow))).collect();
    let others: Vec<&Finding> =
        findings.iter().filter(|finding| !stories.contains(&finding.statement)).collect();
    if others.is_empty() {
        look.paragraph(&mut out, "  ", "No further findings.");
    }
    write_findings(&mut out, &others, look);
    out
}

fn handshake(out: &mut String, connection: &Connection, look: Look) {
    let handshake = &connection.handshake;
    look.heading(out, "Handshake");
    let kind = match handshake.kind {
        HandshakeKind::Unseen => "not captured: the capture starts later",
        HandshakeKind::Unanswered => "SYN without answer",
        HandshakeKind::Refused => "SYN, answered by RST",
        HandshakeKind::HalfOpen => "SYN, SYN-ACK, no ACK: half-open",
        HandshakeKind::ThreeWay => "SYN, SYN-ACK, ACK",
        HandshakeKind::Simultaneous => "SYN from both endpoints: simultaneous open",
        HandshakeKind::Split => "server sent SYN and ACK separately: split handshake",
    };
    let kind = match connection.one_way {
        Some(end) if handshake.kind != HandshakeKind::Unseen => {
            format!("only the {}'s packets were captured", end.name())
        }
        _ => kind.to_owned(),
    };
    let mut facts = vec![kind];
    match connection.roles {
        Roles::BySyn => {}
        Roles::ByPorts => facts.push("client and server are a guess from the ports".into()),
        Roles::ByFirstPacket => {
            facts.push("the end that sent the first packet is taken for the client".into());
        }
    }
    let steps = [("SYN", handshake.syn), ("SYN-ACK", handshake.syn_ack), ("ACK", handshake.opened)];
    let times: Vec<String> = steps
        .into_iter()
        .filter_map(|(what, at)| Some(format!("{what} {} s", seconds(at?))))
        .collect();
    if !times.is_empty() {
        facts.push(times.join(", "));
    }
    if let Some(round_trip) = handshake.round_trip {
        facts.push(format!("RTT {}", span(round_trip)));
    }
    for (repeats, what) in
        [(handshake.client_repeats, "SYN"), (handshake.server_repeats, "SYN-ACK")]
    {
        match repeats {
            0 => {}
            1 => facts.push(format!("{what} retransmitted once")),
            n => facts.push(format!("{what} retransmitted {n} times")),
        }
    }
    look.paragraph(out, "  ", &facts.join("; "));
    options(out, handshake, look);
    let mut more = Vec::new();
    match handshake.ecn {
        EcnAgreement::Unknown => {}
        EcnAgreement::NotAsked => more.push("ECN not requested".to_owned()),
        EcnAgreement::GivenUp => {
            more.push("ECN requested and given up: only a SYN without it was answered".to_owned());
        }
        EcnAgreement::Refused => more.push("ECN requested and refused".to_owned()),
        EcnAgreement::Classic => more.push("ECN (RFC 3168)".to_owned()),
        EcnAgreement::Accurate => more.push("accurate ECN (RFC 9768)".to_owned()),
    }
    if handshake.multipath {
        more.push("multipath TCP (RFC 8684; version 0: RFC 6824)".to_owned());
    }
    more.extend(handshake.fast_open.as_ref().map(fast_open));
    if !more.is_empty() {
        look.paragraph(out, "  ", &more.join("; "));
    }
}

fn fast_open(open: &FastOpen) -> String {
    let asked = match (open.cookie_sent, open.cookie_given) {
        (true, _) => "cookie sent",
        (false, true) => "cookie requested and given",
        (false, false) => "cookie requested",
    };
    let mut text = format!("TCP Fast Open: {asked}");
    if open.data > Bytes::ZERO {
        let taken = if open.accepted { "accepted" } else { "not accepted" };
        text += &format!(", {} in the SYN, {taken}", bytes(open.data));
    }
    if open.given_up {
        text += ", given up: only a SYN without it was answered";
    }
    text
}

const OPTION_COLUMNS: [Side; 6] =
    [Side::Left, Side::Right, Side::Right, Side::Left, Side::Left, Side::Right];

fn options(out: &mut String, handshake: &Handshake, look: Look) {
    if !handshake.client.seen && !handshake.server.seen {
        return;
    }
    let mut grid = Grid::new(&OPTION_COLUMNS);
    let columns = [
        q::CLIENT_MSS_BYTES,
        q::CLIENT_WINDOW_SCALE,
        q::CLIENT_SACK_PERMITTED,
        q::CLIENT_TIMESTAMPS,
        q::CLIENT_SYN_WINDOW_BYTES,
    ];
    let [mss, scale, sack, timestamps, window] = columns.map(|it| it.label_under("client's"));
    grid.head(&["", mss, scale, sack, timestamps, window]);
    for (end, options) in [("client", &handshake.client), ("server", &handshake.server)] {
        grid.row(option_row(end, options));
    }
    grid.write(out, 2, look);
    if handshake.client.cut || handshake.server.cut {
        look.paragraph(out, "  ", "The capture truncates the options: some may be missing.");
    }
}

fn option_row(end: &str, options: &SynOptions) -> Vec<Cell> {
    if !options.seen {
        return [Cell::new(end), Cell::styled("not captured", Style::Dim)].to_vec();
    }
    let yes = |offered: bool| match (offered, options.cut) {
        (true, _) => "yes",
        (false, true) => "unknown",
        (false, false) => "no",
    };
    vec![
        end.into(),
        or_unknown(options.mss, |mss| mss.to_string()).into(),
        or_unknown(options.window_scale, |shift| shift.to_string()).into(),
        yes(options.sack_permitted).into(),
        yes(options.timestamps).into(),
        options.window.to_string().into(),
    ]
}

fn life(out: &mut String, connection: &Connection, look: Look) {
    let life = &connection.life;
    let mut facts = vec![match Standing::of(connection) {
        Standing::Failed => "never opened".to_owned(),
        Standing::Midstream => {
            format!("opened before the capture; {}", close(life.close.as_ref()))
        }
        Standing::OneWay => "only one direction was captured".to_owned(),
        Standing::Whole => close(life.close.as_ref()),
    }];
    // Zeek's letters.
    let state = format!("{:?}", life.state).to_uppercase();
    let history = match life.history.as_str() {
        "" => String::new(),
        letters => format!(", history {letters}"),
    };
    facts.push(format!("Zeek's state {state}{history}"));
    match life.after_close {
        0 => {}
        1 => facts.push("1 packet after the close".into()),
        n => facts.push(format!("{} packets after the close", grouped(n))),
    }
    look.heading(out, "Lifetime");
    look.paragraph(out, "  ", &facts.join("; "));
    for (end, steps) in [("client", &life.client), ("server", &life.server)] {
        if !steps.is_empty() {
            let walk: Vec<String> = steps.iter().map(step).collect();
            look.paragraph(out, &format!("  {end}  "), &walk.join(" → "));
        }
    }
}

fn close(close: Option<&Close>) -> String {
    let Some(close) = close else { return "still open at the end of the capture".into() };
    let by = close.by.name();
    let what = match close.kind {
        CloseKind::Graceful => "closed by FINs, first by the",
        CloseKind::Simultaneous => "closed by FINs that crossed (simultaneous close), first by the",
        CloseKind::HalfClosed => "half-closed, by the",
        CloseKind::Reset => "reset by the",
        CloseKind::ResetAfterFin => "closed by FIN by the",
    };
    let mut text =
        format!("{what} {by} at {} s (frame {})", seconds(close.at), grouped(close.frame));
    if close.kind == CloseKind::ResetAfterFin
        && let (Some(by), Some(at), Some(frame)) =
            (close.reset_by, close.reset_at, close.reset_frame)
    {
        let (by, frame) = (by.name(), grouped(frame));
        let _ = write!(text, "; reset by the {by} at {} s (frame {frame})", seconds(at));
    }
    if let Some(unread) = close.unread.filter(|unread| *unread > Bytes::ZERO) {
        let _ = write!(text, ", with {} received but not read", bytes(unread));
    }
    text
}

fn step(step: &StateStep) -> String {
    format!("{} {} #{}", step.state.name(), seconds(step.at), step.frame)
}
