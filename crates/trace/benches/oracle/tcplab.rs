//! tcplab's analyser.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use tcplab_trace::{Connection, Proof, SegmentKind, Trace, analyze};
use tcplab_units::Span;
use tcplab_wire::{Anomaly, FrameView, LinkType, TcpFlags, TcpPacket};

use super::found::{Found, FrameFacts, Oddity, Packet};

/// What tcplab finds, and its notes on the capture; none if it cannot read the file.
pub(crate) fn find(path: &Path) -> Option<(Found, Vec<String>)> {
    let trace = analyze(tcplab_capture::open(path).ok()?);
    let mut packets = packets(path, &trace);
    for (index, connection) in trace.connections.iter().enumerate() {
        for (forward, flow) in [(true, &connection.forward), (false, &connection.reverse)] {
            // Of fragments, the analyser alone knows the segment: it is the last one's frame.
            let ack = |frame| (frame, reassembled(connection, index, !forward));
            for (frame, new) in flow.acks.iter().map(|ack| ack.frame).map(ack) {
                packets.entry(frame).or_insert(new).connection = index;
            }
            for segment in &flow.segments {
                let new = reassembled(connection, index, forward);
                let packet = packets.entry(segment.frame).or_insert(new);
                packet.connection = index;
                packet.bytes = segment.payload.as_u64();
                packet.is_retransmission = segment.kind.is_retransmission();
                packet.name = name(segment.kind);
                packet.evidence = evidence(&segment.proof);
                packet.frame.has_place = true;
            }
        }
    }
    let notes = trace.notes.iter().map(|note| note.text.clone()).collect();
    Some((Found::of(packets), notes))
}

/// A packet of a connection, as yet without what the analyser says of it.
fn reassembled(connection: &Connection, index: usize, forward: bool) -> Packet {
    let (client, server) = (connection.client, connection.server);
    let (from, to) = if forward { (client, server) } else { (server, client) };
    Packet {
        connection: index,
        from,
        to,
        bytes: 0,
        is_reset: false,
        is_retransmission: false,
        name: "nothing special",
        evidence: String::new(),
        frame: FrameFacts::default(),
    }
}

/// Every TCP packet, as yet without what the analyser says of it. One that is neither data nor an
/// acknowledgement, such as a reset, is only counted there: it belongs to the newest connection
/// between its ends.
fn packets(path: &Path, trace: &Trace) -> BTreeMap<u64, Packet> {
    let mut between: HashMap<[SocketAddr; 2], Vec<(u64, usize)>> = HashMap::new();
    for (index, connection) in trace.connections.iter().enumerate() {
        let ends = in_order(connection.client, connection.server);
        between.entry(ends).or_default().push((connection.frames.0, index));
    }
    let mut packets = BTreeMap::new();
    let Ok(mut reader) = tcplab_capture::open(path) else { return packets };
    let mut frame = 0;
    while let Ok(Some(record)) = reader.next_record() {
        frame += 1;
        let (captured, len) = (record.captured.to_vec(), record.original_len);
        let interface = record.interface as usize;
        let Some(interface) = reader.interfaces().get(interface) else { continue };
        let view = FrameView::new(LinkType::from_number(interface.link_type), &captured, len);
        let Some(tcp) = view.tcp() else { continue };
        let from = SocketAddr::new(tcp.src(), tcp.src_port());
        let to = SocketAddr::new(tcp.dst(), tcp.dst_port());
        let begun = between.get(&in_order(from, to)).into_iter().flatten();
        let newest = begun.filter(|(first, _)| *first <= frame).max();
        let Some(&(_, connection)) = newest else { continue };
        let packet = Packet {
            connection,
            from,
            to,
            bytes: 0,
            is_reset: tcp.flags().contains(TcpFlags::RST),
            is_retransmission: false,
            name: "nothing special",
            evidence: String::new(),
            frame: FrameFacts {
                oddity: view
                    .anomaly()
                    .and_then(|anomaly| match anomaly {
                        Anomaly::IpBeyondFrame { .. } => Some(Oddity::BeyondFrame),
                        Anomaly::TcpDataOffset { .. } => Some(Oddity::DamagedHeader),
                        _ => None,
                    })
                    .or_else(|| is_padding(&tcp).then_some(Oddity::Padding)),
                syn: tcp.flags().contains(TcpFlags::SYN),
                seq: tcp.seq().as_u32(),
                payload: u64::from(tcp.payload_len()),
                ..FrameFacts::default()
            },
        };
        packets.insert(frame, packet);
    }
    packets
}

/// Ethernet fills packets of fewer than 46 bytes with zeros (IEEE 802.3 section 3.2.7).
fn is_padding(tcp: &TcpPacket<'_>) -> bool {
    let payload = tcp.payload();
    !payload.is_empty() && tcp.ip().total_len() <= 46 && payload.iter().all(|&byte| byte == 0)
}

fn in_order(one: SocketAddr, other: SocketAddr) -> [SocketAddr; 2] {
    [one.min(other), one.max(other)]
}

fn evidence(proof: &Proof) -> String {
    let mut text = format!("{:?}", proof.by);
    if proof.waited > Span::ZERO {
        let _ = write!(text, ", waited {}", proof.waited);
    }
    if proof.nth > 1 {
        let _ = write!(text, ", transmission {}", proof.nth);
    }
    text
}

fn name(kind: SegmentKind) -> &'static str {
    match kind {
        SegmentKind::New => "nothing special",
        SegmentKind::FastRetransmission => "fast retransmission",
        SegmentKind::TimeoutRetransmission => "timeout retransmission",
        SegmentKind::AfterTimeoutRetransmission => "retransmission after a timeout",
        SegmentKind::UnexplainedRetransmission => "retransmission, cause unknown",
        SegmentKind::FillsGap => "fills a gap",
        SegmentKind::OutOfOrder => "out of order",
        SegmentKind::NetworkDuplicate => "network duplicate",
        SegmentKind::RepeatedControl => "SYN or FIN repeated",
        SegmentKind::LinkRetry => "link retry",
        SegmentKind::CaptureDuplicate => "capture duplicate",
        SegmentKind::WindowProbe => "window probe",
        SegmentKind::KeepAlive => "keep-alive",
    }
}
