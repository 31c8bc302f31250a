//! Packets as bytes.

use tcplab_trace::{Frame, PacketBytes};
use tcplab_wire::LinkType;

use super::*;
use crate::coloured;

/// "TCP Socket Options in Android", test 3: the urgent byte.
const URGENT: &str = "001a73f6f36e6cb7f4711415080045000035d8a140004006e001c0a8006ac0a8006593fe226b\
                      cfe468995b84f43c803800e58fea00010101080a025bbbc6075f5e7a01";

fn bytes(digits: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(digit).collect()
}

fn packet(captured: &[u8], original_len: usize) -> PacketBytes {
    let frame = Frame {
        original_len: original_len as u32,
        comment: Some("a \x1b[2Jcomment"),
        ..Frame::whole(0, LinkType::Ethernet, captured)
    };
    PacketBytes::new((4, at(20)), &frame, &[])
}

#[test]
fn packet_as_bytes() {
    let urgent = bytes(URGENT);
    insta::assert_snapshot!(packet_text(&packet(&urgent, 67), false, NARROW));
    insta::assert_snapshot!(packet_text(&packet(&urgent[..60], 67), false, WIDE));
}

/// The terminal gets colours only if these are all the difference.
#[test]
fn colours_of_packet_are_colours_only() {
    let packet = PacketBytes { comment: None, ..packet(&bytes(URGENT), 67) };
    let text = |colours| packet_text(&packet, false, Look { colours, ..NARROW });
    let shown = coloured(text, true);
    for part in ["\x1b[36m00 1a 73", "\x1b[34m45 00\x1b[0m  ", "\x1b[33m01 01 08 0a"] {
        assert!(shown.contains(part), "{part:?}: {shown:?}");
    }
}

#[test]
fn large_packet_is_shortened_unless_all_is_asked_for() {
    let mut captured = bytes(URGENT);
    captured.resize(5_000, 0xff);
    let packet = packet(&captured, 65_000);
    let text = packet_text(&packet, false, NARROW);
    assert!(text.contains("\n07f0 ff ff") && !text.contains("\n0800 "), "{text}");
    assert!(text.contains("\n… 2,952 more bytes (--all shows them)\n"), "{text}");
    assert!(text.starts_with("Frame 4, 0.020000 s: 5,000 of 65,000 bytes captured, "), "{text}");
    let text = packet_text(&packet, true, NARROW);
    assert!(text.contains("\n1380 ff ff ff ff ff ff ff ff  "), "{text}");
    assert!(!text.contains("more bytes"), "{text}");
}
