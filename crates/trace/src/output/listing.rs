//! A connection as text, one packet per line, in the manner of packetdrill.

use std::fmt::Write;

use tcplab_units::{Instant, visible_line};

use super::followed;
use super::listed::Listed;
use crate::{
    Ack, Connection, DisplayFilter, Episode, Evidence, Flow, Segment, SegmentKind, Sign, Spurious,
    Timer,
};

/// The packets of the connection of number `index` in capture order (`>` from the client) and its
/// episodes; those alone for which `filter` holds, if there is one.
pub fn listing(index: usize, connection: &Connection, filter: Option<&DisplayFilter>) -> String {
    let mut text = format!("{} > {}\n", connection.client, connection.server);
    let packets = followed::packets(index, connection);
    if let Some(filter) = filter {
        let shown = packets.iter().filter(|packet| filter.admits(packet));
        let count = shown.map(|packet| write_packet(packet, "", &mut text)).count();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{count} of {} packets", packets.len());
        return text;
    }
    for packet in &packets {
        write_packet(packet, "", &mut text);
    }
    for (flow, way) in [(&connection.forward, ">"), (&connection.reverse, "<")] {
        for episode in &flow.episodes {
            write_episode(episode, way, flow, &mut text);
        }
    }
    text
}

/// The packets of the connection of number `index`, for the listing of a whole capture: frames and
/// lines, those for which `filter` holds, if there is one; and how many packets the connection has.
pub fn packet_lines(
    index: usize,
    connection: &Connection,
    filter: Option<&DisplayFilter>,
) -> (Vec<(u64, String)>, usize) {
    let packets = followed::packets(index, connection);
    let of = format!(" connection {index}");
    let shown = packets.iter().filter(|packet| filter.is_none_or(|it| it.admits(packet)));
    let lines = shown.map(|packet| {
        let mut line = String::new();
        write_packet(packet, &of, &mut line);
        (packet.frame, line)
    });
    (lines.collect(), packets.len())
}

fn write_packet(packet: &Listed<'_>, of: &str, text: &mut String) {
    let segment = packet.segment.map(segment_text).into_iter();
    // An ACK with data is shown only if it has SACK blocks.
    let ack = packet.ack.filter(|ack| packet.segment.is_none() || !ack.sack.is_empty());
    let parts = segment.chain(ack.map(ack_text)).chain(packet.reset.map(ToString::to_string));
    let mut line = parts.collect::<Vec<_>>().join(" ");
    if let Some(unusual) = packet.unusual.filter(|_| line.is_empty()) {
        line = unusual.to_string();
    }
    let way = if packet.from_client { '>' } else { '<' };
    let _ = writeln!(text, "{} #{}{of} {way} {line}", seconds(Some(packet.at)), packet.frame);
}

fn segment_text(segment: &Segment) -> String {
    let mut text = format!("{segment} flight {}", segment.in_flight.as_u64());
    if let Some(what) = reason(segment) {
        let _ = write!(text, " [{what}");
        for (place, proof) in proofs(segment).iter().enumerate() {
            let _ = write!(text, "{} {proof}", if place == 0 { ":" } else { "," });
        }
        text.push(']');
    }
    if let Some(comment) = &segment.comment {
        let _ = write!(text, " \"{}\"", visible_line(comment));
    }
    text
}

fn ack_text(ack: &Ack) -> String {
    let mut text = ack.to_string();
    if let Some(window) = ack.window {
        let _ = write!(text, " win {}", window.as_u64());
    }
    if ack.duplicate {
        text.push_str(" [duplicate]");
    }
    if ack.copied {
        text.push_str(" [copy]");
    }
    text
}

