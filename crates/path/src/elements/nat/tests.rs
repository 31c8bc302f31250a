use tcplab_wire::{Ecn, Ipv4Repr, SeqNumber};

use super::*;
use crate::testing::link_of;
use crate::{Departure, Direction, ElementPlan, FIRST_MADE_ID, Fate, Link, Packet};

const SYN: TcpFlags = TcpFlags::SYN;
const ACK: TcpFlags = TcpFlags::ACK;
const RST: TcpFlags = TcpFlags::RST;
const GONE: Fate = Fate::Dropped(Cause::Forgotten);

fn segment(port: u16, flags: TcpFlags, payload: &[u8]) -> Vec<u8> {
    let (src, dst) = ([10, 98, 0, 1].into(), [10, 98, 0, 2].into());
    let ip = Ipv4Repr { src, dst, id: 7, ttl: 64, ecn: Ecn::NotEct };
    let (seq, ack) = (SeqNumber::new(1000), SeqNumber::new(5000));
    let tcp = TcpRepr { src_port: port, dst_port: 80, seq, ack, flags, ..TcpRepr::default() };
    tcp.to_packet(&ip.into(), payload)
}

fn nat(answer: bool) -> Link {
    link_of(ElementPlan::Nat(NatPlan { idle: Span::from_secs(30), answer }))
}

/// What comes out for a packet at a time in seconds.
fn at(link: &mut Link, secs: u64, packet: &[u8]) -> Vec<Departure> {
    let now = Instant::ZERO + Span::from_secs(secs);
    link.handle_packet(now, Packet::new(secs, packet.to_vec()));
    std::iter::from_fn(|| link.poll(now)).collect()
}

fn fate_at(link: &mut Link, secs: u64, packet: &[u8]) -> Fate {
    let out = at(link, secs, packet);
    let [one] = &out[..] else { panic!("{out:?}") };
    one.verdict.fate
}

#[test]
fn connection_is_known_from_its_syn_until_it_is_idle_too_long() {
    let mut link = nat(false);
    for (secs, flags, fate) in [
        (0, ACK, GONE),
        (1, SYN, Fate::Delivered),
        (2, ACK, Fate::Delivered),
        (32, ACK, Fate::Delivered),
        (63, ACK, GONE),
        (64, ACK, GONE),
        (65, RST, GONE),
        (66, SYN, Fate::Delivered),
        (67, ACK, Fate::Delivered),
        (200, SYN | ACK, Fate::Delivered),
    ] {
        assert_eq!(fate_at(&mut link, secs, &segment(1, flags, &[])), fate, "at {secs} s");
    }
}

#[test]
fn connections_are_told_apart_by_addresses_and_ports() {
    let mut link = nat(false);
    assert_eq!(fate_at(&mut link, 0, &segment(1, SYN, &[])), Fate::Delivered);
    assert_eq!(fate_at(&mut link, 1, &segment(2, ACK, &[])), GONE);
    assert_eq!(fate_at(&mut link, 2, &segment(1, ACK, &[])), Fate::Delivered);
}

#[test]
fn what_is_not_tcp_passes() {
    let mut udp = segment(1, ACK, &[]);
    udp[9] = 17;
    for packet in [udp, vec![], vec![0; 40]] {
        assert_eq!(fate_at(&mut nat(true), 0, &packet), Fate::Delivered);
    }
}

#[test]
fn segment_of_forgotten_connection_is_answered_by_rst_with_its_numbers() {
    for (flags, payload, numbers) in [
        (ACK, &[1, 2, 3][..], (5000, 0, RST)),
        (TcpFlags::FIN, &[][..], (0, 1001, RST | ACK)),
        (TcpFlags::PSH, &[1, 2, 3][..], (0, 1003, RST | ACK)),
    ] {
        let out = at(&mut nat(true), 9, &segment(1, flags, payload));
        let [answer, dropped] = &out[..] else { panic!("{out:?}") };
        assert_eq!((dropped.verdict.id, dropped.verdict.fate), (9, GONE));
        let verdict = answer.verdict;
        assert_eq!((verdict.id, verdict.origin), (FIRST_MADE_ID, Some(9)));
        assert_eq!((verdict.direction, verdict.fate), (Direction::Reverse, Fate::Delivered));
        let tcp = FrameView::of_packet(&answer.packet.bytes).tcp().expect("a segment");
        assert_eq!((tcp.src_port(), tcp.dst_port()), (80, 1));
        assert_eq!((tcp.seq().as_u32(), tcp.ack().as_u32(), tcp.flags()), numbers);
        assert_eq!(tcp.ip().bytes()[4..6], [0, 0], "the identification");
    }
    assert_eq!(fate_at(&mut nat(true), 0, &segment(1, RST, &[])), GONE, "a RST is not answered");
}

#[test]
fn full_table_drops_a_syn_until_another_connection_is_forgotten() {
    let mut nat = Nat::new(NatPlan { idle: Span::from_secs(30), answer: false });
    let mut knows = |secs, port: u16, to: u8| {
        let mut packet = segment(port, SYN, &[]);
        packet[19] = to;
        let tcp = FrameView::of_packet(&packet).tcp().expect("a segment");
        nat.knows(Instant::ZERO + Span::from_secs(secs), &tcp)
    };
    for port in 0..=u16::MAX {
        assert!(knows(u64::from(port == u16::MAX), port, 2));
    }
    assert!(!knows(2, 1, 3));
    assert!(!knows(30, 1, 3));
    assert!(knows(31, 1, 3));
}
