//! Link headers, snap lengths, fragments, and what can be wrong.

use super::*;

fn ethernet(tags: &[u16], ether_type: u16, packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    for tag in tags {
        frame.extend_from_slice(&tag.to_be_bytes());
        frame.extend_from_slice(&[0x20, 0x07]);
    }
    frame.extend_from_slice(&ether_type.to_be_bytes());
    frame.extend_from_slice(packet);
    frame
}
fn behind(header: &[u8], packet: &[u8]) -> Vec<u8> {
    [header, packet].concat()
}
fn v6_packet() -> Vec<u8> {
    let (src, dst) = ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap());
    let ip = Ipv6Repr { src, dst, hop_limit: 64, ecn: Ecn::Ect0 };
    linux_syn().to_packet(&ip.into(), &[])
}
fn look(link: LinkType, frame: &[u8]) -> FrameView<'_> {
    FrameView::new(link, frame, frame.len() as u32)
}

#[test]
fn finds_tcp_behind_every_link_header() {
    let (four, six) = (&LINUX_SYN[..], &v6_packet()[..]);
    let sll = [0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0];
    let llc = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let wifi = [&[0x08, 0x01][..], &[0; 22], &llc].concat();
    let quality = [&[0x88, 0x01][..], &[0; 24]].concat();
    let radiotap =
        [0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x20];
    let sll2 = [0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0];
    for (number, frame) in [
        (0, behind(&[2, 0, 0, 0], four)),
        (0, behind(&[0, 0, 0, 2], four)),
        (0, behind(&[30, 0, 0, 0], six)),
        (0, behind(&[0, 0, 0, 24], six)),
        (0, behind(&[28, 0, 0, 0], six)),
        (0, behind(&[10, 0, 0, 0], six)),
        (1, ethernet(&[], 0x0800, four)),
        (1, ethernet(&[0x8100], 0x0800, four)),
        (1, ethernet(&[0x88a8, 0x8100], 0x86dd, six)),
        (1, ethernet(&[0x9100, 0x8100, 0x8100], 0x86dd, six)),
        (1, ethernet(&[], 0x8864, &behind(&[0x11, 0, 0, 1, 0, 62, 0x00, 0x21], four))),
        (1, ethernet(&[0x8100], 0x8864, &behind(&[0x11, 0, 0, 1, 0, 82, 0x00, 0x57], six))),
        (1, ethernet(&[], 0x8847, &behind(&[0, 1, 0x41, 64], four))),
        (1, ethernet(&[0x8100], 0x8847, &behind(&[0, 1, 0x40, 64, 0, 2, 0x41, 64], six))),
        (12, four.to_vec()),
        (14, six.to_vec()),
        (101, four.to_vec()),
        (101, six.to_vec()),
        (108, behind(&[0, 0, 0, 2], four)),
        (113, behind(&[&sll[..], &[0x08, 0x00]].concat(), four)),
        (113, behind(&[&sll[..], &[0x81, 0x00, 0, 7, 0x86, 0xdd]].concat(), six)),
        (228, four.to_vec()),
        (229, six.to_vec()),
        (276, behind(&[&[0x86, 0xdd][..], &sll2].concat(), six)),
        (107, behind(&[0x18, 0x41, 0x03, 0xcc], four)),
        (107, behind(&[0x18, 0x41, 0x03, 0x00, 0x80, 0, 0, 0, 0x86, 0xdd], six)),
        (107, behind(&[0x18, 0x41, 0x08, 0x00], four)),
        (109, behind(&[0, 0, 0, 2, 1, 2, 3, 4, 0, 0, 0, 0], four)),
        (117, behind(&[&[61, 2, 0, 0][..], &[0; 60]].concat(), four)),
        (117, behind(&[&[100, 30, 0, 0][..], &[0; 96]].concat(), six)),
        (119, behind(&[&[0x44, 0, 0, 0, 144, 0, 0, 0][..], &[0; 136], &wifi].concat(), four)),
        (163, behind(&[&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64][..], &[0; 56], &wifi].concat(), four)),
        (192, behind(&[&[0, 0, 8, 0, 105, 0, 0, 0][..], &wifi].concat(), four)),
        (258, behind(&[&[16, 0, 0, 0, 1, 0, 0, 0, 101, 0, 0, 0][..], &[0; 4]].concat(), six)),
        (127, behind(&[&[0, 0, 8, 0, 0, 0, 0, 0][..], &wifi].concat(), four)),
        // Flags behind a time and a second word of fields: the header is filled up.
        (127, behind(&[&radiotap[..], &quality, &[0, 0], &llc].concat(), four)),
    ] {
        let view = look(LinkType::from_number(number), &frame);
        assert_eq!(view.anomaly(), None, "{number}");
        let tcp = view.tcp().unwrap_or_else(|| panic!("{number}: {frame:x?}"));
        assert_eq!(tcp.src_port(), 52188, "{number}");
        assert_eq!(tcp.checksum_state(), ChecksumState::Right, "{number}");
    }
}

