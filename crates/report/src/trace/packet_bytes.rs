//! A packet as bytes, and its fields below.

use std::fmt::Write;

use tcplab_trace::{DUMP_ROW, PacketBytes, dump_letter};
use tcplab_units::rounded::grouped;
use tcplab_wire::{Field, FieldLayer};

use super::numbers::seconds;
use crate::grid::{Look, Style, wrapped};

/// So many bytes are shown unless all are asked for: any packet of Ethernet.
const MOST: usize = 2_048;
/// The longest text that widens its column.
const LONGEST: usize = 24;

/// The packet as the dumps of Wireshark show it (offset, 16 bytes, their letters), then a line for
/// each field: its bytes, name, value and meaning. Colours tell the layers apart. Without `all`,
/// bytes beyond the first 2,048 are counted only.
pub fn packet_text(packet: &PacketBytes, all: bool, look: Look) -> String {
    let mut text = String::new();
    head(packet, look, &mut text);
    text.push('\n');
    let shown = if all { packet.captured.len() } else { packet.captured.len().min(MOST) };
    dump(packet, shown, look, &mut text);
    let more = packet.captured.len() - shown;
    if more > 0 {
        let line = format!("… {} more bytes (--all shows them)", grouped(more as u64));
        let _ = writeln!(text, "{}", look.paint(&line, Style::Dim));
    }
    text.push('\n');
    fields(packet, look, &mut text);
    text
}

fn head(packet: &PacketBytes, look: Look, text: &mut String) {
    let (captured, sent) = (packet.captured.len() as u64, u64::from(packet.original_len));
    let mut line = format!("Frame {}, {} s: ", packet.frame, seconds(packet.at));
    line += &match (captured, sent) {
        (captured, sent) if captured == sent => format!("{} bytes", grouped(sent)),
        _ => format!("{} of {} bytes captured", grouped(captured), grouped(sent)),
    };
    if let Some([from, to]) = packet.ends {
        let _ = write!(line, ", {from} > {to}");
    }
    if let Some(connection) = packet.connection {
        let _ = write!(line, ", connection {connection}");
    }
    look.heading(text, &line);
    if let Some(comment) = &packet.comment {
        look.paragraph(text, "  ", comment);
    }
}

/// `0000 00 1a 73 f6 f3 6e 6c b7 f4 71 14 15 08 00 45 00  ..s..nl. .q....E.`
fn dump(packet: &PacketBytes, shown: usize, look: Look, text: &mut String) {
    let layers = packet.layers();
    for start in (0..shown).step_by(DUMP_ROW) {
        let end = (start + DUMP_ROW).min(shown);
        let (mut numbers, mut letters) = (String::new(), String::new());
        let mut from = start;
        for run in layers[start..end].chunk_by(|one, next| one == next) {
            let bytes = &packet.captured[from..from + run.len()];
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = write!(numbers, " {}", look.paint(&digits.join(" "), style(run[0])));
            letters += &look.paint(&letters_of(bytes, from - start), style(run[0]));
            from += run.len();
        }
        let blank = " ".repeat((start + DUMP_ROW - end) * 3);
        let offset = look.paint(&format!("{start:04x}"), Style::Dim);
        let _ = writeln!(text, "{offset}{numbers}{blank}  {letters}");
    }
}

/// The letters of bytes that begin at this place of a row, whose halves are parted.
fn letters_of(bytes: &[u8], from: usize) -> String {
    let mut letters = String::new();
    for (place, byte) in bytes.iter().enumerate() {
        if from + place == DUMP_ROW / 2 {
            letters.push(' ');
        }
        letters.push(dump_letter(*byte));
    }
    letters
}

fn fields(packet: &PacketBytes, look: Look, text: &mut String) {
    let width = |fields: &[Field], text: fn(&Field) -> &str| {
        // A long text breaks out of its column.
        let widths = fields.iter().map(|field| text(field).chars().count());
        widths.filter(|width| *width <= LONGEST).max().unwrap_or(0)
    };
    let names = width(&packet.fields, |field| field.name);
    for layer in packet.fields.chunk_by(|one, next| one.layer == next.layer) {
        let title = layer[0].layer.title();
        let _ = writeln!(text, "{}", look.paint(title, style(layer[0].layer)));
        let values = width(layer, |field| &field.value);
        for field in layer {
            let Field { name, value, meaning, .. } = field;
            let place = look.paint(&format!("{:9}", place(field)), Style::Dim);
            let before = format!("{name:names$}  {value:values$}");
            let indent = before.chars().count() + 15;
            let meaning = wrapped(meaning, look.width.saturating_sub(indent).max(24));
            for (number, part) in meaning.iter().enumerate() {
                let part = look.paint(part, meaning_style(field));
                let line = match number {
                    0 => format!("  {place}  {before}  {part}"),
                    _ => format!("{:indent$}{part}", ""),
                };
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
    }
}

/// `0006-000b`.
fn place(field: &Field) -> String {
    match field.length {
        0 | 1 => format!("{:04x}", field.offset),
        length => format!("{:04x}-{:04x}", field.offset, field.offset + length - 1),
    }
}

fn meaning_style(field: &Field) -> Style {
    if field.meaning.starts_with("wrong") || field.name.starts_with("malformed") {
        return Style::Bad;
    }
    match field.name {
        "not understood" | "not captured" => Style::Odd,
        _ => Style::Plain,
    }
}

/// The colour of a layer, also in the table below the dump, which so is the legend.
fn style(layer: FieldLayer) -> Style {
    match layer {
        FieldLayer::Link => Style::Colour(36),
        FieldLayer::Ipv4 | FieldLayer::Ipv6 => Style::Colour(34),
        FieldLayer::Tunnel | FieldLayer::Icmp => Style::Colour(35),
        FieldLayer::Tcp | FieldLayer::Udp => Style::Colour(32),
        FieldLayer::TcpOption => Style::Colour(33),
        FieldLayer::Payload => Style::Plain,
        FieldLayer::Padding => Style::Dim,
    }
}
