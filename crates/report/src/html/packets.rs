//! Packets that a page opens as bytes.

use std::fmt::Write;

use tcplab_trace::PacketBytes;
use tcplab_units::visible_line;
use tcplab_wire::{FieldLayer, hex_digits};

use super::pack::pack;

/// The most bytes of payload of each packet in a page.
const PAYLOAD: usize = 64;

/// Packets as a page takes them along; see `packets.html`.
pub(crate) struct PacketsView {
    pub(crate) count: usize,
    /// Their frame numbers, parted by spaces: ladder diagrams open them.
    pub(crate) frames: String,
    /// Lines for the page's script, packed: a letter (layer, packet, field), then values parted by
    /// tabs. The fields of a packet follow it.
    pub(crate) packed: String,
}

impl PacketsView {
    /// None without packets.
    pub(crate) fn of<'a>(
        packets: impl IntoIterator<Item = &'a PacketBytes>,
    ) -> Option<PacketsView> {
        let (mut text, mut frames) = (String::new(), Vec::new());
        for layer in FieldLayer::ALL {
            line(&mut text, 'L', &[layer.name(), layer.title()]);
        }
        for packet in packets {
            frames.push(packet.frame.to_string());
            add(packet, &mut text);
        }
        (!frames.is_empty()).then(|| PacketsView {
            count: frames.len(),
            frames: frames.join(" "),
            packed: pack(text.as_bytes()),
        })
    }
}

fn add(packet: &PacketBytes, text: &mut String) {
    let whole = packet.captured.len();
    let packet = packet.clone().with_payload_of(PAYLOAD);
    let [from, to] =
        packet.ends.map_or_else(Default::default, |ends| ends.map(|it| it.to_string()));
    let bytes = hex_digits(&packet.captured);
    let time = format!("{:.6}", packet.at.as_secs_f64());
    let (frame, sent) = (packet.frame.to_string(), packet.original_len.to_string());
    let whole = whole.to_string();
    line(text, 'P', &[&frame, &time, &from, &to, &packet.summary, &sent, &whole, &bytes]);
    for field in &packet.fields {
        let (offset, length) = (field.offset.to_string(), field.length.to_string());
        let layer = field.layer.name();
        line(text, 'F', &[layer, field.name, &offset, &length, &field.value, &field.meaning]);
    }
}

fn line(text: &mut String, kind: char, values: &[&str]) {
    let values: Vec<_> = values.iter().map(|value| visible_line(value)).collect();
    let _ = writeln!(text, "{kind}\t{}", values.join("\t"));
}

#[cfg(test)]
mod tests {
    use tcplab_trace::{Frame, PacketBytes};
    use tcplab_units::Instant;
    use tcplab_wire::{IpRepr, LinkType, TcpFlags, TcpRepr};

    use super::*;

    #[test]
    fn packet_with_much_payload_takes_little_of_a_page() {
        let ip = tcplab_wire::Ipv4Repr {
            src: [10, 0, 0, 1].into(),
            dst: [10, 0, 0, 2].into(),
            id: 7,
            ttl: 64,
            ecn: tcplab_wire::Ecn::NotEct,
        };
        let tcp = TcpRepr { flags: TcpFlags::ACK, ..TcpRepr::default() };
        let bytes = tcp.to_packet(&IpRepr::from(ip), &vec![0x41; 60_000]);
        let frame = Frame::whole(0, LinkType::RawIp, &bytes);
        let packet = PacketBytes::new((1, Instant::ZERO), &frame, &[]);
        let mut text = String::new();
        add(&packet, &mut text);
        assert!(text.len() < 3_000, "{}", text.len());
        assert!(text.starts_with("P\t1\t0.000000\t10.0.0.1:0\t10.0.0.2:0\t[.] seq 0 ack 0 len 60000\t60040\t60040\t4500"), "{text}");
        assert!(text.contains("F\tpayload\tdata\t40\t60000\t60000\tbytes\n"), "{text}");
        assert!(PacketsView::of([]).is_none());
    }
}
