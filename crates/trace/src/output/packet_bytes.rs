//! Packets as bytes, with their fields.

use std::net::SocketAddr;

use serde::{Serialize, Serializer};
use tcplab_units::Instant;
use tcplab_wire::{
    Field, FieldLayer, FrameView, Numbering, SeqNumber, TcpFlags, fields, hex_digits,
};

use super::numbering::ConnectionNumbers;
use crate::Frame;

/// A captured packet with all its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketBytes {
    /// Its frame number, from 1.
    pub frame: u64,
    /// When it passed the capture point, after the first packet.
    pub at: Instant,
    /// The connection it belongs to, if any.
    pub connection: Option<usize>,
    /// Who sent it to whom, if it carries TCP.
    pub ends: Option<[SocketAddr; 2]>,
    /// Flags, numbers and length of its TCP segment, such as `[P.] seq 1 ack 1 len 1448`; else its
    /// protocol.
    pub summary: String,
    /// Its length on the wire.
    pub original_len: u32,
    /// What was captured of it.
    pub captured: Vec<u8>,
    /// Its fields, from the first byte to the last.
    pub fields: Vec<Field>,
    /// The capture's comment on it.
    pub comment: Option<String>,
}

impl PacketBytes {
    /// The packet in a frame. `connections` may hold the connection that it belongs to: then its
    /// numbers are relative.
    pub fn new(
        (frame, at): (u64, Instant),
        captured: &Frame<'_>,
        connections: &[ConnectionNumbers],
    ) -> PacketBytes {
        let Frame { link, captured, original_len, comment, .. } = *captured;
        let view = FrameView::new(link, captured, original_len);
        let numbering = |it: &ConnectionNumbers| Some((it.index, it.of(&view, frame)?));
        // Of connections between the same ends one after the other, the later one.
        let (connection, numbering) = match connections.iter().rev().find_map(numbering) {
            Some((index, numbering)) => (Some(index), numbering),
            None => (None, Numbering::default()),
        };
        let ends = view.tcp().map(|tcp| {
            [(tcp.src(), tcp.src_port()), (tcp.dst(), tcp.dst_port())].map(SocketAddr::from)
        });
        PacketBytes {
            frame,
            at,
            connection,
            ends,
            summary: summary(&view, &numbering),
            original_len: original_len.max(captured.len() as u32),
            captured: captured.to_vec(),
            fields: fields(link, captured, original_len, &numbering),
            comment: comment.map(str::to_owned),
        }
    }

    /// The packet with no more than `most` bytes of payload, all of its headers and its fields as
    /// they are: for pages that show many.
    #[must_use]
    pub fn with_payload_of(mut self, most: usize) -> PacketBytes {
        let payload = self.fields.iter().find(|field| field.layer == FieldLayer::Payload);
        let end = payload.map_or(self.captured.len(), |payload| payload.offset + most);
        self.captured.truncate(end);
        self
    }

    /// For each byte of [`captured`](Self::captured) the layer that it is of.
    pub fn layers(&self) -> Vec<FieldLayer> {
        let mut layers = vec![FieldLayer::Padding; self.captured.len()];
        for field in &self.fields {
            let end = (field.offset + field.length).min(layers.len());
            layers[field.offset.min(end)..end].fill(field.layer);
        }
        layers
    }
}

/// Numbers are relative where the first one is known.
fn summary(view: &FrameView<'_>, numbering: &Numbering) -> String {
    let Some(tcp) = view.tcp() else {
        return match (view.ip(), view.anomaly()) {
            (_, Some(anomaly)) => anomaly.to_string(),
            (Some(ip), None) => format!("IP protocol {}", ip.protocol()),
            (None, None) => "not IP".to_owned(),
        };
    };
    let relative = |number: SeqNumber, first: Option<SeqNumber>| {
        number.as_u32().wrapping_sub(first.map_or(0, SeqNumber::as_u32))
    };
    let flags = tcp.flags();
    let mut text = format!("{flags} seq {}", relative(tcp.seq(), numbering.seq));
    if flags.contains(TcpFlags::ACK) {
        text += &format!(" ack {}", relative(tcp.ack(), numbering.ack));
    }
    text + &format!(" len {}", tcp.payload_len())
}

impl Serialize for PacketBytes {
    /// Bytes as hexadecimal digits without separators.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Packet<'a> {
            frame: u64,
            /// Nanoseconds after the first packet.
            time_ns: u64,
            connection: Option<usize>,
            source: Option<SocketAddr>,
            destination: Option<SocketAddr>,
            original_length_bytes: u32,
            captured_length_bytes: usize,
            bytes: String,
            fields: Vec<Item<'a>>,
            comment: Option<&'a str>,
        }
        #[derive(Serialize)]
        struct Item<'a> {
            layer: &'static str,
            name: &'static str,
            offset_bytes: usize,
            length_bytes: usize,
            value: &'a str,
            meaning: &'a str,
        }
        fn item(field: &Field) -> Item<'_> {
            Item {
                layer: field.layer.name(),
                name: field.name,
                offset_bytes: field.offset,
                length_bytes: field.length,
                value: &field.value,
                meaning: &field.meaning,
            }
        }
        let packet = Packet {
            frame: self.frame,
            time_ns: self.at.as_nanos(),
            connection: self.connection,
            source: self.ends.map(|[source, _]| source),
            destination: self.ends.map(|[_, destination]| destination),
            original_length_bytes: self.original_len,
            captured_length_bytes: self.captured.len(),
            bytes: hex_digits(&self.captured),
            fields: self.fields.iter().map(item).collect(),
            comment: self.comment.as_deref(),
        };
        packet.serialize(serializer)
    }
}

/// Bytes in a row of a dump.
pub const DUMP_ROW: usize = 16;

/// A byte as dumps show it beside its number: itself if it is printable ASCII, else a point.
pub fn dump_letter(byte: u8) -> char {
    if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '.' }
}
