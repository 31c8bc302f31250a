//! Tunnels, and the links that carry IP behind more than one header.

use super::*;

/// A header in hexadecimal, spaces between its parts.
fn header(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// An IPv4 packet of `protocol` from 192.0.2.1 to 192.0.2.2.
fn outer(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let total = (20 + payload.len()) as u16;
    let mut packet = header("4500 0000 0001 0000 40 00 0000 c0000201 c0000202");
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    packet[9] = protocol;
    packet.extend_from_slice(payload);
    packet
}

/// A UDP datagram to `port`.
fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let mut datagram =
        [49_152_u16, port, 8 + payload.len() as u16, 0].map(u16::to_be_bytes).concat();
    datagram.extend_from_slice(payload);
    outer(protocol::UDP, &datagram)
}

fn behind(text: &str, packet: &[u8]) -> Vec<u8> {
    [&header(text), packet].concat()
}

/// An authentication header (RFC 4302 section 2) of 24 bytes before this protocol.
fn ah(next: u8) -> String {
    format!("{next:02x}04 0000 00000001 00000001 {}", "ab".repeat(12))
}

/// The time of Endace's header.
const ERF: &str = "00000000 00000000";
/// Two extension headers of it.
const EXTENSIONS: &str = "8100000000000000 0100000000000000";
const MAC: &str = "020202020202";
const MACS: &str = "020202020202 020202020202";
/// Ethernet, then IPv4.
const ETHERNET: &str = "020202020202 020202020202 0800";

fn tunnels() -> Vec<(&'static str, Vec<u8>)> {
    let syn = &LINUX_SYN[..];
    let bridged = behind(ETHERNET, syn);
    let tagged = behind(&format!("{MACS} 8100 0007 0800"), syn);
    let gre = |text: &str, inner: &[u8]| outer(protocol::GRE, &behind(text, inner));
    let snap = behind("aaaa03 000000 0800", syn);
    vec![
        ("IPv4 in IP", outer(protocol::IPV4, syn)),
        ("IPv4 in IPv4 in IPv4", outer(protocol::IPV4, &outer(protocol::IPV4, syn))),
        ("GRE", gre("0000 0800", syn)),
        ("GRE, checksum, key, sequence", gre("b000 0800 00000000 00000001 00000002", syn)),
        ("GRE, bridged", gre("2000 6558 00000001", &bridged)),
        ("GRE, MPLS", gre("0000 8847 00010140", syn)),
        ("WCCP", gre("0000 883e", syn)),
        ("WCCP 2", gre("0000 883e 05590048", syn)),
        ("PPTP", gre("3001 880b 00400001 00000001", &behind("ff03 0021", syn))),
        ("PPTP, acknowledgment", gre("3081 880b 00400001 00000001 00000002", &behind("21", syn))),
        ("EoIP", gre("2001 6400 0058 2a00", &bridged)),
        ("ERSPAN I", gre("0000 88be", &bridged)),
        ("ERSPAN II", gre("1000 88be 00000001 1001000100000000", &bridged)),
        ("ERSPAN III", gre("1000 22eb 00000001 200100010000000000000000", &tagged)),
        (
            "ERSPAN III, more",
            gre("1000 22eb 00000001 200100010000000000000001 0102030405060708", &bridged),
        ),
        ("authentication, IPv4 in IP", outer(51, &behind(&ah(4), syn))),
        ("Ethernet in IP", outer(protocol::ETHER_IP, &behind("3000", &bridged))),
        ("MPLS in IP", outer(protocol::MPLS, &behind("00010040 00020140", syn))),
        ("VXLAN", udp(4789, &behind("0800 0000 000001 00", &bridged))),
        ("VXLAN, Linux's first port", udp(8472, &behind("0800 0000 000001 00", &tagged))),
        ("VXLAN-GPE", udp(4790, &behind("0c00 0001 000001 00", syn))),
        ("Geneve", udp(6081, &behind("0000 6558 000001 00", &bridged))),
        ("Geneve, options", udp(6081, &behind("0240 0800 000001 00 0102800100000000", syn))),
        ("GTP-U", udp(2152, &behind("30ff 0000 00000001", syn))),
        ("GTP-U, sequence", udp(2152, &behind("32ff 0000 00000001 0001 00 00", syn))),
        ("GTP-U, extension", udp(2152, &behind("36ff 0000 00000001 0001 00 c0 01 0904 00", syn))),
        ("GTP-U, Ethernet", udp(2152, &behind("30ff 0000 00000001", &bridged))),
        ("GTP-U, PPP", udp(2152, &behind("30ff 0000 00000001 ff03 0021", syn))),
        ("LISP", udp(4341, &behind("c000 0001 00000000", syn))),
        ("GRE in UDP", udp(4754, &behind("0000 0800", syn))),
        ("MPLS in UDP", udp(6635, &behind("00010140", syn))),
        ("CAPWAP, 802.3", udp(5247, &behind("00100000 00000000", &bridged))),
        ("CAPWAP, 802.11", udp(5247, &behind("00100300 00000000", &wifi("0801 0000", "", &snap)))),
        (
            "CAPWAP, swapped 802.11",
            udp(5247, &behind("00200320 00000000 04bf230000000000", &wifi("1108 2c00", "", &snap))),
        ),
        ("AYIYA", udp(5072, &behind(&format!("4252 1104 00000001 {}", "01".repeat(36)), syn))),
        ("L2TP", udp(1701, &behind("4802 0000 00010001 00000000 ff03 0021", syn))),
        ("GRE, Aruba's 802.11", gre("0000 8200", &wifi("0801 0000", "", &snap))),
    ]
}

