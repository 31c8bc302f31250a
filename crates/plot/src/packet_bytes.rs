//! Packets as bytes: the dump with a colour for each layer, and the fields below.

use tcplab_trace::{DUMP_ROW, PacketBytes, dump_letter};
use tcplab_units::rounded::grouped;
use tcplab_wire::FieldLayer;

use crate::svg::escape;

/// Pixels: margin, height of a line, a byte's cell, a letter, where bytes and letters begin.
const LEFT: usize = 16;
const LINE: usize = 20;
const CELL: usize = 27;
const LETTER: usize = 9;
const BYTES: usize = LEFT + 56;
const LETTERS: usize = BYTES + DUMP_ROW * CELL + 20;
const WIDTH: usize = 860;
/// Columns of the table of fields.
const NAMES: usize = LEFT + 100;
const VALUES: usize = LEFT + 290;
const MEANINGS: usize = LEFT + 560;
/// Of more bytes the rest is counted only.
const MOST: usize = 256;
/// Characters that fit a value and a meaning.
const VALUE_CHARACTERS: usize = 34;
const MEANING_CHARACTERS: usize = 42;

/// Draws packets one below the other, for a page with the style sheet. Of each packet no more than
/// 256 bytes are drawn.
pub fn packet_bytes(packets: &[PacketBytes]) -> String {
    let mut body = String::new();
    let mut y = 8;
    for packet in packets {
        y = draw(packet, y, &mut body) + LINE;
    }
    let title = match packets {
        [one] => title(one),
        _ => format!("{} packets as bytes", packets.len()),
    };
    let title = escape(&title);
    format!(
        r#"<svg class="packet-bytes" viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{title}"><title>{title}</title>{body}</svg>"#
    )
}

fn title(packet: &PacketBytes) -> String {
    let mut title = format!("Frame {}, {:.6} s", packet.frame, packet.at.as_secs_f64());
    if let Some([from, to]) = packet.ends {
        title += &format!(": {from} → {to}");
    }
    title
}

/// Draws a packet below `y`; returns where it ends.
fn draw(packet: &PacketBytes, y: usize, svg: &mut String) -> usize {
    let mut y = y + LINE;
    svg.push_str(&text("title", LEFT, y, &title(packet)));
    y += LINE + 4;
    legend(packet, y, svg);
    y += LINE + 6;
    y = dump(packet, y, svg) + LINE / 2;
    fields(packet, y, svg)
}

/// The layers of the packet with their colours.
fn legend(packet: &PacketBytes, y: usize, svg: &mut String) {
    let mut x = LEFT;
    for layer in FieldLayer::ALL {
        if packet.fields.iter().any(|field| field.layer == layer) {
            let (name, top) = (layer.name(), y - 11);
            svg.push_str(&format!(
                r#"<rect class="layer {name}" x="{x}" y="{top}" width="14" height="14" rx="3"/>"#
            ));
            svg.push_str(&text("legend", x + 20, y, layer.title()));
            x += 40 + layer.title().len() * 7;
        }
    }
}

fn dump(packet: &PacketBytes, y: usize, svg: &mut String) -> usize {
    let layers = packet.layers();
    let shown = packet.captured.len().min(MOST);
    let mut y = y;
    for start in (0..shown).step_by(DUMP_ROW) {
        let end = (start + DUMP_ROW).min(shown);
        let top = y - 15;
        svg.push_str(&text("offset", LEFT, y, &format!("{start:04x}")));
        let mut from = start;
        for run in layers[start..end].chunk_by(|one, next| one == next) {
            let class = run[0].name();
            let (place, width) = (from - start, run.len() * CELL);
            svg.push_str(&format!(
                r#"<rect class="layer {class}" x="{}" y="{top}" width="{width}" height="{LINE}"/>"#,
                BYTES + place * CELL
            ));
            from += run.len();
        }
        for (place, byte) in packet.captured[start..end].iter().enumerate() {
            let x = BYTES + place * CELL + CELL / 2;
            svg.push_str(&text("byte", x, y, &format!("{byte:02x}")));
            let gap = if place >= DUMP_ROW / 2 { LETTER } else { 0 };
            let letter = dump_letter(*byte).to_string();
            svg.push_str(&text("letter", LETTERS + place * LETTER + gap, y, &letter));
        }
        y += LINE;
    }
    let more = packet.captured.len() - shown;
    if more > 0 {
        let more = format!("… {} more bytes", grouped(more as u64));
        svg.push_str(&text("legend", BYTES, y, &more));
        y += LINE;
    }
    y
}

