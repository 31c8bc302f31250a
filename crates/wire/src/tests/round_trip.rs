//! What is built is read back unchanged.

use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::*;

/// A duplicate acknowledgement of the same kernel as [`LINUX_SYN`], with two SACK blocks.
const LINUX_SACK: [u8; 72] =
    hex("4500004805934000400620570a6200020a6200011451cbe8fc0694cd7a54ef6ad01002b776a500000101080a\
     86523381907e778d010105127a57acca7a57bdc27a54faba7a57a722");

#[test]
fn builds_the_very_packets_that_linux_sends() {
    assert_eq!(linux_syn().to_packet(&v4().into(), &[]), LINUX_SYN);

    let block = |l, r| SackBlock { left: SeqNumber::new(l), right: SeqNumber::new(r) };
    let sack = TcpRepr {
        src_port: 5201,
        dst_port: 52200,
        seq: SeqNumber::new(4_228_289_741),
        ack: SeqNumber::new(2_052_386_666),
        flags: TcpFlags::ACK,
        window: 695,
        timestamps: Some((2_253_534_081, 2_424_207_245)),
        sack: [block(2_052_566_218, 2_052_570_562), block(2_052_389_562, 2_052_564_770)]
            .into_iter()
            .collect(),
        ..TcpRepr::default()
    };
    let back = Ipv4Repr { src: v4().dst, dst: v4().src, id: 1427, ..v4() };
    assert_eq!(sack.to_packet(&back.into(), &[]), LINUX_SACK);
}

