//! Texts of connections, at two widths.

use std::net::SocketAddr;
use std::path::Path;
use tcplab_findings::{Cost, Finding, Severity};
use tcplab_trace::{
    Connection, ConnectionState, Fate, FlowId, HandshakeKind, LadderLine, Limit, LimitShares, Note,
    OtherPackets, Sink, Stall, StallCause, StallSum,
};
use tcplab_units::{Bytes, Instant, Span};

use super::*;

mod joined;
mod packets;
mod shares;

const NARROW: Look = Look { width: 80, colours: false };
const WIDE: Look = Look { width: 120, colours: false };

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}
fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}
fn end(text: &str) -> SocketAddr {
    text.parse().unwrap()
}
/// A real upload through an interruption.
fn captured() -> Connection {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let capture = tcplab_capture::open(corpus.join("blackout.snd.pcap.zst")).unwrap();
    tcplab_trace::analyze(capture).connections.swap_remove(1)
}

/// An upload of ten seconds with a timeout, limited by the congestion window.
fn upload() -> Connection {
    let mut upload = Connection {
        last: at(10_000),
        frames: (1, 12_034),
        packets: 12_034,
        ..Connection::between(end("10.98.0.1:52188"), end("10.98.0.2:5201"))
    };
    upload.life.state = ConnectionState::Sf;
    let flow = &mut upload.forward;
    flow.totals.data = Bytes::new(11_584_000);
    flow.totals.unique = Bytes::new(11_439_200);
    flow.totals.retransmitted = Bytes::new(144_800);
    flow.transfer.time = ms(9_950);
    let shares = &mut flow.shares.spans;
    for (limit, time) in
        [(Limit::SlowStart, 475), (Limit::Congestion, 8_775), (Limit::Timeout, 700)]
    {
        shares[limit as usize] = ms(time);
    }
    let longest = Stall {
        from: at(3_600),
        until: at(4_300),
        frames: (3_999, 4_000),
        cause: StallCause::TailLoss,
        in_flight: Bytes::new(2_896),
    };
    let sum = StallSum { cause: StallCause::TailLoss, count: 1, time: ms(700), longest };
    flow.stall_sums = vec![sum];
    upload
}

/// Refused by an RST.
fn refused() -> Connection {
    let mut refused = Connection {
        first: at(100),
        last: at(101),
        packets: 2,
        ..Connection::between(end("[fd00::1]:40000"), end("[fd00::2]:81"))
    };
    refused.life.state = ConnectionState::Rej;
    refused.handshake.kind = HandshakeKind::Refused;
    refused
}
/// A quick download without loss.
fn download() -> Connection {
    let mut download = Connection {
        first: at(200),
        last: at(260),
        packets: 9,
        ..Connection::between(end("10.98.0.1:52190"), end("10.98.0.2:80"))
    };
    download.life.state = ConnectionState::Sf;
    download.reverse.totals.data_segments = 3;
    (download.reverse.totals.segments, download.reverse.totals.wire_segments) = (4, 4);
    download.reverse.totals.data = Bytes::new(4_000);
    download.reverse.totals.unique = Bytes::new(4_000);
    let mut spans = [Span::ZERO; 7];
    spans[Limit::Application as usize] = ms(60);
    download.reverse.shares = LimitShares { spans, ..LimitShares::default() };
    download
}
fn summary(connections: impl IntoIterator<Item = Connection>, keep: usize) -> Summary {
    summary_of(connections, usize::MAX, keep)
}
fn summary_of(
    connections: impl IntoIterator<Item = Connection>,
    most: usize,
    keep: usize,
) -> Summary {
    let mut summary = Summary::new(most, keep);
    for (index, connection) in connections.into_iter().enumerate() {
        summary.connection(index, &connection);
    }
    summary
}
fn worst(summary: &Summary) -> Vec<usize> {
    summary.worst().iter().map(|(index, _)| *index).collect()
}
fn head() -> CaptureHead {
    let note = |frame, text: &str| Note { frame, text: text.into() };
    let frames = (3..20).map(|frame| note(Some(frame), "unexpected IP version 7"));
    CaptureHead {
        names: vec!["web.pcap.zst".into()],
        packets: 12_200,
        others: [("UDP", 1_200), ("ARP", 3), ("IGMP", 2), ("LLDP", 2), ("GRE", 1)]
            .map(|(protocol, packets)| OtherPackets { protocol: protocol.into(), packets })
            .into(),
        started: Some(1_772_357_400_000_000_000),
        lasted: ms(10_000),
        links: vec!["Ethernet, 128 B of each packet".into()],
        filter: None,
        notes: [note(None, "interface eth0 dropped 12 packets: they are not here")]
            .into_iter()
            .chain(frames)
            .collect(),
    }
}
fn finding(rule: &'static str, at_millis: u64) -> Finding {
    Finding {
        rule,
        severity: Severity::Harm,
        cost: Cost::default(),
        statement: "The receive window held the transfer back for 48 % of its time.".into(),
        remedy: Some("Raise SO_RCVBUF, or remove the fixed size so that autotuning works.".into()),
        frames: vec![12, 4_000],
        at: at(at_millis),
    }
}

