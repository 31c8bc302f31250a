//! Cutting and completing, against the properties that make the pieces one stream again.

mod merging;

use std::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;

use super::*;
use crate::tests::{any_ip, any_tcp, linux_syn, v4};
use crate::{ChecksumState, FrameView, TcpFlags, TcpRepr, checksum, protocol};

fn pieces(packet: &[u8], gso_size: u16) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    Cutter::new().cut(packet, gso_size, |piece| pieces.push(piece.to_vec())).unwrap();
    pieces
}
fn data() -> TcpRepr {
    let flags = TcpFlags::ACK | TcpFlags::PSH | TcpFlags::FIN | TcpFlags::CWR;
    TcpRepr { flags, timestamps: Some((7, 8)), ..TcpRepr::default() }
}
/// As the kernel leaves it: only the pseudo-header is summed.
fn leave_checksum_partial(packet: &mut [u8], tcp_at: usize, src: IpAddr, dst: IpAddr) {
    let len = (packet.len() - tcp_at) as u32;
    let partial = checksum::pseudo_header(src, dst, protocol::TCP, len).folded();
    packet[tcp_at + 16..tcp_at + 18].copy_from_slice(&partial.to_be_bytes());
}

#[test]
fn three_pieces_of_a_super_packet() {
    let payload: Vec<u8> = (0..3000_u32).map(|i| i as u8).collect();
    let mut found = Vec::new();
    for piece in pieces(&data().to_packet(&v4().into(), &payload), 1448) {
        let tcp = FrameView::of_packet(&piece).tcp().unwrap();
        let id = tcp.ip().id().unwrap() - v4().id;
        found.push((tcp.seq().as_u32(), tcp.payload_len(), id, tcp.flags().to_string()));
    }
    assert_eq!(
        found,
        [
            (0, 1448, 0, "[.W]".into()),
            (1448, 1448, 1, "[.]".into()),
            (2896, 104, 2, "[FP.]".into()),
        ]
    );
}

#[test]
fn a_segment_that_fits_comes_out_whole_and_right() {
    for payload in [&[][..], &[1; 1448]] {
        let right = data().to_packet(&v4().into(), payload);
        let mut partial = right.clone();
        leave_checksum_partial(&mut partial, 20, v4().src.into(), v4().dst.into());
        for gso_size in [0, 1448] {
            assert_eq!(pieces(&partial, gso_size), std::slice::from_ref(&right));
        }
    }
}

#[test]
fn the_longest_super_packet_of_linux_can_be_cut() {
    let packet = data().to_packet(&v4().into(), &vec![0x5a; 65_535 - 52]);
    assert_eq!(packet.len(), 65_535);
    assert_eq!(pieces(&packet, 1448).len(), (65_535 - 52_usize).div_ceil(1448));
}

#[test]
fn a_super_packet_beyond_64_kib_tells_no_length() {
    let mut packet = data().to_packet(&v4().into(), &[1; 1000]);
    packet[2..4].fill(0);
    packet.resize(200_000, 2);
    let found = pieces(&packet, 1448);
    assert_eq!(found.len(), (200_000 - 52_usize).div_ceil(1448));
    assert!(found.iter().all(|p| FrameView::of_packet(p).anomaly().is_none()));
    let refused = Cutter::new().cut(&packet, 0, |_| panic!("no piece was to be had"));
    assert_eq!(refused, Err(OffloadError::TooLong { len: 200_000 }));
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let good = data().to_packet(&v4().into(), &[0; 100]);
    let patched = |at: usize, value: u8| {
        let mut packet = good.clone();
        packet[at] = value;
        packet
    };
    for (packet, message) in [
        (vec![], "a packet is to be cut, but 0 bytes are too short for the 20 of the IP header"),
        (patched(9, 17), "a packet of 152 bytes is to be cut, but it is not a TCP segment"),
        (patched(6, 0x20), "a packet is to be cut, but it is a fragment of another"),
        (
            patched(32, 0x10),
            "a packet is to be cut, but the TCP header claims 4 bytes in a segment of 132",
        ),
        (
            good[..150].to_vec(),
            "a packet is to be cut, but the IP packet claims 152 bytes of which the frame has 150",
        ),
    ] {
        let refused = Cutter::new().cut(&packet, 100, |_| panic!("{message}")).unwrap_err();
        assert_eq!(refused.to_string(), message);
    }
}