/// The kind of a segment in words; `None` for new data in order.
pub(crate) fn reason(segment: &Segment) -> Option<&'static str> {
    match (segment.kind, segment.timer) {
        (SegmentKind::New, Some(_)) => Some("tail loss probe with new data"),
        (SegmentKind::New, None) => None,
        (_, Some(Timer::Probe)) => Some("tail loss probe"),
        (_, Some(Timer::Retransmission)) | (SegmentKind::TimeoutRetransmission, None) => {
            Some("retransmission timeout")
        }
        (SegmentKind::FastRetransmission, None) => Some("fast retransmission"),
        (SegmentKind::AfterTimeoutRetransmission, None) => Some("retransmission after timeout"),
        (SegmentKind::UnexplainedRetransmission, None) => Some("retransmission, cause unknown"),
        (SegmentKind::FillsGap, None) => Some("fills a gap"),
        (SegmentKind::OutOfOrder, None) => Some("out of order"),
        (SegmentKind::RepeatedControl, None) => Some("SYN or FIN repeated"),
        (SegmentKind::NetworkDuplicate, None) => Some("network duplicate"),
        (SegmentKind::LinkRetry, None) => Some("link-layer retry"),
        (SegmentKind::CaptureDuplicate, None) => Some("captured twice"),
        (SegmentKind::WindowProbe, None) => Some("zero-window probe"),
        (SegmentKind::KeepAlive, None) => Some("keep-alive"),
    }
}

/// The evidence, and what became of it.
fn proofs(segment: &Segment) -> Vec<String> {
    let proof = &segment.proof;
    let seen = |what: &str| match proof.frame {
        Some(frame) => format!("{what} #{frame}"),
        None => what.to_owned(),
    };
    let beside = |what: &str| proof.frame.map(|frame| format!("{what} beside #{frame}"));
    let sign = match proof.by {
        Sign::DuplicateAcks => Some(seen("duplicate ACK")),
        Sign::Sack => Some(seen("SACK")),
        Sign::Rack => Some(seen("RACK")),
        Sign::PartialAck => Some(seen("partial ACK")),
        Sign::PacketTooBig => Some(seen("ICMP packet too big")),
        Sign::Silence => {
            let since = proof.frame.map_or_else(String::new, |frame| format!(" since #{frame}"));
            Some(format!("{} of silence{since}", proof.waited))
        }
        Sign::IgnoredAcks => Some(format!("{} of silence, {} ignored", proof.waited, seen("ACK"))),
        Sign::AfterTimeout => Some(seen("ACK")),
        Sign::IpId => beside("IP ID"),
        Sign::Timestamp => beside("timestamp"),
        Sign::Time => beside("time"),
        Sign::None | Sign::AtSender | Sign::BelowAcknowledged => None,
        Sign::ZeroWindow => Some(seen("zero window")),
    };
    let nth = (proof.nth > 2).then(|| format!("transmission {}", proof.nth));
    let spurious = proof.spurious.map(|why| match why {
        Spurious::DSack { frame } => format!("spurious (D-SACK #{frame})"),
        Spurious::Echo { frame } => format!("spurious (timestamp #{frame})"),
        Spurious::Acknowledged => "spurious (acknowledged before)".to_owned(),
    });
    [sign, nth, spurious].into_iter().flatten().collect()
}

fn write_episode(episode: &Episode, way: &str, flow: &Flow, text: &mut String) {
    let evidence = match episode.evidence {
        Evidence::Sack { frame } => format!("SACK #{frame}"),
        Evidence::DuplicateAcks { frame } => format!("duplicate ACK #{frame}"),
        Evidence::PacketTooBig { frame } => format!("ICMP #{frame}"),
        Evidence::Timeout { frame } => format!("timeout #{frame}"),
        Evidence::Probe { frame } => format!("probe #{frame}"),
    };
    let repaired = match episode.repaired_at {
        Some(at) => format!("recovered at {}", seconds(Some(at)).trim_start()),
        None => format!("not recovered after {} acknowledgements", flow.acks.len()),
    };
    let lost: Vec<String> =
        episode.lost.iter().map(|lost| format!("#{} {lost}", lost.frame)).collect();
    let _ = writeln!(
        text,
        "{way} episode {}: {} lost, first evidence {evidence} at {}, {repaired}, {} \
         retransmissions ({} by timer, {} spurious), {} probes, {}",
        episode.kind.name(),
        episode.lost.len(),
        seconds(Some(episode.evidence_at)).trim_start(),
        episode.retransmissions,
        episode.timeouts,
        episode.spurious,
        episode.probes,
        episode.silence.map_or("never retransmitted".to_owned(), |it| format!("silence {it}")),
    );
    for lost in lost {
        let _ = writeln!(text, "    {lost}");
    }
}

fn seconds(at: Option<Instant>) -> String {
    format!("{:>10.6}", at.unwrap_or_default().as_secs_f64())
}