#[test]
fn rows_are_sorted_by_time_lost() {
    let summary = summary(vec![download(), refused(), upload()], 5);
    let order: Vec<usize> = summary.by_loss().iter().map(|row| row.index).collect();
    assert_eq!(order, [2, 1, 0]);
    // The limits other than path and application.
    let lost: Vec<Span> = summary.by_loss().iter().map(|row| row.lost).collect();
    assert_eq!(lost, [ms(9_950), ms(1_001), Span::ZERO]);
    assert_eq!(worst(&summary), [2, 1, 0]);
    assert_eq!(summary.lasted(), ms(10_000));
}

#[test]
fn time_lost_is_the_longest_of_limits_stalls_and_late_data() {
    let mut connection = upload();
    let lost = |connection: &Connection| Row::lost_by(connection);
    assert_eq!(lost(&connection), ms(9_950));
    connection.forward.shares = LimitShares::default();
    assert_eq!(lost(&connection), ms(700));
    connection.forward.stall_sums[0].cause = StallCause::SenderIdle;
    assert_eq!(lost(&connection), Span::ZERO);
    // A hundred segments came a round trip later; the other hundred had arrived.
    connection.forward.totals.retransmissions = 200;
    connection.forward.causes.spurious.sent.count = 100;
    connection.forward.round_trips.min = Some(ms(20));
    connection.forward.shares.spans[Limit::Path as usize] = ms(9_950);
    assert_eq!(lost(&connection), ms(2_000));
    // Not longer than anything was in flight.
    connection.forward.shares.spans[Limit::Path as usize] = ms(1_500);
    assert_eq!(lost(&connection), ms(1_500));
}

#[test]
fn summary_keeps_the_worst_connections_whole() {
    let lasting = |millis: u64| {
        let mut connection = refused();
        connection.last = at(100 + millis);
        connection
    };
    let summary = summary([5, 9, 1, 9, 7].map(lasting), 3);
    assert_eq!((summary.by_loss().len(), worst(&summary)), (5, vec![1, 3, 4]));
}

#[test]
fn summary_drops_rows_that_are_not_shown_and_counts_all() {
    let lasting = |number: u64| {
        let mut connection = refused();
        connection.last = at(100 + number * 7 % 500);
        connection
    };
    let (some, all) = (summary_of((0..500).map(lasting), 3, 0), summary((0..500).map(lasting), 0));
    assert_eq!(some.by_loss(), all.by_loss()[..3]);
    assert_eq!((some.totals(), some.lasted()), (all.totals(), all.lasted()));
    assert_eq!(some.totals().connections, 500);
}

#[test]
fn summary_fits_any_width() {
    let connections = vec![download(), refused(), captured()];
    let findings = vec![
        (
            2,
            vec![
                finding("window-limited", 1),
                finding("window-limited", 2),
                finding("window-limited", 3),
            ],
        ),
        (1, vec![]),
    ];
    let text = |look, top| {
        summary_text(&head(), &summary_of(connections.clone(), top, 5), &findings, look)
    };
    for (look, top) in [(NARROW, 20), (WIDE, 2)] {
        let text = text(look, top);
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(look.width), "{longest:?}");
        insta::assert_snapshot!(format!("summary_{}", look.width), text);
    }
    let coloured = text(Look { colours: true, ..WIDE }, 2);
    let plain: String = coloured
        .split('\x1b')
        .enumerate()
        .map(|(n, part)| if n == 0 { part } else { part.split_once('m').unwrap().1 })
        .collect();
    assert_eq!(plain, text(WIDE, 2), "colours change nothing but colours");
    assert!(coloured.contains("\x1b[31mrefused\x1b[0m"));
}

