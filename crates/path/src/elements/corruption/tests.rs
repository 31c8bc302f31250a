use super::*;
use crate::testing::link_of;
use crate::{ElementPlan, Packet};
use tcplab_units::Bytes;

/// An IPv4 header of 20 bytes before `payload`, of the given protocol and fragment field.
fn ipv4(protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let len = (20 + payload.len() as u16).to_be_bytes();
    let fragment = fragment.to_be_bytes();
    let mut packet = vec![0x45, 0, len[0], len[1], 0, 1, fragment[0], fragment[1], 64, protocol];
    packet.extend([0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    packet.extend(payload);
    packet
}

/// An IPv6 header of 40 bytes before `payload`, which begins with a header of this kind.
fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u16).to_be_bytes();
    let mut packet = vec![0x60, 0, 0, 0, len[0], len[1], next, 64];
    packet.extend([0; 32]);
    packet.extend(payload);
    packet
}

/// A TCP header that claims to be so many 4-byte words long, with as much behind its fixed part.
fn tcp(words: u8, behind: usize) -> Vec<u8> {
    let mut segment = vec![0; 20 + behind];
    segment[12] = words << 4;
    segment
}

#[test]
fn headers_end_where_the_payload_of_the_transport_begins() {
    let hop_by_hop: Vec<u8> = [vec![6, 0, 1, 4, 0, 0, 0, 0], tcp(5, 100)].concat();
    for (what, packet, headers) in [
        ("a plain segment", ipv4(6, 0, &tcp(5, 100)), 40),
        ("a segment with 12 bytes of options", ipv4(6, 0, &tcp(8, 112)), 52),
        ("a pure acknowledgement", ipv4(6, 0, &tcp(5, 0)), 40),
        ("a segment over IPv6", ipv6(6, &tcp(5, 100)), 60),
        ("a segment behind an extension header", ipv6(0, &hop_by_hop), 68),
        ("the first fragment of a segment", ipv4(6, 0x2000, &tcp(5, 100)), 40),
        ("a later fragment", ipv4(6, 0x0010, &tcp(5, 100)), 20),
        ("a later fragment of UDP", ipv4(17, 0x0010, &[0; 100]), 20),
        ("UDP", ipv4(17, 0, &[0; 100]), 28),
        ("ICMP", ipv4(1, 0, &[0; 100]), 28),
        ("ICMPv6", ipv6(58, &[0; 100]), 48),
        ("another protocol", ipv4(47, 0, &[0; 100]), 20),
        ("a segment that claims less than a header", ipv4(6, 0, &tcp(2, 100)), 40),
        ("a segment that claims more than there is", ipv4(6, 0, &tcp(15, 10)), 50),
        ("a scrap of UDP", ipv4(17, 0, &[0; 3]), 23),
        ("a scrap of TCP", ipv4(6, 0, &[0; 3]), 20),
        ("a scrap of IP", vec![0x45; 10], 0),
        ("something else", vec![0xff; 100], 0),
        ("nothing", vec![], 0),
    ] {
        assert_eq!(headers_of(&packet), headers, "{what}");
    }
}

fn corrupt(part: PacketPart, bits: u8, packets: &[Packet]) -> Vec<(Packet, Option<u32>)> {
    let probability = Probability::ALWAYS;
    let plan = CorruptionPlan { probability, part, bits };
    let mut link = link_of(ElementPlan::Corruption(plan));
    let through = packets.iter().map(|packet| {
        link.handle_packet(Instant::ZERO, packet.clone());
        let departure = link.poll(Instant::ZERO).expect("it passes at once");
        (departure.packet, departure.verdict.corrupted)
    });
    through.collect()
}

#[test]
fn only_the_part_asked_changes_and_checksums_with_it_or_not_at_all() {
    let packet = Packet::new(7, ipv4(6, 0, &tcp(5, 4)));
    for (part, changed) in
        [(PacketPart::Headers, 0..40), (PacketPart::Payload, 40..44), (PacketPart::Anywhere, 0..44)]
    {
        let mut seen = [false; 44];
        for (after, first) in corrupt(part, 2, &vec![packet.clone(); 2_000]) {
            let pairs = (0..).zip(packet.bytes.iter().zip(&after.bytes));
            let differ: Vec<(usize, u8)> = pairs.map(|(at, (a, b))| (at, a ^ b)).collect();
            assert_eq!(differ.iter().map(|(_, bits)| bits.count_ones()).sum::<u32>(), 2);
            let (at, bits) = differ.iter().find(|(_, bits)| *bits != 0).unwrap();
            assert_eq!(first, Some(8 * *at as u32 + bits.leading_zeros()));
            differ.iter().filter(|(_, bits)| *bits != 0).for_each(|(at, _)| seen[*at] = true);
        }
        let places: Vec<usize> = (0..44).filter(|at| seen[*at]).collect();
        assert_eq!(places, changed.collect::<Vec<_>>(), "{part:?}");
    }
}

#[test]
fn parts_that_are_not_there_are_spared_and_small_ones_change_wholly() {
    let acknowledgement = ipv4(6, 0, &tcp(5, 0));
    let nothing = |part, bytes: &[u8]| {
        let packet = Packet::new(1, bytes.to_vec());
        let through = corrupt(part, 1, std::slice::from_ref(&packet));
        assert_eq!(through, [(packet, None)], "{part:?}");
    };
    nothing(PacketPart::Payload, &acknowledgement);
    nothing(PacketPart::Headers, &[0xff; 30]);
    nothing(PacketPart::Anywhere, &[]);
    let [(after, first)] = &corrupt(PacketPart::Payload, 64, &[Packet::new(1, vec![0xf0; 2])])[..]
    else {
        panic!("one packet")
    };
    assert_eq!((after.bytes.as_slice(), *first), (&[0x0f; 2][..], Some(0)));
}

#[test]
fn of_a_packet_without_bytes_there_is_only_the_record() {
    let packet = Packet::of_size(1, Bytes::new(100));
    for part in [PacketPart::Anywhere, PacketPart::Payload] {
        let [(after, first)] = &corrupt(part, 1, std::slice::from_ref(&packet))[..] else {
            panic!("one packet")
        };
        assert_eq!(*after, packet);
        assert!(first.is_some_and(|bit| bit < 800));
    }
}