/// `packet` of IPv6 by way of `fd00::99`, with a routing header of this type behind which `left`
/// segments are left: its destination is written there.
fn routed(packet: &[u8], kind: u8, left: u8) -> Vec<u8> {
    let (mut header, final_dst) = (packet[..40].to_vec(), &packet[24..40]);
    header[5] += 24;
    header[6] = 43;
    if left > 0 {
        header[39] = 0x99;
    }
    let route = [&[protocol::TCP, 2, kind, left, 0, 0, 0, 0][..], final_dst].concat();
    [&header[..], &route, &packet[40..]].concat()
}

/// RFC 8200 section 8.1, RFC 791 section 3.1: checksums cover the end of a route.
#[test]
fn destination_is_the_end_of_a_route() {
    let six = v6_packet();
    for (kind, left) in [(0, 1), (2, 1), (4, 1), (4, 0), (0, 0)] {
        let packet = routed(&six, kind, left);
        let view = look(LinkType::RawIp, &packet);
        let tcp = view.tcp().unwrap();
        assert_eq!(tcp.dst(), "fd00::2".parse::<IpAddr>().unwrap(), "type {kind}, {left} left");
        assert_eq!(tcp.checksum_state(), ChecksumState::Right, "type {kind}, {left} left");
    }
    // RPL compresses the addresses of type 3 (RFC 6554): the end is not known.
    let compressed = routed(&six, 3, 1);
    let next = "fd00::99".parse::<IpAddr>().unwrap();
    assert_eq!(look(LinkType::RawIp, &compressed).tcp().unwrap().dst(), next);

    for (kind, len, pointer, dst) in
        [(131, 7, 4, 2), (137, 7, 4, 2), (131, 7, 8, 99), (7, 7, 4, 99), (131, 0, 0, 99)]
    {
        let mut packet = LINUX_SYN[..20].to_vec();
        (packet[0], packet[3], packet[19]) = (0x47, 68, 99);
        packet.extend_from_slice(&[1, kind, len, pointer, 10, 98, 0, 2]);
        packet.extend_from_slice(&LINUX_SYN[20..]);
        let view = look(LinkType::RawIp, &packet);
        let to = IpAddr::V4(Ipv4Addr::new(10, 98, 0, dst));
        assert_eq!(view.tcp().unwrap().dst(), to, "{kind}, {len}, {pointer}");
    }
}

#[test]
fn frames_of_802_11_without_clear_data_are_named() {
    let frame = |control: u8, flags: u8| [&[control, flags][..], &[0; 40]].concat();
    let packet = |frame: &[u8]| match look(LinkType::Wifi, frame) {
        FrameView::NotIp { protocol } => protocol,
        other => panic!("{other:?}"),
    };
    assert_eq!(packet(&frame(0x88, 0x41)), ENCRYPTED);
    assert_eq!(packet(&frame(0x80, 0)), NOT_DATA, "a beacon");
    assert_eq!(packet(&frame(0x48, 0)), NOT_DATA, "null data");
    // One link named by another, for ever.
    let nested = [&[0, 0, 8, 0, 192, 0, 0, 0][..]; 4].concat();
    let view = look(LinkType::Ppi, &nested);
    assert_eq!(view.anomaly(), Some(Anomaly::UnknownLinkType(192)));
}

#[test]
fn labels_and_sessions_may_carry_anything_or_be_cut() {
    let control = [0x11, 0, 0, 1, 0, 6, 0xc0, 0x21, 1, 1, 0, 4];
    for (ether_type, behind, named) in
        [(0x8864, &control[..], 0x8864), (0x8848, &[0, 1, 0x41, 64, 0, 0, 0, 0][..], 0x8847)]
    {
        let frame = ethernet(&[], ether_type, behind);
        let view = look(LinkType::Ethernet, &frame);
        assert!(matches!(view, FrameView::NotIp { protocol } if protocol == named), "{view:?}");
        for kept in 14..if ether_type == 0x8864 { 22 } else { 18 } {
            let view = FrameView::new(LinkType::Ethernet, &frame[..kept], frame.len() as u32);
            assert!(matches!(view.anomaly(), Some(Anomaly::Cut { .. })), "{kept}: {view:?}");
        }
    }
    // Labels without a last one end with the frame.
    let endless = ethernet(&[], 0x8847, &[0; 40]);
    let view = look(LinkType::Ethernet, &endless);
    assert!(matches!(view.anomaly(), Some(Anomaly::TooShort { .. })), "{view:?}");
}

