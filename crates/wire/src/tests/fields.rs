//! The fields of packets: the dumps of "TCP Socket Options in Android", and packets that are not
//! whole.

use super::android::dumps::{RESET, SYN_1024, SYN_ACK_4096, URGENT};
use super::*;

/// A line for each field: layer, place, name, value and meaning.
fn table(link: LinkType, captured: &[u8], original_len: usize, numbering: &Numbering) -> String {
    let mut text = String::new();
    for field in fields(link, captured, original_len as u32, numbering) {
        let Field { layer, name, offset, length, value, meaning } = field;
        text += format!("{} {offset}+{length} {name} {value} {meaning}", layer.name()).trim_end();
        text.push('\n');
    }
    text
}

fn of_dump(frame: &[u8], numbering: &Numbering) -> String {
    table(LinkType::Ethernet, frame, frame.len(), numbering)
}

/// The RST of the document's test 2c: no ACK, no identification.
#[test]
fn reset_field_by_field() {
    let text = of_dump(&RESET, &Numbering::default());
    assert_eq!(
        text,
        "\
link 0+6 destination 00:1a:73:f6:f3:6e
link 6+6 source 6c:b7:f4:71:14:15
link 12+2 type 0x0800 IPv4
ipv4 14+1 version 4
ipv4 14+1 header length 20 bytes
ipv4 15+1 DSCP 0 default (CS0)
ipv4 15+1 ECN 0 not ECN-capable
ipv4 16+2 total length 40 bytes
ipv4 18+2 identification 0x0000 0
ipv4 20+1 reserved bit 0
ipv4 20+1 don't fragment 1
ipv4 20+1 more fragments 0
ipv4 20+2 fragment offset 0 bytes
ipv4 22+1 TTL 64
ipv4 23+1 protocol 6 TCP
ipv4 24+2 header checksum 0xb8b0 right
ipv4 26+4 source 192.168.0.106
ipv4 30+4 destination 192.168.0.101
tcp 34+2 source port 57063
tcp 36+2 destination port 8811
tcp 38+4 sequence number 2131646786
tcp 42+4 acknowledgement number 0 does not count: ACK is not set
tcp 46+1 data offset 20 bytes of header
tcp 46+1 reserved 0
tcp 46+2 flags 0x004 [R]
tcp 46+1 AE 0
tcp 47+1 CWR 0
tcp 47+1 ECE 0
tcp 47+1 URG 0
tcp 47+1 ACK 0
tcp 47+1 PSH 0
tcp 47+1 RST 1 reset the connection
tcp 47+1 SYN 0
tcp 47+1 FIN 0
tcp 48+2 window 0 scale unknown: handshake not captured
tcp 50+2 checksum 0x541d right
tcp 52+2 urgent pointer 0
"
    );
}

/// The document's tests 4a and 4b: "the scale factor was set at 6 (x64)".
#[test]
fn syn_options_field_by_field() {
    let text = of_dump(&SYN_1024, &Numbering::default());
    let (_, options) = text.split_once("urgent pointer 0\n").unwrap();
    assert_eq!(
        options,
        "\
tcp-option 54+1 option kind 2 maximum segment size
tcp-option 55+1 option length 4 bytes
tcp-option 56+2 MSS 1460 largest segment, bytes
tcp-option 58+1 option kind 4 SACK permitted
tcp-option 59+1 option length 2 bytes
tcp-option 60+1 option kind 8 timestamps
tcp-option 61+1 option length 10 bytes
tcp-option 62+4 timestamp value 40065143
tcp-option 66+4 timestamp echo reply 0
tcp-option 70+1 no operation 1
tcp-option 71+1 option kind 3 window scale
tcp-option 72+1 option length 3 bytes
tcp-option 73+1 window scale 6 windows × 64
"
    );
    let server = of_dump(&SYN_ACK_4096, &Numbering::default());
    assert!(server.contains("window 2896 bytes: never scaled in a SYN\n"), "{server}");
    assert!(server.contains("checksum 0x4e86 offloaded: "), "{server}");
}