fn fields(packet: &PacketBytes, y: usize, svg: &mut String) -> usize {
    let mut y = y;
    for field in &packet.fields {
        y += LINE - 4;
        let (name, top) = (field.layer.name(), y - 12);
        let range = match field.length {
            0 | 1 => format!("{:04x}", field.offset),
            length => format!("{:04x}-{:04x}", field.offset, field.offset + length - 1),
        };
        svg.push_str(&format!(
            r#"<rect class="layer {name}" x="{LEFT}" y="{top}" width="6" height="16"/>"#
        ));
        svg.push_str(&text("offset", LEFT + 12, y, &range));
        svg.push_str(&text("name", NAMES, y, field.name));
        // A meaning may take the room that a short value leaves.
        let is_short = field.value.chars().count() <= 17;
        let (meanings, room) = if is_short {
            (VALUES + 150, MEANING_CHARACTERS + 17)
        } else {
            (MEANINGS, MEANING_CHARACTERS)
        };
        svg.push_str(&text("value", VALUES, y, &cut(&field.value, VALUE_CHARACTERS)));
        svg.push_str(&text("meaning", meanings, y, &cut(&field.meaning, room)));
    }
    y
}

fn text(class: &str, x: usize, y: usize, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!(r#"<text class="{class}" x="{x}" y="{y}">{}</text>"#, escape(text))
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use tcplab_trace::Frame;
    use tcplab_units::Instant;
    use tcplab_wire::LinkType;

    use super::*;

    /// "TCP Socket Options in Android", test 2c: the RST, with the padding of a frame.
    const RESET: [u8; 60] = [
        0x00, 0x1a, 0x73, 0xf6, 0xf3, 0x6e, 0x6c, 0xb7, 0xf4, 0x71, 0x14, 0x15, 0x08, 0x00, 0x45,
        0x00, 0x00, 0x28, 0x00, 0x00, 0x40, 0x00, 0x40, 0x06, 0xb8, 0xb0, 0xc0, 0xa8, 0x00, 0x6a,
        0xc0, 0xa8, 0x00, 0x65, 0xde, 0xe7, 0x22, 0x6b, 0x7f, 0x0e, 0x59, 0x42, 0x00, 0x00, 0x00,
        0x00, 0x50, 0x04, 0x00, 0x00, 0x54, 0x1d, 0x00, 0x00, 0, 0, 0, 0, 0, 0,
    ];

    fn packet(bytes: &[u8]) -> PacketBytes {
        let frame = Frame::whole(0, LinkType::Ethernet, bytes);
        PacketBytes::new((9, Instant::from_nanos(2_500_000)), &frame, &[])
    }

    #[test]
    fn reset_as_bytes() {
        insta::assert_snapshot!(packet_bytes(&[packet(&RESET)]).replace("><", ">\n<"));
    }

    #[test]
    fn long_packets_are_drawn_in_part_and_several_below_one_another() {
        let mut long = RESET.to_vec();
        long.resize(1_514, b'<');
        let svg = packet_bytes(&[packet(&long), packet(&RESET)]);
        assert!(svg.contains(">… 1,258 more bytes</text>"), "{svg}");
        assert_eq!(svg.matches(r#"<text class="title""#).count(), 2);
        assert!(svg.contains(r">&lt;</text>") && svg.len() < 80_000, "{}", svg.len());
    }

    #[test]
    fn packet_of_no_bytes_is_drawn() {
        assert!(packet_bytes(&[packet(&[])]).contains(">not captured</text>"));
    }
}
