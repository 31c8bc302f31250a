//! Foreign text where people see it: on a terminal and in pages.

use tcplab_findings::examine;
use tcplab_report::coloured;
use tcplab_report::states::walks_text;
use tcplab_report::trace::{
    CaptureHead, LadderView, Look, Summary, connection_text, ladder_text, notes_text, summary_text,
};
use tcplab_trace::{Analyzer, Connection, Note, OtherPackets, StateWalks, Trace, ladder, listing};
use tcplab_units::visible;

/// A capture with losses, repaired.
const CAPTURE: &[u8] = include_bytes!("../../corpus/trace/hole.pcap");
/// Foreign texts in the input have these between them.
const BETWEEN: char = '\0';

/// The colours of tcplab, in SGR (ECMA-48 8.3.117): none, strong, dim, bad, odd.
const COLOURS: [&str; 5] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m"];

/// Comments of packets and names of files, filters, protocols and notes, in all texts about a
/// capture.
pub(crate) fn terminal(bytes: &[u8]) {
    let input = String::from_utf8_lossy(bytes);
    let mut texts = input.split(BETWEEN).cycle().map(str::to_owned);
    let mut text = || texts.next().unwrap_or_default();
    let trace = commented(&mut text);
    let notes = vec![Note { frame: None, text: text() }, Note { frame: Some(7), text: text() }];
    let head = CaptureHead {
        names: vec![text(), text()],
        packets: trace.packets,
        others: vec![OtherPackets { protocol: text(), packets: 3 }],
        links: vec![text()],
        filter: Some(text()),
        notes,
        ..CaptureHead::default()
    };
    let mut summary = Analyzer::with_sink(Summary::new(20, 3));
    summary.read(tcplab_capture::Reader::new(CAPTURE).expect("it is a capture"));
    let summary = summary.finish_into().1;
    check(|look| notes_text(&head.notes, look));
    for connection in &trace.connections {
        let findings = examine(connection);
        check(|look| summary_text(&head, &summary, &[(0, findings.clone())], look));
        check(|look| connection_text(0, connection, &findings, look));
        check(|_| listing(0, connection, None));
        check(|_| walks_text(&StateWalks::of(connection), &[]));
        let (sender, receiver) = (text(), text());
        for episode in &connection.forward.episodes {
            let lines = ladder(&connection.forward, episode);
            let view = LadderView { sender: &sender, receiver: &receiver, lines: &lines };
            check(|look| ladder_text(view, look));
        }
    }
}

/// The capture with a comment at every packet.
fn commented(text: &mut impl FnMut() -> String) -> Trace {
    let mut copy = Vec::new();
    tcplab_capture::annotate(CAPTURE, &mut copy, |_| Some(text())).expect("it is a capture");
    let reader = tcplab_capture::Reader::new(&copy[..]).expect("it is a capture");
    let trace = tcplab_trace::analyze(reader);
    assert!(trace.connections.iter().any(has_comments));
    trace
}

fn has_comments(connection: &Connection) -> bool {
    connection.forward.segments.iter().any(|segment| segment.comment.is_some())
}

/// A text is harmless before anything filters it, and whole with colours.
fn check(text: impl Fn(Look) -> String) {
    let text = |colours| text(Look { colours, ..Look::default() });
    assert_harmless(&text(false));
    let shown = coloured(text, true);
    let shown = COLOURS.iter().fold(shown, |shown, colour| shown.replace(colour, ""));
    assert_eq!(shown, text(false), "colours change nothing else");
}

/// Nothing in the text steers a terminal.
pub(crate) fn assert_harmless(text: &str) {
    assert_eq!(visible(text), text);
}