/// A frame of 802.11 with three addresses; `qos`: what follows them.
fn wifi(control: &str, qos: &str, rest: &[u8]) -> Vec<u8> {
    behind(&format!("{control} 020202020202 020202020202 020202020202 0000 {qos}"), rest)
}

#[test]
fn tunnel_innermost_packet_is_read() {
    for (name, packet) in tunnels() {
        let view = FrameView::of_packet(&packet);
        let tcp = view.tcp().unwrap_or_else(|| panic!("{name}: {view:?}"));
        assert_eq!((tcp.src_port(), tcp.dst_port()), (52_188, 5_201), "{name}");
        assert_eq!(tcp.checksum_state(), ChecksumState::Right, "{name}");
        assert_eq!(tcp.ip().bytes(), LINUX_SYN, "{name}");
    }
}

/// In transport mode, between the IP header and TCP; with the options of IPv4, twice, and cut.
#[test]
fn authentication_header_of_ipv4_is_passed_over() {
    let segment = &LINUX_SYN[20..];
    let mut once = outer(51, &behind(&ah(protocol::TCP), segment));
    let twice = outer(51, &behind(&(ah(51) + &ah(protocol::TCP)), segment));
    let mut with_options = once.clone();
    with_options.splice(20..20, [1; 4]);
    (with_options[0], with_options[3]) = (0x46, with_options[3] + 4);
    for packet in [&once, &twice, &with_options] {
        let tcp = FrameView::of_packet(packet).tcp().unwrap();
        assert_eq!((tcp.src_port(), tcp.dst_port()), (52_188, 5_201));
        assert_eq!(tcp.segment_len() as usize, segment.len());
    }
    let cut = FrameView::new(LinkType::RawIp, &once[..40], once.len() as u32);
    assert_eq!(cut.ip().unwrap().protocol(), 51);
    // All fragments of a packet are cut behind the IP header, and name the same protocol.
    once[6] = 0x20;
    let first = FrameView::of_packet(&once).ip().unwrap();
    assert_eq!((first.fragmentable(), first.protocol()), ((20, 51), protocol::TCP));
}

#[test]
fn tunnel_cut_shows_the_outer_packet() {
    for (name, packet) in tunnels() {
        for kept in 20..packet.len() - LINUX_SYN.len() {
            let view = FrameView::new(LinkType::RawIp, &packet[..kept], packet.len() as u32);
            let ip = view.ip().unwrap_or_else(|| panic!("{name}, {kept} bytes: {view:?}"));
            assert_ne!(ip.protocol(), protocol::TCP, "{name}, {kept} bytes");
        }
    }
}

#[test]
fn tunnel_other_content_is_the_outer_packet() {
    let arp = behind(&format!("{MACS} 0806"), &[0; 28]);
    let bridged = behind(ETHERNET, &LINUX_SYN);
    for (name, packet) in [
        ("VXLAN without a network", udp(4789, &behind("0000 0000 000001 00", &LINUX_SYN))),
        ("VXLAN with ARP", udp(4789, &behind("0800 0000 000001 00", &arp))),
        ("Geneve of a later version", udp(6081, &behind("4000 0800 000001 00", &LINUX_SYN))),
        ("GTP-U echo", udp(2152, &header("3201 0004 00000000 0001 00 00"))),
        ("L2TP control", udp(1701, &header("c802 000c 00010000 00000000"))),
        ("CAPWAP, fragment", udp(5247, &behind("00100080 00000000", &bridged))),
        ("CAPWAP, encrypted", udp(5247, &behind("01000000 00000000", &bridged))),
        ("AYIYA, no packet", udp(5072, &behind("0000 0004 00000001 01", &LINUX_SYN))),
        ("DNS", udp(53, &LINUX_SYN)),
        ("GRE with routing", outer(protocol::GRE, &behind("4000 0800 00000000", &LINUX_SYN))),
        ("no extension's length", udp(2152, &behind("34ff 0000 00000001 0001 00 c0 00", &[0; 60]))),
    ] {
        let view = FrameView::of_packet(&packet);
        let src = view.ip().unwrap_or_else(|| panic!("{name}: {view:?}")).src();
        assert_eq!(src, IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), "{name}");
    }
}

#[test]
fn tunnels_without_end_are_read_in_bounded_time() {
    let mut packet = LINUX_SYN.to_vec();
    for _ in 0..100 {
        packet = outer(protocol::IPV4, &packet);
    }
    let view = FrameView::of_packet(&packet);
    assert!(view.tcp().is_none() && view.ip().is_some(), "{view:?}");
}