#[test]
fn resolves_what_the_header_says() {
    let right = linux_syn().to_packet(&v4().into(), &[3; 99]);
    let mut partial = right.clone();
    leave_checksum_partial(&mut partial, 20, v4().src.into(), v4().dst.into());
    let completed = |header| {
        let mut found = Vec::new();
        let done = Cutter::new().resolve(header, &mut partial.clone(), |p| found.push(p.to_vec()));
        done.map(|()| found)
    };
    let needs = VnetHeader {
        needs_checksum: true,
        csum_start: 20,
        csum_offset: 16,
        ..VnetHeader::COMPLETE
    };
    assert_eq!(completed(VnetHeader::COMPLETE), Ok(vec![partial.clone()]));
    assert_eq!(completed(needs), Ok(vec![right]));
    let cut = VnetHeader { gso_type: GsoType::TcpV4, gso_size: 33, ..needs };
    assert_eq!(completed(cut).unwrap().len(), 3);
    let datagrams = VnetHeader { gso_type: GsoType::UdpL4, ..needs };
    assert_eq!(completed(datagrams), Err(OffloadError::NotTcpOffload(GsoType::UdpL4)));
    let outside = VnetHeader { csum_offset: 200, ..needs };
    let len = partial.len();
    let refusal = OffloadError::ChecksumOutside { start: 20, offset: 200, len };
    assert_eq!(completed(outside), Err(refusal));
}

#[test]
fn a_udp_checksum_is_never_zero() {
    let (src, dst) = (IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv4Addr::LOCALHOST));
    let mut zeros = 0;
    for word in 0..=u16::MAX {
        let [high, low] = word.to_be_bytes();
        let mut datagram = [0x30, 0x39, 0, 53, 0, 10, 0, 0, high, low];
        let partial = checksum::pseudo_header(src, dst, protocol::UDP, 10).folded();
        datagram[6..8].copy_from_slice(&partial.to_be_bytes());
        zeros += u32::from(checksum::internet(&datagram) == 0);
        complete_checksum(&mut datagram, 0, 6).unwrap();
        assert_ne!(datagram[6..8], [0, 0]);
        assert_eq!(checksum::transport(src, dst, protocol::UDP, &datagram), 0);
    }
    assert_eq!(zeros, 1, "one word in 65,536 sums to zero");
}

#[test]
fn the_header_of_linux() {
    let mut bytes = [0x01, 0x81, 0, 0, 0, 0, 0, 0, 0, 0];
    for (at, number) in [(2, 66_u16), (4, 1448), (6, 20), (8, 16)] {
        bytes[at..at + 2].copy_from_slice(&number.to_ne_bytes());
    }
    let header = VnetHeader {
        needs_checksum: true,
        data_valid: false,
        gso_type: GsoType::TcpV4,
        gso_ecn: true,
        hdr_len: 66,
        gso_size: 1448,
        csum_start: 20,
        csum_offset: 16,
    };
    assert_eq!(VnetHeader::from_bytes(bytes), header);
    assert_eq!(header.to_bytes(), bytes);
    assert_eq!(VnetHeader::COMPLETE.to_bytes(), [0; 10]);
}

