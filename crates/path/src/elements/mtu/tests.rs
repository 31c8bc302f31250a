use std::collections::BTreeMap;

use proptest::prelude::*;
use tcplab_wire::{Ecn, Ipv6Repr, SeqNumber, TcpFlags, TcpRepr, checksum};

use super::*;
use crate::testing::link_of;
use crate::{Departure, Direction, ElementPlan, FIRST_MADE_ID, Fate};

const DONT_FRAGMENT: u8 = 0x40;

/// An IPv4 packet with a right header; `options` are a multiple of four bytes.
fn ipv4(flags: u8, protocol: u8, options: &[u8], data: &[u8]) -> Vec<u8> {
    let header_len = 20 + options.len();
    let total_len = (header_len + data.len()) as u16;
    let mut packet = vec![0x40 | (header_len / 4) as u8, 0, 0, 0, 0xab, 0xcd, flags, 0, 61];
    packet.extend_from_slice(&[protocol, 0, 0, 10, 98, 0, 1, 10, 98, 0, 2]);
    packet[2..4].copy_from_slice(&total_len.to_be_bytes());
    packet.extend_from_slice(options);
    let sum = checksum::internet(&packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend_from_slice(data);
    packet
}

fn ipv6(data: usize) -> Vec<u8> {
    let (src, dst) = ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap());
    let ip = Ipv6Repr { src, dst, hop_limit: 64, ecn: Ecn::NotEct };
    TcpRepr { flags: TcpFlags::ACK, seq: SeqNumber::new(7), ..TcpRepr::default() }
        .to_packet(&ip.into(), &vec![0; data])
}

/// The output for `packet`, with id 5.
fn through(size: u64, answer: bool, packet: &[u8]) -> Vec<Departure> {
    let mut link = link_of(ElementPlan::Mtu(MtuPlan { size: Bytes::new(size), answer }));
    let now = Instant::from_nanos(9);
    link.handle_packet(now, Packet::new(5, packet.to_vec()));
    std::iter::from_fn(|| link.poll(now)).collect()
}

fn look(packet: &[u8]) -> IpPacket<'_> {
    IpPacket::outermost(packet).expect("an IP packet")
}

const TOO_BIG: Fate = Fate::Dropped(Cause::TooBig { limit: Bytes::new(1400) });

/// A tunnel's outer header is what a router reads: here IPv6 in UDP to Teredo's port (RFC 4380).
#[test]
fn tunnel_is_cut_by_its_outer_header() {
    let mut udp = [3544_u16, 3544, 1_400, 0].map(u16::to_be_bytes).concat();
    udp.extend(ipv6(1_332));
    let out = through(1_000, true, &ipv4(0, protocol::UDP, &[], &udp));
    assert_eq!(out.len(), 2);
    assert!(out.iter().all(|it| it.verdict.fate == Fate::Delivered), "{out:?}");
}

#[test]
fn packet_within_mtu_passes_unchanged() {
    for packet in [ipv4(DONT_FRAGMENT, 6, &[], &[1; 1380]), ipv6(1340), vec![0; 1400], vec![]] {
        let out = through(1400, true, &packet);
        assert_eq!(out.len(), 1);
        assert_eq!((&out[0].packet.bytes, out[0].verdict.fate), (&packet, Fate::Delivered));
    }
}

#[test]
fn packet_with_df_is_dropped_and_answered_by_icmp() {
    for packet in [ipv4(DONT_FRAGMENT, 6, &[], &[1; 1381]), ipv6(1341)] {
        let out = through(1400, true, &packet);
        let [answer, dropped] = &out[..] else { panic!("{out:?}") };
        assert_eq!((dropped.verdict.id, dropped.verdict.fate), (5, TOO_BIG));
        assert_eq!(dropped.packet.bytes, packet, "it is given back as it came");

        let verdict = answer.verdict;
        assert_eq!((verdict.id, verdict.origin), (FIRST_MADE_ID, Some(5)));
        assert_eq!((verdict.direction, verdict.fate), (Direction::Reverse, Fate::Delivered));
        assert_eq!((verdict.entered, verdict.left), (Instant::from_nanos(9), verdict.entered));
        let (about, answer) = (look(&packet), look(&answer.packet.bytes));
        assert_eq!((answer.src(), answer.dst(), answer.ttl()), (about.dst(), about.src(), 64));
        assert!(answer.header_checksum_is_right());
        let message = answer.payload();
        assert_eq!(message[4..8], 1400_u32.to_be_bytes());
        let quoted = &message[8..];
        assert_eq!(quoted, &packet[..quoted.len()]);

        let out = through(1400, false, &packet);
        assert_eq!((out.len(), out[0].verdict.fate), (1, TOO_BIG), "without a word");
    }
}

