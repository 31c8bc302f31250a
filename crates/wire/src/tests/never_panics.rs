//! Whatever the bytes, every view answers every question.

use proptest::prelude::*;

use super::*;

const LINKS: [u16; 11] = [0, 1, 12, 14, 101, 108, 113, 147, 228, 229, 276];

proptest! {
    #[test]
    fn on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), original: u32) {
        for link in LINKS {
            ask_everything(link, &bytes, original);
        }
    }

    #[test]
    fn on_bytes_that_claim_to_be_ip(
        mut bytes in prop::collection::vec(any::<u8>(), 1..200),
        start in prop::sample::select(vec![0x44, 0x45, 0x46, 0x4f, 0x60]),
        next in prop::sample::select(vec![0_u8, 1, 6, 17, 43, 44, 51, 60, 135]),
        original in 0..300_u32,
    ) {
        bytes[0] = start;
        for at in [6, 9, 40] {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = next;
            }
        }
        for link in LINKS {
            ask_everything(link, &bytes, original);
        }
    }

    #[test]
    fn on_damaged_packets_cut_anywhere(
        ip in any_ip(), tcp in any_tcp(), payload in any_payload(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        original: u32,
    ) {
        let mut packet = tcp.to_packet(&ip, &payload);
        for (place, value) in damage {
            let at = place.index(packet.len());
            packet[at] = value;
        }
        for kept in 0..=packet.len().min(120) {
            ask_everything(101, &packet[..kept], packet.len() as u32);
            ask_everything(101, &packet[..kept], original);
        }
    }
}

fn ask_everything(link: u16, bytes: &[u8], original: u32) {
    let view = FrameView::new(LinkType::from_number(link), bytes, original);
    let shown = format!("{view:?}");
    assert_eq!(
        shown,
        format!("{:?}", FrameView::look(LinkType::from_number(link), bytes, original))
    );
    let _ = view.anomaly().map(|a| a.to_string());
    every_byte_is_in_a_field(link, bytes, original);
    if let Some(ip) = view.ip() {
        let _ = (ip.src(), ip.dst(), ip.id(), ip.ttl(), ip.ecn(), ip.dscp(), ip.dont_fragment());
        let _ = (ip.header_checksum_is_right(), ip.is_whole(), ip.protocol(), ip.fragment());
        assert!(ip.payload().len() as u64 <= u64::from(ip.payload_len()));
        assert!(ip.header_len() + ip.payload().len() == ip.bytes().len());
        if let Some(udp) = UdpPacket::of(ip) {
            let _ = (udp.src_port(), udp.dst_port(), udp.checksum(), udp.checksum_state());
            assert!(udp.payload().len() + 8 <= ip.payload().len());
        }
        assert!(port_unreachable(&ip).is_none_or(|quoted| quoted.len() < ip.payload().len()));
    }
    if let Some(tcp) = view.tcp() {
        let _ = (tcp.seq(), tcp.ack(), tcp.window(), tcp.urgent_pointer(), tcp.checksum_state());
        let _ = (tcp.flags().to_string(), tcp.sequence_len(), tcp.ecn());
        assert!(tcp.payload_len() <= tcp.segment_len());
        assert!(tcp.payload().len() as u64 <= u64::from(tcp.payload_len()));
        assert!(tcp.options().count() <= 40);
        if let Some((value, echo)) = tcp.only_timestamps() {
            let known = tcp.options().filter(|option| *option != TcpOption::NoOperation);
            assert_eq!(known.collect::<Vec<_>>(), [TcpOption::Timestamps { value, echo }]);
            assert!(
                tcp.options_complete()
                    && tcp.anomaly().is_none_or(|a| tcp.ip().anomaly() == Some(a))
            );
        }
    }
}

/// Fields lie within what was captured, and together they are all of it.
fn every_byte_is_in_a_field(link: u16, bytes: &[u8], original: u32) {
    let numbering =
        Numbering { seq: Some(SeqNumber::new(original)), ack: None, window_shift: Some(200) };
    let mut covered = 0;
    for field in fields(LinkType::from_number(link), bytes, original, &numbering) {
        assert!(field.offset <= covered, "{field:?} leaves a gap behind {covered}");
        covered = covered.max(field.offset + field.length);
        assert!(field.value.len() <= 200, "{field:?}");
    }
    assert_eq!(covered, bytes.len());
}