#[test]
fn link_types_keep_their_numbers() {
    for number in 0..400 {
        let back = LinkType::from_number(number).number();
        let expected = if [12, 14].contains(&number) { 101 } else { number };
        assert_eq!(back, expected);
    }
}

#[test]
fn says_what_is_wrong() {
    use Anomaly::*;
    let patched = |at: usize, value: u8| {
        let mut packet = LINUX_SYN;
        packet[at] = value;
        packet.to_vec()
    };
    let raw = LinkType::RawIp;
    let ether = LinkType::Ethernet;
    let tcp_of_12 = {
        let mut packet = patched(3, 32);
        packet.truncate(32);
        packet
    };
    for (link, frame, anomaly) in [
        (LinkType::Other(147), vec![1, 2, 3], UnknownLinkType(147)),
        (ether, vec![0; 13], TooShort { layer: Layer::Link, len: 13, needed: 14 }),
        (
            ether,
            ethernet(&[0x8100], 0x0800, &[])[..16].to_vec(),
            TooShort { layer: Layer::Link, len: 16, needed: 18 },
        ),
        (ether, ethernet(&[], 0x86dd, &LINUX_SYN), IpVersion(4)),
        (raw, vec![], TooShort { layer: Layer::Ip, len: 0, needed: 20 }),
        (raw, patched(0, 0x75), IpVersion(7)),
        (raw, patched(0, 0x44), IpHeaderLength(16)),
        (raw, patched(3, 19), TooShort { layer: Layer::Ip, len: 19, needed: 20 }),
        (raw, patched(3, 61), IpBeyondFrame { claimed: 61, available: 60 }),
        (raw, tcp_of_12, TooShort { layer: Layer::Tcp, len: 12, needed: 20 }),
        (raw, patched(32, 0x40), TcpDataOffset { claimed: 16, segment: 40 }),
        (raw, patched(32, 0xb0), TcpDataOffset { claimed: 44, segment: 40 }),
    ] {
        assert_eq!(look(link, &frame).anomaly(), Some(anomaly), "{frame:x?}");
        assert!(!anomaly.to_string().is_empty());
    }
}

#[test]
fn a_segment_with_an_impossible_data_offset_still_shows_the_rest() {
    let mut packet = LINUX_SYN;
    packet[32] = 0xf0;
    let tcp = FrameView::of_packet(&packet).tcp().unwrap();
    assert_eq!(tcp.seq().as_u32(), 3_089_172_557);
    assert_eq!((tcp.payload_len(), tcp.payload()), (0, &[][..]));
    assert_eq!(tcp.options().next(), Some(TcpOption::Mss(1460)));
}

#[test]
fn what_is_not_tcp_is_named() {
    let mut udp = LINUX_SYN;
    udp[9] = 17;
    let arp = ethernet(&[], 0x0806, &[0; 28]);
    let view = look(LinkType::RawIp, &udp);
    assert!(view.tcp().is_none() && view.anomaly().is_none());
    assert_eq!(view.ip().unwrap().protocol(), protocol::UDP);
    assert!(matches!(look(LinkType::Ethernet, &arp), FrameView::NotIp { protocol: 0x0806 }));
    assert!(matches!(look(LinkType::Null, &[7, 0, 0, 0]), FrameView::NotIp { protocol: 7 }));
}

#[test]
fn lengths_are_those_of_the_ip_header_whatever_the_capture_kept() {
    let packet = linux_syn().to_packet(&v4().into(), &[7; 100]);
    let frame = ethernet(&[], 0x0800, &packet);
    // Ethernet, IPv4 and the fixed part of TCP take 54 bytes; the options end at 74.
    for kept in 0..=frame.len() {
        let view = FrameView::new(LinkType::Ethernet, &frame[..kept], frame.len() as u32);
        let Some(tcp) = view.tcp() else {
            assert!(kept < 54, "{kept}");
            assert!(matches!(view.anomaly(), Some(Anomaly::Cut { .. })), "{kept}");
            continue;
        };
        assert!(kept >= 54 && view.anomaly().is_none(), "{kept}");
        assert_eq!((tcp.ip().total_len(), tcp.payload_len()), (160, 100));
        assert_eq!(tcp.payload().len(), kept.saturating_sub(74));
        assert_eq!(tcp.options_complete(), kept >= 74);
        let malformed = |o| matches!(o, TcpOption::Malformed { .. });
        assert!(!tcp.options().any(malformed), "{kept}");
        let expected =
            if kept == frame.len() { ChecksumState::Right } else { ChecksumState::Unknown };
        assert_eq!(tcp.checksum_state(), expected);
    }
}