#[test]
fn capture_without_connections_says_so() {
    let nothing = CaptureHead { names: vec!["empty.pcap".into()], ..CaptureHead::default() };
    let udp = CaptureHead { packets: 1, ..nothing.clone() };
    let text = |head| summary_text(&head, &Summary::default(), &[], NARROW);
    assert_eq!(text(nothing), "empty.pcap\n0 packets\n\nThe capture has no packets.\n");
    assert_eq!(text(udp), "empty.pcap\n1 packet\n\nNo TCP packet found.\n");
}

#[test]
fn control_characters_are_replaced() {
    let mut head = head();
    head.names = vec!["a\x1b[2Jb".into()];
    head.notes.push(Note { frame: None, text: "\x07 bell".into() });
    let text = summary_text(&head, &Summary::default(), &[], NARROW);
    assert!(!text.contains(['\x1b', '\x07']), "{text}");
}

#[test]
fn a_connection_in_depth() {
    let text = connection_text(2, &captured(), &[finding("window-limited", 1)], NARROW);
    insta::assert_snapshot!(text);
    // A failed connection has few numbers, and no division by zero.
    insta::assert_snapshot!(connection_text(1, &refused(), &[], NARROW));
}

#[test]
fn a_late_first_request_is_named() {
    let first = |waited: Option<Span>| {
        let mut captured = captured();
        captured.forward.marks.greeting = waited;
        connection_text(2, &captured, &[], NARROW)
    };
    let line = "  first data  1.34 s after the handshake\n";
    assert!(first(Some(ms(1_344))).contains(line), "{}", first(Some(ms(1_344))));
    assert!(!first(None).contains("first data  "));
}

#[test]
fn a_ladder_has_its_notes_beside_or_below() {
    let line =
        |millis, frame, from_sender, label: &str, fate, note: Option<&str>, folded| LadderLine {
            at: at(millis),
            until: at(millis),
            frame,
            from_sender,
            label: label.into(),
            fate,
            note: note.map(str::to_owned),
            folded,
        };
    let lines = [
        line(0, 8, true, "9836918:9838366(1448)", Fate::Arrived, None, 0),
        line(1, 9, true, "… 84 more segments, lost", Fate::Lost, None, 84),
        line(
            20,
            94,
            false,
            "ack 9838366 SACK 9899182-9900630",
            Fate::Arrived,
            Some("first SACK"),
            0,
        ),
        line(520, 95, true, "9838366:9839814(1448)", Fate::Lost, Some("retransmission timeout"), 0),
        line(521, 96, false, "ack 9838366", Fate::Lost, None, 0),
    ];
    let view = LadderView { sender: "10.98.0.1:52188", receiver: "10.98.0.2:5201", lines: &lines };
    let texts = [60, 80, 120].map(|width| ladder_text(view, Look { width, colours: false }));
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn silence_is_said_only_where_no_packet_lies() {
    let line = |millis, until, folded| LadderLine {
        at: at(millis),
        until: at(until),
        frame: millis,
        from_sender: true,
        label: "data".into(),
        fate: Fate::Arrived,
        note: None,
        folded,
    };
    let silences = |until| {
        let lines = [line(0, 0, 0), line(1, until, 50), line(2, 2, 0), line(60, 60, 0)];
        let text = ladder_text(
            LadderView { sender: "a", receiver: "b", lines: &lines },
            Look { width: 80, colours: false },
        );
        let said = text.lines().filter(|line| line.contains("of silence"));
        said.map(|line| line.trim_matches([' ', '⋮']).to_owned()).collect::<Vec<_>>()
    };
    // The packets that are folded reach up to the next, or end before it.
    assert!(silences(59).is_empty());
    assert_eq!(silences(10), ["50 ms of silence"]);
}

#[test]
fn chosen_connections_keep_their_packets() {
    for (mut sink, kept) in [
        (Chosen::new([1, 7]), vec![1]),
        (Chosen::all(), vec![0, 1, 2]),
        (Chosen::default(), vec![]),
    ] {
        for (index, connection) in vec![upload(), refused(), download()].into_iter().enumerate() {
            let stall = connection.forward.stall_sums.first().map(|sum| sum.longest);
            if let Some(stall) = stall {
                sink.stall(FlowId { connection: index, forward: true }, stall);
            }
            sink.connection(index, &connection);
        }
        assert_eq!(sink.seen(), 3);
        let connections = sink.into_connections();
        let places: Vec<usize> = connections.iter().map(|(index, _)| *index).collect();
        assert_eq!(places, kept);
        for (index, connection) in connections {
            assert_eq!(connection.forward.stalls.len(), usize::from(index == 0));
        }
    }
}
