//! Captures, the frames in them, and which of these to look at.

use std::io::Cursor;

use tcplab_capture::{ReadError, Reader, Source};
use tcplab_trace::{
    Ack, Analyzer, Connection, DisplayFilter, Explanations, Filter, Flow, FlowId, Frame, Segment,
    Sink, Trace, ladder, listing,
};
use tcplab_units::{Probe, Span};
use tcplab_wire::{FrameView, LinkType, TcpPacket};

/// More of what a compressed file holds is not read: a small file may unfold to any size.
const MOST_RECORDS: u64 = 200_000;

/// The bytes as a file is opened: pcapng or pcap, compressed or not.
fn open(bytes: &[u8]) -> Result<Reader<Source>, ReadError> {
    let stream = Box::new(Cursor::new(bytes.to_vec()));
    let source =
        Source::new(stream, None).map_err(|source| ReadError::Io { records: 0, source })?;
    Reader::new(source)
}

/// A capture file in any of its forms.
pub(crate) fn capture(bytes: &[u8]) {
    let mut reader = match open(bytes) {
        Ok(reader) => reader,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    while reader.records() < MOST_RECORDS {
        match reader.next_record() {
            Ok(Some(record)) => {
                let _ = (record.comments().count(), record.direction(), record.time);
            }
            Ok(None) => break,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert!(matches!(reader.next_record(), Ok(None)), "an error is the last answer");
                break;
            }
        }
    }
    assert_eq!(reader.interfaces().len(), reader.statistics().len());
}

/// A capture copied with comments: of the copy as much can be read as of the original.
pub(crate) fn annotate(bytes: &[u8]) {
    let mut copy = Vec::new();
    let say = |number: u64| (number % 2 == 1).then(|| format!("frame {number}"));
    let Ok(done) = tcplab_capture::annotate(bytes, &mut copy, say) else { return };
    let (before, was_whole) = readable(bytes);
    let (after, is_whole) = readable(&copy);
    assert_eq!(
        (before, done.broken.is_some() || was_whole),
        (after, done.broken.is_some() || is_whole)
    );
}

/// How many records can be read, and whether that is all.
fn readable(bytes: &[u8]) -> (u64, bool) {
    let Ok(mut reader) = Reader::new(bytes) else { return (0, false) };
    loop {
        match reader.next_record() {
            Ok(Some(_)) => {}
            Ok(None) => return (reader.records(), true),
            Err(_) => return (reader.records(), false),
        }
    }
}

/// One frame: two bytes say of what link, two how much longer it was, the rest is the frame.
pub(crate) fn wire(bytes: &[u8]) {
    if let Some(probe) = Probe::read(bytes) {
        assert_eq!(probe.bytes(), bytes);
    }
    let [link_low, link_high, more_low, more_high, frame @ ..] = bytes else { return };
    let link = LinkType::from_number(u16::from_le_bytes([*link_low, *link_high]));
    let more = u32::from(u16::from_le_bytes([*more_low, *more_high]));
    let original_len = frame.len() as u32 + more;
    let view = FrameView::new(link, frame, original_len);
    let _ = view.anomaly().map(|anomaly| anomaly.to_string());
    if let Some(ip) = view.ip() {
        assert!(ip.bytes().len() <= frame.len() && ip.payload().len() <= ip.bytes().len());
        let _ = (ip.src(), ip.dst(), ip.id(), ip.ttl(), ip.ecn(), ip.fragment(), ip.protocol());
        let _ = (ip.dscp(), ip.is_whole(), ip.header_checksum_is_right(), ip.payload_len());
    }
    // The short way must see what the long one sees.
    let plain = TcpPacket::of_plain_frame(link, frame, original_len);
    if let (Some(plain), Some(full)) = (&plain, &view.tcp()) {
        assert_eq!(facts(plain), facts(full));
    } else {
        assert!(plain.is_none(), "only the short way sees TCP");
    }
    if let Some(tcp) = view.tcp() {
        let _ = facts(&tcp);
        assert!(tcp.payload().len() as u64 <= u64::from(tcp.payload_len()));
        let _ = (tcp.checksum_state(), tcp.anomaly(), tcp.sequence_len(), tcp.urgent_pointer());
    }
}

/// What matters of a segment, as text.
fn facts(tcp: &TcpPacket<'_>) -> String {
    let options: Vec<_> = tcp.options().collect();
    format!(
        "{} {} {:?} {:?} {:?} {} {} {} {options:?} {:?} {:?}",
        tcp.src(),
        tcp.dst(),
        tcp.seq(),
        tcp.ack(),
        tcp.flags(),
        tcp.window(),
        tcp.payload_len(),
        tcp.data_offset(),
        tcp.options_complete(),
        tcp.ecn(),
    )
}

/// A whole capture, analysed: with everything kept, in sums only, and explained frame by frame.
pub(crate) fn trace(bytes: &[u8]) {
    // What unfolds to more is for the target of capture files.
    if matches!(bytes, [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..]) {
        return;
    }
    let Ok(reader) = Reader::new(bytes) else { return };
    let whole = tcplab_trace::analyze(reader);
    check(&whole);
    for connection in &whole.connections {
        tcplab_findings::examine(connection);
    }
    let mut sums = Analyzer::with_sink(Sums(0));
    sums.read(Reader::new(bytes).expect("it was a capture before"));
    let (trace, Sums(connections)) = sums.finish_into();
    assert_eq!(trace.packets, whole.packets);
    assert!(connections <= whole.connections.len().max(trace.packets as usize));
    let mut explained = Analyzer::with_sink(Explanations::new());
    explained.read(Reader::new(bytes).expect("it was a capture before"));
    let (trace, explanations) = explained.finish_into();
    for frame in 1..=trace.packets {
        let _ = explanations.of(frame);
    }
}

fn check(trace: &Trace) {
    for connection in &trace.connections {
        listing(0, connection, None);
        assert!(connection.first <= connection.last && connection.packets <= trace.packets);
        for flow in [&connection.forward, &connection.reverse] {
            check_flow(flow);
        }
    }
}

fn check_flow(flow: &Flow) {
    let totals = &flow.totals;
    assert!(totals.unique <= totals.data && totals.retransmitted <= totals.data);
    let sum: u64 = flow.segments.iter().map(|segment| segment.payload.as_u64()).sum();
    assert_eq!(sum, totals.data.as_u64());
    for episode in &flow.episodes {
        assert!(!episode.lost.is_empty());
        assert!(ladder(flow, episode).len() <= 40);
    }
}

/// Wants no packets, and counts connections.
#[derive(Debug)]
struct Sums(usize);

impl Sink for Sums {
    fn wants_packets(&self) -> bool {
        false
    }
    fn segment(&mut self, _: FlowId, _: Segment) {
        panic!("no packets are wanted");
    }
    fn ack(&mut self, _: FlowId, _: Ack) {
        panic!("no packets are wanted");
    }
    fn connection(&mut self, _: usize, _: &Connection) {
        self.0 += 1;
    }
}

pub(crate) fn filter(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    match Filter::parse(text) {
        Ok(filter) => {
            let ends = ["10.0.0.1:443", "[fd00::1]:22"].map(|end| end.parse().expect("an address"));
            for ends in [None, Some(ends)] {
                filter.admits(ends, Span::from_millis(1_500));
            }
            let packet = Frame::whole(0, LinkType::RawIp, text.as_bytes());
            filter.admits_frame(&packet, Span::ZERO);
            assert_eq!(filter.to_string(), text);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    match DisplayFilter::parse(text) {
        Ok(filter) => assert_eq!(filter.to_string(), text),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