/// "Data byte sent was 1"; the window is 229 × 64 = 14,656 bytes.
#[test]
fn numbers_are_relative_to_the_handshake() {
    let numbering = Numbering {
        seq: Some(SeqNumber::new(0xcfe4_6898)),
        ack: Some(SeqNumber::new(0x5b84_f43b)),
        window_shift: Some(6),
    };
    let text = of_dump(&URGENT, &numbering);
    for line in [
        "tcp 38+4 sequence number 3487852697 relative 1\n",
        "tcp 42+4 acknowledgement number 1535439932 relative 1\n",
        "tcp 48+2 window 229 14656 bytes (scale 6: × 64)\n",
        "tcp 52+2 urgent pointer 1 urgent data ends before the sequence number + 1\n",
        "payload 66+1 data 1 byte\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}

#[test]
fn truncated_packet_says_what_is_missing() {
    let table = |kept: usize| {
        table(LinkType::Ethernet, &URGENT[..kept], URGENT.len(), &Numbering::default())
    };
    for (kept, last) in [
        (0, "link 0+0 not captured  the capture kept 0 of the 14 bytes of the link header\n"),
        (8, "link 6+2 not understood 6cb7 the capture kept 8 of the 14 bytes of the link header\n"),
        (14, "ipv4 14+0 not captured  the capture kept 0 of the 20 bytes of the IP header\n"),
        (25, "ipv4 24+1 not understood e0 the capture kept 11 of the 20 bytes of the IP header\n"),
        (47, "tcp 46+1 not understood 80 the capture kept 13 of the 20 bytes of the TCP header\n"),
        (60, "tcp 60+0 not captured  the capture kept 26 of the 32 bytes of the TCP header\n"),
        (66, "payload 66+0 data 0 bytes, 1 more not captured\n"),
    ] {
        let text = table(kept);
        assert!(text.ends_with(last), "{kept}: {text}");
    }
    assert!(table(60).contains("checksum 0x8fea not verified: packet truncated\n"));
}

#[test]
fn damaged_headers_say_what_is_wrong() {
    let damaged = |at: usize, byte: u8| {
        let mut frame = URGENT;
        frame[at] = byte;
        of_dump(&frame, &Numbering::default())
    };
    for (at, byte, line) in [
        (14, 0x44, "ipv4 34+33 not understood 93fe"),
        (14, 0x95, "ipv4 14+53 not understood 9500003"),
        (22, 63, "header checksum 0xe001 wrong, should be 0xe101\n"),
        (46, 0x40, "tcp 54+13 not understood "),
        (46, 0xf0, "the TCP header claims 60 bytes in a segment of 33\n"),
        (57, 0, "malformed option 0800025bbbc6075f5e7a timestamps: impossible length\n"),
        (57, 9, "option length 9 bytes: not the length of this option\n"),
        (66, 2, "checksum 0x8fea wrong, should be 0x8eea\n"),
    ] {
        let text = damaged(at, byte);
        assert!(text.contains(line), "byte {at} as {byte:#x}: {line}\n{text}");
    }
}

#[test]
fn padding_tags_and_tunnels_are_told_apart() {
    let mut frame = RESET[..12].to_vec();
    frame.extend([0x81, 0x00, 0x20, 0x07]);
    frame.extend(&RESET[12..]);
    frame.extend([0; 6]);
    let text = of_dump(&frame, &Numbering::default());
    assert!(text.contains("link 14+2 VLAN tag 0x2007 VLAN 7, priority 1\n"), "{text}");
    assert!(text.ends_with("padding 58+6 padding 6 bytes\n"), "{text}");
    // IPv4 in IPv6 in Ethernet.
    let inside = &RESET[14..];
    let outer = Ipv6Repr {
        src: Ipv6Addr::LOCALHOST,
        dst: Ipv6Addr::LOCALHOST,
        hop_limit: 9,
        ecn: Ecn::Ect0,
    };
    let mut packet = Vec::new();
    IpRepr::from(outer).emit(protocol::IPV4, inside.len(), &mut packet);
    packet.extend(inside);
    let text = table(LinkType::RawIp, &packet, packet.len(), &Numbering::default());
    assert!(text.starts_with("ipv6 0+1 version 6\nipv6 0+2 DSCP 0 default (CS0)\n"), "{text}");
    for line in ["ipv6 1+1 ECN 2 ECT(0)\n", "ipv6 7+1 hop limit 9\n", "tcp 60+2 "] {
        assert!(text.contains(line), "{line}{text}");
    }
}