/// The order and the padding of FreeBSD's packetdrill suite: `mss 1460, nop, wscale 6, sackOK, TS`,
/// `mss 1460, sackOK, eol, eol`, `nop, nop, TS, nop, nop, sack`.
#[test]
fn options_of_freebsd_stand_in_its_order() {
    let syn = TcpRepr {
        flags: TcpFlags::SYN,
        mss: Some(1460),
        window_scale: Some(6),
        sack_permitted: true,
        timestamps: Some((1, 2)),
        layout: OptionLayout::FreeBsd,
        ..TcpRepr::default()
    };
    let options = |tcp: &TcpRepr| tcp.to_packet(&v4().into(), &[])[40..].to_vec();
    let mss = [2, 4, 5, 180];
    let timestamps = [8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    assert_eq!(options(&syn), [&mss[..], &[1, 3, 3, 6, 4, 2], &timestamps].concat());
    let few = TcpRepr { window_scale: None, timestamps: None, ..syn };
    assert_eq!(options(&few), [&mss[..], &[4, 2, 0, 0]].concat());
    let sack = TcpRepr {
        flags: TcpFlags::ACK,
        mss: None,
        window_scale: None,
        sack_permitted: false,
        sack: std::iter::once(SackBlock { left: SeqNumber::new(7), right: SeqNumber::new(8) })
            .collect(),
        ..syn
    };
    let blocks = [1, 1, 5, 10, 0, 0, 0, 7, 0, 0, 0, 8];
    assert_eq!(options(&sack), [&[1, 1][..], &timestamps, &blocks].concat());
}

#[test]
fn sees_the_packets_that_linux_sends() {
    let syn = FrameView::of_packet(&LINUX_SYN).tcp().unwrap();
    assert_eq!((syn.src_port(), syn.dst_port()), (52188, 5201));
    assert_eq!(syn.src(), Ipv4Addr::new(10, 98, 0, 1));
    assert_eq!(syn.ip().id(), Some(24351));
    assert_eq!(syn.flags().to_string(), "[S]");
    assert_eq!((syn.payload_len(), syn.sequence_len()), (0, 1));
    assert_eq!(syn.checksum_state(), ChecksumState::Right);
    assert!(syn.ip().header_checksum_is_right());
    assert_eq!(
        format!("{:?}", syn.options().collect::<Vec<_>>()),
        "[Mss(1460), SackPermitted, Timestamps { value: 3557166568, echo: 0 }, NoOperation, \
         WindowScale(10)]"
    );
    let sack = FrameView::of_packet(&LINUX_SACK).tcp().unwrap();
    assert_eq!(sack.checksum_state(), ChecksumState::Right);
    assert_eq!(
        format!("{:?}", sack.options().last().unwrap()),
        "Sack([(2052566218, 2052570562), (2052389562, 2052564770)])"
    );
}

proptest! {
    #[test]
    fn every_representation_is_seen_as_it_was_meant(
        ip in any_ip(), tcp in any_tcp(), payload in any_payload(),
    ) {
        let packet = tcp.to_packet(&ip, &payload);
        let view = FrameView::of_packet(&packet);
        prop_assert_eq!(view.anomaly(), None);
        let found = view.tcp().unwrap();
        assert_header(&ip, &tcp, &found)?;
        assert_options(&tcp, &found)?;
        prop_assert_eq!(found.payload(), &payload[..]);
        prop_assert_eq!(found.payload_len() as usize, payload.len());
        prop_assert_eq!(found.checksum_state(), ChecksumState::Right);
        prop_assert!(found.ip().header_checksum_is_right());
    }

    #[test]
    fn one_wrong_byte_of_the_segment_is_noticed(
        ip in any_ip(), tcp in any_tcp(), payload in any_payload(),
        place in any::<prop::sample::Index>(), change in 1..=255_u8,
    ) {
        let mut packet = tcp.to_packet(&ip, &payload);
        let at = ip.header_len() + place.index(packet.len() - ip.header_len());
        packet[at] ^= change;
        if let Some(found) = FrameView::of_packet(&packet).tcp() {
            // A damaged checksum can by chance be that of the pseudo-header alone.
            prop_assert_ne!(found.checksum_state(), ChecksumState::Right);
        }
    }

    #[test]
    fn a_segment_without_its_checksum_completed_is_told_from_a_wrong_one(
        ip in any_ip(), tcp in any_tcp(), payload in any_payload(),
    ) {
        let mut packet = tcp.to_packet(&ip, &payload);
        let at = ip.header_len() + 16;
        let len = (packet.len() - ip.header_len()) as u32;
        let partial = checksum::pseudo_header(ip.src(), ip.dst(), protocol::TCP, len).folded();
        packet[at..at + 2].copy_from_slice(&partial.to_be_bytes());
        let state = FrameView::of_packet(&packet).tcp().unwrap().checksum_state();
        // One segment in 65,536 is right with either.
        prop_assert!(matches!(state, ChecksumState::Partial | ChecksumState::Right), "{:?}", state);
    }
}

fn assert_header(ip: &IpRepr, tcp: &TcpRepr, found: &TcpPacket<'_>) -> Result<(), TestCaseError> {
    prop_assert_eq!((found.src(), found.dst()), (ip.src(), ip.dst()));
    prop_assert_eq!((found.src_port(), found.dst_port()), (tcp.src_port, tcp.dst_port));
    prop_assert_eq!((found.seq(), found.ack()), (tcp.seq, tcp.ack));
    prop_assert_eq!(found.flags(), tcp.flags);
    prop_assert_eq!(found.window(), tcp.window);
    prop_assert_eq!(found.urgent_pointer(), tcp.urgent_pointer);
    prop_assert_eq!(usize::from(found.data_offset()), tcp.header_len());
    let below = found.ip();
    match ip {
        IpRepr::V4(ip) => {
            prop_assert_eq!(below.version(), 4);
            prop_assert_eq!(below.id(), Some(ip.id));
            prop_assert_eq!((below.ttl(), below.ecn()), (ip.ttl, ip.ecn));
        }
        IpRepr::V6(ip) => {
            prop_assert_eq!(below.version(), 6);
            prop_assert_eq!(below.id(), None);
            prop_assert_eq!((below.ttl(), below.ecn()), (ip.hop_limit, ip.ecn));
        }
    }
    prop_assert!(below.is_whole() && below.dont_fragment());
    prop_assert_eq!(below.dscp(), 0);
    prop_assert_eq!(below.fragment(), Fragment::default());
    Ok(())
}

fn assert_options(tcp: &TcpRepr, found: &TcpPacket<'_>) -> Result<(), TestCaseError> {
    let mut again = TcpRepr { mss: None, window_scale: None, sack_permitted: false, ..*tcp };
    again.timestamps = None;
    again.sack = SackBlocks::default();
    again.acc_ecn = None;
    for option in found.options() {
        match option {
            TcpOption::NoOperation => {}
            TcpOption::Mss(mss) => again.mss = Some(mss),
            TcpOption::WindowScale(shift) => again.window_scale = Some(shift),
            TcpOption::SackPermitted => again.sack_permitted = true,
            TcpOption::Timestamps { value, echo } => again.timestamps = Some((value, echo)),
            TcpOption::Sack(blocks) => again.sack = blocks,
            TcpOption::Unknown { kind, bytes } => {
                again.acc_ecn = AccEcnOption::of(kind, bytes);
                prop_assert!(again.acc_ecn.is_some(), "option {} was not asked for", kind);
            }
            other => prop_assert!(false, "{:?} was not asked for", other),
        }
    }
    prop_assert!(tcp.sack.as_slice().starts_with(again.sack.as_slice()));
    // The counters of Accurate ECN take the room of a block or two.
    if !tcp.flags.contains(TcpFlags::SYN) && tcp.acc_ecn.is_none() {
        let fitting = if tcp.timestamps.is_some() { 3 } else { 4 };
        prop_assert_eq!(again.sack.len(), tcp.sack.len().min(fitting));
    }
    again.sack = tcp.sack;
    prop_assert_eq!(&again, tcp);
    prop_assert!(found.options_complete());
    Ok(())
}