proptest! {
    #[test]
    fn the_pieces_are_the_stream(
        ip in any_ip(),
        tcp in any_tcp(),
        payload in prop::collection::vec(any::<u8>(), 0..5000),
        gso_size in 1..3000_u16,
        partial: bool,
    ) {
        let mut packet = tcp.to_packet(&ip, &payload);
        if partial {
            leave_checksum_partial(&mut packet, ip.header_len(), ip.src(), ip.dst());
        }
        let pieces = pieces(&packet, gso_size);
        let mut again = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            let view = FrameView::of_packet(piece);
            prop_assert_eq!(view.anomaly(), None);
            let found = view.tcp().unwrap();
            prop_assert_eq!(found.checksum_state(), ChecksumState::Right);
            prop_assert!(found.ip().header_checksum_is_right() && found.ip().is_whole());
            prop_assert_eq!(found.seq(), tcp.seq.advanced_by(again.len() as u32));
            prop_assert!(found.payload().len() <= usize::from(gso_size));
            assert_only_lengths_and_numbers_differ(&packet, piece, index, pieces.len())?;
            again.extend_from_slice(found.payload());
        }
        prop_assert_eq!(pieces.len(), payload.len().div_ceil(usize::from(gso_size)).max(1));
        prop_assert_eq!(again, payload);
    }

    #[test]
    fn nothing_the_kernel_hands_over_makes_it_panic(
        mut packet in prop::collection::vec(any::<u8>(), 0..300),
        header: [u8; 10],
        start in prop::sample::select(vec![0x45_u8, 0x60, 0x00]),
    ) {
        if let Some(first) = packet.first_mut() {
            *first = start;
        }
        let header = VnetHeader::from_bytes(header);
        prop_assert_eq!(VnetHeader::from_bytes(header.to_bytes()), header);
        let _ = Cutter::new().resolve(header, &mut packet, |_| {});
        let _ = complete_checksum(&mut packet, header.csum_start, header.csum_offset);
        let _ = Cutter::new().cut(&packet, header.gso_size, |_| {});
    }
}

fn assert_only_lengths_and_numbers_differ(
    whole: &[u8],
    piece: &[u8],
    index: usize,
    count: usize,
) -> Result<(), TestCaseError> {
    let (whole, piece) = (FrameView::of_packet(whole), FrameView::of_packet(piece));
    let (whole, piece) = (whole.tcp().unwrap(), piece.tcp().unwrap());
    let id = whole.ip().id().map(|id| id.wrapping_add(index as u16));
    prop_assert_eq!(piece.ip().id(), id);
    prop_assert_eq!((piece.src(), piece.dst()), (whole.src(), whole.dst()));
    prop_assert_eq!((piece.ip().ttl(), piece.ecn()), (whole.ip().ttl(), whole.ecn()));
    prop_assert_eq!((piece.src_port(), piece.dst_port()), (whole.src_port(), whole.dst_port()));
    prop_assert_eq!((piece.ack(), piece.window()), (whole.ack(), whole.window()));
    prop_assert_eq!(piece.urgent_pointer(), whole.urgent_pointer());
    prop_assert!(piece.options().eq(whole.options()));
    let mut flags = whole.flags();
    if index > 0 {
        flags = flags.without(TcpFlags::CWR);
    }
    if index + 1 < count {
        flags = flags.without(TcpFlags::FIN | TcpFlags::PSH);
    }
    prop_assert_eq!(piece.flags(), flags);
    Ok(())
}

/// A kernel that forwards may keep a whole super-packet in one piece, and then `hdr_len` is all of
/// the frame: a byte more, and the other device takes it no more.
#[test]
fn a_header_of_a_frame_is_that_of_its_packet_and_back() {
    let of_frame = VnetHeader {
        needs_checksum: true,
        gso_type: GsoType::TcpV4,
        hdr_len: 3970,
        gso_size: 1448,
        csum_start: 34,
        csum_offset: 16,
        ..VnetHeader::COMPLETE
    };
    let of_packet = of_frame.of_packet(14);
    assert_eq!((of_packet.hdr_len, of_packet.csum_start), (3956, 20));
    assert_eq!(of_packet.of_frame(14), of_frame);
    assert_eq!(VnetHeader::COMPLETE.of_packet(14).of_frame(14), VnetHeader::COMPLETE);
}
