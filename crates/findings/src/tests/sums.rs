//! Every rule on sums: where it fires, what it states, and without which condition it is silent.

use std::fmt::Write;
use std::net::SocketAddr;

use tcplab_trace::{
    CapturePoint, Close, CloseKind, Connection, ConnectionState, Flow, Handshake, HandshakeKind,
    Limit, Occurrences, Stall, StallCause, StallSum, SynOptions,
};
use tcplab_units::{Bytes, Endpoint, Instant, Rate, Span};

use super::{cases, cases_of_losses, found};
use crate::{RULES, examine};

/// In the order of [`RULES`].
fn all_cases() -> impl Iterator<Item = &'static Case> {
    cases::CASES.iter().chain(cases_of_losses::CASES)
}

/// A change of [`transfer`].
pub(super) struct Case {
    /// The rule; after a comma, which of its conditions.
    pub(super) name: &'static str,
    /// Makes it happen.
    pub(super) fires: fn(&mut Connection),
    /// Each removes a condition of the rule.
    pub(super) silent: &'static [fn(&mut Connection)],
}

impl Case {
    fn rule(&self) -> &'static str {
        self.name.split(", ").next().unwrap()
    }
}

/// 10 MB from the client in 10 s over 24 Mbit/s and 40 ms, captured at the client: no findings.
pub(super) fn transfer() -> Connection {
    let ends = ["10.0.0.1:40000", "10.0.0.2:443"].map(|end| end.parse::<SocketAddr>().unwrap());
    let mut connection = Connection {
        last: at(10_100),
        frames: (1, 9_000),
        packets: 9_000,
        round_trip: Some(ms(40)),
        handshake: handshake(),
        forward: flow(),
        ..Connection::between(ends[0], ends[1])
    };
    connection.life.state = ConnectionState::Sf;
    connection.life.close = Some(closed(CloseKind::Graceful, 10_050));
    connection.reverse.capture_point = CapturePoint::Receiver;
    connection
}