#[test]
fn not_everything_is_answered() {
    let icmp = |type_: u8| {
        let mut data = vec![0; 1400];
        data[0] = type_;
        ipv4(DONT_FRAGMENT, protocol::ICMP, &[], &data)
    };
    let with = |at: usize, bytes: &[u8]| {
        let mut packet = ipv4(DONT_FRAGMENT, 6, &[], &[0; 1400]);
        packet[at..at + bytes.len()].copy_from_slice(bytes);
        packet[10..12].fill(0);
        let sum = checksum::internet(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    };
    let icmpv6 = |type_: u8| {
        let mut packet = ipv6(1400);
        (packet[6], packet[40]) = (protocol::ICMPV6, type_);
        packet
    };
    let v6_with = |at: usize, bytes: &[u8]| {
        let mut packet = ipv6(1400);
        packet[at..at + bytes.len()].copy_from_slice(bytes);
        packet
    };
    let wrong_checksum = {
        let mut packet = ipv4(DONT_FRAGMENT, 6, &[], &[0; 1400]);
        packet[11] ^= 1;
        packet
    };
    let not_alone = [ipv4(DONT_FRAGMENT, 6, &[], &[0; 1400]), vec![0]].concat();
    for (packet, answered, what) in [
        (with(8, &[63]), true, "a segment"),
        (icmp(8), true, "an echo request"),
        (icmp(3), false, "destination unreachable"),
        (icmp(11), false, "time exceeded"),
        (with(6, &[0x40, 1]), false, "a later fragment"),
        (with(12, &[0, 0, 0, 0]), false, "from nobody"),
        (with(12, &[127, 0, 0, 1]), false, "from loopback"),
        (with(12, &[224, 0, 0, 1]), false, "from a group"),
        (with(16, &[224, 0, 0, 1]), false, "to a group"),
        (with(16, &[255; 4]), false, "to all"),
        (icmpv6(128), true, "an echo request of IPv6"),
        (icmpv6(2), false, "packet too big"),
        (icmpv6(137), false, "a redirect"),
        (v6_with(24, &[0xff, 2]), false, "to a group of IPv6"),
        (v6_with(8, &[0; 16]), false, "from nobody in IPv6"),
        (wrong_checksum, false, "a wrong header checksum"),
        (not_alone, false, "more bytes than the header says"),
        (vec![0; 1401], false, "not IP"),
        (vec![0x45; 1401], false, "hardly IP"),
    ] {
        let out = through(1400, true, &packet);
        assert_eq!(out.len(), 1 + usize::from(answered), "{what}");
        assert_eq!(out.last().unwrap().verdict.fate, TOO_BIG, "{what}");
    }
    let mut link = link_of(ElementPlan::Mtu(MtuPlan { size: Bytes::new(1400), answer: true }));
    link.handle_packet(Instant::ZERO, Packet::of_size(1, Bytes::new(1401)));
    assert_eq!(link.poll(Instant::ZERO).unwrap().verdict.fate, TOO_BIG, "of size alone");
    assert_eq!(link.poll(Instant::ZERO), None);
}

/// RFC 791 section 3.2 by hand: 1,480 bytes of data through 576 B: 552 (a multiple of eight below
/// 556), 552 and 376, at 0, 69 and 138 eights.
#[test]
fn packet_without_df_is_fragmented() {
    let data: Vec<u8> = (0..1480).map(|n| n as u8).collect();
    let packet = ipv4(0, 17, &[], &data);
    let out = through(576, true, &packet);
    let verdicts: Vec<_> = out.iter().map(|it| (it.verdict.id, it.verdict.origin)).collect();
    assert_eq!(verdicts, [(5, None), (FIRST_MADE_ID, Some(5)), (FIRST_MADE_ID + 2, Some(5))]);
    let places: Vec<_> = out.iter().map(|it| it.verdict.fragment).collect();
    assert_eq!(places, [Some(0), Some(552), Some(1104)]);
    for (departure, (field, start, len)) in
        out.iter().zip([(0x2000_u16, 0, 552), (0x2000 + 69, 552, 552), (138, 1104, 376)])
    {
        let bytes = &departure.packet.bytes;
        assert_eq!(departure.verdict.fate, Fate::Delivered);
        assert_eq!(departure.verdict.size, Bytes::from(20 + len));
        let ip = look(bytes);
        assert_eq!((ip.total_len() as usize, bytes.len()), (20 + len, 20 + len));
        assert_eq!(bytes[6..8], field.to_be_bytes());
        assert_eq!((ip.id(), ip.ttl(), ip.protocol()), (Some(0xabcd), 61, 17));
        assert!(ip.header_checksum_is_right());
        assert_eq!(ip.payload(), &data[start..start + len]);
    }
}

/// A record route, a no-operation and a router alert: only the last is copied (RFC 791, RFC 2113).
#[test]
fn options_are_copied_by_their_first_bit() {
    let options = [7, 7, 4, 0, 0, 0, 0, 1, 148, 4, 0, 0];
    let out = through(100, true, &ipv4(0, 17, &options, &[3; 200]));
    let headers: Vec<_> = out
        .iter()
        .map(|it| it.packet.bytes[20..look(&it.packet.bytes).header_len()].to_vec())
        .collect();
    let later = vec![148, 4, 0, 0];
    assert_eq!(headers, [options.to_vec(), later.clone(), later.clone()]);
    // 64 B of 68 beside 32 B of header, then 76 of which 72 are used, then the rest.
    let lengths: Vec<_> = out.iter().map(|it| it.packet.bytes.len()).collect();
    assert_eq!(lengths, [96, 96, 24 + 64]);
}

/// Puts fragments together as RFC 791's example of a reassembly procedure does: by offset, done
/// when the one without "more" is there and no hole is left.
fn reassembled(fragments: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut parts = BTreeMap::new();
    let mut total = None;
    for fragment in fragments {
        let ip = look(fragment);
        let start = ip.fragment().offset as usize;
        if !ip.fragment().more {
            total = Some(start + ip.payload().len());
        }
        parts.insert(start, ip.payload().to_vec());
    }
    let mut data = Vec::new();
    for (start, part) in parts {
        (start == data.len()).then_some(())?;
        data.extend(part);
    }
    (Some(data.len()) == total).then_some(data)
}

proptest! {
    #[test]
    fn fragments_make_the_packet_again(
        options in prop::collection::vec(any::<[u8; 4]>(), 0..=10),
        data in prop::collection::vec(any::<u8>(), 0..4000),
        sizes in prop::collection::vec(68..2000_u64, 1..4),
        backwards: bool,
    ) {
        let options = options.concat();
        let packet = ipv4(0, 17, &options, &data);
        // Through one narrow link after the other: fragments of fragments, too.
        let mut fragments = vec![packet.clone()];
        for size in sizes {
            let pass = |packet: &Vec<u8>| through(size, true, packet);
            let out: Vec<_> = fragments.iter().flat_map(pass).collect();
            prop_assert!(out.iter().all(|it| it.verdict.fate == Fate::Delivered));
            fragments = out.into_iter().map(|it| it.packet.bytes).collect();
            for fragment in &fragments {
                let ip = look(fragment);
                prop_assert!(fragment.len() as u64 <= size);
                prop_assert!(ip.header_checksum_is_right() && ip.is_whole());
                prop_assert!(!ip.fragment().more || ip.payload().len().is_multiple_of(8));
                prop_assert_eq!(fragment[4..6].to_vec(), packet[4..6].to_vec());
                prop_assert_eq!(fragment[8..10].to_vec(), packet[8..10].to_vec());
                prop_assert_eq!(fragment[12..20].to_vec(), packet[12..20].to_vec());
            }
        }
        let first = look(&fragments[0]);
        prop_assert_eq!(&first.bytes()[20..first.header_len()], &options[..]);
        if backwards {
            fragments.reverse();
        }
        prop_assert_eq!(reassembled(&fragments), Some(data));
    }

    #[test]
    fn arbitrary_packet_gets_one_verdict(
        bytes in prop::collection::vec(any::<u8>(), 0..300), size in 68..200_u64,
        first in prop::sample::select(vec![0x45_u8, 0x46, 0x4f, 0x60, 0]), right: bool,
    ) {
        let mut packet = bytes;
        if packet.len() >= 60 {
            packet[0] = first;
            // Also where all that a router checks is right.
            if right {
                let len = packet.len() as u16;
                packet[2..4].copy_from_slice(&len.to_be_bytes());
                packet[10..12].fill(0);
                let header_len = usize::from(first & 0xf) * 4;
                let sum = checksum::internet(&packet[..header_len]);
                packet[10..12].copy_from_slice(&sum.to_be_bytes());
            }
        }
        let out = through(size, true, &packet);
        let of_packet = out.iter().filter(|it| it.verdict.id == 5).count();
        prop_assert_eq!(of_packet, 1);
        let made = out.iter().filter(|it| it.verdict.is_made());
        prop_assert!(made.clone().all(|it| it.verdict.origin == Some(5)));
        prop_assert_eq!(1 + made.count(), out.len());
    }
}