#[test]
fn padding_of_short_frames_is_no_data() {
    let ack = TcpRepr { flags: TcpFlags::ACK, ..TcpRepr::default() };
    let mut frame = ethernet(&[], 0x0800, &ack.to_packet(&v4().into(), &[]));
    frame.resize(60, 0xaa);
    let tcp = look(LinkType::Ethernet, &frame).tcp().unwrap();
    assert_eq!((tcp.payload_len(), tcp.payload().len()), (0, 0));
    assert_eq!(tcp.checksum_state(), ChecksumState::Right);
}

#[test]
fn a_super_packet_that_tells_no_length_has_that_of_the_frame() {
    for (mut packet, len_at) in [(LINUX_SYN.to_vec(), 2), (v6_packet(), 4)] {
        let headers = packet.len() as u32;
        packet[len_at..len_at + 2].fill(0);
        let view = FrameView::new(LinkType::RawIp, &packet, headers + 65_160);
        assert_eq!(view.anomaly(), None);
        assert_eq!(view.tcp().unwrap().payload_len(), 65_160);
    }
}

#[test]
fn fragments_are_not_taken_for_segments() {
    let mut first = linux_syn().to_packet(&v4().into(), &[7; 100]);
    first[6] = 0x20;
    let mut later = first.clone();
    later[6..8].copy_from_slice(&[0x00, 0x14]);
    let tcp = FrameView::of_packet(&first).tcp().unwrap();
    assert_eq!(tcp.ip().fragment(), Fragment { offset: 0, more: true });
    assert_eq!(tcp.checksum_state(), ChecksumState::Unknown);
    let FrameView::Ip(ip) = FrameView::of_packet(&later) else { panic!("not a segment") };
    assert_eq!(ip.fragment(), Fragment { offset: 160, more: false });
}

#[test]
fn extension_headers_are_passed_over() {
    let plain = v6_packet();
    let with = |first: u8, chain: &[u8]| {
        let mut packet = [&plain[..40], chain, &plain[40..]].concat();
        packet[6] = first;
        packet[5] += chain.len() as u8;
        packet
    };
    let hop_by_hop_and_fragment = [44, 0, 1, 4, 0, 0, 0, 0, 6, 0, 0x00, 0x01, 0, 0, 0, 9];
    let authentication = [6, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let options = [6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for packet in [with(0, &hop_by_hop_and_fragment), with(51, &authentication), with(60, &options)]
    {
        let tcp = FrameView::of_packet(&packet).tcp().unwrap();
        assert_eq!((tcp.src_port(), tcp.payload_len()), (52188, 0));
    }
    let first = with(0, &hop_by_hop_and_fragment);
    let first = FrameView::of_packet(&first).tcp().unwrap().ip();
    assert_eq!(first.fragment(), Fragment { offset: 0, more: true });
    let cut = &with(60, &options)[..48];
    let view = FrameView::new(LinkType::Ipv6, cut, 96);
    let anomaly = Anomaly::Cut { layer: Layer::Ip, kept: 48, needed: 56 };
    assert_eq!(view.anomaly(), Some(anomaly));
}

#[test]
fn options_of_ipv4_belong_to_its_header() {
    let mut packet = [&LINUX_SYN[..20], &[0x94, 4, 0, 0], &LINUX_SYN[20..]].concat();
    packet[0] = 0x46;
    packet[1] = 0xb9;
    packet[3] = 64;
    packet[10..12].fill(0);
    let sum = checksum::internet(&packet[..24]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    let tcp = FrameView::of_packet(&packet).tcp().unwrap();
    assert_eq!((tcp.src_port(), tcp.ip().header_len()), (52188, 24));
    assert_eq!((tcp.ip().dscp(), tcp.ecn()), (46, Ecn::Ect1));
    assert!(tcp.ip().header_checksum_is_right());
    assert_eq!(tcp.checksum_state(), ChecksumState::Right);
    packet[21] ^= 1;
    assert!(!FrameView::of_packet(&packet).ip().unwrap().header_checksum_is_right());
    let view = FrameView::new(LinkType::Ipv4, &packet[..22], 64);
    assert_eq!(view.anomaly(), Some(Anomaly::Cut { layer: Layer::Ip, kept: 22, needed: 24 }));
}