fn handshake() -> Handshake {
    let offers = SynOptions {
        seen: true,
        cut: false,
        mss: Some(1_460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: true,
        window: 64_240,
    };
    Handshake {
        kind: HandshakeKind::ThreeWay,
        syn: Some(at(0)),
        syn_ack: Some(at(40)),
        opened: Some(at(40)),
        round_trip: Some(ms(40)),
        client: offers.clone(),
        server: offers,
        ..Handshake::default()
    }
}

fn flow() -> Flow {
    let mut flow = Flow { capture_point: CapturePoint::Sender, ..Flow::default() };
    let data = Bytes::new(10_000_000);
    (flow.totals.wire_segments, flow.totals.pure_acks) = (6_907, 3_460);
    (flow.totals.data, flow.totals.unique) = (data, data);
    flow.totals.max_in_flight = Bytes::new(60_000);
    flow.marks.largest = Bytes::new(1_448);
    (flow.windows.scale_known, flow.windows.scale_negotiated) = (true, true);
    flow.windows.first = Some(Bytes::new(64_256));
    flow.windows.max = Some(Bytes::new(3_000_000));
    let trips = &mut flow.round_trips;
    trips.by_ack = 3_400;
    (trips.min, trips.median) = (Some(ms(40)), Some(ms(41)));
    (trips.mean, trips.p95) = (Some(ms(41)), Some(ms(45)));
    flow.transfer.time = ms(10_000);
    flow.transfer.acked = data;
    flow.transfer.goodput = Some(mbit(8));
    flow.transfer.capacity = Some(mbit(24));
    limited(&mut flow, &[(Limit::SlowStart, 400), (Limit::Congestion, 9_600)]);
    flow
}

/// Redistributes the time, in milliseconds.
pub(super) fn limited(flow: &mut Flow, times: &[(Limit, u64)]) {
    flow.shares.spans = [Span::ZERO; 7];
    for &(limit, time) in times {
        flow.shares.spans[limit as usize] = ms(time);
    }
}

/// `count` occurrences, one each millisecond, in frames of the same numbers.
pub(super) fn occurred(count: u64, from: u64) -> Occurrences {
    let mut seen = Occurrences::default();
    (from..from + count).for_each(|number| seen.add(at(number), number));
    seen
}

/// `count` stalls with this total and longest time, milliseconds.
pub(super) fn stalls(cause: StallCause, count: u64, time: u64, longest: u64) -> StallSum {
    let (from, until) = (at(2_000), at(2_000 + longest));
    let longest =
        Stall { from, until, frames: (1_700, 1_701), cause, in_flight: Bytes::new(14_480) };
    StallSum { cause, count, time: ms(time), longest }
}

pub(super) fn closed(kind: CloseKind, when: u64) -> Close {
    let by = tcplab_units::Endpoint::Server;
    let is_reset = matches!(kind, CloseKind::Reset | CloseKind::ResetAfterFin);
    Close {
        kind,
        by,
        at: at(when),
        frame: 8_990,
        unread: None,
        reset_by: is_reset.then_some(by),
        reset_at: is_reset.then(|| at(when + 5)),
        reset_frame: is_reset.then_some(8_992),
        reset_ttls: None,
        idle: None,
        refused: None,
        reopened: None,
    }
}

pub(super) fn ms(n: u64) -> Span {
    Span::from_millis(n)
}
pub(super) fn at(n: u64) -> Instant {
    Instant::ZERO + ms(n)
}
pub(super) fn mbit(n: u64) -> Rate {
    Rate::from_bits_per_second(n * 1_000_000)
}

fn with(steps: &[fn(&mut Connection)]) -> Connection {
    let mut connection = transfer();
    for step in steps {
        step(&mut connection);
    }
    connection
}

#[test]
fn healthy_transfer_no_findings() {
    assert_eq!(examine(&transfer()), []);
}

#[test]
fn rules_of_sums_all_have_cases() {
    for rule in RULES.iter().filter(|rule| !rule.needs_packets) {
        assert!(all_cases().any(|case| case.rule() == rule.name), "{}", rule.name);
    }
}

#[test]
fn cases_each_rule_fires_with_frames() {
    let mut text = String::new();
    for case in all_cases() {
        let connection = with(&[case.fires]);
        let findings = found(case.rule(), &connection);
        let [finding] = findings.as_slice() else { panic!("{}: {findings:#?}", case.name) };
        assert_eq!(finding.rule, case.rule());
        assert!(!finding.frames.is_empty(), "{}", case.name);
        let cost = (finding.cost.time, finding.cost.bytes);
        let _ = writeln!(text, "{} ({:?}, {} and {})", case.name, finding.severity, cost.0, cost.1);
        let _ = writeln!(text, "  {}", finding.statement);
        let _ = writeln!(text, "  → {}", finding.remedy.as_deref().unwrap_or("(nothing to do)"));
        let _ =
            writeln!(text, "  frames {:?}, from {} on\n", finding.frames, finding.at.as_secs_f64());
    }
    insta::assert_snapshot!(text);
}

#[test]
fn cases_without_condition_stay_silent() {
    for case in all_cases() {
        for (index, &silent) in case.silent.iter().enumerate() {
            let findings = found(case.rule(), &with(&[case.fires, silent]));
            assert_eq!(findings, [], "{}, number {index}", case.name);
        }
        assert!(!case.silent.is_empty(), "{}", case.name);
    }
}

/// Rules find the same in both directions, except those on what only a server does.
#[test]
fn cases_reversed_same_findings() {
    const OF_SERVERS: [&str; 3] = ["slow-answers", "chatty-application", "accept-queue"];
    for case in all_cases().filter(|case| !OF_SERVERS.contains(&case.rule())) {
        let forward = with(&[case.fires]);
        let mut reverse = forward.clone();
        std::mem::swap(&mut reverse.forward, &mut reverse.reverse);
        std::mem::swap(&mut reverse.handshake.client, &mut reverse.handshake.server);
        let handshake = &mut reverse.handshake;
        std::mem::swap(&mut handshake.client_repeats, &mut handshake.server_repeats);
        std::mem::swap(&mut reverse.life.client, &mut reverse.life.server);
        if let Some(close) = &mut reverse.life.close {
            close.by = close.by.other();
            close.reset_by = close.reset_by.map(Endpoint::other);
        }
        if let Some(forged) = &mut reverse.life.forged_reset {
            forged.by = forged.by.other();
        }
        let (there, back) = (found(case.rule(), &forward), found(case.rule(), &reverse));
        assert_eq!(there.len(), back.len(), "{}", case.name);
        for (there, back) in there.iter().zip(&back) {
            assert_eq!((there.severity, there.cost), (back.severity, back.cost));
            assert_eq!((&there.frames, there.at), (&back.frames, back.at));
        }
    }
}