#[test]
fn link_headers_in_a_row_lead_to_ip() {
    let syn = &LINUX_SYN[..];
    let snap = behind("aaaa03 000000 0800", syn);
    for (name, link, frame) in [
        ("802.3, SNAP", 1, behind(&format!("{MACS} 0044"), &snap)),
        ("802.3, LLC", 1, behind(&format!("{MACS} 003f 060603"), syn)),
        ("802.1ah", 1, behind(&format!("{MACS} 88e7 00000001 {MACS} 0800"), syn)),
        (
            "802.1ad, 802.1ah",
            1,
            behind(&format!("{MACS} 88a8 0001 88e7 00000001 {MACS} 0800"), syn),
        ),
        ("802.1BR", 1, behind(&format!("{MACS} 893f 000000000000 0800"), syn)),
        ("VN-tag", 1, behind(&format!("{MACS} 8926 00000000 0800"), syn)),
        ("HSR", 1, behind(&format!("{MACS} 892f 1042 0001 0800"), syn)),
        ("Cisco metadata", 1, behind(&format!("{MACS} 8909 0101 0001 0005 8100 0007 0800"), syn)),
        ("FabricPath", 1, behind(&format!("{MACS} 8903 0001 {MACS} 8100 0007 0800"), syn)),
        ("PPP", 9, behind("ff03 0021", syn)),
        ("Cisco HDLC, called PPP", 9, behind("0f00 0800", syn)),
        ("PPP, direction", 204, behind("01 ff03 0021", syn)),
        ("ATM, SNAP", 100, snap.clone()),
        ("ATM, PPP", 100, behind("fefe03 cf 0021", syn)),
        ("FireWire", 138, behind(&format!("{} 0800", "02".repeat(16)), syn)),
        ("ERF, Ethernet", 197, behind(&format!("{ERF} 02 04 006a 0000 005a 0000 {ETHERNET}"), syn)),
        (
            "ERF, IPv4, extended",
            197,
            behind(&format!("{ERF} 96 04 005c 0000 003c {EXTENSIONS}"), syn),
        ),
        ("ERF, PPP", 197, behind(&format!("{ERF} 01 04 0050 0000 0040 ff03 0021"), syn)),
        ("PPP, compressed", 9, behind("21", syn)),
        ("Token Ring", 6, behind(&format!("1040 {MACS}"), &snap)),
        ("Token Ring, routed", 6, behind("1040 020202020202 820202020202 0630 0011 0020", &snap)),
        ("ARCNET", 7, behind("be50 f0", syn)),
        ("ARCNET, flag", 7, behind("be50 d4 00 016b", syn)),
        ("ARCNET, Linux, exception", 129, behind("be50 c000 d4 ff ffff 0000 016b", syn)),
        ("Juniper", 178, behind(&format!("4d4743 80 0003 010203 {ETHERNET}"), syn)),
        ("IP over InfiniBand", 242, behind(&format!("{} 0800 0000", "02".repeat(40)), syn)),
        ("FDDI", 10, behind(&format!("50 {MACS}"), &snap)),
        ("PPP in HDLC", 50, behind("ff03 0021", syn)),
        ("Cisco HDLC", 50, behind("0f00 0800", syn)),
        ("PPPoE", 51, behind("1100 0001 003e 0021", syn)),
        ("Cisco HDLC", 104, behind("8f00 0800", syn)),
        ("802.11", 105, wifi("0801 0000", "", &snap)),
        ("802.11, QoS", 105, wifi("8802 0000", "0000", &snap)),
        ("802.11, aggregate", 105, wifi("8802 0000", &format!("8000 {MACS} 0044"), &snap)),
        ("802.11, mesh", 105, wifi("8803 0000", &format!("{MAC} 0001 001f 00000001"), &snap)),
        (
            "802.11, mesh, two addresses",
            105,
            wifi("8802 0000", &format!("0001 021f 00000001 {MACS}"), &snap),
        ),
        ("802.11, no mesh", 105, wifi("8802 0000", "0001", &snap)),
        ("802.11, bridge", 105, wifi("0803 0000", "020202020202", &snap)),
        (
            "radiotap",
            127,
            [header("0000 0a00 00000000 0000"), wifi("0801 0000", "", &snap)].concat(),
        ),
        ("NFLOG", 239, behind("0200 0000 0800 0100 08000300 0500 0a00 00000000 4000 0900", syn)),
        ("LLC behind Linux's header", 113, behind("0000 0001 0006 020202020202 0000 0004", &snap)),
    ] {
        let view = FrameView::new(LinkType::from_number(link), &frame, frame.len() as u32);
        let tcp = view.tcp().unwrap_or_else(|| panic!("{name}: {view:?}"));
        assert_eq!(tcp.checksum_state(), ChecksumState::Right, "{name}");
    }
    for (link, frame) in [
        (LinkType::Wifi, wifi("0841 0000", "", &snap)),
        // Frame control 0: of the ring itself.
        (LinkType::TokenRing, behind(&format!("1000 {MACS}"), &snap)),
    ] {
        let view = FrameView::new(link, &frame, frame.len() as u32);
        assert!(matches!(view, FrameView::NotIp { .. }), "{view:?}");
    }
}
